"""How much of what groups ask for is in each level of memory, by how large all of it is."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import pytest

from polymat.machine.known import HASWELL
from polymat.machine.model import MEMORY
from polymat.tilesize.home import Home, missed
from tests.hosts import as_stated

MACHINE = replace(HASWELL, l3_bytes=8 << 20)


def test_what_fits_is_never_missed() -> None:
    assert missed(0.0) == missed(1.0) == 0.0


@pytest.mark.parametrize("times", [1.01, 1.1, 1.5, 2.0, 10.0])
def test_a_line_stays_as_long_as_nobody_takes_its_place(times: float) -> None:
    share = missed(times)
    assert 0.0 < share < 1.0
    assert 1.0 - share == pytest.approx(exp(-times * share), abs=1e-3)
    assert missed(times + 0.01) > share


def test_the_last_level_holds_as_much_as_was_measured() -> None:
    """For who tells how long a call takes; plans count on the part that the machine states."""
    known = as_stated(MACHINE)
    assert known.calibration is not None
    roomy = known.with_calibration(replace(known.calibration, reach_bytes=float(24 << 20)))
    moved, size = 1e6, 20 << 20
    near, far = (Home(size, 0, as_measured=told).seconds(moved, roomy, 1) for told in (True, False))
    assert near == pytest.approx(moved / roomy.bandwidth(3), rel=1e-2)
    assert far > 1.5 * near
    assert roomy.caches == known.caches
    assert [machine.reach(3) for machine in (roomy, known)] == [24 << 20, 8 << 20]
    assert roomy.reach(2) == roomy.l2_bytes
    less = known.with_calibration(replace(known.calibration, reach_bytes=1e6))
    assert less.reach(3) == 8 << 20


def test_arrays_somewhat_larger_than_a_cache_are_found_there_in_part() -> None:
    moved, second = 1e6, MACHINE.l2_bytes

    def seconds(size: float, threads: int = 1) -> float:
        return Home(size, 0).seconds(moved, MACHINE, threads)

    inside, outside = (moved / MACHINE.bandwidth(level) for level in (2, 3))
    assert seconds(second) == pytest.approx(inside, rel=1e-3)
    assert inside < seconds(1.1 * second) < (inside + outside) / 2 < seconds(2 * second) < outside
    assert seconds(1e9) == pytest.approx(moved / MACHINE.bandwidth(MEMORY), rel=0.01)
    assert seconds(1.8 * second, 2) == pytest.approx(moved / MACHINE.bandwidth(2, 2), rel=1e-2)
