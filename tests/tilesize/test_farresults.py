"""Rows of results that leave the first level between two passes of a sum are read and written again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from polymat.machine.known import HASWELL
from polymat.machine.model import MEMORY
from polymat.tilesize.farresults import passes, results_again
from polymat.tilesize.shortloops import WRITTEN_OUT
from tests.tilesize.test_shortsums import summed

MACHINE = replace(HASWELL, l1_bytes=32 << 10, l2_bytes=256 << 10, l3_bytes=8 << 20)


def again(points: int, terms: int = 4, **changes: Any) -> dict[int, float]:
    """Of four rows of sums of so many terms; each pass of four addends touches five rows."""
    stage, plan = summed(terms)
    return results_again(stage, replace(plan, **{"addends": 4, **changes}), MACHINE, {"N": points})


def test_rows_that_stay_in_the_first_level_cost_nothing() -> None:
    assert again(32 * 1024 // 8 // 5) == {}


@pytest.mark.parametrize(("points", "level"), [(4096, 2), (65_536, 3), (1 << 20, MEMORY)])
def test_longer_rows_come_from_where_a_pass_leaves_them(points: int, level: int) -> None:
    assert again(points) == {level: pytest.approx(2 * 8 * 4 * points)}


@pytest.mark.parametrize(("terms", "addends", "count"), [(4, 4, 1), (4, 1, 4), (7, 4, 4), (2, 4, 2)])
def test_each_pass_reads_and_writes_them(terms: int, addends: int, count: int) -> None:
    assert passes(terms, addends) == count
    assert again(4096, terms, addends=addends) == {2: pytest.approx(count * 2 * 8 * 4 * 4096)}


def test_only_rows_of_few_terms_count() -> None:
    assert again(16_384, WRITTEN_OUT + 1) == {}
    assert again(16_384, lanes=4) == {}
