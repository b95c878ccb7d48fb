"""Which steps go in segments, where their stages are, and what their code computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Float, Function, Int, Interval, Options, Parameter, Variable
from polymat.decide import segmentedsteps
from polymat.driver import levels, request_for
from polymat.graph.segmented import RowPlace, SegmentedSteps
from polymat.graph.stepwise import Stepwise
from polymat.machine.known import HASWELL, SAPPHIRE_RAPIDS
from polymat.machine.model import Machine
from tests.hosts import CompileFor

T, N = Parameter(Int, "T"), Parameter(Int, "N")
i = Variable(Int, "i")
ALL = Interval(Int, 0, N - 1)
SIZES = {N: 2000, T: 500}


def inside(before: int, behind: int) -> Condition:
    return Condition(i, ">=", before) & Condition(i, "<=", N - 1 - behind)


def changed(name: str, old: Any, where: Condition, value: Any, dtype: Any = Double) -> Function:
    """A state that changes at some points."""
    after = Function(([i], [ALL]), dtype, name, default=old(i))
    after.defn = [Case(where, value)]
    return after


def means(dtype: Any = Double) -> Function:
    """Two states that stay in their planes, each of the neighbours of the other."""
    x, y = pm.Vector(dtype, "x", [N]), pm.Vector(dtype, "y", [N])

    def mean(name: str, old: Any, of: Any) -> Function:
        return changed(name, old, inside(1, 1), (of(i - 1) + of(i) + of(i + 1)) / 3.0, dtype)

    def step(a: Any, b: Any) -> tuple[Function, Function]:
        after = mean("b_after", b, a)
        return mean("a_after", a, after), after

    last: Function = pm.iterate(step, (x, y), steps=T)[0]
    return last


def waves(dtype: Any = Double) -> Function:
    """Two fields that begin and end at different points, one of which has coefficients."""
    x, y, c = (pm.Vector(dtype, name, [N]) for name in "xyc")

    def step(e: Any, h: Any) -> tuple[Function, Function]:
        electric = changed("electric", e, Condition(i, ">=", 1), e(i) - 0.5 * (h(i) - h(i - 1)), dtype)
        flux = (electric(i + 1) - electric(i)) * (c(i + 1) + c(i - 1))
        return electric, changed("magnetic", h, inside(1, 2), h(i) - 0.7 * flux, dtype)

    one, other = pm.iterate(step, (x, y), steps=T)
    last = Function(([i], [ALL]), dtype, "last")
    last.defn = [one(i) + other(i)]
    return last


def far(dtype: Any = Double) -> Function:
    """States in two planes, read three points before and one behind, with a number of the user's."""
    x, y, rate = pm.Vector(dtype, "x", [N]), pm.Vector(dtype, "y", [N]), Parameter(dtype, "rate")

    def step(u: Any, v: Any) -> tuple[Function, Function]:
        after = changed("after", u, inside(3, 1), rate * u(i - 3) - v(i + 1) / 4.0 + u(i) / 2.0, dtype)
        return after, changed("behind", v, inside(0, 1), (u(i) + v(i + 1)) / 2.0, dtype)

    last: Function = pm.iterate(step, (x, y), steps=T)[0]
    return last


def alone(dtype: Any = Double) -> Function:
    """One state, that reads itself alone."""
    x = pm.Vector(dtype, "x", [N])

    def step(u: Any) -> Function:
        return changed("after", u, inside(2, 1), u(i) / 2.0 - (u(i - 2) - u(i + 1)) / 4.0, dtype)

    last: Function = pm.iterate(step, x, steps=T)
    return last


def segmented(
    made: Function,
    machine: Machine = HASWELL,
    estimates: dict[Parameter, int] | None = None,
    options: Options | None = None,
) -> list[SegmentedSteps]:
    given = options or Options(threads=1)
    request = request_for(made, estimates=estimates or SIZES, options=given)
    level = next(each for name, each in levels(replace(request, machine=machine)) if name == "segments")
    if not isinstance(level, Stepwise):
        return []
    return [each.together for each in level.sections if isinstance(each.together, SegmentedSteps)]


def test_steps_go_in_segments_where_vectors_would_be_shifted() -> None:
    for make in (means, waves, far, alone):
        for machine in (HASWELL, SAPPHIRE_RAPIDS):
            (found,) = segmented(make(), machine)
            assert found.lanes == machine.vector_bits // 64
            assert segmented(make(Float), machine)[0].lanes == 2 * found.lanes


def test_stages_are_as_close_behind_each_other_as_they_read() -> None:
    (found,) = segmented(means(), SAPPHIRE_RAPIDS)
    assert found.steps == 2
    assert found.places == ((RowPlace(1, 1), RowPlace(2, 2)), (RowPlace(3, 3), RowPlace(4, 4)))
    assert (found.segments.kept, found.front, found.beside) == (("a_after_steps",), 5, 8)
    (found,) = segmented(far(), SAPPHIRE_RAPIDS)
    assert found.segments.even
    assert found.places[0] == (RowPlace(1, 6), RowPlace(1, 3))
    (found,) = segmented(waves(), SAPPHIRE_RAPIDS)
    assert found.places[0] == (RowPlace(0, 1), RowPlace(1, 1))
    assert len(found.segments.kept) == 2


def test_the_option_and_schemes_of_other_loops_leave_steps_as_they_are() -> None:
    assert segmented(means(), options=Options(skip=("segments",), threads=1)) == []
    (by_default,) = segmented(means(), options=Options(threads=1))
    for loops, found in (("[R(i), V(i)]", []), ("[Par(i), R(i), V(i)]", [by_default])):
        given = Options(scheme={"b_after_steps": loops}, threads=1)
        assert [each.places for each in segmented(means(), options=given)] == [each.places for each in found]


@pytest.mark.parametrize(("skip", "found"), [((), 1), (("segments",), 0)])
def test_explanations_say_so(skip: tuple[str, ...], found: int, compile_for: CompileFor) -> None:
    compile_for(HASWELL)
    run = pm.compile(means(), estimates=SIZES, options=Options(threads=1, skip=skip))
    told = str(run.explain())
    assert told.count("2 steps in one pass over vectors of points of 4 segments") == found


def test_few_steps_and_short_lines_run_one_by_one() -> None:
    assert segmented(means(), estimates={N: 2000, T: 4}) == []
    assert segmented(means(), estimates={N: 20, T: 500}) == []


def both(step: Callable[[Any], Function]) -> Function:
    """Steps of a state beside those of one that its points are added to."""
    starts = pm.Vector(Double, "x", [N]), pm.Vector(Double, "y", [N])

    def steps(u: Any, v: Any) -> tuple[Function, Function]:
        after = step(u)
        return after, changed("sum", v, inside(1, 1), v(i - 1) + after(i))

    last: Function = pm.iterate(steps, starts, steps=T)[1]
    return last


def moved() -> Function:
    """Whose points are read in the opposite order."""

    return both(lambda u: changed("after", u, inside(1, 1), u(N - 1 - i) / 2.0))


def bordered() -> Function:
    """Whose border changes at each step."""

    def step(u: Any) -> Function:
        after = Function(([i], [ALL]), Double, "after", default=0.5 * u(i))
        after.defn = [Case(inside(1, 1), u(i - 1) + u(i + 1))]
        return after

    return both(step)


def chosen() -> Function:
    """Of more than arithmetic."""

    return both(lambda u: changed("after", u, inside(1, 1), pm.Max(u(i - 1), u(i + 1))))


def at_some_sizes() -> Function:
    """That change for some sizes alone, of which the points between the first and the last say nothing."""
    large = Condition(Parameter(Int, "M"), ">=", 3)
    return both(lambda u: changed("after", u, inside(1, 1) & large, u(i - 1) + u(i + 1)))


@pytest.mark.parametrize("make", [moved, bordered, chosen, at_some_sizes])
def test_other_steps_run_one_by_one(make: Callable[[], Function], monkeypatch: pytest.MonkeyPatch) -> None:
    anyway(monkeypatch)
    assert segmented(make()) == []


def anyway(patch: pytest.MonkeyPatch) -> None:
    """Let short lines and few steps go in segments."""
    patch.setattr(segmentedsteps, "CLEARLY", 1e9)
    patch.setattr(segmentedsteps, "FEWEST_STEPS", 2)
    patch.setattr(segmentedsteps, "LEAST_ROWS", 1)


def lengths(found: SegmentedSteps) -> list[int]:
    """None, few, primes, and those around the first ones that go in segments."""
    around = found.lanes * (found.beside + 4)
    return [0, 1, 2, 7, 13, *range(around - found.lanes - 1, around + found.lanes + 2, 3), 211, 499]


def check(
    made: Function, count: int, threads: int, dtype: Any, rng: np.random.Generator, *, everywhere: bool = True
) -> None:
    """Compare with the interpreter for odd lengths and numbers of steps.

    everywhere: whether registers of any size hold what goes in segments.
    """
    options = Options(threads=threads, parallel_threshold=0 if threads > 1 else None, cflags=("-O1",))
    run = pm.compile(made, name="segments", options=options, estimates=SIZES)
    machine = request_for(made, estimates=SIZES, options=options).machine
    taken = everywhere or bool(segmented(made, machine, options=options))
    assert ("_pm_segments_s" in run.source) == taken
    (found,) = segmented(made, SAPPHIRE_RAPIDS)
    kind = np.float32 if dtype is Float else np.float64
    scalars = {"rate": kind(0.25)} if any(each.name == "rate" for each in run.signature.scalars) else {}
    for steps in (0, 1, 3, 6, 17):
        for points in lengths(found):
            arrays = [(rng.random(points) - 0.5).astype(kind) for _ in range(count)]
            result, expected = run(*arrays, T=steps, **scalars), run.reference(*arrays, T=steps, **scalars)
            near = 2e-6 if dtype is Float else 1e-13
            scale = float(np.abs(expected).max(initial=1.0))
            np.testing.assert_allclose(result, expected, atol=near * scale, err_msg=f"{steps}, {points}")


@pytest.mark.covering
@pytest.mark.parametrize("dtype", [Double, Float])
@pytest.mark.parametrize(("make", "count"), [(means, 2), (waves, 3), (far, 2), (alone, 1)])
def test_elements_are_those_of_steps_one_by_one(
    make: Callable[[Any], Function], count: int, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    anyway(monkeypatch)
    check(make(dtype), count, 1 if dtype is Float else 3, dtype, np.random.default_rng(count))


def drawn(rng: np.random.Generator, dtype: Any) -> Function:
    """States that read themselves and the next one, before the step and after it, anywhere near."""
    count = int(rng.integers(2, 4))
    starts = [pm.Vector(dtype, f"x{k}", [N]) for k in range(3)]

    def near(source: Any) -> Any:
        places = {int(rng.integers(-2, 3)) for _ in range(3)}
        return sum(float(rng.integers(1, 4)) / 16 * source(i + place) for place in places)

    def step(*states: Any) -> tuple[Function, ...]:
        made: list[Function] = []
        for k, old in enumerate(states):
            other = (k + 1) % count
            beside = made[other] if other < k and rng.integers(2) else states[other]
            value = near(old) - near(beside) + (near(starts[2]) if rng.integers(2) else 0.0)
            where = inside(2 + int(rng.integers(2)), 2 + int(rng.integers(3)))
            made.append(changed(f"after{k}", old, where, value, dtype))
        return tuple(made)

    found = pm.iterate(step, tuple(starts[:count]), steps=T)
    last = Function(([i], [ALL]), dtype, "last")
    last.defn = [sum(float(k + 1) * each(i) for k, each in enumerate(found)) + starts[1](i) + starts[2](i)]
    return last


@pytest.mark.drawn(3)
@pytest.mark.parametrize("number", range(6))
def test_random_systems(number: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    anyway(monkeypatch)
    rng = np.random.default_rng([seed, number])
    dtype = Float if number % 2 else Double
    check(drawn(rng, dtype), 3, 1 + number % 3, dtype, rng, everywhere=False)
