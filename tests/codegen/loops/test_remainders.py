"""Loops that divide their index, by blocks of points, against the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.c.ctree import Assign, CBinary, CCall, For, Id, Literal, Subscript
from polymat.codegen.c.vectorloops import VECTORS
from polymat.codegen.loops.innermost import DIVISION
from polymat.codegen.loops.remainders import split_by_remainder
from tests.tolerance import assert_close

C = pm.Parameter(pm.Int, "C")
ROWS = 3
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
BLOCK = "_pm_block"
LENGTHS = [0, 1, 2, 3, 4, 5, 7, 12, 13, 31, 32, 33, 95, 96, 97, 130]


def doubled(x: Any) -> Any:
    return x(i, j // 2) + 3.0 * x(i, (j + 1) // 2)


def both_ways(x: Any) -> Any:
    """Rows are divided too, and rows and columns are added up before a division."""
    return x(i // 2, j // 2) - x(i, (i + j + 5) // 2)


def thirds(x: Any) -> Any:
    """Different divisors: blocks of six."""
    return x(i, j // 3) * x(i, (j + 1) // 2) - x(i, j)


def halves_of_thirds(x: Any) -> Any:
    return x(i, (3 * j) // 2) + x(i, (2 * j) // 4)


def longer_blocks(x: Any) -> Any:
    """More points than a block may have: the division stays."""
    return x(i, j // 3) + x(i, j // 5)


def shared(x: Any) -> Any:
    slope = x(i, j // 2) - x(i, j // 2 + 1)
    return slope * slope + pm.Sqrt(slope * slope)


def compiled_stage(value: Callable[[Any], Any], kind: Any, first: int = 0) -> pm.Compiled:
    image = pm.Image(kind, "image", [ROWS, 2 * C + 8])
    spans = [pm.Interval(pm.Int, 0, ROWS - 1), pm.Interval(pm.Int, first, C - 1)]
    found = pm.Function(([i, j], spans), kind, "found")
    found.defn = [value(image)]
    return pm.compile(found, name=f"{value.__name__}_{kind}_{first}", inputs=[image])


@pytest.mark.parametrize(
    ("value", "count", "first"),
    [
        (doubled, 2, 0),
        (doubled, 2, 3),
        (both_ways, 2, 1),
        (thirds, 6, 0),
        (thirds, 6, 2),
        (halves_of_thirds, 2, 1),
        (shared, 2, 0),
        (longer_blocks, 0, 0),
    ],
)
def test_blocks_of_points(value: Callable[[Any], Any], count: int, first: int) -> None:
    compiled = compiled_stage(value, pm.Float, first)
    assert (f"{count} * {BLOCK}" in compiled.source) == bool(count)
    assert (BLOCK in compiled.source) == bool(count)
    for columns in LENGTHS:
        array = np.random.default_rng(columns).random((ROWS, 2 * columns + 8), dtype=np.float32)
        assert_close(compiled(array), compiled.reference(array), roundings=6, magnitude=8.0)


def test_negative_indices() -> None:
    """A block begins at a multiple, below zero as above."""
    image = pm.Image(pm.Double, "image", [C + 20])
    found = pm.Function(([j], [pm.Interval(pm.Int, -7, C - 1)]), pm.Double, "found")
    found.defn = [image(j // 2 + 4) - image((j + 1) // 2 + 5)]
    last = pm.Function(([j], [pm.Interval(pm.Int, 0, C + 6)]), pm.Double, "last")
    last.defn = [found(j - 7)]
    compiled = pm.compile(last, name="negative", options=pm.Options(inline=False, fuse=False))
    assert BLOCK in compiled.source
    for columns in range(9):
        array = np.random.default_rng(columns).random(columns + 20)
        assert_close(compiled(array), compiled.reference(array), roundings=1)


def test_only_loops_of_independent_points_are_blocked() -> None:
    division = CCall(DIVISION, (Id("j"), Literal("2")))
    body = Assign(Subscript(Id("y"), Id("j")), "=", Subscript(Id("x"), division))
    condition = CBinary("<", Id("j"), Id("n"))
    loop = For("j", Literal("0"), condition, Literal("1"), (body,), (VECTORS,))
    plain = For("j", Literal("0"), condition, Literal("1"), (body,))
    assert split_by_remainder([loop]) != (loop,)
    assert split_by_remainder([plain]) == (plain,)
