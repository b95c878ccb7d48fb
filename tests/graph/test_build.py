"""From functions to a pipeline: order, names, sizes, and a copy that later changes do not reach."""

from __future__ import annotations

from typing import Any

import pytest

from polymat import (
    Case,
    Condition,
    Double,
    Float,
    Function,
    Image,
    Int,
    Interval,
    Matrix,
    NameClashError,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Variable,
    Vector,
)
from polymat.graph.build import build
from polymat.graph.verifypipeline import verify
from polymat.lang.names import MAX_LENGTH
from tests.poly.nests import points

N, M = Parameter(Int, "N"), Parameter(Int, "M")
alpha = Parameter(Double, "alpha")
i, j = Variable(Int, "i"), Variable(Int, "j")
whole = Interval(Int, 0, N - 1)
x, y, z = (Vector(Double, name, [N]) for name in "xyz")
A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])


def function(name: str | None, value: Any) -> Function:
    f = Function(([i], [whole]), Double, name)
    f.defn = value
    return f


def names(outputs: list[Function], **keywords: Any) -> list[str]:
    return [stage.name for stage in build(outputs, **keywords).stages]


def test_inputs_come_in_order_of_first_use_or_as_asked() -> None:
    f = function("f", z(i) * alpha + x(i))
    g = function("g", f(i) + y(i) + x(i))
    pipeline = build([g])
    assert [array.name for array in pipeline.inputs] == ["z", "x", "y"]
    assert pipeline.order == ("z", "x", "y")
    asked = build([g], inputs=[x, alpha, y, z])
    assert [array.name for array in asked.inputs] == ["x", "y", "z"]
    assert asked.order == ("x", "alpha", "y", "z")
    assert [scalar.name for scalar in asked.scalars] == ["alpha"]


def test_inputs_that_nothing_reads_may_be_asked_for() -> None:
    pipeline = build([function("f", x(i))], inputs=[y, x, alpha])
    assert [array.name for array in pipeline.inputs] == ["y", "x"]
    assert [scalar.name for scalar in pipeline.scalars] == ["alpha"]
    assert pipeline.notes == tuple(f"no output reads {name}, which inputs= lists" for name in ("y", "alpha"))
    read = build([function("g", x(i) * alpha + y(i) * N)], inputs=[y, N, x, alpha])
    assert read.notes == ()


def test_producers_come_first_and_once() -> None:
    f = function("f", x(i))
    g, h = function("g", f(i) + 1), function("h", f(i) * 2)
    top = function("top", g(i) + h(i) + f(i))
    assert names([top]) == ["f", "g", "h", "top"]
    assert names([h, top]) == ["f", "h", "g", "top"]
    assert build([h, top]).outputs == ("h", "top")


def test_stages_that_no_output_needs_are_not_there() -> None:
    f = function("f", x(i))
    function("dead", f(i) + y(i))
    pipeline = build([f])
    assert [stage.name for stage in pipeline.stages] == ["f"]
    assert [array.name for array in pipeline.inputs] == ["x"]


def test_deep_chains_and_wide_sums_are_no_recursion() -> None:
    last: Any = x
    for number in range(1500):
        last = function(f"f{number}", last(i) + 1)
    assert len(names([last])) == 1500
    total: Any = x(i)
    for _ in range(5000):
        total = total + x(i)
    assert names([function("sum", total)]) == ["sum"]


def test_unnamed_results_are_named_after_what_they_read() -> None:
    product = A @ B
    result = product + A.T
    assert names([result]) == ["tmp_A_B", "tmp_A", "out"]
    assert names([result.named("R")]) == ["tmp_A_B", "tmp_A", "R"]
    assert names([A @ B, B @ A]) == ["out", "out_2"]
    assert names([function("out", (A @ B)(i, i)), A @ B]) == ["tmp_A_B", "out", "out_2"]


def test_made_up_names_stay_short_and_apart() -> None:
    long = Matrix(Double, "a" * MAX_LENGTH, [N, N])
    pipeline = build([(long @ B) @ (long @ long) @ B])
    made = [stage.name for stage in pipeline.stages]
    assert len(set(made)) == len(made)
    assert all(len(name) <= MAX_LENGTH for name in made)


def test_sizes_are_what_domains_depend_on() -> None:
    f = Function(([i], [Interval(Int, 0, N - 1)]), Double, "f", 0.0)
    steps = Parameter(Int, "steps")
    f.defn = [Case(Condition(i, "<", M), x(i) * alpha + steps)]
    pipeline = build([f])
    assert [size.name for size in pipeline.sizes] == ["N", "M"]
    assert [scalar.name for scalar in pipeline.scalars] == ["alpha", "steps"]
    assert pipeline.context.is_subset(build([f]).context)


def test_sizes_may_be_fixed() -> None:
    f = function("f", x(N - 1 - i) * N)
    pipeline = build([f], sizes={N: 7})
    assert pipeline.sizes == ()
    assert [str(extent) for extent in pipeline.inputs[0].extents] == ["7"]
    assert str(pipeline.stage("f").domain) == "{ [i] : 0 <= i <= 6 }"
    assert str(next(pipeline.stage("f").loads()).indices[0]) == "-i + 6"


def test_constraints_become_forms_and_part_of_the_context() -> None:
    pipeline = build([function("f", x(i))], constraints=[Condition(N, ">", 4), Condition(2 * N, "<=", M + 1)])
    assert [(str(form), text) for form, text in pipeline.constraints] == [
        ("N - 5", "N > 4"),
        ("M - 2*N + 1", "2 * N <= M + 1"),
    ]
    assert pipeline.context.example() == {"N": 5, "M": 9}


def test_combined_and_equal_constraints() -> None:
    both = Condition(N, ">=", 4) & Condition(N, "==", 2 * M)
    pipeline = build([function("f", x(i))], constraints=[both])
    assert [(str(form), text) for form, text in pipeline.constraints] == [
        ("N - 4", "N >= 4"),
        ("N - 2*M", "N == 2 * M"),
        ("-N + 2*M", "N == 2 * M"),
    ]
    assert pipeline.context.example() == {"N": 4, "M": 2}


def test_a_default_is_a_part_that_fills() -> None:
    f = Function(([i], [whole]), Double, "f", default=-1.0)
    f.defn = [Case(Condition(i, ">", 3), x(i)), Case(Condition(i, "==", 1), 2 * x(i))]
    parts = build([f]).stage("f").parts
    assert [part.fills for part in parts] == [True, False, False]
    assert points(parts[0].domain, N=6) == [(0,), (2,), (3,)]


def test_reductions_start_from_init_or_the_neutral_element() -> None:
    r = Reduction(([i], [whole]), ([i, j], [whole, whole]), Float, "r", init=y(i) * 2)
    s = Reduction(([], []), ([j], [whole]), Float, "s")
    r.defn = [Reduce(r(i), A(i, j), Op.Sum), Case(Condition(j, "<", i), Reduce(r(j), x(j), Op.Sum))]
    s.defn = [Reduce(s(), r(j), Op.Min)]
    pipeline = build([s])
    stage = pipeline.stage("r")
    assert (stage.op, stage.dims, len(stage.accumulations)) == (Op.Sum, ("i",), 2)
    assert [a.is_aligned for a in stage.accumulations] == [True, True]
    assert [a.reduced_dims for a in stage.accumulations] == [("j",), ("i",)]
    assert str(pipeline.stage("s").parts[0].expr) == "inf"


def test_boxes_enclose_domains_whose_bounds_use_variables() -> None:
    f = Function(([i, j], [Interval(Int, 2, N), Interval(Int, i - 1, 2 * i)]), Double, "f")
    f.defn = 1.0
    stage = build([f]).stage("f")
    assert [(str(lo), str(hi)) for lo, hi in stage.box] == [("2", "N"), ("1", "2*N")]
    assert [str(extent) for extent in stage.extents] == ["N + 1", "2*N + 1"]


def test_a_pipeline_does_not_see_later_changes() -> None:
    f = function("f", x(i))
    pipeline = build([f])
    f.name = "renamed"
    f._defn = (y(i),)
    assert pipeline.stage("f").name == "f"
    assert [load.source.name for load in pipeline.stage("f").loads()] == ["x"]


def test_verify_returns_the_pipeline_itself() -> None:
    pipeline = build([function("f", x(i))])
    assert verify(pipeline) is pipeline


def test_with_stages_returns_the_pipeline_where_nothing_changes() -> None:
    pipeline = build([function("f", x(i))])
    assert pipeline.with_stages(tuple(pipeline.stages)) is pipeline
    assert pipeline.with_stages(()).stages == ()


def test_text_for_people() -> None:
    r = Reduction(([], []), ([i], [whole]), Double, "r")
    r.defn = [Reduce(r(), Image(Double, "im", [N])(i), Op.Max)]
    assert str(build([r])).splitlines() == [
        "inputs   im[N]: Double",
        "sizes    N: Int",
        "outputs  r",
        "order    im",
        "context  [N] -> { [] : N >= 0 }",
        "",
        "reduction Max r: Double on [N] -> { [] } -> output",
        "    r() = -inf",
        "    r() Max= im(i)  over [N] -> { [i] : 0 <= i < N }",
        "    i in 0 .. N - 1",
    ]


def test_the_same_object_under_two_roles_is_no_clash() -> None:
    f = function("f", x(i) + x(i))
    assert names([f]) == ["f"]
    with pytest.raises(NameClashError, match="two things are named f"):
        names([f, function("f", x(i))])
