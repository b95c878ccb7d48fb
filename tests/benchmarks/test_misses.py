"""Predicted and counted misses: a small contraction is counted right, and the table says both."""

from __future__ import annotations

import shutil

import pytest

from benchmarks.misses import Misses, made, misses


def test_a_row_a_level() -> None:
    found = Misses("x", {}, "", 8.0, 5.0, {"L1": 10.0, "L2": 6.0}, {"L1": 20.0, "L2": 5.0}, {})
    assert found.rows() == ["| x | L1 | 10 | 20 | 0.50 | 4.0 |", "| x | L2 | 6 | 5 | 1.20 | 1.0 |"]


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="there is no valgrind")
@pytest.mark.parametrize("name", ["abcde-efbca-fd"])
def test_arrays_beyond_the_caches_are_missed_once_at_least(name: str) -> None:
    found = misses(name, made(name, 1e7))
    assert [*found.predicted] == [*found.counted] == ["L1", "L2", "L3"]
    assert found.counted["L1"] >= found.counted["L2"] >= found.counted["L3"] > 0.0
    assert found.counted["L1"] >= 0.9 * found.floor
    assert 0.25 < found.predicted["L1"] / found.counted["L1"] < 4.0
    assert found.scheme.startswith("[")
    assert {"compiler", "date"} <= found.about.keys()
