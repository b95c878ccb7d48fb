"""Sums of cosines and sines, and transforms added to something, by a transform of a library and a pass."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Cast,
    Complex,
    ComplexFloat,
    Condition,
    Cos,
    Double,
    Exp,
    Float,
    Function,
    Imag,
    Int,
    Interval,
    Matrix,
    Op,
    Options,
    Real,
    Select,
    Signal,
    Sin,
    Sqrt,
    Vector,
    irfft,
)
from polymat.graph.build import build
from polymat.graph.verifypipeline import verify
from polymat.machine.known import GENERIC
from polymat.rewrite.plaintransforms import plain_transforms
from polymat.runtime.host import InstalledLibraries
from tests.idiom.recognise import M, N, alpha, i, j, k, l, total, upto
from tests.tolerance import assert_close

FORCED = Options(fft="always", threads=1)
x, z = Vector(Double, "x", [N]), Vector(Complex, "z", [N])
v, y = Vector(Float, "v", [N]), Vector(Double, "y", [N + 1])
X = Matrix(Double, "X", [M, N])
OUT, IN = [(j, upto(N))], [(k, upto(N))]
BOTH, BOTH_IN = [(i, upto(M)), *OUT], [(l, upto(M)), *IN]
HALF = [(j, Interval(Int, 0, N // 2))]
TURN = 2 * math.pi * j * k / N
TURNS = 2 * math.pi * i * l / M + TURN
LENGTHS = (0, 1, 2, 3, 7, 8, 31, 64)


def check(
    outputs: Function | Sequence[Function],
    sizes: Sequence[dict[str, int]],
    *,
    calls: int = 1,
    options: Options = FORCED,
    **scalars: Any,
) -> pm.Compiled:
    """So many transforms are called, and the results are the interpreter's."""
    compiled = pm.compile(outputs, name="plain", options=options)
    names = [name for group in compiled.explain().groups for name in group.library_calls]
    assert names == ["fft"] * calls, str(compiled.explain())
    several = isinstance(outputs, Sequence)
    arrays = build(list(outputs) if isinstance(outputs, Sequence) else [outputs]).inputs
    rng = np.random.default_rng(5)
    for each in sizes:
        given: dict[str, Any] = dict(scalars)
        for array in arrays:
            shape = [int(extent.evaluate(each)) for extent in array.extents]
            value = rng.uniform(-1, 1, shape) + 1j * rng.uniform(-1, 1, shape)
            given[array.name] = (value if array.dtype.kind == "c" else value.real).astype(array.dtype.dtype)
        results, expected = compiled(**given), compiled.reference(**given)
        terms = max(math.prod(each.values()), 1)
        for one, other in zip(results, expected, strict=True) if several else [(results, expected)]:
            assert_close(one, other, roundings=100 + 20 * terms, magnitude=6.0 * terms)
    return compiled


@pytest.mark.parametrize("function", [Cos, Sin])
def test_one_part_of_a_spectrum(function: Any) -> None:
    whole = total("F", OUT, IN, x(k) * function(TURN))
    half = total("G", HALF, IN, -2.5 * x(k) * function(-TURN))
    scaled = total("H", OUT, IN, alpha * x(k) * function(TURN) / (N + 1))
    check([whole, half, scaled], [{"N": n} for n in LENGTHS], alpha=1.5)


def test_batches_and_two_dimensions() -> None:
    rows = [(i, upto(M)), *OUT]
    sizes = [{"M": m, "N": n} for m, n in ((0, 3), (3, 1), (2, 8), (5, 7))]
    check(total("F", rows, IN, X(i, k) * Sin(TURN)), sizes)
    both = [{"M": m, "N": n} for m, n in ((1, 1), (3, 8), (7, 5), (2, 2), (4, 3))]
    functions = (("F", Cos), ("G", Sin))
    parts = [total(name, BOTH, BOTH_IN, X(l, k) * function(TURNS)) for name, function in functions]
    half = total("H", [(i, upto(M)), *HALF], BOTH_IN, X(l, k) * Cos(TURNS))
    check([*parts, half], both)


def test_single_precision_and_complex_results() -> None:
    lengths = [{"N": n} for n in LENGTHS[1:]]
    w = Vector(ComplexFloat, "w", [N])
    sums = [
        total("F", OUT, IN, v(k) * Cast(Float, Sin(TURN)), dtype=Float),
        total("G", OUT, IN, w(k) * Cast(ComplexFloat, Exp(-1j * TURN)), dtype=ComplexFloat, init=w(j)),
        total("H", OUT, IN, 2j * x(k) * Cos(TURN), dtype=Complex),
    ]
    check(sums, lengths, calls=3)


def test_both_parts_share_one_transform() -> None:
    parts = [total(name, OUT, IN, x(k) * wave(TURN)) for name, wave in (("re", Cos), ("im", Sin))]
    check(parts, [{"N": n} for n in LENGTHS])


def test_sums_that_start_from_something() -> None:
    lengths = [{"N": n} for n in LENGTHS]
    start = Cast(Complex, 3)
    sums = [
        total("F", OUT, IN, z(k) * Exp(-1j * TURN), dtype=Complex, init=z(j)),
        total("G", OUT, IN, x(k) * Cos(TURN), init=2 * x(j) - 1),
        total("H", HALF, IN, x(k) * Exp(1j * TURN) * 0.5, dtype=Complex, init=start),
    ]
    check(sums, lengths, calls=3)


def test_half_a_spectrum_of_nothing_is_what_starts_it() -> None:
    """Whatever the scale is there: 1 / 0, or an element that does not exist."""
    row = [(i, upto(M)), *HALF]
    sums = [
        total("F", HALF, IN, x(k) * Cos(TURN) / N),
        total("G", HALF, IN, x(0) * x(k) * Sin(TURN), init=2.5),
        total("H", row, IN, X(i, k) * Cos(TURN) / N, init=y(j)),
        total("P", row, BOTH_IN, X(l, k) * Cos(TURNS) / (M * N)),
        total("Q", HALF, IN, x(k) * Exp(-1j * TURN) / N, dtype=Complex, init=y(j)),
    ]
    for each in sums:
        check(each, [{"M": m, "N": n} for m, n in ((3, 0), (0, 0), (2, 1), (2, 5))])
    start, matrix = np.array([2.5]), np.zeros((3, 0))
    assert pm.compile(sums[2], name="plain", options=FORCED)(X=matrix, y=start).tolist() == [[2.5]] * 3


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_whole_spectrum_of_two_dimensions(sign: int) -> None:
    sizes = [{"M": m, "N": n} for m, n in ((0, 2), (1, 1), (1, 4), (3, 8), (8, 3), (7, 5), (2, 2))]
    check(total("F", BOTH, BOTH_IN, X(l, k) * Exp(sign * 1j * TURNS), dtype=Complex), sizes)
    threads = Options(fft="always", threads=2, parallel_threshold=0)
    large = total("F", BOTH, BOTH_IN, X(l, k) * Exp(sign * 1j * TURNS) / N, dtype=Complex)
    compiled = pm.compile(large, name="large", options=threads)
    values = np.random.default_rng(1).uniform(-1, 1, (150, 132))
    expected = np.fft.fft2(values) if sign < 0 else np.fft.ifft2(values) * values.size
    np.testing.assert_allclose(compiled(values), expected / 132, atol=1e-10)


def test_indices_that_run_backwards_or_from_elsewhere() -> None:
    lengths = [{"N": n} for n in LENGTHS]
    reversed_ = total("F", OUT, IN, z(N - 1 - k) * Exp(-1j * TURN), dtype=Complex)
    cosines = total("G", OUT, IN, x(N - 1 - k) * Cos(TURN))
    back = total("H", OUT, IN, z(k) * Exp(-2j * math.pi * (N - j) * k / N), dtype=Complex)
    check([reversed_, cosines, back], lengths, calls=3)
    moved = [(k, Interval(Int, 1, N))]
    weights = Exp(-2j * math.pi * j * (k - 1) / N), Exp(2j * math.pi * (j * (k - 1) % N) / N)
    named = zip("FG", weights, strict=True)
    check(
        [total(name, OUT, moved, z(k - 1) * weight, dtype=Complex) for name, weight in named],
        lengths,
        calls=2,
    )


def test_infinities_and_nan_reach_every_sum() -> None:
    compiled = pm.compile(total("F", OUT, IN, x(k) * Cos(TURN)), name="plain", options=FORCED)
    for bad in (np.nan, np.inf):
        values = np.ones(12)
        values[3] = bad
        assert not np.isfinite(compiled(values)).any()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (x(k) * Cos(math.pi * j * (2 * k + 1) / (2 * N)), "its phase has more in it"),  # a cosine transform
        (x(k) * Cos(math.pi * j * k / N), "its phase is not 2 pi j k / (N), for as many k"),
        (x(k) * Cos(2 * math.pi * (j + 1) * k / N), "its phase has more in it"),
        (x(k) * (Cos(TURN) + Sin(TURN)), "its cosines and sines have different factors"),  # of Hartley
        (x(k) * Cos(TURN) * Cos(TURN), "no exponential, cosine or sine of one phase"),
        (x(k) * x(k) * Cos(TURN), "x(k) * x(k) is no array element: compute it in a stage before"),
        (Cos(TURN) * x(k) / x(k), "it is divided by x(k)"),
        (x(j) * Cos(TURN), "depends on the index of the result, j"),
        (x(0) * x(k) * Cos(TURN) + x(k) * Sin(TURN), "different scales"),
        (x(k) * Cos(TURN) * (j + 1), "its weight j + 1 is no sum of exponentials, cosines and sines"),
        (x(k) * Cos(TURN) * Sqrt(j + 1.0), "its weight Sqrt(j + 1.0) is no sum of exponentials"),
        (x(k) * Select(Condition(j, "<", 3), Cos(TURN), 0.0), "its weight Select(j < 3, Cos("),
        (x(k) * Cos(TURN) + x(k), "one of its terms has no wave"),
        (abs(x(k)) * Cos(TURN), "Abs(x(k)) is no array element: compute it in a stage before"),
        (Real(z(k)) * Cos(TURN), "Real(z(k)) is no array element: compute it in a stage before"),
        (Real(z(k) * Exp(-1j * TURN)), "is summed: take Real of the sum, in a stage behind"),
        (Imag(x(k) * Exp(-1j * TURN)), "is summed: take Imag of the sum, in a stage behind"),
        (v(k) * Cos(TURN), "v(k) is Float and the result Double: convert it in a stage before"),
        (Cast(Double, v(k)) * Cos(TURN), "v(k) is Float and the result Double"),
        (Vector(Int, "u", [N])(k) * Cos(TURN), "u(k) is Int and the result Double: convert it in a stage"),
    ],
)
def test_why_a_sum_is_no_transform(value: Any, reason: str) -> None:
    built = verify(build([total("F", OUT, IN, value)]))
    found = plain_transforms(built, FORCED, {}, GENERIC, InstalledLibraries())
    assert found.stages == built.stages
    (note,) = found.notes
    assert re.match(r"F \(\S+recognise.py:\d+\) is no transform of a library: ", note)
    assert reason in note


@pytest.mark.parametrize(
    ("dtype", "value", "reason"),
    [
        (Float, v(k) * Cos(TURN), "is Double and the result Float: write Cast(Float, ...) around it"),
        (Float, Cast(Float, v(k) * Cos(TURN)), "write Cast(Float, ...) around it"),
        (Float, x(k) * Cos(TURN), "x(k) is Double and the result Float: convert it in a stage before"),
        (
            ComplexFloat,
            v(k) * Exp(-1j * TURN),
            "is Complex and the result ComplexFloat: write Cast(ComplexFl",
        ),
        (Complex, v(k) * Exp(-1j * TURN), "v(k) is Float and the result Complex"),
        (Double, x(k) * Cos(TURN) * x(k) ** 3, "x(k) ** 3 is no array element"),
    ],
)
def test_why_a_sum_in_several_precisions_is_no_transform(dtype: Any, value: Any, reason: str) -> None:
    built = verify(build([total("F", OUT, IN, value, dtype=dtype)]))
    (note,) = plain_transforms(built, FORCED, {}, GENERIC, InstalledLibraries()).notes
    assert reason in note


def test_sums_that_look_like_no_transform_have_no_reason() -> None:
    signal = irfft(Signal(Complex, "z", N // 2 + 1), N)
    for built in (
        build([total("F", OUT, IN, v(k) * Cos(0.1 * k))]),
        build([total("F", OUT, IN, v(k) * Exp(-1.0 * j * k))]),
        build([total("F", OUT, IN, abs(x(k)) * Cos(TURN), op=Op.Max)]),
        build([signal]),  # is a transform as it stands
    ):
        assert plain_transforms(verify(built), FORCED, {}, GENERIC, InstalledLibraries()).notes == ()


def test_other_ranges_and_operations() -> None:
    value = x(k) * Cos(TURN)
    for output in (
        total("F", OUT, [(k, Interval(Int, 0, j))], value),
        total("F", [(j, Interval(Int, 0, N // 3))], IN, value),
        total("F", [(j, Interval(Int, 1, N - 1))], IN, value),
    ):
        built = verify(build([output]))
        assert len(plain_transforms(built, FORCED, {}, GENERIC, InstalledLibraries()).notes) == 1
    for output in (total("F", OUT, IN, value, op=Op.Max), total("F", OUT, IN, x(k) * Cos(TURN / j * 1.0))):
        built = verify(build([output]))
        assert plain_transforms(built, FORCED, {}, GENERIC, InstalledLibraries()) is built


def test_few_values_are_summed_up() -> None:
    """Where a library is asked for, and the sums are predicted to be quicker."""
    F = total("F", OUT, IN, x(k) * Cos(TURN))
    for length, calls in ((2, ()), (4096, ("fft",))):
        report = pm.compile(F, name="plain", estimates={N: length}).explain()
        assert sum((group.library_calls for group in report.groups), ()) == calls
        assert "by sums" in str(report)
        assert "by a library" in str(report)


def test_never_means_sums() -> None:
    F = total("F", OUT, IN, x(k) * Cos(TURN))
    report = pm.compile(F, name="plain", options=Options(fft="never")).explain()
    assert [group.library_calls for group in report.groups] == [()]
