"""`iterate`: what it means, by the interpreter, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Float, Function, Int, Interval, Matrix, Reduction, Vector
from polymat.driver import request_for
from polymat.graph.build import build
from polymat.graph.interpret import interpret
from polymat.graph.verifypipeline import verify
from tests.tolerance import assert_close

T, M, N = (pm.Parameter(Int, name) for name in "TMN")
i, j, k = (pm.Variable(Int, name) for name in "ijk")
x, v, A = Vector(Double, "x", [N]), Vector(Double, "v", [N]), Matrix(Double, "A", [N, N])


def values(result: Any, arrays: dict[str, Any], **params: int) -> Any:
    """What the interpreter makes of one result or several."""
    outputs = [result] if isinstance(result, Function) else [*result]
    pipeline = verify(build(outputs))
    sizes = {"N": arrays["x"].shape[0], **params}
    found = interpret(pipeline, arrays, sizes)
    each = [found[name] for name in pipeline.outputs]
    return each[0] if isinstance(result, Function) else each


def test_the_last_state() -> None:
    start = np.arange(4.0)
    assert values(pm.iterate(lambda u: 2 * u, x, steps=T), {"x": start}, T=5).tolist() == [0, 32, 64, 96]
    assert values(pm.iterate(lambda u: 2 * u, x, steps=3), {"x": start}).tolist() == [0, 8, 16, 24]
    assert values(pm.iterate(lambda u: 2 * u, x, steps=T), {"x": start}, T=0).tolist() == [0, 1, 2, 3]


def test_several_states_and_the_number_of_the_step() -> None:
    def leap(place: Any, speed: Any, step: Any) -> tuple[Any, Any]:
        kick = Function(([i], [Interval(Int, 0, N - 1)]), Double, "kick")
        kick.defn = [speed(i) - place(i) + step]
        return place + kick, kick

    start, speed = np.arange(3.0), np.ones(3)
    found = values(pm.iterate(leap, [x, v], steps=T), {"x": start, "v": speed}, T=3)
    for step in (1, 2, 3):
        speed = speed - start + step
        start = start + speed
    assert_close(found[0], start, roundings=10, magnitude=20.0)
    assert_close(found[1], speed, roundings=10, magnitude=20.0)


def test_a_boundary_with_cases_and_a_default() -> None:
    def heat(u: Any) -> Function:
        after = Function(([i], [Interval(Int, 0, N - 1)]), Double, "u", default=u(i))
        inner = Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
        after.defn = [Case(inner, (u(i - 1) + u(i) + u(i + 1)) / 3)]
        return after

    expected = [start := np.array([9.0, 0, 0, 3, 0, 6])]
    for _ in range(7):
        before = expected[-1]
        after = before.copy()
        after[1:-1] = (before[:-2] + before[1:-1] + before[2:]) / 3
        expected.append(after)
    for kept, result in (
        (expected[7:], pm.iterate(heat, x, steps=7)),
        (expected[5:], pm.iterate(heat, x, steps=T, keep=3)),
        (expected[::3], pm.iterate(heat, x, steps=T, every=3)),
        (expected, pm.iterate(heat, x, steps=T, every=1)),
    ):
        found = values(result, {"x": start}, T=7)
        assert_close(found, np.array(kept).reshape(found.shape), roundings=50, magnitude=9.0)


def test_products_and_sums_within_a_step_and_around_it() -> None:
    def power(u: Any) -> Any:
        image = A @ u
        return image / pm.Sqrt(pm.dot(image, image)())

    matrix = np.diag([3.0, 1.0, 2.0])
    found = values(2 * pm.iterate(power, x, steps=T), {"x": np.ones(3), "A": matrix}, T=100)
    assert_close(found, np.array([2.0, 0, 0]), roundings=100, magnitude=2.0)


def test_steps_within_steps() -> None:
    """The inner steps begin with the outer state, and read it."""

    def outer(u: Any) -> Any:
        return pm.iterate(lambda w: w / 2 + u, u, steps=3)

    start = np.arange(1.0, 4.0)
    found = values(pm.iterate(outer, x, steps=T), {"x": start}, T=4)
    assert_close(found, start * 1.875**4, roundings=100, magnitude=40.0)


def test_every_second_state_with_a_sum_in_each_step() -> None:
    run = pm.compile(pm.iterate(lambda u: pm.Cos(u) / 2 + u.sum() / 8, x, steps=T, every=2), inputs=[x])
    start = np.arange(1.0, 4.0)
    for steps in (0, 1, 4, 5):
        assert_close(run(start, T=steps), run.reference(start, T=steps), roundings=100, magnitude=4.0)


def sections(result: Any) -> Any:
    """A result in sections, of which one runs at each step."""
    from polymat.graph.stepwise import Stepwise
    from polymat.passes import PASSES, position
    from polymat.steps import Job

    job = Job(request_for(result))
    stepwise = PASSES[position("sections")].apply(PASSES[0].apply(job.request, job), job)
    assert isinstance(stepwise, Stepwise)
    return stepwise


def test_few_states_are_kept() -> None:
    stepwise = sections(pm.iterate(lambda u: A @ u, x, steps=T))
    planes = {held.name: str(held.planes) for held in stepwise.held if held.origin is not None}
    assert [*planes.values()] == ["2"]


def sparse_product(u: Any) -> Reduction:
    row = Vector(Int, "row", [N + 1], values=(0, M), sorted=True)
    column, weight = Vector(Int, "column", [M], values=(0, N - 1)), Vector(Double, "weight", [M])
    inside = Interval(Int, row(i), row(i + 1) - 1)
    product = Reduction(
        ([i], [Interval(Int, 0, N - 1)]), ([i, k], [Interval(Int, 0, N - 1), inside]), Double, "p"
    )
    product.defn = [pm.Reduce(product(i), weight(k) * u(column(k)), pm.Op.Sum)]
    return product


def test_a_sparse_product_of_the_state_is_one_at_each_step() -> None:
    """Of the step before one plane, and loops along rows, which threads share by their elements."""
    stepwise = sections(pm.iterate(lambda u: u + sparse_product(u), x, steps=T))
    assert [str(held.planes) for held in stepwise.held if held.origin is not None] == ["2"]
    each = next(section.level for section in stepwise.sections if len(section.inputs) > 2)
    (product,) = (stage for stage in each.stages if stage.is_reduction)
    assert product.segments is not None
    assert str(product.segments.value) == "weight(k) * tmp_x_p_1(column(k))"
    (row,) = (array for array in each.inputs if array.sorted)
    assert row.values is not None
    assert (row.name, [*map(str, row.values)], row.checked) == ("row", ["0", "M"], True)  # by the whole call


def test_compiled() -> None:
    run = pm.compile(pm.iterate(lambda u: (A @ u) / 4 + x, x, steps=T), inputs=[A, x], name="sum_of_powers")
    for size, steps in ((1, 3), (7, 0), (19, 6)):
        matrix, start = np.random.default_rng(1).random((size, size)) / size, np.ones(size)
        state = start
        for _ in range(steps):
            state = matrix @ state / 4 + start
        assert_close(run(matrix, start, T=steps), state, roundings=100 * size, magnitude=2.0)


@pytest.mark.parametrize(
    ("step", "given", "message"),
    [
        (lambda u: A, {}, "iterate: the step makes A (N x N) of x (N)"),
        (lambda u: (u, u), {}, "iterate: the step takes 1 array and gives 2"),
        (lambda u, n, w: u, {}, "iterate: the state is 1 array, and the step takes (u, n, w)"),
        (lambda: x, {}, "iterate: the state is 1 array, and the step takes no arguments"),
        (lambda u: 1.0, {}, "iterate: the step gives an array, got 1.0"),
        (lambda u: pm.Cast(Float, u), {}, "iterate: the step makes Float of the Double state x"),
        (lambda u: 2 * u, {"steps": -1}, "iterate: steps= is -1, which is less than 0"),
        (lambda u: 2 * u, {"steps": 2.0}, "iterate: steps= is an integer or a size, got 2.0"),
        (lambda u: 2 * u, {"steps": "3"}, "iterate: steps= is an integer or a size, got '3'"),
        (lambda u: 2 * u, {"steps": T * T}, "iterate: steps= is an integer or a size, got T * T"),
        (lambda u: 2 * u, {"steps": 1, "keep": 4}, "steps= is 1, and keep=4 states need at least 3"),
        (lambda u: u, {"keep": 0}, "iterate: keep= is a positive integer, got 0"),
        (lambda u: u, {"every": 2, "keep": 2}, "iterate: keep= is of the last states, every= of all"),
    ],
)
def test_what_is_refused(step: Any, given: dict[str, Any], message: str) -> None:
    with pytest.raises(pm.LangError) as raised:
        pm.iterate(step, x, **{"steps": T, **given})
    assert message in str(raised.value)
    assert raised.value.location is not None


def test_a_first_state_that_is_no_array() -> None:
    with pytest.raises(pm.LangError, match=r"the first state is an array or several, got 1\.0"):
        pm.iterate(lambda u: u, 1.0, steps=T)  # type: ignore[arg-type]


def _plus(u: Any, more: Any, name: str) -> Function:
    """2 u + more."""
    after = Function(([i], [Interval(Int, 0, N - 1)]), Double, name)
    after.defn = [2 * u(i) + more]
    return after


def test_steps_within_steps_have_numbers_of_their_own() -> None:
    start = np.arange(3.0)

    def outer(u: Any, number: Any) -> Any:
        return pm.iterate(lambda v, inner: _plus(v, 10 * number + inner, "twice"), u, steps=2)

    expected = start
    for number in (1, 2, 3):
        for inner in (1, 2):
            expected = 2 * expected + 10 * number + inner
    assert_close(values(pm.iterate(outer, x, steps=3), {"x": start}), expected, roundings=9, magnitude=1e4)


def test_the_number_of_a_step_in_cases_and_places() -> None:
    """Of functions that need no state they are all that tells steps apart."""

    def step(u: Any, number: Any) -> Any:
        at_two = Function(([i], [Interval(Int, 0, N - 1)]), Double, "at_two")
        at_two.defn = [Case(Condition(number, "==", 2), v(i)), Case(Condition(number, "!=", 2), 0.0)]
        count = Reduction(([k], [Interval(Int, 0, 9)]), ([j], [Interval(Int, 0, 1)]), Double, "count")
        count.defn = [pm.Reduce(count(j + number), 1.0, pm.Op.Sum)]
        return _plus(u, at_two(i) + count(2), "after")

    start, speed = np.arange(3.0), np.array([5.0, 7.0, 9.0])
    expected = 2 * (2 * (2 * start + 1) + speed + 1)
    found = values(pm.iterate(step, x, steps=3), {"x": start, "v": speed})
    assert_close(found, expected, roundings=9, magnitude=100.0)


def test_names_of_a_step_are_no_names_of_the_iteration() -> None:
    """Neither those of the user's variables and sizes, nor one function that is the next of two states."""
    own, row = pm.Variable(Int, "t_"), pm.Parameter(Int, "t")
    after = Function(([own], [Interval(Int, 0, N - 1)]), Double, "after")

    def step(u: Any) -> Function:
        after.defn = [u(own) + own + A(row, own)]
        return after

    start, table = np.arange(3.0), np.arange(9.0).reshape(3, 3)
    inside = Condition(row, "<", N)
    compiled = pm.compile(pm.iterate(step, x, steps=3), inputs=[x, A], constraints=[inside])
    expected = start + 3 * np.arange(3) + 3 * table[1]
    assert_close(compiled(start, table, t=1), expected, roundings=9, magnitude=100.0)

    both = pm.iterate(lambda u, w: (same := _plus(u, w(i), "same"), same), [x, v], steps=2)
    one, other = values(both, {"x": start, "v": start + 1})
    expected = 3 * (2 * start + start + 1)
    assert_close(one, expected, roundings=9, magnitude=100.0)
    assert_close(other, expected, roundings=9, magnitude=100.0)


@pytest.mark.parametrize("taken", ["a function", "an input", "a size", "an iteration"])
def test_states_give_way_to_names_of_the_user(taken: str) -> None:
    """They are called after the step's result, `p_steps`, unless something else is."""
    more: Any
    if taken == "a function":
        more = _plus(x, 0.0, "p_steps")(i)
    elif taken == "an input":
        more = Vector(Double, "p_steps", [N])(i)
    else:
        more = pm.Cast(Double, pm.Parameter(Int, "p_steps")) if taken == "a size" else 1.0
    first = pm.iterate(lambda u: _plus(u, more, "p"), x, steps=2) if taken == "an iteration" else x
    result = pm.iterate(lambda u: _plus(u, more, "p"), first, steps=2)
    start = np.arange(3.0)
    given = {"p_steps": start} if taken == "an input" else {}
    found = values(result, {"x": start, **given}, **({"p_steps": 5} if taken == "a size" else {}))
    added = {"a function": 2 * start, "an input": start, "a size": 5.0, "an iteration": 1.0}[taken]
    steps = 4 if taken == "an iteration" else 2
    assert_close(found, 2**steps * start + (2**steps - 1) * added, roundings=9, magnitude=100.0)


@pytest.mark.parametrize(("kept", "found"), [({}, [4, 8]), ({"every": 2}, [[1, 2], [4, 8]])])
def test_calls_with_fewer_steps_than_none_are_refused(kept: dict[str, Any], found: list[Any]) -> None:
    run = pm.compile(pm.iterate(lambda u: 2 * u, x, steps=T - 1, **kept), options=pm.Options(cflags=("-O1",)))
    start = np.arange(1.0, 3.0)
    assert run(start, T=3).tolist() == found
    with pytest.raises(pm.ArgumentError, match="T >= 1"):
        run(start, T=0)
    empty = pm.iterate(lambda u: 2 * u, x, steps=N - 1, **kept)
    assert values(empty, {"x": start[:0]}).size == 0
    fewer = pm.compile(
        pm.iterate(lambda u: 2 * u, x, steps=N - 2, **kept), options=pm.Options(cflags=("-O1",))
    )
    assert fewer(start).tolist() == ([[1, 2]] if kept else [1, 2])
    with pytest.raises(pm.ArgumentError, match="N >= 2"):
        fewer(start[:1])


def test_what_a_step_requires_of_sizes_is_required() -> None:
    result = pm.iterate(lambda u: pm.pad(u[1:-1], 1, "edge"), x, steps=np.int64(3), keep=np.int64(2))
    found = values(result, {"x": np.arange(6.0)})
    assert found.tolist() == [[1, 1, 2, 3, 4, 4]] * 2
