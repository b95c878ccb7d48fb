"""Linear steps in blocks: which steps are linear, and that blocks compute what steps one by one do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Abs,
    Case,
    Clamp,
    Complex,
    Condition,
    Double,
    Float,
    Function,
    Imag,
    Int,
    Interval,
    Long,
    Matrix,
    Op,
    Options,
    Parameter,
    Real,
    Reduce,
    Reduction,
    Select,
    Variable,
)
from polymat.driver import request_for
from polymat.graph.interpretsteps import interpret_stepwise
from polymat.graph.linearblocks import in_linear_blocks
from polymat.graph.linearsteps import LinearStep, linear_step
from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import names_taken
from polymat.graph.stepwise import StepSection, Stepwise
from polymat.passes import levels_of
from polymat.poly.membership import members
from polymat.rewrite import stepproducts
from polymat.steps import Job
from tests.tolerance import assert_close

R, M = Parameter(Int, "R"), Parameter(Int, "M")
i, j = Variable(Int, "i"), Variable(Int, "j")
ROWS, COLUMNS = Interval(Int, 0, R - 1), Interval(Int, 0, R + M - 1)
SIZES = ((1, 0), (1, 3), (2, 1), (3, 0), (4, 5), (6, 2), (7, 3), (8, 8), (11, 1), (13, 4))
Described = tuple[Any, list[Any]]
ArrayOf = Any


def pivot_of(system: Any, column: Any, kind: Any, rows: Any = ROWS) -> Any:
    """The row from that of a number on with the largest element of a column."""
    pivot = Reduction(((), ()), ([i], [rows]), Long, "pivot")
    element = system(i, column)
    size = Abs(Real(element)) + Abs(Imag(element)) if kind == Complex else Abs(element)
    pivot.defn = [Case(Condition(i, ">=", column), Reduce(pivot(), size, Op.ArgMax))]
    return pivot


def steps_of(step: Callable[[Any, Any], Any], kind: Any = Double) -> Described:
    """All R steps from a matrix."""
    system = Matrix(kind, "system", [R, R + M])
    return pm.iterate(step, system, steps=R), [system]


def made(cases: Any, kind: Any) -> Function:
    after = Function(([i, j], [ROWS, COLUMNS]), kind, "after")
    after.defn = cases
    return after


def solving(kind: Any = Double) -> Described:
    """Gauss and Jordan's elimination with row exchanges."""

    def step(system: Any, k: Any) -> Any:
        column = k - 1
        pivot = pivot_of(system, column, kind)
        chosen = Clamp(pivot(), column, R - 1)
        scaled = Function(([j], [COLUMNS]), kind, "scaled")
        scaled.defn = [system(chosen, j) / system(chosen, column)]

        def moved(at: Any) -> Any:
            return Select(Condition(i, "==", pivot()), system(column, at), system(i, at))

        others = Condition(i, "<", column) | Condition(i, ">", column)
        return made(
            [
                Case(Condition(j, "<", k), system(i, j)),
                Case(Condition(j, ">=", k) & Condition(i, "==", column), scaled(j)),
                Case(Condition(j, ">=", k) & others, moved(j) - moved(column) * scaled(j)),
            ],
            kind,
        )

    return steps_of(step, kind)


def factoring(kind: Any = Double, *, moves: bool = True) -> Described:
    """LU with row exchanges in place, of all columns or of those that are not finished."""

    def step(system: Any, k: Any) -> Any:
        column = k - 1
        pivot = pivot_of(system, column, kind)
        chosen = Clamp(pivot(), column, R - 1)

        def moved(at: Any) -> Any:
            return Select(Condition(i, "==", pivot()), system(column, at), system(i, at))

        below, head, above = (Condition(i, op, column) for op in (">", "==", "<"))
        late, here, early = (Condition(j, op, column) for op in (">", "==", "<"))
        finished = [Case(early, system(i, j))]
        if moves:
            finished = [
                Case(early & head, system(chosen, j)),
                Case(early & below, moved(j)),
                Case(early & above, system(i, j)),
            ]
        multiple = moved(column) / system(chosen, column)
        return made(
            [
                *finished,
                Case((here | late) & head, system(chosen, j)),
                Case((here | late) & above, system(i, j)),
                Case(here & below, multiple),
                Case(late & below, moved(j) - multiple * system(chosen, j)),
            ],
            kind,
        )

    return steps_of(step, kind)


def unmoved(kind: Any = Double) -> Described:
    """An elimination without row exchanges, as circles say it."""

    def step(system: Any, k: Any) -> Any:
        column = k - 1
        below, late = Condition(i, ">", column), Condition(j, ">", column)
        head = Function(([j], [COLUMNS]), kind, "head")
        head.defn = [system(column, j) / system(column, column)]
        return made(
            [
                Case(below & late, system(i, j) - system(i, column) * head(j)),
                Case(below & Condition(j, "<=", column), system(i, j)),
                Case(Condition(i, "<=", column), system(i, j)),
            ],
            kind,
        )

    return steps_of(step, kind)


def mixing(kind: Any = Double) -> Described:
    """Rows of a block may be crossing ones again, go on with half of themselves, and with none."""

    def step(system: Any, k: Any) -> Any:
        column = k - 1
        pivot = pivot_of(system, column, kind)
        chosen = Clamp(pivot() - 1, 0, R - 1)
        late = Condition(j, ">", column)
        first, others = Condition(i, "==", 0), Condition(i, ">", 0)
        return made(
            [
                Case(Condition(j, "<=", column), system(i, j)),
                Case(late & first, 0.25 * system(chosen, j) - system(chosen, j) * 0.5),
                Case(late & others, system(i, column) * system(chosen, j) * 0.125 + system(i - 1, j)),
            ],
            kind,
        )

    return steps_of(step, kind)


def added(kind: Any = Double) -> Described:
    """Rows are what is added first or last, once with a multiple of the very same element."""

    def step(system: Any, k: Any) -> Any:
        column = k - 1
        pivot = pivot_of(system, column, kind)
        chosen = Clamp(pivot(), column, R - 1)
        crossing, late = system(chosen, j), Condition(j, ">=", k)
        share = system(i, column) / (Abs(system(i, column)) + 1.0)
        above, head, below = (late & Condition(i, op, column) for op in ("<", "==", ">"))
        return made(
            [
                Case(Condition(j, "<", k), system(i, j)),
                Case(above, 0.5 * share * crossing + system(i, j)),
                Case(head, crossing + 0.5 * crossing),
                Case(below, system(i, j) + crossing * share - 0.25 * crossing),
            ],
            kind,
        )

    return steps_of(step, kind)


def section_of(described: Described) -> tuple[Stepwise[Pipeline], int]:
    """The sections of a program, and the number of that which takes most steps."""
    output, inputs = described
    job = Job(request_for(output, inputs=inputs, options=Options(skip=("bands", "slices"))))
    level = next(level for each, level in levels_of(job) if each.name == "sections")
    assert isinstance(level, Stepwise)
    going = [(k, each.steps) for k, each in enumerate(level.sections) if each.goes_on]
    counts = [(len(steps.numbers({"R": 20, "M": 3})), k) for k, steps in going if steps is not None]
    return level, max(counts)[1]


def found_in(described: Described) -> LinearStep | None:
    level, number = section_of(described)
    return linear_step(level.sections[number], {each.name: each for each in level.held})


def start(rows: int, more: int, kind: Any) -> ArrayOf:
    rng = np.random.default_rng([rows, more])
    values = rng.uniform(-1, 1, (rows, rows + more))
    if kind == Complex:
        values = values + 1j * rng.uniform(-1, 1, values.shape)
    return values.astype(kind.dtype)


PROGRAMS: Mapping[str, Callable[..., Described]] = {
    "solving": solving,
    "factoring": factoring,
    "without moving finished columns": lambda kind=Double: factoring(kind, moves=False),
    "unmoved": unmoved,
    "mixing": mixing,
    "added": added,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_blocks_of_linear_steps_are_steps(name: str) -> None:
    level, number = section_of(PROGRAMS[name]())
    section, held = level.sections[number], {each.name: each for each in level.held}
    found = linear_step(section, held)
    assert found is not None
    assert isinstance(section.level, Pipeline)
    taken = {*names_taken(level.whole), *held, *names_taken(section.level), found.slices.step}
    for every in (1, 3, 5):
        blocks: list[StepSection[Pipeline]] = in_linear_blocks(section, found, every, {*taken})
        sections = (*level.sections[:number], *blocks, *level.sections[number + 1 :])
        blocked = Stepwise(level.whole, level.held, sections)
        for rows, more in SIZES:
            given, sizes = {"system": start(rows, more, Double)}, {"R": rows, "M": more}
            (one,) = interpret_stepwise(level, given, sizes, members).values()
            (other,) = interpret_stepwise(blocked, given, sizes, members).values()
            scale = max(1.0, float(np.max(np.abs(one), initial=0.0)))
            assert_close(other, one, roundings=64 * (rows + 1), magnitude=scale * 64)


def as_it_was(system: Any) -> Any:
    return system(i, j)


def other_step(value: Callable[..., Any], finished: Callable[..., Any] = as_it_was) -> Described:
    """A step that reads the row that it is about as a function of its own; value: of that, and of others.

    finished: what columns in front become.
    """

    def step(system: Any, k: Any) -> Any:
        head = Function(([j], [COLUMNS]), Double, "head")
        head.defn = [system(k - 1, j)]
        early, late = (Condition(j, op, k) for op in ("<", ">="))
        return made(
            [Case(early, finished(system)), Case(late, value(system, head(j), system(i, k - 1)))], Double
        )

    return steps_of(step)


OTHERS = {
    "squared": lambda: other_step(lambda w, head, mine: w(i, j) - mine * head * head),
    "two crossing rows": lambda: other_step(lambda w, head, mine: w(i, j) - mine * head - 0.5 * w(0, j)),
    "knows its column": lambda: other_step(lambda w, head, mine: w(i, j) - mine * head * (j + 1)),
    "adds a number": lambda: other_step(lambda w, head, mine: w(i, j) - mine * (head + 1.0)),
    "changes finished columns": lambda: other_step(
        lambda w, head, mine: w(i, j) - mine * head, lambda w: 0.5 * w(i, j)
    ),
    "moves some finished columns": lambda: other_step(
        lambda w, head, mine: w(i, j) - mine * head,
        lambda w: Select(Condition(j, "<", 3), w(i, j), w(R - 1 - i, j)),
    ),
    "moves finished columns by their elements": lambda: other_step(
        lambda w, head, mine: w(i, j) - mine * head,
        lambda w: Select(Condition(w(i, j), "<", 0.0), w(i, j), w(R - 1 - i, j)),
    ),
    "a row for each column": lambda: other_step(
        lambda w, head, mine: w(Clamp(R - 1 - j, 0, R - 1), j) - mine * head
    ),
}


def test_a_step_like_these_is_a_linear_one() -> None:
    assert found_in(other_step(lambda w, head, mine: w(i, j) - mine * head)) is not None


@pytest.mark.parametrize("name", OTHERS)
def test_other_steps_are_no_linear_ones(name: str) -> None:
    assert found_in(OTHERS[name]()) is None


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("kind", [Double, Float, Complex], ids=str)
def test_compiled_blocks_are_steps(name: str, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stepproducts, "EVERY", 3)
    monkeypatch.setattr(stepproducts, "CLEARLY", np.inf)
    output, inputs = PROGRAMS[name](kind)
    run = pm.compile(output, inputs=inputs, options=Options(threads=2, parallel_threshold=0))
    assert "in blocks of 3 steps" in str(run.explain())
    for rows, more in SIZES:
        given = start(rows, more, kind)
        right = run.reference(given)
        scale = max(1.0, float(np.max(np.abs(right), initial=0.0)))
        assert_close(run(given), right, roundings=64 * (rows + 1), magnitude=scale * 64)


def test_a_large_system_is_solved_in_blocks_and_may_be_solved_step_by_step() -> None:
    found = {}
    for skip in ((), ("linear",)):
        output, inputs = solving()
        run = pm.compile(
            output, inputs=inputs, estimates={R: 300, M: 200}, options=Options(skip=skip, threads=1)
        )
        assert ("in blocks of" in str(run.explain())) == (skip == ())
        found[skip] = run(start(67, 9, Double))[:, 67:]
    system = start(67, 9, Double)
    right = np.linalg.solve(system[:, :67], system[:, 67:])
    for each in found.values():
        np.testing.assert_allclose(each, right, rtol=1e-9)


def test_small_systems_and_exact_orders_stay_step_by_step() -> None:
    for sizes, options in (({R: 8, M: 2}, Options()), ({R: 300, M: 200}, Options(reassociate=False))):
        output, inputs = solving()
        run = pm.compile(output, inputs=inputs, estimates=sizes, options=options)
        assert "in blocks of" not in str(run.explain())
