"""Where arrays between sections lie: planes of steps that go backwards, and of functions that are ahead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Function, Int, Interval
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.graph.interpretsteps import interpret_stepwise
from polymat.graph.sections import in_sections
from polymat.graph.stepwise import Stepwise, held_text
from polymat.graph.verifypipeline import verify
from polymat.poly.membership import members

T, N = pm.Parameter(Int, "T"), pm.Parameter(Int, "N")
t, i = pm.Variable(Int, "t"), pm.Variable(Int, "i")
x = pm.Vector(pm.Double, "x", [N])
DOMAIN = ([t, i], [Interval(Int, 0, T), Interval(Int, 0, N - 1)])


def backwards() -> tuple[Function, ...]:
    """Two functions of what comes later."""
    p, r = (Function(DOMAIN, pm.Double, name) for name in "pr")
    for one, other in ((p, r), (r, p)):
        earlier = Case(Condition(t, "<", T), other(t + 1, N - 1 - i) + one(t + 1, i) * 0.5)
        one.defn = [Case(Condition(t, "==", T), x(i)), earlier]
    return p, r


def ahead() -> tuple[Function, ...]:
    """Two functions of which one is a step ahead of the other."""
    p, r = (Function(DOMAIN, pm.Double, name) for name in "pr")
    p.defn = [Case(Condition(t, "<", T), r(t + 1, N - 1 - i) + 1.0), Case(Condition(t, "==", T), x(i))]
    r.defn = [Case(Condition(t, "<", 3), x(i) * t), Case(Condition(t, ">=", 3), p(t - 3, i) * 2.0)]
    return p, r


@pytest.mark.parametrize(
    ("outputs", "texts"),
    [
        (
            backwards(),
            ["T + 1 of T + 1 planes back to 0", "T + 1 of T + 1 planes back to 0"],
        ),
        (
            ahead(),
            ["T + 1 of T + 1 planes from 1", "T + 1 of T + 1 planes from 0"],
        ),
    ],
    ids=["backwards", "ahead"],
)
def test_planes_of_results_lie_where_the_caller_has_them(
    outputs: tuple[Function, ...], texts: list[str]
) -> None:
    """Nothing is copied behind the steps: every section takes steps."""
    pipeline = verify(build(list(outputs)))
    sections = in_sections(pipeline)
    assert isinstance(sections, Stepwise)
    expected = [f"output  {name}: Double [N], {text}" for name, text in zip("pr", texts, strict=True)]
    assert [held_text(held) for held in sections.held] == expected
    assert all(section.steps is not None for section in sections.sections)
    for steps, size in ((0, 3), (1, 4), (2, 0), (7, 1), (8, 5)):
        given: dict[str, Any] = {"x": np.random.default_rng(size).random(size)}
        sizes = {"T": steps, "N": size}
        whole = interpret(pipeline, given, sizes)
        stepwise = interpret_stepwise(sections, given, sizes, members)
        for name in ("p", "r"):
            np.testing.assert_array_equal(stepwise[name], whole[name])
