"""Borders that nobody reads: which are left out, and that the values that are asked for stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.graph.pipeline import Pipeline
from polymat.graph.unreadborders import leave_out_borders
from polymat.poly.membership import members

N, M = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Int, "M")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
SHAPES = [(n, m) for n in (0, 1, 2, 3, 8) for m in (0, 1, 4, 7, 10)]


def function(name: str, rows: Any, columns: Any, *defn: Any, **more: Any) -> pm.Function:
    spans = [pm.Interval(pm.Int, *rows), pm.Interval(pm.Int, *columns)]
    found = pm.Function(([i, j], spans), pm.Double, name, **more)
    found.defn = list(defn)
    return found


def framed(name: str, value: Any) -> pm.Function:
    """Zeros around what is defined from 1 to N and to M."""
    inside = pm.Condition(i, ">=", 1) & pm.Condition(i, "<=", N)
    inside &= pm.Condition(j, ">=", 1) & pm.Condition(j, "<=", M)
    return function(name, (0, N + 1), (0, M + 1), pm.Case(inside, value), default=0.0)


IMAGE = pm.Image(pm.Double, "image", [N + 2, M + 2])


def read_at(*places: tuple[int, int]) -> Pipeline:
    """A frame, and a reader of its neighbours at some distances."""
    f = framed("f", IMAGE(i, j) * 2.0 + IMAGE(i + 1, j + 1))
    return build([function("y", (1, N), (1, M), sum(f(i + a, j + b) for a, b in places))])


def limits(pipeline: Pipeline, name: str = "f") -> list[tuple[str, str]]:
    return [(str(low), str(high)) for low, high in pipeline.stage(name).bounds]


def check(given: Pipeline) -> None:
    """The values of the outputs at small sizes, by the interpreter."""
    for n, m in SHAPES:
        arrays, sizes = {"image": np.random.default_rng(3).uniform(size=(n + 2, m + 2))}, {"N": n, "M": m}
        before = interpret(given, arrays, sizes, members)
        after = interpret(leave_out_borders(given), arrays, sizes, members)
        for name in given.outputs:
            np.testing.assert_array_equal(after[name], before[name])


def test_the_sides_that_are_not_read_are_left_out() -> None:
    given = read_at((-1, 0), (0, 0))
    found = leave_out_borders(given)
    assert limits(found) == [("0", "N"), ("1", "M")]
    assert len(found.stage("f").parts) == 2
    check(given)


def test_what_is_left_of_one_part_has_no_condition() -> None:
    given = read_at((0, 0))
    found = leave_out_borders(given)
    (part,) = found.stage("f").parts
    assert limits(found) == [("1", "N"), ("1", "M")]
    assert part.condition is None
    assert not part.fills
    check(given)


def test_all_sides_that_are_read_stay() -> None:
    given = read_at((-1, 0), (1, 0), (0, -1), (0, 1))
    assert leave_out_borders(given) is given


def test_a_stage_that_is_read_less_reads_less_itself() -> None:
    f = framed("f", IMAGE(i, j))
    g = framed("g", f(i - 1, j) + f(i, j))
    given = build([function("y", (2, N), (1, M), g(i, j) + g(i, j - 1))])
    found = leave_out_borders(given)
    assert limits(found, "g") == [("2", "N"), ("0", "M")]
    assert limits(found) == [("1", "N"), ("1", "M")]
    check(given)


def test_several_readers_count_together() -> None:
    f = framed("f", IMAGE(i, j))
    readers = [
        function("y", (1, N), (1, M), f(i - 1, j)),
        function("z", (1, N), (1, M), f(i, j + 1)),
    ]
    given = build(readers)
    assert limits(leave_out_borders(given)) == [("0", "N"), ("1", "M + 1")]
    check(given)


def test_outputs_and_stages_of_one_part_stay() -> None:
    f = framed("f", IMAGE(i, j))
    given = build([f, function("y", (1, N), (1, M), f(i, j))])
    assert leave_out_borders(given) is given
    plain = function("f", (0, N + 1), (0, M + 1), IMAGE(i, j))
    alone = build([function("y", (1, N), (1, M), plain(i, j) + plain(i, j))])
    assert leave_out_borders(alone) is alone


def test_no_more_layers_than_two_on_a_side_are_looked_at() -> None:
    wide = function(
        *("f", (0, N + 9), (0, M)),
        *(pm.Case(pm.Condition(i, "<=", 4), 1.0), pm.Case(pm.Condition(i, ">=", 5), 2.0)),
    )
    given = build([function("y", (5, N + 5), (0, M), wide(i, j))])
    assert limits(leave_out_borders(given)) == [("2", "N + 7"), ("0", "M")]


def test_an_extent_never_becomes_negative() -> None:
    """Of two rows and more the last one may be left out; where there may be none at all it stays."""
    last = pm.Condition(i, "==", N - 1)
    others = pm.Condition(i, "<=", N - 2)
    f = function("f", (0, N - 1), (0, M), pm.Case(last, 0.0), pm.Case(others, IMAGE(i, j)))
    given = build([function("y", (0, N - 2), (0, M), f(i, j))])
    assert leave_out_borders(given) is given


@pytest.mark.parametrize("shape", SHAPES)
def test_compiled_as_interpreted(shape: tuple[int, int]) -> None:
    f = framed("f", IMAGE(i, j) * 0.5)
    g = framed("g", f(i - 1, j) + f(i, j) + f(i, j + 1))
    y = function("y", (1, N), (1, M), g(i, j) / (1.0 + g(i, j - 1)))
    compiled = pm.compile(y, name="borders", inputs=[IMAGE])
    image = np.random.default_rng(5).uniform(size=(shape[0] + 2, shape[1] + 2))
    np.testing.assert_allclose(compiled(image), compiled.reference(image), rtol=1e-14)
