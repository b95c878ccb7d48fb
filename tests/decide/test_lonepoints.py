"""Which steps run point by point, when their points leave off, and what their code computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Condition, Double, Function, Int, Interval, Long, Options, Parameter, Select, Variable
from tests.tolerance import assert_close

T, N, M = (Parameter(Int, name) for name in "TNM")
i, j, k = (Variable(Int, name) for name in "ijk")
ROWS, COLUMNS, PLANES = (Interval(Int, 0, size - 1) for size in (N, M, 2))
WHOLE: dict[int, tuple[list[Variable], list[Interval]]] = {
    1: ([j], [COLUMNS]),
    2: ([i, j], [ROWS, COLUMNS]),
    3: ([k, i, j], [PLANES, ROWS, COLUMNS]),
}
SHAPES = ((0, 5), (5, 0), (1, 1), (3, 15), (2, 16), (5, 64), (3, 65), (7, 200))
POINTS, LEAVES = "_pm_points", "_pm_more"
Step = Callable[..., Any]


def iterated(
    step: Step, kind: Any, rank: int = 2, states: int = 2, **kept: Any
) -> tuple[list[Any], list[Any]]:
    """The last states of steps that say what each becomes, and where they begin; given: one more array."""
    variables, spans = WHOLE[rank]
    shape = [2, N, M][3 - rank :]
    starts = [pm.Image(kind, f"x{number}", shape) for number in range(states)]
    given = pm.Vector(kind, "given", [M])

    def taken(before: tuple[Any, ...], number: Any) -> Any:
        values = step(*(state(*variables) for state in before), given(j), number)
        after = tuple(Function((variables, spans), kind, f"after{k}") for k in range(states))
        for one, value in zip(after, values, strict=True):
            one.defn = [value]
        return after

    found = pm.iterate(lambda a, b, number: taken((a, b), number), starts, steps=T, **kept)
    return [*found], [*starts, given]


def compiled(step: Step, kind: Any, rank: int = 2, **options: Any) -> pm.Compiled:
    outputs, inputs = iterated(step, kind, rank)
    return pm.compile(outputs, inputs=inputs, options=Options(**options), constraints=[])


def check(run: pm.Compiled, kind: Any, rank: int, least: int = 0) -> None:
    for rows, columns in SHAPES:
        for steps in (0, 1, 2, 9):
            rng = np.random.default_rng([rows, columns, steps])
            shapes = [(2, rows, columns)[3 - rank :]] * 2 + [(columns,)]
            arrays: list[Any]
            if kind == Double:
                arrays = [rng.uniform(-1.5, 1.5, shape) for shape in shapes]
            else:
                arrays = [rng.integers(least, 9, shape) for shape in shapes]
            hidden = {
                each.name: {"N": rows, "M": columns, "T": steps}[each.name]
                for each in run.signature.sizes
                if each.array < 0
            }
            wanted = run.reference(*arrays, **hidden)
            for found, right in zip(run(*arrays, **hidden), wanted, strict=True):
                if kind == Double:
                    assert_close(found, right, roundings=64, magnitude=64.0)
                else:
                    np.testing.assert_array_equal(found, right)


def grows(a: Any, b: Any, given: Any, number: Any) -> tuple[Any, Any]:
    """Until the first state is large; the second one counts."""
    inside = Condition(a * a - b, "<", 40)
    return Select(inside, a * 2 - given, a), Select(inside, b + 1 - a, b)


def stays_where(a: Any, b: Any, given: Any, number: Any) -> tuple[Any, Any]:
    """A choice whose first branch is what was there before, beside one of its own condition."""
    return Select(Condition(a, ">", b), a, a + 1), Select(Condition(b, "<", given + a), b + 2, b)


def turns(a: Any, b: Any, given: Any, number: Any) -> tuple[Any, Any]:
    """Every step changes every point."""
    return a * 0.5 + b * 0.5, b - a * 0.25 + given / (2.0 + given * given)


def waits(a: Any, b: Any, given: Any, number: Any) -> tuple[Any, Any]:
    """Nothing changes at the first steps, and all does at later ones."""
    late = Condition(3 * number + a, ">", 20 + b)
    return Select(late, a + b, a), Select(late, b + 3 - a, b)


def divides(a: Any, b: Any, given: Any, number: Any) -> tuple[Any, Any]:
    """By what is zero at some points, where the choice does not divide."""
    apart = Condition(given, "!=", 0)
    return Select(apart, b + 7 // given, a), Select(apart, a + (j + 3) // given, b)


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("rank", WHOLE)
@pytest.mark.parametrize(
    ("step", "kind", "leaves"),
    [
        (grows, Long, True),
        (stays_where, Long, True),
        (turns, Double, False),
        (waits, Long, False),
        (divides, Long, True),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_results_are_those_of_the_interpreter(
    step: Step, kind: Any, rank: int, threads: int, *, leaves: bool
) -> None:
    run = compiled(step, kind, rank, threads=threads, parallel_threshold=0 if threads > 1 else None)
    assert POINTS in run.source
    assert (LEAVES in run.source) == leaves
    assert ("leaves off where no step changes it" in str(run.explain())) == leaves
    check(run, kind, rank)


def test_what_no_step_changes_is_computed_before_them() -> None:
    def step(a: Any, b: Any, given: Any, number: Any) -> tuple[Any, Any]:
        return a * 0.5 + b * pm.Sqrt(given + 9.0), b * 0.5 + a / (i + 1.0)

    text = compiled(step, Double).source
    body = text[text.index(POINTS) :]
    assert body.index("sqrt") < body.index("for (ptrdiff_t t")
    assert "sqrt" not in body[body.index("for (ptrdiff_t t") :]


def neighbours() -> tuple[list[Any], list[Any]]:
    start = pm.Matrix(Double, "start", [N, M])

    def step(a: Any, b: Any) -> tuple[Function, Function]:
        one, other = (Function(([i, j], [ROWS, COLUMNS]), Double, name) for name in ("one", "other"))
        one.defn, other.defn = [b(0, j) * 0.5], [a(i, j) + 1.0]
        return one, other

    return [*pm.iterate(step, [start, start], steps=T)], [start]


@pytest.mark.parametrize("make", [neighbours, lambda: iterated(turns, Double, keep=2)])
def test_points_that_need_others_or_whose_steps_are_kept_take_them_together(make: Any) -> None:
    outputs, inputs = make()
    assert POINTS not in pm.compile(outputs, inputs=inputs).source


def test_it_can_be_left_out_and_is_predicted_to_be_quicker() -> None:
    found: dict[tuple[str, ...], Any] = {}
    for skip in ((), ("points", "skews")):
        outputs, inputs = iterated(grows, Long)
        run = pm.compile(outputs, inputs=inputs, options=Options(skip=skip, threads=2))
        assert (POINTS in run.source) == (skip == ())
        found[skip] = run.explain().predicted.seconds
        check(run, Long, 2)
    assert found[()] < 0.8 * found["points", "skews"]


def test_states_that_nobody_stores_are_not_stored() -> None:
    """A count of steps follows a circle of two states, however large they are."""
    run = compiled_escape()
    folds = {name: text for group in run.explain().groups for name, text in group.folds.items()}
    assert {*folds} == {"a_after_steps", "b_after_steps", "n_after_steps"}
    assert all(text.startswith(("1 of", "2 of")) for text in folds.values())


def compiled_escape() -> pm.Compiled:
    at, starts = (i, j), [pm.Matrix(Double, name, [N, M]) for name in "abn"]

    def step(a: Any, b: Any, n: Any) -> tuple[Function, ...]:
        u, v = a(*at), b(*at)
        inside = Condition(u * u + v * v, "<=", 4.0)
        values = (
            Select(inside, u * u - v * v, u),
            Select(inside, 2 * u * v, v),
            Select(inside, n(*at) + 1.0, n(*at)),
        )
        after = [Function((list(at), [ROWS, COLUMNS]), Double, f"{name}_after") for name in "abn"]
        for one, value in zip(after, values, strict=True):
            one.defn = [value]
        return tuple(after)

    outputs = [*pm.iterate(step, starts, steps=T)]
    return pm.compile(outputs, inputs=starts, estimates={N: 1000, M: 1000, T: 80})


@pytest.mark.parametrize(("points", "steps", "alone"), [(256, 8, False), (500_000, 50, True)])
def test_a_small_table_stays_a_nest_of_loops(points: int, steps: int, *, alone: bool) -> None:
    """What its points gain is less than to begin and end sections of their own."""
    table = Function(([k, j], [Interval(Int, 0, T), COLUMNS]), Long, "table")
    before = table(k - 1, j)
    cases = [(Condition(k, "==", 0), pm.Cast(Long, j)), (Condition(k, ">=", 1), (before >> 1) ^ (before & 1))]
    table.defn = [pm.Case(where, value) for where, value in cases]
    last = Function(([j], [COLUMNS]), Long, "last")
    last.defn = [table(T, j) + 1]
    run = pm.compile(last, estimates={M: points, T: steps}, options=Options(threads=1))
    assert (POINTS in run.source) == alone
    for columns in (0, 1, 64, 65):
        for count in (0, 1, 5):
            found, right = run(M=columns, T=count), run.reference(M=columns, T=count)
            np.testing.assert_array_equal(found, right)


def escaping(*, leaves: bool) -> pm.Compiled:
    """Points of the Mandelbrot set, whose squares two states and a condition read."""
    real, imaginary = (pm.Image(Double, name, [N, M]) for name in ("real", "imaginary"))

    def step(a: Any, b: Any, count: Any) -> tuple[Any, ...]:
        aa, bb = a * a, b * b
        inside = aa + bb <= 4
        counted = pm.where(inside, count + 1, count) if leaves else count + pm.where(inside, 1.0, 0.0)
        return pm.where(inside, aa - bb + real, a), pm.where(inside, 2 * a * b + imaginary, b), counted

    results = pm.iterate(step, (real * 0, imaginary * 0, real * 0), steps=T)
    return pm.compile([*results], inputs=[real, imaginary])


def escaped(real: Any, imaginary: Any, steps: int) -> tuple[Any, ...]:
    a, b, count = real * 0, imaginary * 0, real * 0
    for _ in range(steps):
        inside = a * a + b * b <= 4
        a, b = np.where(inside, a * a - b * b + real, a), np.where(inside, 2 * a * b + imaginary, b)
        count += inside
    return a, b, count


@pytest.mark.parametrize("leaves", [False, True])
def test_what_makes_several_states_is_computed_with_them(*, leaves: bool) -> None:
    run = escaping(leaves=leaves)
    assert POINTS in run.source
    assert (LEAVES in run.source) == leaves
    for rows, columns in SHAPES:
        rng = np.random.default_rng([rows, columns])
        real, imaginary = rng.choice([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0], (2, rows, columns))
        for steps in (0, 1, 2, 4):  # so that all products are exact
            found = run(real, imaginary, T=steps)
            for one, wanted in zip(found, escaped(real, imaginary, steps), strict=True):
                np.testing.assert_array_equal(one, wanted)


def test_nothing_of_a_step_is_kept_but_its_states() -> None:
    """Neither arrays nor rows for what several of them are made of."""
    source = escaping(leaves=True).source
    body = source[source.index(POINTS) :]
    assert body.count("_Alignas(64) double") == 5  # three states, and both inputs
    assert "_pm_thread_bytes" not in body


def test_stages_at_other_points_are_not_computed_with_states() -> None:
    """A shifted square needs the state of a neighbour."""
    start = pm.Vector(Double, "start", [M])

    def step(u: Any, v: Any) -> tuple[Any, Any]:
        square = Function(([j], [COLUMNS]), Double, "square")
        square.defn = [u(j) * u(j)]
        after = Function(([j], [COLUMNS]), Double, "after")
        after.defn = [Select(Condition(j, ">=", 1), square(j - 1), 0.0) + 0.5 * square(j)]
        other = Function(([j], [COLUMNS]), Double, "other")
        other.defn = [square(j) - v(j)]
        return after, other

    run = pm.compile([*pm.iterate(step, (start, start), steps=T)], inputs=[start])
    assert POINTS not in run.source
    for length in (0, 1, 2, 17):
        u = v = np.random.default_rng(length).uniform(-1, 1, length)
        found = run(u, T=3)
        for _ in range(3):
            square = u * u
            before = np.concatenate((np.zeros(min(length, 1)), square[:-1]))
            u, v = before + 0.5 * square, square - v
        assert_close(found[0], u, roundings=16, magnitude=1.0)
        assert_close(found[1], v, roundings=16, magnitude=4.0)
