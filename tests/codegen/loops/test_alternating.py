"""Even and odd points of a row in one loop, beside the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from tests.tolerance import assert_close

C, R = pm.Parameter(pm.Int, "C"), pm.Parameter(pm.Int, "R")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
BLOCK = "_pm_block"
LENGTHS = [0, 1, 2, 3, 4, 5, 7, 16, 31, 33, 66]


def turn(index: Any, period: int, rest: int) -> pm.Condition:
    found: pm.Condition = pm.Condition(index % period, "==", rest)
    return found


def halves(x: Any) -> list[Any]:
    """Twice as many columns."""
    return [
        pm.Case(turn(j, 2, 0), x(i, j // 2)),
        pm.Case(turn(j, 2, 1), 0.5 * (x(i, (j - 1) // 2) + x(i, (j + 1) // 2))),
    ]


def mosaic(x: Any) -> list[Any]:
    """Rows take turns as well, and the even columns come last."""
    return [
        pm.Case(turn(i, 2, row) & turn(j, 2, column), x(i // 2, j // 2) * (1.0 + row + 2 * column))
        for row in (1, 0)
        for column in (1, 0)
    ]


def quarters(x: Any) -> list[Any]:
    return [pm.Case(turn(j, 4, k), x(i, j) * x(i, j + k)) for k in range(4)]


def shared(x: Any) -> list[Any]:
    """Each part has a value that occurs twice."""
    slopes = [x(i, j // 2 + k) - x(i, j // 2) for k in (1, 2)]
    return [pm.Case(turn(j, 2, k), s * s + pm.Sqrt(s * s)) for k, s in enumerate(slopes)]


def bordered(x: Any) -> list[Any]:
    """The first and last columns are something else."""
    inside = pm.Condition(j, ">=", 3) & pm.Condition(j, "<=", C - 3)
    return [
        pm.Case(inside & turn(j, 2, 0), x(i, j)),
        pm.Case(inside & turn(j, 2, 1), -x(i, j)),
        pm.Case(~inside, x(i, j) * 3.0),
    ]


def thirds(x: Any) -> list[Any]:
    """No power of two: each part has a loop of its own."""
    return [pm.Case(turn(j, 3, k), x(i, j) * (1.0 + k)) for k in range(3)]


def uneven(x: Any) -> list[Any]:
    """No turns: one part of the odd columns goes on behind the even ones."""
    short = pm.Condition(j, "<", C // 2)
    return [
        pm.Case(short & turn(j, 2, 0), x(i, j)),
        pm.Case(turn(j, 2, 1), 2.0 * x(i, j)),
        pm.Case(~short & turn(j, 2, 0), 4.0 * x(i, j)),
    ]


def counted_from_the_end(x: Any) -> list[Any]:
    """Whose turn it is depends on the size; the loops of both parts go over two rows at a time."""
    return [pm.Case(turn(j + C, 2, k), (2.0 + k) * x(i + 1 - k, j)) for k in range(2)]


@pytest.mark.covering
@pytest.mark.parametrize(
    ("parts", "count"),
    [
        (counted_from_the_end, 0),
        (halves, 2),
        (mosaic, 2),
        (quarters, 4),
        (shared, 2),
        (bordered, 2),
        (thirds, 0),
        (uneven, 0),
    ],
)
@pytest.mark.parametrize("first", [0, 3])
def test_parts_that_take_turns(parts: Any, count: int, first: int) -> None:
    image = pm.Image(pm.Float, "image", [R + 1, C + 6])
    spans = [pm.Interval(pm.Int, 0, R - 1), pm.Interval(pm.Int, first, C - 1)]
    found = pm.Function(([i, j], spans), pm.Float, "found")
    found.defn = parts(image)
    compiled = pm.compile(found, name=f"{parts.__name__}{first}", inputs=[image])
    assert (f"{count} * {BLOCK}" in compiled.source) == bool(count)
    assert (BLOCK in compiled.source) == bool(count)
    for rows, columns in ((3, length) for length in LENGTHS):
        array = np.random.default_rng(columns).random((rows + 1, columns + 6), dtype=np.float32)
        assert_close(compiled(array), compiled.reference(array), roundings=6, magnitude=8.0)


def test_indices_below_zero_take_turns_too() -> None:
    line = pm.Vector(pm.Float, "line", [C])
    below = pm.Function(([j], [pm.Interval(pm.Int, -5, C - 6)]), pm.Float, "below")
    below.defn = [pm.Case(turn(j, 2, 0), line(j + 5)), pm.Case(turn(j, 2, 1), -line(j + 5))]
    above = pm.Function(([j], [pm.Interval(pm.Int, 0, C - 1)]), pm.Float, "above")
    above.defn = [below(j - 5)]
    compiled = pm.compile(above, inputs=[line], name="below", options=pm.Options(inline=False, fuse=False))
    assert BLOCK in compiled.source
    for length in LENGTHS:
        array = np.arange(1, length + 1, dtype=np.float32)
        np.testing.assert_array_equal(compiled(array), np.where(np.arange(length) % 2, array, -array))


def test_a_half_of_integers_is_rounded_down() -> None:
    line = pm.Vector(pm.Short, "line", [C])
    halved = pm.Function(([j], [pm.Interval(pm.Int, 0, C - 1)]), pm.Short, "halved")
    halved.defn = [line(j) // 2 + pm.Cast(pm.Short, pm.Cast(pm.Long, line(j)) // 16)]
    compiled = pm.compile(halved, inputs=[line], name="halved")
    assert ">> 1" in compiled.source
    assert "floordiv_i16" not in compiled.source
    values = np.array([-32768, -17, -16, -3, -2, -1, 0, 1, 2, 3, 15, 16, 32767], np.int16)
    np.testing.assert_array_equal(compiled(values), values // 2 + values // 16)
    np.testing.assert_array_equal(compiled.reference(values), compiled(values))
