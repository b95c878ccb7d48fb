"""Stages with one definition are computed once."""

from __future__ import annotations

from typing import Any

from polymat import (
    Cast,
    Condition,
    Double,
    Float,
    Function,
    Int,
    Interval,
    Matrix,
    Parameter,
    Select,
    Variable,
    Vector,
)
from polymat.graph.build import build
from polymat.graph.simplify import share_common_stages

N = Parameter(Int, "N")
i, j = Variable(Int, "i"), Variable(Int, "j")
whole = Interval(Int, 0, N - 1)
x, y = Vector(Double, "x", [N]), Vector(Double, "y", [N])


def stage(
    name: str, value: Any, index: Variable = i, over: Interval = whole, dtype: Any = Double
) -> Function:
    f = Function(([index], [over]), dtype, name)
    f.defn = value
    return f


def kept(first: Function, second: Function) -> list[str]:
    """The stages that are left of two and their product."""
    top = stage("top", first(i) * second(N - 1 - i), over=Interval(Int, 1, N - 2))
    return [s.name for s in share_common_stages(build([top])).stages]


def test_equal_definitions_are_shared_whatever_their_names() -> None:
    assert kept(stage("f", x(i) + 1), stage("g", x(j) + 1, index=j)) == ["f", "top"]
    assert kept(stage("f", x(i) * i), stage("g", x(j) * j, index=j)) == ["f", "top"]


def test_readers_follow_and_may_become_equal_themselves() -> None:
    one, two = stage("f", x(i) + 1), stage("g", x(i) + 1)
    assert kept(stage("ff", 2 * one(i)), stage("gg", 2 * two(i))) == ["f", "ff", "top"]


def test_different_definitions_stay() -> None:
    pairs = [
        (stage("f", x(i) + 1), stage("g", x(i) + 2)),
        (stage("f", x(i) + 1), stage("g", x(i) + 1.5)),
        (stage("f", x(i) + 1), stage("g", y(i) + 1)),
        (stage("f", x(i) - y(i)), stage("g", y(i) - x(i))),
        (stage("f", x(i)), stage("g", x(N - 1 - i))),
        (stage("f", x(i) * 0.0), stage("g", x(i) * -0.0)),
        (stage("f", x(i)), stage("g", Cast(Float, x(i)))),
        (stage("f", x(i)), stage("g", x(i), dtype=Float)),
        (stage("f", x(i)), stage("g", x(i), over=Interval(Int, 1, N - 2))),
    ]
    for first, second in pairs:
        assert kept(first, second) == ["f", "g", "top"]


def test_conditions_of_selects_count() -> None:
    """Temporaries may lie at one address one after the other; what they hold decides."""
    for _ in range(20):
        some = [stage(f"f{n}", Select(Condition(x(i), ">", float(n)), x(i), 2.0)) for n in range(6)]
        ops = [
            stage(f"g{n}", Select(Condition(x(i), op, 0.0), x(i), 2.0))
            for n, op in enumerate(("<", "<=", "=="))
        ]
        both = Condition(x(i), ">", 0.0) & Condition(x(i), "<", 9.0)
        ops += [stage("g3", Select(both, x(i), 2.0))]
        either = Condition(x(i), ">", 0.0) | Condition(x(i), "<", 9.0)
        ops += [stage("g4", Select(either, x(i), 2.0))]
        value: Any = 0.0
        for f in (*some, *ops):
            value = value + f(i)
        pipeline = share_common_stages(build([stage("top", value)]))
        assert len(pipeline.stages) == 12
    same = [stage(f"h{n}", Select(Condition(x(i), ">", 1.0), x(i), 2.0)) for n in range(2)]
    assert kept(*same) == ["h0", "top"]


def test_recurrences_are_compared_too() -> None:
    def powers(name: str, factor: float) -> Function:
        f = Function(([i], [whole]), Double, name, 1.0)
        f.defn = Select(Condition(i, ">", 0), factor * f(i - 1), 1.0)
        return f

    assert kept(powers("f", 2.0), powers("g", 2.0)) == ["f", "top"]
    assert kept(powers("f", 2.0), powers("g", 3.0)) == ["f", "g", "top"]


def test_outputs_keep_their_own_arrays() -> None:
    one, two = stage("f", x(i) + 1), stage("g", x(i) + 1)
    pipeline = share_common_stages(build([one, two]))
    assert [s.name for s in pipeline.stages] == ["f", "g"]


def test_nothing_to_share_gives_the_same_pipeline() -> None:
    pipeline = build([stage("f", x(i) + 1)])
    assert share_common_stages(pipeline) is pipeline


def test_products_written_twice() -> None:
    A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])
    pipeline = share_common_stages(build([A @ B + (A @ B).T, A @ B]))
    assert [s.is_reduction for s in pipeline.stages] == [True, False, False, True]
    assert pipeline.stages[0].name == "tmp_A_B"


def test_a_shared_node_is_no_exponential_text() -> None:
    value: Any = x(i)
    for _ in range(14):
        value = value + value
    assert kept(stage("f", value), stage("g", value)) == ["f", "top"]
