"""Discrete Fourier transforms written as sums, and sums that only look like one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from polymat import (
    Cast,
    Complex,
    ComplexFloat,
    Conj,
    Cos,
    Double,
    Exp,
    Float,
    Image,
    Int,
    Interval,
    Matrix,
    Op,
    Sin,
    Variable,
    Vector,
)  # fmt: skip
from polymat.graph.build import build
from polymat.graph.verifypipeline import verify
from polymat.idiom.find import idiom_of
from polymat.idiom.librarytransforms import can_transform
from polymat.idiom.transform import Transform
from tests.idiom.carry_out_signals import transform
from tests.idiom.recognise import SCALARS, L, M, N, alpha, i, j, k, l, pipeline, point, total, upto, values_of
from tests.tolerance import assert_close

x, z = Vector(Double, "x", [N]), Vector(Complex, "z", [N])
X, Z = Matrix(Double, "X", [M, N]), Matrix(Complex, "Z", [M, N])
OUT, IN_N = [(j, upto(N))], [(k, upto(N))]
TURN = 2 * math.pi * j * k / N
HALF = [(j, Interval(Int, 0, N // 2))]


def find(*outputs: Any) -> Transform | None:
    built = pipeline(*outputs)
    return idiom_of([stage.name for stage in built.stages], built).transform


def check(*outputs: Any, sizes: Sequence[tuple[int, int]] = ((1, 1), (2, 3), (3, 7), (5, 8))) -> Transform:
    built = pipeline(*outputs)
    found = idiom_of([stage.name for stage in built.stages], built)
    assert found.transform is not None, found.reason
    for m, n in sizes:
        params = {"M": m, "N": n, "L": 2, **SCALARS}
        values = values_of(built, params)
        actual = transform(found.transform, values, params)
        assert_close(actual, values[found.transform.product.name], roundings=2000, magnitude=50.0)
    return found.transform


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(
    "weight",
    [
        lambda s: Exp(s * 2j * math.pi * j * k / N),
        lambda s: Exp(k * (s * 2j * math.pi / N) * j),
        lambda s: Exp(s * 1j * TURN),
        lambda s: Exp(s * 2j * math.pi * ((j * k) % N) / N),
        lambda s: Cos(TURN) + s * 1j * Sin(TURN),
        lambda s: Conj(Cos(TURN) - s * 1j * Sin(TURN)),
        lambda s: Conj(Exp(-s * 1j * TURN)),
        lambda s: Cast(Complex, Exp(s * 1j * TURN)),
    ],
)
def test_each_way_to_write_it(weight: Any, sign: int) -> None:
    for source, kind in ((z, "complex"), (x, "real")):
        found = check(total("F", OUT, IN_N, source(k) * weight(sign), dtype=Complex))
        assert (found.kind, found.sign, abs(found.number - 1) < 1e-12) == (kind, sign, True)
        assert [(each.output, each.input, each.half) for each in found.axes] == [("j", "k", False)]


def test_names_and_scale_do_not_matter() -> None:
    p, q = Variable(Int, "p"), Variable(Int, "q")
    value = alpha * Exp(-2j * math.pi / N * q * p) * z(p) / N
    found = check(total("F", [(q, upto(N))], [(p, upto(N))], value, dtype=Complex))
    assert found.sign == -1
    assert found.scale is not None
    F = total("F", OUT, IN_N, z(k) * Exp(1j * TURN), dtype=Complex)
    assert check(point("R", OUT, F(j) / N + z(j), Complex)).start != ()


def test_small_scales_and_remainders_of_several_turns() -> None:
    check(total("F", OUT, IN_N, z(k) * 1e-15 * Exp(-1j * TURN), dtype=Complex))
    twice = Exp(-2j * math.pi * (((j * k) % (2 * N)) / N))
    check(total("F", OUT, IN_N, z(k) * twice, dtype=Complex))


def test_cosines_and_sines_of_real_values() -> None:
    found = check(total("F", OUT, IN_N, x(k) * Cos(TURN)))
    assert (found.kind, found.number) == ("cosine", 1)
    found = check(total("F", OUT, IN_N, -2.0 * x(k) * Sin(-TURN)))
    assert (found.kind, found.sign, found.number) == ("sine", -1, -2)
    both = check(total("F", OUT, IN_N, x(k) * Cos(TURN) - 1j * x(k) * Sin(TURN), dtype=Complex))
    assert (both.kind, both.sign) == ("real", -1)


def test_half_of_a_real_transform() -> None:
    found = check(
        total("F", HALF, IN_N, x(k) * Exp(-1j * TURN), dtype=Complex), sizes=((1, 2), (1, 7), (1, 8))
    )
    assert found.axes[0].half
    assert find(total("F", HALF, IN_N, z(k) * Exp(-1j * TURN), dtype=Complex)) is None


def test_batches_strides_and_offsets() -> None:
    rows = check(total("F", [(i, upto(M)), *OUT], IN_N, Z(i, k) * Exp(-1j * TURN), dtype=Complex))
    assert [str(axis) for axis in rows.batch] == ["i"]
    columns = check(
        total("F", [(i, upto(M)), (j, upto(N))], [(k, upto(M))],
              Z(k, j) * Exp(-2j * math.pi * i * k / M), dtype=Complex)
    )  # fmt: skip
    assert (columns.axes[0].output, str(columns.batch[0])) == ("i", "j")
    wide = Vector(Complex, "wide", [2 * N + 3])
    check(total("F", OUT, IN_N, wide(2 * k + 3) * Exp(-1j * TURN), dtype=Complex))


def test_two_dimensions() -> None:
    phase = 1j * (2 * math.pi * i * l / M + TURN)
    shape, summed = [(i, upto(M)), *OUT], [(l, upto(M)), *IN_N]
    for weight in (Exp(-phase), Exp(-2j * math.pi * i * l / M) * Exp(-1j * TURN)):
        found = check(total("F", shape, summed, Z(l, k) * weight, dtype=Complex))
        assert [(each.output, each.input) for each in found.axes] == [("i", "l"), ("j", "k")]
    mixed = Exp(-2j * math.pi * i * l / M) * Exp(1j * TURN)
    crossed = find(total("F", shape, summed, Z(l, k) * mixed, dtype=Complex))
    assert crossed is not None
    assert [each.mirrored for each in crossed.axes] == [True, False]
    assert not can_transform(crossed)
    T = Image(Complex, "T", [L, M, N])
    u = Variable(Int, "u")
    check(total("F", [(u, upto(L)), *shape], summed, T(u, l, k) * Exp(-phase), dtype=Complex))


def test_single_precision() -> None:
    w = Vector(ComplexFloat, "w", [N])
    found = find(total("F", OUT, IN_N, w(k) * Cast(ComplexFloat, Exp(-1j * TURN)), dtype=ComplexFloat))
    assert found is not None
    assert found.product.dtype == ComplexFloat
    assert find(total("F", OUT, IN_N, Vector(Float, "f", [N])(k) * Cos(TURN))) is None


def test_fixed_sizes() -> None:
    """With N known, 2 pi / N is a number."""
    F = total("F", OUT, IN_N, z(k) * Exp(-2j * math.pi / 12 * j * k), dtype=Complex)
    built = verify(build([F], sizes={N: 12}))
    found = idiom_of(["F"], built).transform
    assert found is not None
    values = values_of(built, {})
    assert_close(transform(found, values, {}), values["F"], roundings=500, magnitude=20.0)
    assert idiom_of(["F"], verify(build([F], sizes={N: 13}))).transform is None
    assert find(F) is None


def test_lengths_that_are_sums() -> None:
    w = Vector(Complex, "w", [N + 1])
    turn = 2 * math.pi * j * k / (N + 1)
    rows, summed = [(j, upto(N + 1))], [(k, upto(N + 1))]
    found = check(total("F", rows, summed, w(k) * Exp(-1j * turn), dtype=Complex))
    assert str(found.axes[0].length) == "N + 1"
    reduced = 2 * math.pi * ((j * k) % (N + 1)) / (N + 1)
    check(total("F", rows, summed, w(k) * Exp(-1j * reduced), dtype=Complex))


@pytest.mark.parametrize(
    "value",
    [
        z(k) * Exp(-1j * math.pi * j * k / N),
        z(k) * Exp(-2j * 3.14159 * j * k / N),
        z(k) * Exp(-2j * math.pi * j * k / (N + 1)),
        z(k) * Exp(-2j * math.pi * (j + 1) * k / N),
        z(k) * Exp(-2j * math.pi * j * j / N),
        z(k) * Exp(-2.0 * math.pi * j * k / N),
        z(k) * Exp(-2j * math.pi * ((j * k) % (N + 1)) / N),
        z(k) * Exp(-1j * math.pi * ((2 * j * k) % N) / N),  # half a turn too much where N is taken away
        z(k) * (1e-12 * Exp(-1j * TURN) + 1e-13 * Exp(1j * TURN)),
        z(k) * Cos(TURN),
        z(k) * (Cos(TURN) - 2j * Sin(TURN)),
        z(k) * z(k) * Exp(-1j * TURN),
        z(j) * Exp(-1j * TURN),
        Exp(-1j * TURN),
        x(k) * Cos(TURN) - 1j * z(k) * Sin(TURN),
        z(k) * Exp(-1j * TURN) + z(k) * Exp(-1j * TURN) * k,
    ],
)
def test_near_misses(value: Any) -> None:
    assert find(total("F", OUT, IN_N, value, dtype=Complex)) is None


def test_other_operations_and_ranges() -> None:
    value = x(k) * Cos(TURN)
    assert find(total("F", OUT, IN_N, value, op=Op.Max)) is None
    assert find(total("F", OUT, [(k, Interval(Int, 1, N - 1))], value)) is None
    assert find(total("F", OUT, [(k, Interval(Int, 0, j))], value)) is None
    assert find(total("F", [(j, Interval(Int, 0, N // 3))], IN_N, value)) is None


def test_lengths_agree_with_numpy() -> None:
    built = pipeline(total("F", OUT, IN_N, z(k) * Exp(-1j * TURN), dtype=Complex))
    values = values_of(built, {"N": 31})
    np.testing.assert_allclose(values["F"], np.fft.fft(values["z"]), atol=1e-10)


def test_an_index_that_is_split_has_no_stride() -> None:
    blocks = Matrix(Double, "blocks", [N, 8])
    split = blocks(k // 8, k - 8 * (k // 8))
    assert find(total("F", OUT, IN_N, split * Exp(-1j * TURN), dtype=Complex)) is None
