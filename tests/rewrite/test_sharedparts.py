"""Expensive expressions of several stages: when they become a stage, and that the numbers stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Condition, Double, Exp, Function, Int, Op, Options, Reduce, Reduction, Select, Sqrt
from polymat.lang.expr import Load
from polymat.machine.known import ZEN3
from tests.hosts import compiling_for
from tests.rewrite.channels import I, J, N, graph, interval
from tests.tolerance import assert_close

X, Y = pm.Vector(Double, "x", [N]), pm.Vector(Double, "y", [N])
WHOLE = interval(0, N - 1)
ESTIMATES = {N: 2000}


@pytest.fixture(autouse=True)
def one_machine() -> Iterator[None]:
    with compiling_for(replace(ZEN3, cores=2)):
        yield


def root(a: Any, b: Any) -> Any:
    return Sqrt((X(a) - X(b)) * (X(a) - X(b)) + (Y(a) - Y(b)) * (Y(a) - Y(b)))


def over_rows(name: str, value: Any, op: Op, last: Any = WHOLE) -> Reduction:
    found = Reduction(([I], [WHOLE]), ([I, J], [WHOLE, last]), Double, name)
    found.defn = [Reduce(found(I), value, op)]
    return found


def stages(outputs: list[Any], **description: Any) -> tuple[str, ...]:
    return tuple(stage.name for stage in graph(outputs, estimates=ESTIMATES, **description).stages)


def check(outputs: list[Any], seed: int, *, size: int = 37, options: Options | None = None) -> Any:
    compiled: Any = pm.compile(
        outputs, name="shared", inputs=[X, Y], estimates=ESTIMATES, options=options or Options()
    )
    random = np.random.default_rng(seed)
    given = [random.uniform(0.1, 1.0, size) for _ in range(2)]
    for result, expected in zip(compiled(*given), compiled.reference(*given), strict=True):
        assert_close(result, expected, roundings=20 * size, magnitude=np.abs(expected) + size)
    return compiled


def two_sums(value: Any = None) -> list[Any]:
    value = root(I, J) if value is None else value
    return [over_rows("least", value, Op.Min), over_rows("total", value * Y(J), Op.Sum)]


def test_what_two_sums_compute_is_a_stage_in_their_tiles() -> None:
    assert stages(two_sums()) == ("least_shared", "least", "total")
    compiled = check(two_sums(), 1)
    (group,) = compiled.explain().groups
    assert group.storage["least_shared"] == "scratchpad"
    assert "least_shared: computed once for least and total" in str(compiled.explain())


def test_the_whole_of_what_is_alike_is_taken() -> None:
    value = Exp(-root(I, J)) + 1.0
    found = graph(two_sums(value), estimates=ESTIMATES)
    assert isinstance(found.stage("least").accumulations[0].expr, Load)


def test_names_of_indices_do_not_count() -> None:
    p, q = pm.Variable(Int, "p"), pm.Variable(Int, "q")
    other = Reduction(([p], [WHOLE]), ([p, q], [WHOLE, WHOLE]), Double, "other")
    other.defn = [Reduce(other(p), root(p, q) * 0.5, Op.Sum)]
    outputs = [over_rows("least", root(I, J), Op.Min), other]
    assert "least_shared" in stages(outputs)
    check(outputs, 2)


def test_cheap_expressions_are_computed_again() -> None:
    assert stages(two_sums(X(I) * Y(J) + X(J))) == ("least", "total")


def test_other_points_are_not_shared() -> None:
    outputs = [
        over_rows("least", root(I, J), Op.Min),
        over_rows("total", root(I, J), Op.Sum, interval(0, N - 2)),
    ]
    assert stages(outputs) == ("least", "total")


def test_no_array_over_all_points_is_made() -> None:
    """Of two that tiles cannot keep it for, because the second needs all of the first."""
    least = over_rows("least", root(I, J), Op.Min)
    total = over_rows("total", root(I, J) * least(J), Op.Sum)
    assert stages([total]) == ("least", "total")
    check([total], 3)


def test_it_can_be_switched_off() -> None:
    for options in (Options(share=False), Options(tile=False), Options.paper()):
        assert stages(two_sums(), options=options) == ("least", "total")


def test_a_choice_is_shared_as_two_cases_are() -> None:
    far = Condition(I, "!=", J)
    chosen = two_sums(Select(far, root(I, J), 1e30))
    assert stages(chosen) == ("least_shared", "least", "total")
    check(chosen, 4)
    cases = Function(([I, J], [WHOLE, WHOLE]), Double, "cases")
    cases.defn = [pm.Case(far, root(I, J)), pm.Case(Condition(I, "==", J), 1e30)]
    for outputs in (chosen, two_sums(cases(I, J))):
        (group,) = check(outputs, 5).explain().groups
        assert (group.kind, len(group.stages)) == ("tiles", 3)


def test_reads_beyond_an_array_stay_where_they_are_guarded() -> None:
    inside = Condition(J, "<", N - 1)
    value = Select(inside, Exp(X(J + 1) - X(I)), 0.0)
    assert stages(two_sums(value)) == ("least", "total")
    check(two_sums(value), 6)


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("case", range(12))
def test_random_programs(case: int, threads: int, seed: int) -> None:
    """Sums and an array of random expressions, of which some are alike."""
    random = np.random.default_rng([seed, case])

    def expression(depth: int) -> Any:
        if depth == 0:
            return [X(I), X(J), Y(I), Y(J), root(I, J)][random.integers(5)]
        left, right = expression(depth - 1), expression(depth - 1)
        match random.integers(6):
            case 0:
                return Exp(-left)
            case 1:
                return Sqrt(left * left + 1.0)
            case 2:
                return Select(Condition(I, "<", J), left, right)
            case 3:
                return left + right * 0.5
            case 4:
                return Sqrt(right * right + left * left)
            case _:
                return left - right

    alike = [expression(2) for _ in range(2)]
    outputs: list[Any] = []
    for k in range(3):
        value = alike[random.integers(2)] * (k + 1.0) + alike[random.integers(2)]
        outputs.append(over_rows(f"r{k}", value, (Op.Sum, Op.Max, Op.Min)[random.integers(3)]))
    if case % 3 == 0:
        whole = Function(([I, J], [WHOLE, WHOLE]), Double, "whole")
        whole.defn = [alike[0] * 2.0]
        outputs.append(whole)
    check(
        outputs,
        case,
        options=Options(threads=threads, parallel_threshold=0),
        size=int(random.integers(1, 70)),
    )
