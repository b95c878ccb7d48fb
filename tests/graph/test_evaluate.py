"""The interpreter on expressions that are deep, or that use one node many times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from polymat import Case, Condition, Double, Function, Int, Interval, Parameter, Select, Variable, Vector
from polymat.graph.accesses import loads_with_domains
from polymat.graph.build import build
from polymat.graph.interpret import interpret

TERMS = 3000  # more than Python has stack frames
N = Parameter(Int, "N")
i = Variable(Int, "i")
x = Vector(Double, "x", [N])


def function(*entries: Any) -> Function:
    f = Function(([i], [Interval(Int, 0, N - 1)]), Double, "f")
    f.defn = entries
    return f


def values(f: Function, count: int = 3) -> list[float]:
    found: list[float] = interpret(build([f]), {"x": np.ones(count)}, {"N": count})["f"].tolist()
    return found


@pytest.mark.parametrize("left", [True, False])
def test_a_long_sum_needs_no_stack(left: bool) -> None:
    total = x(i)
    for _ in range(TERMS):
        total = total + x(i) if left else x(i) + total
    assert values(function(total)) == [TERMS + 1.0] * 3


def test_a_long_sum_in_a_recurrence_needs_no_stack() -> None:
    f = Function(([i], [Interval(Int, 0, N - 1)]), Double, "f")
    total = f(i - 1)
    for _ in range(TERMS):
        total = total + x(i)
    f.defn = [Case(Condition(i, "==", 0), x(i)), Case(Condition(i, ">", 0), total)]
    assert values(f) == [1.0, TERMS + 1.0, 2 * TERMS + 1.0]


def test_a_guard_that_also_compares_values_keeps_reads_inside() -> None:
    f = Function(([i], [Interval(Int, 0, N - 1)]), Double, "f")
    guard = Condition(i, ">", 0) & Condition(x(i), ">", 0.0)
    f.defn = [Select(guard, f(i - 1) + x(i), 0.0)]
    assert values(f) == [0.0, 1.0, 2.0]


def test_a_long_condition_needs_no_stack() -> None:
    total = x(i)
    for _ in range(TERMS):
        total = total + x(i)
    assert values(function(Select(Condition(total, ">", TERMS), 1.0, 0.0))) == [1.0] * 3


def test_a_shared_node_is_used_at_the_points_of_each_branch() -> None:
    shared = 2 * x(i)
    chosen = Select(Condition(i, "==", 1), shared + shared, shared * 0.5)
    assert values(function(chosen + shared)) == [3.0, 6.0, 3.0]


def test_a_load_comes_once_for_each_choice_of_points() -> None:
    shared, again = x(i) * 2, x(i)
    chosen = Select(Condition(i, "<", 1), shared, shared + again)
    (stage,) = build([function(shared + again + chosen)]).stages
    ((domain, expr),) = stage.expressions()
    assert [str(where) for where, _ in loads_with_domains(domain, expr)] == [
        "[N] -> { [i] : 0 <= i < N }",
        "[N] -> { [i = 0] : N > 0 }",
        "[N] -> { [i] : 0 < i < N }",
    ]
