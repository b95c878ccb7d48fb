"""Which stages with slices that wait are one pass over the rows of a strip, and which are not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polymat.graph.pipeline import Pipeline
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan
from polymat.tilesize.stripjoins import joined_strips
from tests.decide.test_waitingsteps import planned


@pytest.fixture(scope="module")
def gramschmidt() -> tuple[Pipeline, list[Plan]]:
    """The section whose columns wait: `a` makes rows, and `products` adds them up."""
    _, (section,) = planned((160, 240))
    assert isinstance(section.level, Schedule)
    return section.level.grouping.pipeline, list(section.level.plans)


def test_rows_are_added_up_where_they_are_made(gramschmidt: tuple[Pipeline, list[Plan]]) -> None:
    pipeline, plans = gramschmidt
    (joined,) = joined_strips(pipeline, plans)
    assert (joined.made, joined.added) == ("a", "products")
    assert str(joined) == "a and products: strips of both in one pass over their rows"


def test_nothing_is_joined_where_nothing_waits(gramschmidt: tuple[Pipeline, list[Plan]]) -> None:
    pipeline, plans = gramschmidt
    assert joined_strips(replace(pipeline, waiting=None), plans) == ()
    assert pipeline.waiting is not None
    assert joined_strips(replace(pipeline, waiting=replace(pipeline.waiting, lanes=1)), plans) == ()


def test_sums_before_what_they_add_up_are_not_joined(gramschmidt: tuple[Pipeline, list[Plan]]) -> None:
    pipeline, plans = gramschmidt
    assert joined_strips(pipeline, plans[::-1]) == ()


def test_sums_that_begin_with_something_are_not_joined(gramschmidt: tuple[Pipeline, list[Plan]]) -> None:
    """One pass begins them with nothing."""
    pipeline, plans = gramschmidt
    stage, ones = pipeline.stage("products"), pipeline.stage("a")
    assert all(part.expr != ones.parts[0].expr for part in stage.parts)
    begun = replace(stage, parts=tuple(replace(part, expr=ones.parts[0].expr) for part in stage.parts))
    stages = tuple(begun if each.name == "products" else each for each in pipeline.stages)
    assert joined_strips(pipeline.with_stages(stages), plans) == ()
