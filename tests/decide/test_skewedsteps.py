"""Which steps follow each other over their rows, how far behind each other, and what their code computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Options, Parameter, Variable
from polymat.decide import skewedsteps
from polymat.driver import levels, request_for
from polymat.graph.skewed import Skew, SkewedSteps
from polymat.graph.stepwise import Stepwise
from polymat.machine.known import HASWELL
from polymat.plan.followingsteps import asked, following
from polymat.plan.planscheme import schemes_of
from polymat.plan.schedule import Decision, Schedule
from polymat.rewrite import stepways, timebands

T, N, M = (Parameter(Int, name) for name in "TNM")
t, i, j, k = (Variable(Int, name) for name in "tijk")
ROWS, COLUMNS, TIMES = Interval(Int, 0, N - 1), Interval(Int, 0, M - 1), Interval(Int, 0, T)
LATER, FIRST = Condition(t, ">=", 1), Condition(t, "==", 0)
x, y = pm.Matrix(Double, "x", [N, M]), pm.Matrix(Double, "y", [N, M])


def inside(reach: int) -> Condition:
    rows = Condition(i, ">=", reach) & Condition(i, "<=", N - 1 - reach)
    return rows & Condition(j, ">=", 1) & Condition(j, "<=", M - 2)


def means() -> Function:
    """Two states that stay in their planes, each of the neighbours of the other."""

    def mean(name: str, old: Any, of: Any) -> Function:
        after = Function(([i, j], [ROWS, COLUMNS]), Double, name, default=old(i, j))
        near = of(i, j) + of(i, j - 1) + of(i, j + 1) + of(i + 1, j) + of(i - 1, j)
        after.defn = [Case(inside(1), 0.2 * near)]
        return after

    def step(a: Any, b: Any) -> tuple[Function, Function]:
        after = mean("b_after", b, a)
        return mean("a_after", a, after), after

    last: Function = pm.iterate(step, (x, y), steps=T)[0]
    return last


def two_back() -> Function:
    """One function that reads two steps back, two rows away on one side and one on the other."""
    u = Function(([t, i, j], [TIMES, ROWS, COLUMNS]), Double, "u")
    deep = Condition(t, ">=", 2)
    value = u(t - 1, i - 2, j) / 2 + u(t - 1, i + 1, j) / 2 - u(t - 2, i, j - 1) / 4 + x(i, j)
    edge = Condition(i, "<", 2) | Condition(i, ">", N - 3) | Condition(j, "<", 1) | Condition(j, ">", M - 2)
    u.defn = [
        Case(FIRST, x(i, j)),
        Case(Condition(t, "==", 1), y(i, j)),
        Case(deep & inside(2), value),
        Case(deep & edge, u(t - 2, i, j)),
    ]
    last = Function(([i, j], [ROWS, COLUMNS]), Double, "last")
    last.defn = [u(T, i, j) * 2.0]
    return last


def fields() -> Function:
    """Three fields that change in place, one of them of the others at the same step."""
    e, f, h = (Function(([t, i, j], [TIMES, ROWS, COLUMNS]), Double, name) for name in "efh")
    up, left = Condition(i, ">=", 1), Condition(j, ">=", 1)
    e.defn = [
        Case(FIRST, x(i, j)),
        Case(LATER & Condition(i, "==", 0), 1.0 * t),
        Case(LATER & up, e(t - 1, i, j) - 0.5 * (h(t - 1, i, j) - h(t - 1, i - 1, j))),
    ]
    f.defn = [
        Case(FIRST, y(i, j)),
        Case(LATER & Condition(j, "==", 0), f(t - 1, i, j)),
        Case(LATER & left, f(t - 1, i, j) - 0.5 * (h(t - 1, i, j) - h(t - 1, i, j - 1))),
    ]
    inner = Condition(i, "<=", N - 2) & Condition(j, "<=", M - 2)
    curl = f(t, i, j + 1) - f(t, i, j) + e(t, i + 1, j) - e(t, i, j)
    h.defn = [
        Case(FIRST, x(i, j) * y(i, j)),
        Case(LATER & inner, h(t - 1, i, j) - 0.7 * curl),
        Case(LATER & (Condition(i, "==", N - 1) | Condition(j, "==", M - 1)), h(t - 1, i, j)),
    ]
    last = Function(([i, j], [ROWS, COLUMNS]), Double, "last")
    last.defn = [e(T, i, j) + f(T, i, j) + h(T, i, j)]
    return last


def heat() -> Function:
    """In three dimensions, of which the second is in parts too."""
    start = pm.Image(Double, "x", [N, M, M])

    def step(u: Any) -> Function:
        after = Function(([i, j, k], [ROWS, COLUMNS, COLUMNS]), Double, "after", default=u(i, j, k))
        near = u(i - 1, j, k) + u(i + 1, j, k) + u(i, j - 1, k) + u(i, j + 1, k) + u(i, j, k - 1)
        after.defn = [Case(inside(1) & Condition(k, ">=", 1), 0.2 * near)]
        return after

    last: Function = pm.iterate(step, start, steps=T)
    return last


def line() -> Function:
    """Along one dimension, of integers."""
    start = pm.Vector(pm.Long, "x", [N])

    def step(u: Any) -> Function:
        after = Function(([i], [ROWS]), pm.Long, "after", default=u(i) + 1)
        after.defn = [Case(Condition(i, ">=", 3) & Condition(i, "<=", N - 2), u(i - 3) - u(i + 1))]
        return after

    last: Function = pm.iterate(step, start, steps=T)
    return last


def ahead() -> Function:
    """Two stages of a step read each other ten rows away, and steps are not behind each other."""

    def step(a: Any, b: Any) -> tuple[Function, Function]:
        less = Function(([i, j], [ROWS, COLUMNS]), Double, "less", default=0.9 * a(i, j))
        less.defn = [Case(Condition(i, ">=", 10), 0.9 * a(i, j) + b(i - 10, j) / 8)]
        more = Function(([i, j], [ROWS, COLUMNS]), Double, "more", default=b(i, j))
        more.defn = [Case(Condition(i, "<=", N - 11), b(i, j) + less(i + 10, j))]
        return less, more

    one, other = pm.iterate(step, (x, y), steps=T)
    last = Function(([i, j], [ROWS, COLUMNS]), Double, "last")
    last.defn = [one(i, j) + other(i, j)]
    return last


def skewed(
    made: Function, estimates: dict[Parameter, int] | None = None, schemes: dict[str, str] | None = None
) -> list[SkewedSteps]:
    options = Options(scheme=schemes or {})
    for name, level in levels(request_for(made, estimates=estimates, options=options)):
        if name == "skews":
            if not isinstance(level, Stepwise):
                return []
            return [each.together for each in level.sections if isinstance(each.together, SkewedSteps)]
    raise AssertionError("there is no such pass")


def test_steps_stay_as_far_behind_as_rows_need_each_other() -> None:
    (found,) = skewed(means())
    assert found.order.along == (Skew(2, (0, 1)),)
    (found,) = skewed(two_back())
    assert found.order.along == (Skew(1, (0,)),)
    (found,) = skewed(fields())
    lags = dict(zip(found.order.stages, found.order.along[0].lags, strict=True))
    assert found.order.along[0].step == 1
    assert lags["h"] == lags["e"] + 1


def test_steps_follow_each_other_in_the_loops_that_a_scheme_says_alone() -> None:
    level = dict(levels(request_for(fields())))["skews"]
    assert isinstance(level, Stepwise)
    together = [section for section in level.sections if section.together is not None]
    found = [each for section in together for each in section.flat()]
    plans = [plan for each in found for plan in each.plans]
    schemes = {name: str(scheme) for plan in plans for name, scheme in schemes_of(plan).items()}
    assert {*schemes} == {*"efh"}
    assert len(skewed(fields(), schemes=schemes)) == 1
    assert skewed(fields(), schemes={"h": "[Par(i), R(i), R(j), U(i, 3), V(j)]"}) == []


def test_rows_anywhere_else_keep_steps_from_following_each_other() -> None:
    def step(u: Any) -> Function:
        after = Function(([i, j], [ROWS, COLUMNS]), Double, "after")
        after.defn = [u(N - 1 - i, j) / 2]
        return after

    assert skewed(pm.iterate(step, x, steps=T)) == []


def planes() -> Function:
    """Of a first dimension that is too short for threads to share."""
    channels, fields = Interval(Int, 0, 2), pm.Image(Double, "x", [3, N, M])

    def step(u: Any) -> Function:
        after = Function(([k, i, j], [channels, ROWS, COLUMNS]), Double, "after", default=u(k, i, j))
        after.defn = [Case(inside(1), 0.5 * (u(k, i - 1, j) + u(k, i + 1, j)))]
        return after

    last: Function = pm.iterate(step, fields, steps=T)
    return last


def transposed() -> Function:
    """By tiles, for it reads another array across its rows."""
    weights = pm.Matrix(Double, "w", [M, N])

    def step(u: Any) -> Function:
        after = Function(([i, j], [ROWS, COLUMNS]), Double, "after", default=u(i, j))
        after.defn = [Case(inside(1), 0.5 * (u(i - 1, j) + u(i + 1, j)) * weights(j, i))]
        return after

    last: Function = pm.iterate(step, x, steps=T)
    return last


@pytest.mark.parametrize("make", [planes, transposed])
def test_what_has_no_loops_over_rows_keeps_its_bands(
    make: Callable[[], Function], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever decides first, about bands, knows what is decided in the end."""
    follow_anyway(monkeypatch)
    monkeypatch.setattr(timebands, "SIZES", (4,))
    for name, level in levels(request_for(make())):
        if name == "skews":
            assert isinstance(level, Stepwise)
            for section in level.sections:
                assert section.together is None
                assert isinstance(section.level, Schedule)
                assert not section.level.grouping.pipeline.apart


def test_small_arrays_stay_in_their_cache() -> None:
    assert skewed(means(), {N: 60, M: 60, T: 100}) == []
    assert skewed(means(), {N: 600, M: 600, T: 100}) != []


def test_explanations_have_the_time_of_steps_that_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timebands, "SIZES", ())

    def told(*skip: str) -> list[Decision]:
        options = Options(skip=skip, threads=1)
        request = request_for(means(), estimates={N: 1300, M: 1300, T: 100}, options=options)
        request = replace(request, machine=replace(HASWELL, cores=2))
        level = next(level for name, level in levels(request) if name == "skews")
        assert isinstance(level, Stepwise)
        steps = level.sections[1].level  # behind the first one, which reads the inputs
        assert isinstance(steps, Schedule)
        return [*steps.decisions]

    found = told()
    assert all(each.terms.endswith("; 3 steps in one pass") for each in found)
    assert sum(each.seconds for each in found) < 0.6 * sum(each.seconds for each in told("skews"))


SMALL = {N: 130, M: 33, T: 30}
SHAPES = {
    1: ((0,), (1,), (4,), (130,)),
    2: ((1, 1), (2, 9), (3, 3), (70, 5), (130, 33)),
    3: ((2, 1), (3, 3), (41, 33)),
}


def follow_anyway(patch: pytest.MonkeyPatch) -> None:
    """Let a few steps follow each other in small arrays."""
    for name, value in (
        ("LEAST_SHARE", 0.0),
        ("LEAST_STEPS", 1),
        ("MOST_STEPS", 3),
        ("PIECE_SHARE", 0.001),
        ("ROOM_SHARE", 0.05),
    ):
        patch.setattr(skewedsteps, name, value)
    patch.setattr(stepways, "GAIN", 1e9)
    patch.setattr(timebands, "SIZES", ())


def crew_of(section: SkewedSteps, sizes: dict[str, int], steps: int, threads: int) -> int:
    """The threads that take part."""
    values = {**asked(section, sizes, steps, threads)}
    decided = following(section)
    assert decided.follow.holds(values)
    return int(decided.crew.at(values))


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("make", [means, two_back, fields, heat, line])
def test_elements_are_those_of_steps_one_by_one(
    make: Callable[[], Function], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow_anyway(monkeypatch)
    options = Options(threads=threads, parallel_threshold=0 if threads > 1 else None, cflags=("-O1",))
    run = pm.compile(make(), name="followed", options=options, estimates=SMALL)
    assert "_pm_rows_s" in run.source
    (section,) = skewed(make(), SMALL)
    counts = (0, 1, 2, 3, 17)
    assert crew_of(section, {"N": 130, "M": 33}, counts[-1], threads) == threads
    rng, rank = np.random.default_rng(threads), {heat: 3, line: 1}.get(make, 2)
    for steps in counts:
        for shape in SHAPES[rank]:
            extents = (*shape, shape[-1]) if rank == 3 else shape
            count = 1 if make in (heat, line) else 2
            arrays = [
                rng.integers(-9, 9, extents).astype("int64" if rank == 1 else float) for _ in range(count)
            ]
            found, expected = run(*arrays, T=steps), run.reference(*arrays, T=steps)
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-12, err_msg=f"{steps}, {shape}")


def test_threads_wait_for_stages_that_lag_where_steps_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    follow_anyway(monkeypatch)
    (section,) = skewed(ahead(), SMALL)
    assert section.order.along == (Skew(0, (0, 10)),)
    options = Options(threads=8, parallel_threshold=0, cflags=("-O1",))
    run = pm.compile(ahead(), name="ahead", options=options, estimates=SMALL)
    assert crew_of(section, {"N": 300, "M": 40}, 17, 8) == 8
    assert "_pm_rows_s" in run.source
    rng = np.random.default_rng(8)
    for rows in (11, 72, 127, 128, 155, 300):
        arrays = [rng.integers(-9, 9, (rows, 40)).astype(float) for _ in range(2)]
        for steps in (3, 8, 17):
            found, expected = run(*arrays, T=steps), run.reference(*arrays, T=steps)
            np.testing.assert_allclose(found, expected, rtol=1e-13, err_msg=f"{steps}, {rows}")


def drawn(rng: np.random.Generator) -> Function:
    """Two states that read themselves and each other, before the step and after it, a few rows away."""

    def near(source: Any) -> Any:
        places = [(int(rng.integers(-2, 3)), int(rng.integers(-1, 2))) for _ in range(3)]
        return sum(float(rng.integers(1, 4)) / 8 * source(i + di, j + dj) for di, dj in places)

    def step(a: Any, b: Any) -> tuple[Function, Function]:
        first = Function(([i, j], [ROWS, COLUMNS]), Double, "first", default=a(i, j))
        first.defn = [Case(inside(2), near(a) - near(b))]
        second = Function(([i, j], [ROWS, COLUMNS]), Double, "second", default=b(i, j))
        second.defn = [Case(inside(2), near(b) / 2 - near(first if rng.integers(2) else a))]
        return first, second

    one, other = pm.iterate(step, (x, y), steps=T)
    last = Function(([i, j], [ROWS, COLUMNS]), Double, "last")
    last.defn = [one(i, j) + 2 * other(i, j)]
    return last


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_random_systems(threads: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    follow_anyway(monkeypatch)
    rng = np.random.default_rng([seed, threads])
    options = Options(threads=threads, parallel_threshold=0 if threads > 1 else None)
    run = pm.compile(drawn(rng), name="drawn", options=options, estimates=SMALL)
    assert "_pm_rows_s" in run.source
    for rows, columns in ((0, 3), (1, 1), (4, 4), (5, 9), (31, 6), (67, 5), (150, 4)):
        arrays = [rng.standard_normal((rows, columns)) for _ in range(2)]
        for steps in (0, 1, 2, 3, 8, 30):
            found, expected = run(*arrays, T=steps), run.reference(*arrays, T=steps)
            scale = float(np.abs(expected).max(initial=1.0))
            np.testing.assert_allclose(found, expected, atol=1e-12 * scale, err_msg=f"{rows}, {steps}")
