"""Groups that go over the same array in turns."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.polybench import find_kernel
from benchmarks.sections import SECTIONS
from benchmarks.sections.rows import describe_kalman
from polymat.codegen.program import Program
from polymat.driver import levels, request_for
from polymat.graph.stepwise import Stepwise
from polymat.model.assumed import assumed_sizes
from polymat.options import Options
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan, TilePlan
from polymat.tilesize.cost import plan_cost
from polymat.tilesize.home import Home
from polymat.tilesize.sweeps import back_and_forth
from tests.fixed import NARROW, WIDE, compiled_levels, own_c, report_text
from tests.hosts import as_stated


def directions(name: str, options: Options) -> list[bool]:
    """For each group of tiles whether it runs backwards."""
    description = next(iter(find_kernel(name).builds.values()))()
    request = request_for(description.outputs, name="x", inputs=description.inputs, options=options)
    found = dict(levels(request))
    schedule = found["tilesize"]
    assert isinstance(schedule, Schedule)
    return [plan.backwards for plan in schedule.plans if isinstance(plan, TilePlan)]


def test_a_second_pass_over_a_matrix_goes_back() -> None:
    assert directions("gemver", Options()) == [False, True]


def test_one_pass_goes_forwards() -> None:
    assert not any(directions("atax", Options()))
    assert not any(directions("gesummv", Options(fuse=False)))  # two matrices


def _going_back(plan: Plan) -> float:
    return float(isinstance(plan, TilePlan) and plan.backwards)


@pytest.mark.drawn(1)
@pytest.mark.parametrize("threads", [1, 2])
def test_tiles_go_back_where_threads_find_as_many(threads: int) -> None:
    """A Kalman step, whose tiles are numbered where threads share all of them, and one or few a dimension."""
    found = SECTIONS["rows"].cases(False)
    task = next(case.task for case in found if "Kalman" in case.name)
    step = describe_kalman(task)
    known = {size: task.values["sizes"][size.name] for size in step.sizes}
    options = Options(threads=threads)
    levels = compiled_levels(
        list(step.outputs), inputs=step.inputs, estimates=known, machine=WIDE, options=options
    )
    schedule = levels["tilesize"]
    assert isinstance(schedule, Schedule)
    plans = [plan for plan in schedule.plans if isinstance(plan, TilePlan)]
    pipeline, machine = schedule.grouping.pipeline, as_stated(WIDE)
    sizes = assumed_sizes(pipeline, {size.name: value for size, value in known.items()})
    home = Home.of(pipeline, machine, sizes)

    def seconds(plan: TilePlan) -> float:
        return plan_cost(pipeline, plan, machine, sizes, threads, home).seconds

    assert any(plan.backwards for plan in plans)
    forwards = [replace(plan, backwards=False) for plan in plans]
    assert all(seconds(plan) <= seconds(each) for plan, each in zip(plans, forwards, strict=True))
    assert back_and_forth(pipeline, forwards, _going_back) == tuple(forwards)


def test_the_papers_have_one_direction() -> None:
    assert not any(directions("gemver", Options.paper()))


@pytest.mark.parametrize("threads", [1, 3])
def test_backwards_covers_every_tile_once(threads: int) -> None:
    kernel = find_kernel("gemver")
    call = kernel.compile(options=Options(parallel_threshold=0))
    assert "-= 8" in call.source
    for size in (0, 1, 7, 8, 9, 15, 16, 17, 63):
        arrays = kernel.inputs({"N": size})
        with pm.threads(threads):
            found = call(*arrays.values(), **kernel.scalars)
        assert kernel.error(found, arrays, {"N": size}) <= 1
        assert np.asarray(found).shape == (size,)


def powers(
    ready: bool = True, turned: bool = False, again: bool = False
) -> tuple[pm.Function, dict[str, pm.Parameter]]:
    """States x(t) = W x(t - 1) / 2, of a matrix that is given, or made before the steps.

    turned: x W.  again: each result takes an element of its row of W once more.
    """
    sizes = {name: pm.Parameter(pm.Int, name) for name in "TN"}
    t, i, k = (pm.Variable(pm.Int, name) for name in "tik")
    steps, rows = pm.Interval(pm.Int, 0, sizes["T"]), pm.Interval(pm.Int, 0, sizes["N"] - 1)
    later = pm.Interval(pm.Int, 1, sizes["T"])
    A, first = (
        pm.Image(pm.Double, "A", [sizes["N"], sizes["N"]]),
        pm.Image(pm.Double, "first", [sizes["N"]]),
    )
    W: pm.Function | pm.Image = A
    if not ready:
        W = pm.Function(([i, k], [rows, rows]), pm.Double, "W")
        W.defn = [pm.Abs(A(k, i))]
    x = pm.Function(([t, i], [steps, rows]), pm.Double, "x")
    moved = pm.Reduction(([t, i], [later, rows]), ([t, i, k], [later, rows, rows]), pm.Double, "moved")
    moved.defn = [pm.Reduce(moved(t, i), (W(k, i) if turned else W(i, k)) * x(t - 1, k), pm.Op.Sum)]
    x.defn = [
        pm.Case(pm.Condition(t, "==", 0), first(i)),
        pm.Case(pm.Condition(t, ">=", 1), moved(t, i) / 2 + (W(i, i) if again else 0.0)),
    ]
    return x, sizes


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize(("ready", "turned"), [(True, False), (False, False), (True, True)])
def test_steps_go_to_and_fro_over_what_none_of_them_changes(
    threads: int, fuse: bool, ready: bool, turned: bool
) -> None:
    x, sizes = powers(ready, turned)
    estimates = {sizes["N"]: 512}
    call = pm.compile(x, estimates=estimates, options=Options(parallel_threshold=0, fuse=fuse, blas="never"))
    assert "_pm_turn" in call.source
    assert "backwards where t is odd" in call.source
    rng = np.random.default_rng(3)
    for size in (0, 1, 7, 8, 9, 16, 17, 41, 150):
        for steps in (0, 1, 2, 5):
            A, first = rng.standard_normal((size, size)), rng.standard_normal(size)
            with pm.threads(threads):
                found = call(A=A, first=first, T=steps)
            right, W = [first], A.T if turned else A if ready else np.abs(A.T)
            for _ in range(steps):
                right.append(W @ right[-1] / 2)
            np.testing.assert_allclose(found, np.array(right), rtol=1e-12, atol=1e-12)


def test_what_a_step_picks_is_no_array_that_all_of_them_walk_over() -> None:
    sizes = {name: pm.Parameter(pm.Int, name) for name in "TN"}
    t, i, k = (pm.Variable(pm.Int, name) for name in "tik")
    rows = pm.Interval(pm.Int, 0, sizes["N"] - 1)
    A = pm.Image(pm.Double, "A", [sizes["T"] + 1, sizes["N"], sizes["N"]])
    later = pm.Interval(pm.Int, 1, sizes["T"])
    x = pm.Function(([t, i], [pm.Interval(pm.Int, 0, sizes["T"]), rows]), pm.Double, "x")
    moved = pm.Reduction(([t, i], [later, rows]), ([t, i, k], [later, rows, rows]), pm.Double, "moved")
    moved.defn = [pm.Reduce(moved(t, i), A(t, i, k) * x(t - 1, k), pm.Op.Sum)]
    x.defn = [
        pm.Case(pm.Condition(t, "==", 0), 1.0),
        pm.Case(pm.Condition(t, ">=", 1), moved(t, i)),
    ]
    assert "_pm_turn" not in pm.compile(x, options=Options(blas="never")).source


def test_blocks_ask_for_what_comes_next_in_their_direction() -> None:
    x, sizes = powers()
    run = pm.compile(x, estimates={sizes["N"]: 512}, options=Options(fuse=False, blas="never", threads=1))
    text = " ".join(run.source.split())
    assert "_pm_turn += 4" in text
    ahead, below = "&A[(i + 3) * N + (k + ", "&A[(i + (t & 1 ? -4 : 4) + 3) * N + (k - ("
    assert f"__builtin_prefetch({ahead}" in text
    assert f"__builtin_prefetch({below}" in text


def test_rows_that_are_added_to_ask_a_line_at_a_time() -> None:
    x, sizes = powers(turned=True)
    run = pm.compile(x, estimates={sizes["N"]: 512}, options=Options(blas="never", threads=1))
    text = " ".join(run.source.split())
    assert "_pm_strip += 8" in text
    assert "__builtin_prefetch(&A[(k + 3) * N + (i + 128)])" in text
    assert (
        "__builtin_prefetch(&A[(k + (t & 1 ? -4 : 4) + 3) * N + (i - (_pm_behind - _pm_low - 128))])" in text
    )


def test_a_matrix_that_the_first_level_holds_is_passed_over_as_ever() -> None:
    x, sizes = powers()
    run = pm.compile(x, estimates={sizes["N"]: 40}, options=Options(blas="never", threads=1))
    assert "_pm_turn" not in run.source


def tiles_of_steps(threads: int, rows: int = 512, again: bool = False, **options: Any) -> list[Any]:
    """The sizes of the tiles that turn at every other step of `powers`, for so many threads."""
    x, sizes = powers(again=again)
    asked = Options(blas="never", threads=threads, **options)
    request = request_for(x, estimates={sizes["N"]: rows}, options=asked)
    found = dict(levels(replace(request, machine=replace(NARROW, cores=threads))))["tilesize"]
    assert isinstance(found, Stepwise)
    plans = [plan for level in found.flat() for plan in level.plans if isinstance(plan, TilePlan)]
    return [plan.sizes for plan in plans if plan.turning]


def test_tiles_are_long_where_no_row_is_read_twice_and_threads_have_many() -> None:
    assert tiles_of_steps(1) == [(64,)]
    assert tiles_of_steps(2) == [(32,)]
    assert tiles_of_steps(16) == [(8,)]
    assert tiles_of_steps(1, 1024) == [(128,)]
    assert tiles_of_steps(2, again=True) == [(8,)]
    assert tiles_of_steps(2, tile_sizes=(16,)) == [(16,)]


@pytest.mark.covering
@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_loops_that_a_scheme_says_turn_as_well(fuse: bool, turned: bool) -> None:
    x, sizes = powers(turned=turned)
    asked: dict[str, Any] = {"outputs": x, "estimates": {sizes["N"]: 512}}
    options = Options(fuse=fuse, blas="never")
    schemes = dict(re.findall(r"^  scheme of (\w+): (\[.*\])$", report_text(**asked, options=options), re.M))
    texts = []
    for each in (options, replace(options, scheme=schemes)):
        program = compiled_levels(**asked, options=each)["codegen"]
        assert isinstance(program, Program)
        texts.append(re.sub(r"/\*.*?\*/", "", own_c(program), flags=re.DOTALL))
    assert schemes["moved" if turned or not fuse else "x"]
    assert "_pm_turn" in texts[0]
    assert texts[1] == texts[0]


def test_blocks_of_many_rows_that_a_scheme_says_stay_and_ask_for_nothing() -> None:
    x, sizes = powers()
    options = Options(scheme={"moved": "[Par(i), R(i), R(k), U(i, 8), V(k)]"}, threads=1)
    run = pm.compile(x, estimates={sizes["N"]: 512}, options=options)
    assert "_pm_turn += 8" in run.source
    assert "__builtin_prefetch(&A" not in run.source
