"""Stages of even and odd points: which are put into their reader, and that no value changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.graph.build import build
from polymat.graph.inlinedturns import inline_turns
from polymat.graph.interpret import interpret
from polymat.graph.pipeline import Pipeline
from polymat.poly.membership import members

N, M = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Int, "M")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
FINE, COARSE = pm.Image(pm.Float, "fine", [N, M + 3]), pm.Image(pm.Float, "coarse", [N, M // 2 + 3])


def function(name: str, *defn: Any, high: Any = M - 1) -> pm.Function:
    spans = [pm.Interval(pm.Int, 0, N - 1), pm.Interval(pm.Int, 0, high)]
    made = pm.Function(([i, j], spans), pm.Float, name)
    made.defn = list(defn)
    return made


def by_turns(*values: Any, name: str = "twice") -> pm.Function:
    cases = [pm.Case(pm.Condition(j % len(values), "==", k), value) for k, value in enumerate(values)]
    return function(name, *cases, high=M + 1)


EVEN = (COARSE(i, j // 2) + 6 * COARSE(i, j // 2 + 1)) * 0.125
ODD = (4 * COARSE(i, (j - 1) // 2) + 4 * COARSE(i, (j + 1) // 2)) * 0.125


def names(pipeline: Pipeline) -> list[str]:
    return [stage.name for stage in pipeline.stages]


def check(given: Pipeline) -> Pipeline:
    """The pipeline after the pass, with the same values."""
    found = inline_turns(given)
    for n, m in ((1, 1), (2, 2), (3, 7), (2, 34)):
        rng = np.random.default_rng(m)
        arrays: dict[str, Any] = {"fine": rng.random((n, m + 3), dtype=np.float32)}
        arrays["coarse"] = rng.random((n, m // 2 + 3), dtype=np.float32)
        sizes = {"N": n, "M": m}
        before, after = (interpret(each, arrays, sizes, members) for each in (given, found))
        np.testing.assert_array_equal(after["less"], before["less"])
    return found


@pytest.mark.parametrize("shift", [0, 1, 2])
def test_even_and_odd_points_are_put_into_their_reader(shift: int) -> None:
    twice = by_turns(EVEN, ODD)
    found = check(build([function("less", FINE(i, j) - twice(i, j + shift))]))
    assert names(found) == ["less"]
    assert len(found.stages[0].parts) == 2


def test_several_are_put_into_one_reader() -> None:
    one, other = by_turns(EVEN, ODD), by_turns(ODD * 2, EVEN, name="other")
    found = check(build([function("less", FINE(i, j) - one(i, j) * other(i, j + 1))]))
    assert names(found) == ["less"]


def stays(*outputs: pm.Function) -> None:
    given = build(outputs)
    assert inline_turns(given) is given


def test_what_is_read_at_two_points_stays() -> None:
    twice = by_turns(EVEN, ODD)
    stays(function("less", FINE(i, j) - twice(i, j) * twice(i, j + 1)))


def test_what_two_read_stays() -> None:
    twice = by_turns(EVEN, ODD)
    stays(function("less", FINE(i, j) - twice(i, j)), function("more", FINE(i, j) + twice(i, j)))


def test_outputs_stay() -> None:
    twice = by_turns(EVEN, ODD)
    stays(twice, function("less", FINE(i, j) - twice(i, j)))


def test_what_is_read_beside_nothing_else_stays() -> None:
    twice = by_turns(EVEN, ODD)
    stays(function("less", twice(i, j) * 2.0))


def test_what_reads_other_elements_stays() -> None:
    twice = by_turns(EVEN, FINE(i, j))
    stays(function("less", FINE(i, j) - twice(i, j)))


def test_three_turns_stay() -> None:
    third = COARSE(i, j // 3)
    twice = by_turns(third, third * 2.0, third * 3.0)
    stays(function("less", FINE(i, j) - twice(i, j)))


def test_a_reader_with_other_turns_stays() -> None:
    twice = by_turns(EVEN, ODD)
    cases = [pm.Case(pm.Condition(j % 4, "==", k), FINE(i, j) * k - twice(i, j)) for k in range(4)]
    stays(function("less", *cases))


def test_what_is_rounded_point_by_point_stays() -> None:
    fine, coarse = pm.Image(pm.Half, "fine", [N, M]), pm.Image(pm.Half, "coarse", [N, M // 2 + 1])
    spans = [pm.Interval(pm.Int, 0, N - 1), pm.Interval(pm.Int, 0, M - 1)]
    twice, less = (pm.Function(([i, j], spans), pm.Half, name) for name in ("twice", "less"))
    values = coarse(i, j // 2), coarse(i, j // 2) * 0.5
    twice.defn = [pm.Case(pm.Condition(j % 2, "==", k), value) for k, value in enumerate(values)]
    less.defn = [fine(i, j) - twice(i, j)]
    stays(less)
