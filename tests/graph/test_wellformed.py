"""What rewrites of a pipeline must not do is found by its form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from polymat import Double, Int, InternalError, Matrix, Parameter, Vector
from polymat.graph.build import build
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.graph.wellformed import check_form
from polymat.lang.expr import Const

N = Parameter(Int, "N")
A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])
x = Vector(Double, "x", [N])


def pipeline() -> Pipeline:
    return build([((A @ B).named("t") @ x).named("y")])


def with_stage(name: str, change: Callable[[Stage], Stage]) -> Pipeline:
    found = pipeline()
    return replace(found, stages=tuple(change(s) if s.name == name else s for s in found.stages))


def test_what_is_built_is_well_formed() -> None:
    check_form(pipeline())


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (
            lambda: replace(pipeline(), stages=pipeline().stages[1:]),
            "y reads t, which does not come before it",
        ),
        (
            lambda: replace(pipeline(), stages=pipeline().stages[::-1]),
            "y reads t, which does not come before it",
        ),
        (lambda: replace(pipeline(), stages=pipeline().stages[:1]), "the output y is no stage"),
        (lambda: with_stage("t", lambda s: replace(s, name="A")), "A is the name of 2 arrays"),
        (
            lambda: with_stage("t", lambda s: replace(s, dims=("i", "i"))),
            r"t: its dimensions \[i, i\] have a name",
        ),
        (lambda: with_stage("y", lambda s: replace(s, op=None)), "y: a reduction has an operation and sums"),
        (
            lambda: with_stage("t", lambda s: replace(s, dims=("i",), bounds=s.bounds[:1])),
            r"t: its dimensions are \[i\], of its domain \[i, j\]",
        ),
    ],
)
def test_what_is_not_is_named(broken: Callable[[], Pipeline], fault: str) -> None:
    with pytest.raises(InternalError, match=f"bug in polymat: {fault}"):
        check_form(broken())


def test_a_sum_reads_with_as_many_indices_as_there_are() -> None:
    def change(stage: Stage) -> Stage:
        (item,) = stage.accumulations
        return replace(stage, accumulations=(replace(item, target=()),))

    with pytest.raises(InternalError, match="y: a sum into 0 indices of 1"):
        check_form(with_stage("y", change))


def test_constants_are_no_names() -> None:
    def change(stage: Stage) -> Stage:
        return replace(stage, parts=(replace(stage.parts[0], expr=Const(0.0, stage.dtype)),))

    check_form(with_stage("y", change))
