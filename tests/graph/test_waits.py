"""Which slices of a step may wait for others."""

from __future__ import annotations

from typing import Any

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Op, Reduce, Reduction
from polymat.driver import levels, request_for
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import Stepwise
from polymat.graph.waited import Slices
from polymat.graph.waits import behind_front, slices_of_step
from polymat.options import Options

T, M, N = (pm.Parameter(Int, name) for name in "TMN")
k, i, j = (pm.Variable(Int, name) for name in "kij")
STEPS, ROWS, COLUMNS = Interval(Int, 0, T), Interval(Int, 0, M - 1), Interval(Int, 0, T + N)
x = pm.Matrix(Double, "x", [M, T + N + 1])


def elimination(head: Any, value: Any = None, copied: bool = False, begin: int = 1) -> Any:
    """The last state of a matrix that one of its columns changes; value: of an element from `begin` on."""
    a = Function(([k, i, j], [STEPS, ROWS, COLUMNS]), Double, "a")
    norm = Reduction(([k], [STEPS]), ([k, i], [STEPS, ROWS]), Double, "norm")
    norm.defn = [Reduce(norm(k), a(k, i, head) * a(k, i, head), Op.Sum)]
    made = a(k - 1, i, j) - a(k - 1, 0, j) * norm(k - 1) if value is None else value(a, norm)
    first, later = Condition(k, "<", begin), Condition(k, ">=", begin)
    behind = [Case(later & Condition(j, ">=", k), made), Case(later & Condition(j, "<", k), a(k - 1, i, j))]
    a.defn = [Case(first, (1.0 + k) * x(i, j)), *(behind if copied else [Case(later, made)])]
    last = Function(([i, j], [ROWS, COLUMNS]), Double, "last")
    last.defn = [a(T, i, j) * 2.0]
    return last


def steps_of(last: Any) -> tuple[Pipeline, Slices | None]:
    """The steps behind the first one, and their slices."""
    request = request_for(
        last, options=Options(skip=("bands", "slices")), constraints=[Condition(N, ">=", 3)]
    )
    level = next(level for name, level in levels(request) if name == "sections")
    assert isinstance(level, Stepwise)
    held = {each.name: each for each in level.held}
    section = [each for each in level.sections if each.steps is not None and each.steps.first[0].const][-1]
    assert isinstance(section.level, Pipeline)
    return section.level, slices_of_step(section, held)


def test_columns_wait_behind_that_which_a_step_is_about() -> None:
    for ahead in (0, 1, 2):
        _, found = steps_of(elimination(k + ahead))
        assert found is not None
        assert (found.stages, found.front) == ((("a", 1),), ahead)


def test_all_rows_are_none_in_front() -> None:
    _, found = steps_of(elimination(N))
    assert found is None  # the last columns change at every step


def test_neighbours_do_not_wait() -> None:
    def value(a: Any, norm: Any) -> Any:
        return a(k - 1, i, j) - 0.5 * a(k - 1, i, T + N - j) * norm(k - 1)

    assert steps_of(elimination(k, value))[1] is None


def test_old_columns_are_read_where_they_stay() -> None:
    def value(a: Any, norm: Any) -> Any:
        return a(k - 1, i, j) - a(k - 1, i, k - 1) * norm(k - 1)

    assert steps_of(elimination(k, value))[1] is None
    _, found = steps_of(elimination(k, value, copied=True))
    assert found is not None
    assert found.front == 0


def test_columns_of_before_these_steps_may_have_changed_meanwhile() -> None:
    def value(a: Any, norm: Any) -> Any:
        return a(k - 1, i, j) - a(k - 2, i, k - 2) * norm(k - 1)

    assert steps_of(elimination(k, value, copied=True, begin=2))[1] is None


def test_slices_behind_the_front_are_one_part() -> None:
    level, found = steps_of(elimination(k, copied=True))
    assert found is not None
    whole = level.stage("a")
    some = behind_front(whole, found)
    assert (len(whole.parts), len(some.parts)) == (2, 1)
    assert str(some.box[1][0]) == "k + 1"
