"""Stages that one reader takes at all planes of a point: which are put into it, and that no value changes."""

from __future__ import annotations

from typing import Any

import numpy as np

import polymat as pm
from polymat.graph.build import build
from polymat.graph.inlinedplanes import inline_planes
from polymat.graph.interpret import interpret
from polymat.graph.pipeline import Pipeline
from polymat.poly.membership import members

N, M = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Int, "M")
c, i, j = (pm.Variable(pm.Int, name) for name in "cij")
LAYERS = pm.Image(pm.Float, "layers", [4, N + 1, M + 1])
ALPHA = LAYERS(3, i, j)


def function(name: str, planes: int, value: Any, rows: Any = N - 1) -> pm.Function:
    spans = [(0, planes - 1), (0, rows), (0, M - 1)]
    made = pm.Function(([c, i, j], [pm.Interval(pm.Int, *span) for span in spans]), pm.Float, name)
    made.defn = [value]
    return made


def weighed(rows: Any = N - 1) -> pm.Function:
    return function("weighed", 4, LAYERS(c, i, j) * ALPHA + (1 - ALPHA) * LAYERS(c, i, j + 1), rows)


def names(pipeline: Pipeline) -> list[str]:
    return [stage.name for stage in pipeline.stages]


def stays(*outputs: pm.Function) -> None:
    """Nothing is put anywhere."""
    given = build(outputs)
    assert inline_planes(given) is given


def test_what_is_read_at_all_planes_of_a_point_is_put_into_its_reader() -> None:
    f = weighed()
    given = build([function("shares", 3, f(c, i, j) / f(3, i, j))])
    found = inline_planes(given)
    assert names(found) == ["shares"]
    for n, m in ((1, 1), (3, 7), (5, 33)):
        layers = np.random.default_rng(3).uniform(0.5, 1, size=(4, n + 1, m + 1)).astype(np.float32)
        before, after = (
            interpret(each, {"layers": layers}, {"N": n, "M": m}, members) for each in (given, found)
        )
        np.testing.assert_array_equal(after["shares"], before["shares"])


def test_rows_and_columns_may_be_moved() -> None:
    f = weighed(N)
    value = f(c + 1, i + 1, j) / f(0, i + 1, j)
    assert names(inline_planes(build([function("shares", 3, value)]))) == ["shares"]


def test_what_neighbours_are_read_of_stays() -> None:
    f = weighed(N)
    stays(function("shares", 3, f(c, i, j) / f(3, i + 1, j)))
    stays(function("shares", 3, f(c, i, j) / f(3, i, j) + f(c, i + 1, j)))


def test_what_two_read_stays() -> None:
    f = weighed()
    value = f(c, i, j) / f(3, i, j)
    stays(function("shares", 3, value), function("others", 3, value + 1))


def test_outputs_stay() -> None:
    f = weighed()
    stays(f, function("shares", 3, f(c, i, j) / f(3, i, j)))


def test_a_plane_that_is_one_of_the_readers_own_is_not_computed_twice() -> None:
    f = weighed()
    stays(function("shares", 4, f(c, i, j) / f(3, i, j)))


def test_what_is_read_at_half_the_place_stays() -> None:
    f = weighed()
    stays(function("shares", 3, f(c, i // 2, j) / f(3, i // 2, j)))


def test_what_many_planes_read_stays() -> None:
    f = function("weighed", 6, LAYERS(c // 2, i, j) * ALPHA)
    stays(function("shares", 5, f(c, i, j) / f(5, i, j)))


def test_what_an_index_chooses_stays() -> None:
    f = weighed()
    stays(function("shares", 3, pm.Select(pm.Condition(i, ">=", 1), f(c, i, j) / f(3, i, j), ALPHA)))


def test_what_is_compared_with_another_plane_stays_and_is_rounded_alike() -> None:
    f = weighed()
    alike = pm.Select(pm.Condition(f(c, i, j), "==", f(3, i, j)), 1.0, 0.0) / (ALPHA * ALPHA)
    shares = function("shares", 3, alike)
    stays(shares)
    one = np.random.default_rng(3).uniform(0.5, 1, size=(1, 8, 71)).astype(np.float32)
    found = pm.compile(shares, inputs=[LAYERS])(np.repeat(one, 4, axis=0))
    assert found.all()
