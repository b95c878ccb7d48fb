"""Eliminations, as steps over a matrix: what the tests of linear steps in blocks run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import polymat as pm
from polymat import (
    Abs,
    Case,
    Clamp,
    Complex,
    Condition,
    Double,
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
from polymat.graph.linearrows import LinearStep
from polymat.graph.linearsteps import linear_step
from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import names_taken
from polymat.graph.stepwise import Stepwise
from polymat.passes import levels_of
from polymat.poly.membership import members
from polymat.steps import Job

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


def in_blocks(described: Described, every: int) -> tuple[Stepwise[Pipeline], Stepwise[Pipeline]]:
    """The sections of a program, step by step and with the linear steps in blocks of so many."""
    level, number = section_of(described)
    section, held = level.sections[number], {each.name: each for each in level.held}
    found = linear_step(section, held)
    assert found is not None
    assert isinstance(section.level, Pipeline)
    taken = {*names_taken(level.whole), *held, *names_taken(section.level), found.slices.step}
    blocks = in_linear_blocks(section, found, every, taken)
    return level, replace(level, sections=(*level.sections[:number], *blocks, *level.sections[number + 1 :]))


def interpreted(level: Stepwise[Pipeline], system: ArrayOf) -> ArrayOf:
    """What the sections of a program make of a matrix."""
    rows, columns = system.shape
    with np.errstate(all="ignore"):
        (found,) = interpret_stepwise(
            level, {"system": system}, {"R": rows, "M": columns - rows}, members
        ).values()
    return found
