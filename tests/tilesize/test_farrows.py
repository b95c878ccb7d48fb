"""The level that rows come from when a stencil reads them again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import polymat as pm
from polymat.graph.group import Group
from polymat.machine.known import HASWELL
from polymat.machine.model import MEMORY
from polymat.plan.loops import LoopPlan
from polymat.tilesize.farrows import rows_again
from polymat.tilesize.plain import plan_stage
from tests.idiom.recognise import pipeline

P, R, C = (pm.Parameter(pm.Int, name) for name in "PRC")
k, i, j = (pm.Variable(pm.Int, name) for name in "kij")
MACHINE = replace(HASWELL, l1_bytes=32 << 10, l2_bytes=256 << 10, l3_bytes=8 << 20)


def again(
    value: Any, sizes: dict[str, int], step: int = 1, apart: int = 1, **changes: Any
) -> dict[int, float]:
    """Of a stencil in plain loops, with margins of two; apart: columns of the image for one of the result."""
    planes = [
        pm.Interval(pm.Int, 2, P - 3),
        pm.Interval(pm.Int, 2, (R - 3) // step),
        pm.Interval(pm.Int, 2, C - 3),
    ]
    found = pm.Function(([k, i, j], planes), pm.Float, "found")
    found.defn = [value(pm.Image(pm.Float, "image", [P, R, apart * C]))]
    built = pipeline(found)
    (stage,) = built.stages
    plan = plan_stage(Group((stage.name,)), stage, built.context)
    assert isinstance(plan, LoopPlan)
    assert plan.order == stage.dims
    return rows_again(stage, replace(plan, **changes), MACHINE, sizes)


def down(image: Any) -> Any:
    return sum(image(k, i + s, j) for s in range(-2, 3))


def test_five_rows_and_one_of_the_result_stay_in_the_first_level() -> None:
    """Rows of 1000 elements: six of them are 24 KB, of 2000 they are 48."""
    assert again(down, {"P": 7, "R": 104, "C": 1004}) == {}
    points = 3 * 100 * 2000
    assert again(down, {"P": 7, "R": 104, "C": 2004}) == {2: pytest.approx(4 * 4 * points)}


def test_rows_come_from_the_level_that_their_distance_fits() -> None:
    found = {columns: again(down, {"P": 5, "R": 7, "C": columns}) for columns in (20_004, 400_004)}
    assert [list(levels) for levels in found.values()] == [[3], [MEMORY]]


def test_rows_side_by_side_are_loaded_once() -> None:
    sizes = {"P": 7, "R": 104, "C": 2004}
    alone = again(down, sizes)
    assert again(down, sizes, parallel="i", unroll=2) == {2: pytest.approx(alone[2] / 2)}
    assert again(down, sizes, parallel="k", unroll=2) == alone


def test_planes_are_further_away_than_rows() -> None:
    """Seven points: rows beside are near enough; planes of 100 rows are 400 KB, in the third level."""

    def seven(image: Any) -> Any:
        beside = image(k, i - 1, j) + image(k, i + 1, j) + image(k, i, j - 1) + image(k, i, j + 1)
        return image(k - 1, i, j) + image(k + 1, i, j) + image(k, i, j) + beside

    points = 3 * 100 * 1000
    assert again(seven, {"P": 7, "R": 104, "C": 1004}) == {3: pytest.approx(2 * 4 * points)}


def test_every_other_row_is_read_for_the_first_time() -> None:
    """Of five rows around 2 i three were there for the point before."""

    def halved(image: Any) -> Any:
        return sum(image(k, 2 * i + s, j) for s in range(-2, 3))

    points = 3 * ((207 - 3) // 2 - 1) * 2000
    assert again(halved, {"P": 7, "R": 207, "C": 2004}, 2) == {2: pytest.approx(3 * 4 * points)}


@pytest.mark.parametrize(("apart", "each"), [(2, 8), (16, 64), (100, 64)])
def test_of_what_lies_apart_lines_are_read_again(apart: int, each: int) -> None:
    def some(image: Any) -> Any:
        return image(k, i - 1, apart * j) + image(k, i, apart * j)

    found = again(some, {"P": 7, "R": 104, "C": 20_004}, apart=apart)
    assert sum(found.values()) == pytest.approx(each * 3 * 100 * 20_000)
