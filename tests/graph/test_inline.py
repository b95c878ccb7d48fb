"""Which stages disappear into their readers, and that the numbers stay the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from polymat import (
    Abs,
    Case,
    Cast,
    Condition,
    Double,
    Exp,
    Float,
    Function,
    Image,
    Int,
    Interval,
    Long,
    Matrix,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Select,
    UChar,
    Variable,
    Vector,
)
from polymat.graph.build import build
from polymat.graph.inline import inline_pointwise
from polymat.graph.interpret import interpret
from polymat.graph.pipeline import Pipeline
from polymat.graph.verifypipeline import verify
from polymat.lang.sharing import computed_once

N = Parameter(Int, "N")
alpha = Parameter(Double, "alpha")
i, j, k = Variable(Int, "i"), Variable(Int, "j"), Variable(Int, "k")
whole, inner = Interval(Int, 0, N - 1), Interval(Int, 1, N - 2)
x = Vector(Double, "x", [N])
A = Matrix(Double, "A", [N, N])
VALUES = {"x": np.linspace(-1, 2, 7), "A": np.linspace(-3, 3, 49).reshape(7, 7)}


def line(name: str, value: Any, over: Interval = whole, dtype: Any = Double) -> Function:
    f = Function(([i], [over]), dtype, name)
    f.defn = value
    return f


def square(name: str, value: Any) -> Function:
    f = Function(([i, j], [whole, whole]), Double, name)
    f.defn = value
    return f


def sums(name: str, value: Any) -> Reduction:
    r = Reduction(([i], [whole]), ([i, k], [whole, whole]), Double, name)
    r.defn = [Reduce(r(i), value, Op.Sum)]
    return r


def left(*outputs: Function) -> list[str]:
    """The stages that are left; the outputs' numbers are checked on the way."""
    pipeline = verify(build(outputs))
    inlined = verify(inline_pointwise(pipeline))
    before, after = (_outputs(p) for p in (pipeline, inlined))
    for one, other in zip(before, after, strict=True):
        assert np.array_equal(one, other)
    return [stage.name for stage in inlined.stages]


def _outputs(pipeline: Pipeline) -> list[Any]:
    values = interpret(pipeline, VALUES, {"N": 7, "alpha": 1.5})
    return [values[name] for name in pipeline.outputs]


def test_a_stage_that_is_read_once() -> None:
    f = line("f", x(i) + 1)
    assert left(line("g", 2 * f(i))) == ["g"]
    assert left(line("g", 2 * f(N - 1 - i))) == ["g"]
    assert left(line("g", 2 * f(i - 1), over=inner)) == ["g"]


def test_a_stage_that_is_read_twice_stays() -> None:
    f = line("f", x(i) + 1)
    assert left(line("g", f(i - 1) + f(i + 1), over=inner)) == ["f", "g"]
    assert left(line("g", f(i)), line("h", f(i) * 2)) == ["f", "g", "h"]


def test_a_stage_that_its_one_reader_takes_at_one_point() -> None:
    f = line("f", x(i) + 1)
    assert left(line("g", f(i) * f(i))) == ["g"]
    assert left(line("g", f(i - 1) * f(i - 1) + x(i), over=inner)) == ["g"]
    assert left(line("g", Select(Condition(Abs(f(i)), "<", 2), f(i), x(i)))) == ["g"]
    assert left(sums("r", square("f", Exp(A(i, j)))(i, k) ** 2)) == ["r"]
    assert left(line("g", f(0 * i) * f(0 * i))) == ["f", "g"]


def test_its_value_is_computed_once() -> None:
    f = line("f", x(i) + 1)
    (stage,) = inline_pointwise(build([line("g", f(i) * f(i) - f(i))])).stages
    (value,) = computed_once(stage.parts[0].expr)
    assert [str(load) for load in stage.loads()] == ["x(i)"]
    assert str(value) == "x(i) + 1"


def test_a_stage_whose_reader_takes_other_elements_at_each_place() -> None:
    two = Function(([j, i], [Interval(Int, 0, 1), whole]), Double, "two")
    two.defn = Exp(x(i)) * (j + 1)
    assert left(line("g", two(0, i) / two(1, i))) == ["g"]
    assert left(line("g", two(0, i) / two(0, N - 1 - i))) == ["two", "g"]


def test_a_stage_that_is_read_where_indices_say_stays() -> None:
    """In such a branch its value would have no name, and would be written twice."""
    f = line("f", x(i) + 1, over=inner)
    near = Condition(i, ">", 0) & Condition(i, "<", N - 1)
    assert left(line("g", Select(near, f(i) * f(i), 0.0))) == ["f", "g"]
    h = line("h", f(i) * f(i), over=inner)
    assert left(line("g", Select(near, h(i) + 1, 0.0))) == ["h", "g"]


def test_what_has_one_reader_left_once_others_are_gone() -> None:
    f = line("f", x(i) * x(N - 1 - i))
    g = line("g", 3 * f(i))
    assert left(line("h", Select(Condition(f(i), "<", 1), f(i), g(i)))) == ["h"]


def test_a_stage_whose_elements_are_read_many_times_stays() -> None:
    f = line("f", x(i) + 1)
    assert left(line("g", f(i // 2))) == ["f", "g"]
    assert left(square("g", f(i) * A(i, j))) == ["f", "g"]
    assert left(sums("r", A(i, k) * f(k))) == ["f", "r"]
    assert left(line("g", f(0 * i))) == ["f", "g"]


def test_into_a_reduction_that_reads_each_element_once() -> None:
    f = square("f", Exp(A(i, j)))
    assert left(sums("r", f(i, k))) == ["r"]
    assert left(sums("r", f(i, k) * f(k, i))) == ["f", "r"]


def test_plain_copies_go_wherever_they_are_read() -> None:
    copy = line("copy", x(N - 1 - i))
    assert left(line("g", copy(i) + copy(N - 1 - i))) == ["g"]
    assert left(sums("r", A(i, k) * copy(k))) == ["r"]
    constant = line("constant", 3.0)
    assert left(line("g", constant(i) * constant(N - 1 - i) + x(i))) == ["g"]
    scalar = line("scalar", alpha)
    assert left(sums("r", A(i, k) * scalar(k))) == ["r"]


def test_chains_disappear_altogether() -> None:
    last: Any = x
    for number in range(30):
        last = line(f"f{number}", last(N - 1 - i) + number)
    assert left(line("g", last(i) * 2)) == ["g"]


def test_casts_keep_the_type_of_what_disappears() -> None:
    single = line("single", x(i) / 3, dtype=Float)
    assert left(line("g", single(i) * 3)) == ["g"]
    byte = line("byte", Cast(UChar, x(i) * x(i) * 90), dtype=UChar)
    assert left(line("g", byte(i) + 200.0)) == ["g"]
    wrapped = line("wrapped", byte(i) * byte(i), dtype=UChar)
    assert left(line("g", wrapped(i) + 0.5)) == ["g"]
    index = line("index", i * i, dtype=Int)
    assert left(line("g", index(N - 1 - i) // 2, dtype=Long)) == ["g"]
    copy = line("copy", x(i), dtype=Float)
    assert left(line("g", copy(i) + copy(N - 1 - i))) == ["g"]


def test_indices_in_values_are_replaced() -> None:
    f = line("f", x(i) * i + i // 2)
    assert left(line("g", f(N - 1 - i) - i)) == ["g"]


def test_cases_and_recurrences_stay() -> None:
    cases = Function(([i], [whole]), Double, "cases", 0.0)
    cases.defn = [Case(Condition(i, ">", 2), x(i))]
    assert left(line("g", cases(i) + 1)) == ["cases", "g"]
    running = Function(([i], [whole]), Double, "running")
    running.defn = Select(Condition(i, ">", 0), running(i - 1) + x(i), x(i))
    assert left(line("g", running(i) + 1)) == ["running", "g"]


def test_into_cases_conditions_and_recurrences() -> None:
    f = line("f", x(i) + 1)
    g = Function(([i], [whole]), Double, "g", 0.0)
    g.defn = [Case(Condition(i, ">", 2), f(i))]
    assert left(g) == ["g"]
    assert left(line("h", Select(Condition(f(i), "<", 1.5), x(i), 0.0))) == ["h"]
    running = Function(([i], [whole]), Double, "running")
    running.defn = Select(Condition(i, ">", 0), running(i - 1) * f(i - 1), 1.0)
    assert left(running) == ["running"]


def test_into_the_start_of_a_reduction() -> None:
    f = line("f", x(i) + 1)
    r = Reduction(([i], [whole]), ([i, k], [whole, whole]), Double, "r", init=f(i))
    r.defn = [Reduce(r(i), A(i, k), Op.Sum)]
    assert left(r) == ["r"]


def test_outputs_stay() -> None:
    f = line("f", x(i) + 1)
    assert left(f, line("g", 2 * f(i))) == ["f", "g"]


def test_cheap_updates_of_matrices_are_computed_again() -> None:
    update = square("update", A(i, j) + x(i) * x(j))
    r = Reduction(([i], [whole]), ([i, k], [whole, whole]), Double, "r")
    r.defn = [Reduce(r(i), update(i, k) * x(k), Op.Sum)]
    s = Reduction(([i], [whole]), ([i, k], [whole, whole]), Double, "s")
    s.defn = [Reduce(s(i), update(k, i) * x(k), Op.Sum)]
    assert left(r, s) == ["r", "s"]
    dear = square("dear", Exp(A(i, j)) + x(i) * x(j))
    t = Reduction(([i], [whole]), ([i, k], [whole, whole]), Double, "t")
    t.defn = [Reduce(t(i), dear(i, k) * dear(k, i), Op.Sum)]
    assert left(t) == ["dear", "t"]


def test_products_that_sums_take_in_are_computed_there() -> None:
    """Of two slopes: three products that nine neighbours each are summed up of, and no load more."""
    ranges = [Interval(Int, 1, N - 2)] * 2

    def window(f: Any) -> Any:
        return sum(f(i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1))

    def made(name: str, value: Any, over: Any = (whole, whole)) -> Function:
        f = Function(([i, j], list(over)), Double, name)
        f.defn = [value]
        return f

    p, q = made("p", A(i, j) + A(j, i)), made("q", A(i, j) - A(j, i))
    pp, qq = made("pp", p(i, j) * p(i, j)), made("qq", q(i, j) * q(i, j))
    pq = made("pq", p(i, j) * q(i, j))
    assert left(made("r", window(pp) + p(i, j), ranges)) == ["p", "r"]
    twice = window(pq) + p(i, j) + q(i, j)  # 18 loads where eleven are
    assert left(made("r", twice, ranges)) == ["p", "q", "pq", "r"]
    assert left(made("r", window(pp) * window(qq) - window(pq), ranges)) == ["p", "q", "r"]
    assert left(made("r", window(pp) + p(i, j) - Exp(pp(i, j)), ranges)) == ["p", "pp", "r"]
    weighted = p(i, j) + 2.0 * pp(i - 1, j) + 3.0 * pp(i, j) + 2.0 * pp(i + 1, j) + pp(i, j - 1)
    assert left(made("r", weighted, ranges)) == ["p", "pp", "r"]  # a product more for each
    both = p(i, j) + (pp(i - 1, j) + pp(i, j)) + (pp(i + 1, j) + pp(i, j - 1))
    assert left(made("r", both, ranges)) == ["p", "pp", "r"]  # of two products one is added to the other


def test_products_of_what_is_looked_up_are_computed_once() -> None:
    """Beside the values their places are loaded, too, as often as products would be."""
    place = Vector(Int, "place", [N], values=(0, N - 1))

    def kept(product: Any) -> list[str]:
        t, r = (Function(([i], [span]), Double, name) for name, span in (("t", whole), ("r", inner)))
        t.defn = [product]
        r.defn = [x(i) + t(i - 1) + t(i) + t(i + 1)]
        return [stage.name for stage in inline_pointwise(build([r])).stages]

    assert kept(x(i) * x(i)) == ["r"]
    assert kept(x(place(i)) * x(place(i))) == ["t", "r"]


def test_nothing_to_do_gives_the_same_pipeline() -> None:
    pipeline = build([line("f", x(i) + 1)])
    assert inline_pointwise(pipeline) is pipeline


def test_one_operation_is_computed_again_in_more_places() -> None:
    """Colours times alpha: three rows of one reader, two planes of another, one of them for all planes."""
    c = Variable(Int, "c")
    image, planes = Image(Float, "image", [4, N + 2, N]), Interval(Int, 0, 3)
    shaded = Function(
        ([c, i, j], [planes, Interval(Int, 0, N + 1), Interval(Int, 0, N - 1)]), Float, "shaded"
    )
    shaded.defn = [image(c, i, j) * image(3, i, j)]
    inner = [planes, Interval(Int, 1, N), Interval(Int, 0, N - 1)]
    down, mixed = (Function(([c, i, j], inner), Float, name) for name in ("down", "mixed"))
    down.defn = [shaded(c, i - 1, j) + 2 * shaded(c, i, j) + shaded(c, i + 1, j)]
    mixed.defn = [shaded(c, i, j) + (1 - shaded(3, i, j)) * down(c, N - i + 1, j)]
    assert "shaded" not in [stage.name for stage in inline_pointwise(build([mixed])).stages]

    heavy = Function(([c, i, j], [planes, Interval(Int, 0, N + 1), Interval(Int, 0, N - 1)]), Float, "heavy")
    heavy.defn = [((image(c, i, j) * 2 + 1) * image(3, i, j) + 3) * image(3, i, j)]
    down, mixed = (Function(([c, i, j], inner), Float, name) for name in ("down", "mixed"))
    down.defn = [heavy(c, i - 1, j) + 2 * heavy(c, i, j) + heavy(c, i + 1, j)]
    mixed.defn = [heavy(c, i, j) + (1 - heavy(3, i, j)) * down(c, N - i + 1, j)]
    assert "heavy" in [stage.name for stage in inline_pointwise(build([mixed])).stages]
