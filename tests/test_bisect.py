"""A mistake planted in a pass is found there, from the numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    ArgumentError,
    Double,
    Function,
    Int,
    Interval,
    Matrix,
    Options,
    Variable,
)
from polymat.bisect import Verdict, _Code, bisect
from polymat.codegen.c import render
from polymat.decide.decider import Decider
from polymat.driver import request_for
from polymat.graph.group import Grouping
from polymat.lang.expr import Const
from polymat.plan.blockedsteps import EliminationPlan
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan
from tests.decide import eliminations
from tests.faulty import N, i, stencils, without_margins, x
from tests.fixed import NARROW
from tests.hosts import CompileFor

A, B, C = (Matrix(Double, name, [N, N]) for name in "ABC")
Planted = Callable[[pytest.MonkeyPatch], None]


def products() -> Function:
    """Sums with terms left out, stages alike, products of three arrays, point-wise stages."""
    k = Variable(Int, "k")
    whole = Interval(Int, 0, N - 1)
    low = pm.Reduction(([i], [whole]), ([i, k], [whole, whole]), Double, "low")
    low.defn = [pm.Reduce(low(i), pm.Select(pm.Condition(k, "<=", i), A(i, k), 0.0), pm.Op.Sum)]
    t, u = (x + 1).named("t"), (x + 2).named("u")
    return (A @ B @ x + low + pm.elementwise_mul(t, u)).named("y")


def found(output: Function, **options: Any) -> Verdict:
    rng = np.random.default_rng(0)
    arrays = {**{name: rng.random((19, 19)) for name in "AB"}, "x": rng.random(19)}
    given = {"x": rng.random(99)} if output.name == "g" else arrays
    request = request_for(output, name="y", options=Options(threads=1, **options))
    return bisect(request, given)


def test_where_all_agree_no_pass_is_at_fault() -> None:
    finding = found(products())
    assert finding.at_fault is None
    assert finding.text.endswith(" agrees with the interpreter")


@pytest.mark.parametrize("size", [1, 2, 19, 64])
def test_definitions_hold_on_their_domains_after_a_rewrite(size: int) -> None:
    """Of a cosine transform, half by a library and half mirrored, without a condition that says so."""
    j, k = Variable(Int, "j"), Variable(Int, "k")
    whole = Interval(Int, 0, N - 1)
    spectrum = pm.Reduction(([j], [whole]), ([j, k], [whole, whole]), Double, "spectrum")
    spectrum.defn = [pm.Reduce(spectrum(j), x(k) * pm.Cos(2 * math.pi * j * k / N), pm.Op.Sum)]
    request = request_for(spectrum, name="y", options=Options(threads=1, fft="always"))
    finding = bisect(request, {"x": np.random.default_rng(0).random(size)})
    assert finding.at_fault is None
    assert "transform: fft" in finding.text


def leave_out_too_much(patch: pytest.MonkeyPatch) -> None:
    def dropped(stage: Any, item: Any) -> Any:
        return replace(item, expr=Const(0.0, stage.dtype))

    patch.setattr("polymat.graph.guards._without", dropped)


def share_what_differs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "polymat.graph.simplify.stage_key", lambda stage: f"{stage.op} {stage.dims} {len(stage.bounds)}"
    )


def lose_an_operand(patch: pytest.MonkeyPatch) -> None:
    from polymat.graph import inline

    substitute = inline.substitute

    def wrong(reader: Any, producer: Any) -> Any:
        part = replace(producer.parts[0], expr=Const(3.0, producer.dtype))
        return substitute(reader, replace(producer, parts=(part,)))

    patch.setattr(inline, "substitute", wrong)


def multiply_in_a_wrong_order(patch: pytest.MonkeyPatch) -> None:
    from polymat.rewrite import productorder

    order = productorder.order_products

    def wrong(*arguments: Any) -> Any:
        ordered = order(*arguments)
        (*first, last) = ordered.pipeline.stages
        twice = replace(last, parts=tuple(replace(p, expr=p.expr * 2) for p in last.parts))
        return replace(ordered, pipeline=ordered.pipeline.with_stages((*first, twice)))

    patch.setattr("polymat.steps.order_products", wrong)


@pytest.mark.parametrize(
    ("plant", "name"),
    [
        (leave_out_too_much, "terms"),
        (share_what_differs, "share"),
        (multiply_in_a_wrong_order, "products"),
        (lose_an_operand, "inline"),
    ],
)
def test_a_mistake_of_a_rewrite_is_found_there(
    plant: Planted, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    finding = found(products())
    assert finding.at_fault == name, finding.text
    assert finding.text.startswith(f"{name}: interpreted after it, y(")
    assert " elements differ)" in finding.text


def test_a_pass_that_fails_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: Decider) -> Grouping:
        raise KeyError("stage")

    monkeypatch.setattr(Decider, "grouping", fails)
    assert found(products()) == Verdict("fusion", "fusion fails with KeyError: 'stage'")


def test_the_first_group_that_is_planned_wrongly_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    decide = Decider.schedule

    def narrow(decider: Decider, grouping: Grouping, chosen: tuple[Plan, ...] = ()) -> Schedule:
        schedule = decide(decider, grouping, chosen)
        return replace(schedule, plans=tuple(map(without_margins, schedule.plans)))

    monkeypatch.setattr(Decider, "schedule", narrow)
    finding = found(stencils(), inline=False, tile_sizes=(16,))
    assert finding.at_fault == "tilesize", finding.text
    assert finding.text.startswith("tilesize, group 1 of 1, f+g: tiles i:16: g("), finding.text
    assert finding.text.endswith("; in plain loops it is right")


def test_too_few_elements_of_a_recurrence_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def single(schedule: Schedule, _: object) -> Schedule:
        return replace(schedule, folds={"f": (1, None)})

    monkeypatch.setattr("polymat.steps.fold_storage", single)
    t, whole = Variable(Int, "t"), Interval(Int, 0, N - 1)
    f = Function(([t, i], [Interval(Int, 0, 5), whole]), Double, "f")
    first, later = pm.Condition(t, "==", 0), pm.Condition(t, ">", 0)
    f.defn = [pm.Case(first, x(i)), pm.Case(later, x(i) - f(t - 1, N - 1 - i))]
    g = Function(([i], [whole]), Double, "g")
    g.defn = [f(5, i) * 2.0]
    finding = found(g)
    assert finding.at_fault == "folds", finding.text
    assert finding.text.endswith("; with all elements of recurrences kept it is right")


def test_an_elimination_in_an_output_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """In plain loops the output is a stage of its own again, and right."""
    run = _Code._run

    def wrong(code: _Code, schedule: Any) -> dict[str, Any]:
        blocked = any(isinstance(plan, EliminationPlan) for plan in schedule.plans)
        return {name: values + blocked for name, values in run(code, schedule).items()}

    monkeypatch.setattr(_Code, "_run", wrong)
    request = request_for([eliminations.unscaled_lu()], name="R", options=Options(threads=1))
    finding = bisect(request, {"A": eliminations.arguments(50, 50, "float64")["square"]})
    assert finding.at_fault == "tilesize", finding.text
    assert finding.text.startswith("tilesize, group 1 of 1, W: blocked steps"), finding.text
    assert finding.text.endswith("; in plain loops it is right")


def test_a_mistake_of_the_code_is_found_with_its_stage(
    monkeypatch: pytest.MonkeyPatch, compile_for: CompileFor
) -> None:
    compile_for(NARROW)
    expression = render.expression

    def wrong(*arguments: Any) -> str:
        return expression(*arguments).replace("x[i - 1] + x[i + 1]", "x[i - 1] - x[i + 1]")

    monkeypatch.setattr(render, "expression", wrong)
    finding = found(stencils(), inline=False)
    assert finding.at_fault == "codegen"
    assert finding.text.startswith("codegen, f in plain loops: f(1) is "), finding.text


def test_inputs_by_columns_and_channels_lie_as_the_pass_left_them() -> None:
    y = (A @ B).named("y")
    rng = np.random.default_rng(0)
    request = request_for(y, fortran=[A], options=Options(threads=1))
    assert bisect(request, {"A": rng.random((5, 5)), "B": rng.random((5, 5))}).at_fault is None
    I = pm.Image(Double, "I", [N, N, 3])  # noqa: E741
    j, c = Variable(Int, "j"), Variable(Int, "c")
    where = [Interval(Int, 0, N - 1), Interval(Int, 1, N - 2), Interval(Int, 0, 2)]
    f = Function(([i, j, c], where), Double, "f")
    f.defn = [I(i, j - 1, c) + I(i, j + 1, c)]
    assert bisect(request_for(f), {"I": rng.random((7, 7, 3))}).at_fault is None


def test_arguments_are_checked_as_those_of_a_call() -> None:
    with pytest.raises(ArgumentError, match="unknown argument 'z'"):
        bisect(request_for(products(), name="y"), {"z": np.zeros(3)})
