"""What `explain(sizes=)` says of products, on the threads that a call would use."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import polymat as pm
from polymat.codegen.productreport import Products
from polymat.codegen.report import Report
from polymat.errors import LangError, PolymatError
from polymat.graph.pipeline import Pipeline
from polymat.machine.model import Machine
from polymat.model.team import team_cost
from polymat.options import DEFAULTS, Options
from polymat.plan.schedule import Schedule
from tests.fixed import NARROW, compiled_levels

M, K, N = (pm.Parameter(pm.Int, name) for name in "MKN")
A, B, C = (pm.Matrix(pm.Float, name, dims) for name, dims in (("A", [M, K]), ("B", [K, N]), ("C", [M, N])))


def products(output: pm.Function, machine: Machine = NARROW, options: Options = DEFAULTS) -> Products:
    levels = compiled_levels(output, machine=machine, options=options)
    schedule = levels["tilesize"]
    assert isinstance(schedule, Schedule)
    pipeline = schedule.grouping.pipeline
    assert isinstance(pipeline, Pipeline)
    return Products(pipeline, schedule, machine, options, {})


def at(m: int, k: int, n: int) -> dict[str, int]:
    return {"M": m, "K": k, "N": n}


@pytest.mark.parametrize(
    ("sizes", "way", "packed"),
    [
        ((40, 40, 40), "small", ()),
        ((90, 4, 400), "direct", ()),
        ((300, 4, 300), "right_in_parts", ("B",)),
        ((2000, 100, 200), "right_in_parts", ("B",)),
        ((2000, 2000, 2000), "blocked", ("A", "B")),
        ((1, 300, 3000), "row", ()),
        ((3000, 300, 1), "lanes_over_depth", ()),
        ((16, 600, 4004), "few_rows", ("A",)),
    ],
)
def test_the_way_follows_from_the_sizes(
    sizes: tuple[int, int, int], way: str, packed: tuple[str, ...]
) -> None:
    (found,) = products((A @ B).named("P")).at(at(*sizes), 1)
    assert (found.way, found.packed, found.part, found.threads) == (way, packed, {}, 1)
    assert found.seconds == pytest.approx(found.operations / NARROW.peak_flops(4, 1))


def test_each_thread_has_its_part() -> None:
    asked = products((A @ B).named("P"))
    first, second = asked.at(at(2000, 100, 200), 2)
    assert (first.part, first.rows, first.threads) == ({"i": 1002}, 1002, 1)
    assert (second.part, second.rows, second.threads) == ({"i": 998}, 998, 1)
    (both,) = asked.at(at(1800, 100, 200), 2)
    assert (both.part, both.threads) == ({"i": 900}, 2)
    text = "P at M 1800, K 100, N 200, A times B on 2 threads, 900 of i: strips of the left operand past"
    assert str(both).startswith(text)


def test_a_part_may_take_another_way_than_the_whole() -> None:
    asked, sizes = products((A @ B).named("P")), at(60, 2000, 400)
    (alone,), (shared,) = (asked.at(sizes, threads) for threads in (1, 2))
    assert (alone.way, shared.way) == ("right_in_parts", "few_rows")


def test_little_work_stays_on_one_thread() -> None:
    asked = products((A @ B).named("P"))
    assert [each.part for each in asked.at(at(20, 20, 20), 2)] == [{}]
    forced = products((A @ B).named("P"), options=Options(parallel_threshold=100))
    assert [each.part for each in forced.at(at(24, 20, 20), 2)] == [{"i": 12}]


def test_the_team_is_worth_what_generated_code_finds() -> None:
    """A point of a product counts as 4 operations, as fast as its plan is predicted to be."""
    asked = products((A @ B).named("P"))
    (plan,), team = asked.schedule.plans, asked.schedule.team
    assert team.awake == team_cost(NARROW).awake
    awake = team.awake * team.speed(plan.group.stages, 0.0)
    points = int(2 * awake) // 4  # from which two threads save more than a region costs
    below, above = (asked.at(at(points // 64 + more, 8, 8), 2) for more in (-points // 80, points // 80))
    assert [len(each[0].part) for each in (below, above)] == [0, 1]


def test_products_of_a_sum_are_told_apart_and_readers_are_known() -> None:
    D, E = pm.Matrix(pm.Float, "D", [M, K]), pm.Matrix(pm.Float, "E", [K, N])
    both = products((A @ B + D @ E).named("P")).at(at(100, 100, 100), 1)
    assert [each.operands for each in both] == [("A", "B"), ("D", "E")]
    (ended,) = products(pm.Exp(A @ B).named("P")).at(at(40, 40, 40), 1)
    assert ended.stages == ("tmp_A_B", "P")


def test_sizes_that_are_not_given_are_those_of_predictions() -> None:
    asked = replace(products((A @ B).named("P")), estimates={"K": 77})
    (found,) = asked.at({"M": 20}, 1)
    assert found.sizes == {"M": 20, "K": 77, "N": 1000}


def test_explain_asks_for_the_threads_of_a_call() -> None:
    options = Options(blas="never", threads=2)
    pinned: Any = pm.compile((A @ B).named("P"), options=options)
    free: Any = pm.compile((A @ B).named("P"), options=replace(options, threads=0))
    sizes = {M: 1800, K: 2000, N: 2000}
    parts = [each.part["i"] for each in pinned.explain(sizes=sizes).products]  # one where both are equal
    assert sum(parts) * 2 == 1800 * len(parts)
    assert max(parts) - min(parts) <= 16  # a block of rows
    with pm.threads(1):
        report = free.explain(sizes=sizes)
    assert isinstance(report, Report)
    assert [each.part for each in report.products] == [{}]
    assert str(report.products[0]) in str(report)
    assert free.explain().products == ()


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    compiled: Any = pm.compile((A @ B).named("P"), options=Options(blas="never"))
    other = pm.Parameter(pm.Int, "other")
    with pytest.raises(LangError, match="no parameter of this pipeline"):
        compiled.explain(sizes={other: 3})
    with pytest.raises(LangError, match="maps Parameters to integers"):
        compiled.explain(sizes={"M": 3})
    loaded: Any = pm.load(compiled.save(tmp_path))
    with pytest.raises(PolymatError, match="says nothing of other sizes"):
        loaded.explain(sizes={M: 3})
    assert "a product of matrices A and B, register blocks of" in loaded.explain()
