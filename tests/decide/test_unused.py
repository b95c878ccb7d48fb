"""An option that has no effect is an error that says why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from tests.errors.told import told
from tests.fixed import WIDE
from tests.hosts import CompileFor

N = pm.Parameter(pm.Int, "N")
A = pm.Matrix(pm.Double, "A", [N, N])
x = pm.Vector(pm.Double, "x", [N])


@pytest.mark.parametrize(
    ("options", "why", "hint"),
    [
        (
            {"blas": "never"},
            "f is computed by register blocks, which have sizes of their own",
            "tiles are for stages that share data; blas='never', kernels=False leave it to loops",
        ),
        ({"fuse": False}, "fuse=False leaves tiles out", "leave one of the two out"),
        ({"tile": False}, "tile=False leaves tiles out", "leave one of the two out"),
    ],
)
def test_tile_sizes_of_a_product(options: dict[str, Any], why: str, hint: str) -> None:
    def program() -> None:
        i, j, k = (pm.Variable(pm.Int, name) for name in "ijk")
        whole = pm.Interval(pm.Int, 0, N - 1)
        f = pm.Reduction(([i, j], [whole, whole]), ([i, j, k], [whole] * 3), pm.Double, "f")
        f.defn = [pm.Reduce(f(i, j), A(i, k) * A(k, j), pm.Op.Sum)]
        pm.compile(f, options=pm.Options(tile_sizes=(4, 8), **options))

    text = told(pm.OptionError, program)
    assert f"Options.tile_sizes=(4, 8) has no effect: {why}" in text
    assert text.endswith(f"hint: {hint}")


def test_tile_sizes_of_one_stage_by_itself() -> None:
    with pytest.raises(pm.OptionError, match=r"has no effect: .* runs by itself, row by row"):
        pm.compile(x + 1, options=pm.Options(tile_sizes=(4,)))


def test_tile_sizes_that_have_an_effect() -> None:
    total = A.sum(axis=1)
    compiled = pm.compile([total, A @ x], options=pm.Options(tile_sizes=(4,), kernels=False, blas="never"))
    data = np.arange(36.0).reshape(6, 6)
    np.testing.assert_allclose(compiled(data, np.ones(6))[0], data.sum(1))


def test_more_tile_sizes_than_tiles_have_dimensions() -> None:
    def program() -> None:
        options = pm.Options(tile_sizes=(4, 8), kernels=False, blas="never")
        pm.compile([A.sum(axis=1), A @ x], options=options)

    text = told(pm.OptionError, program)
    assert "Options.tile_sizes=(4, 8) has 2 sizes, of which tiles take 1 at most" in text


@pytest.mark.parametrize("written", ["[R(y), R(x), V(x, {})]", "[R(x), R(y), V(y, {})]"])
def test_vectors_that_the_processor_does_not_have(written: str, compile_for: CompileFor) -> None:
    """In an order that the loops have by themselves, and in another one."""
    r, c = (pm.Variable(pm.Int, name) for name in "xy")
    whole = pm.Interval(pm.Int, 0, N - 1)
    f = pm.Function(([r, c], [whole, whole]), pm.Double, "f")
    f.defn = [A(r, c) * 2.0 + A(c, r)]
    lanes = WIDE.lanes(8)

    def scheme(size: int) -> pm.Options:
        return pm.Options(scheme={"f": written.format(size)})

    compile_for(WIDE)
    pm.compile(f, options=scheme(lanes))
    with pytest.raises(pm.OptionError, match=rf"V\(., {lanes - 1}\) is no vector"):
        pm.compile(f, options=scheme(lanes - 1))
