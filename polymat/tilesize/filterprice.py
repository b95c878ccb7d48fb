"""The predicted time of filters around register blocks: for their plans, and beside that of transforms."""

from __future__ import annotations

from math import log2

from polymat.lang.types import ScalarType, real_part
from polymat.machine.model import Machine
from polymat.tilesize.filterblock import NEAR_CHUNK, are_neighbours, register_lanes, square_side
from polymat.tilesize.loopprice import Rates

SHARE = 0.85  # of the peak that register blocks reach
ROW = 400.0  # multiplications that a row takes beside its results


def filter_seconds(
    machine: Machine,
    dtype: ScalarType,
    threads: int,
    *,
    taps: float,
    results: float,
    samples: float,
    rows: float = 1.0,
    step: int = 1,
    up: int = 1,
    plain: bool = True,
) -> float:
    """Seconds of a filter of so many taps, which has so many results and samples in each row.

    step: by how many samples a result is behind the one before.  up: results of a sample that take their taps
    from different phases.  plain: a real result is its sum alone, and goes where it belongs at once.
    """
    filters = 4.0 if dtype.kind == "c" else 1.0  # real ones
    size = real_part(dtype).size
    alone, together = machine.peak_flops(size), machine.peak_flops(size, threads)
    multiplying = 2.0 * (results * taps + ROW) / (alone * SHARE)
    halves = 0.0  # real and imaginary parts are taken apart for all four, and put together
    if are_neighbours(machine, size, taps, step, up):
        at_once = plain and dtype.kind != "c"
        moving = _by_phases(machine, size, results=results, samples=samples, step=step, up=up, plain=at_once)
        halves = 2.0 * (results + samples) * _joined(machine, size) if dtype.kind == "c" else 0.0
    else:
        moving = (results + samples) * _moved_seconds(machine, size)
    return rows * (filters * (multiplying + moving) + halves) * alone / together


def _moved_seconds(machine: Machine, element_bytes: int) -> float:
    """Seconds to transpose a sample, or a result, among others of a square of vectors.

    As many shuffles of each vector as its side has binary digits, and it is loaded and stored.
    """
    side = square_side(register_lanes(machine, element_bytes))
    rates = Rates.of(machine, element_bytes)
    return (log2(side) * rates.shuffle + 2.0 * rates.load) / side


def _by_phases(
    machine: Machine,
    element_bytes: int,
    *,
    results: float,
    samples: float,
    step: int,
    up: int,
    plain: bool,
) -> float:
    """Seconds to take the samples of a row apart by phases, and to put results of several kinds together.

    By vectors where there are two of them; one by one where there are more, and again and again from the
    second level where the lines of what is computed together do not stay in the first.  Results lie in the
    first level until they are put together.
    """
    rates, pair = Rates.of(machine, element_bytes), _joined(machine, element_bytes)
    apart = single = rates.picked
    if 2 * NEAR_CHUNK * step * element_bytes > machine.l1_bytes:
        apart += min(machine.line_bytes, step * element_bytes) / machine.bandwidth(2)
    taken = 0.0 if step == 1 else pair if step == 2 else apart
    put = (pair if up <= 2 else single) + rates.load / rates.lanes
    return samples * taken + (0.0 if plain and up == 1 else results * put)


def _joined(machine: Machine, element_bytes: int) -> float:
    """Seconds to load an element, shuffle it with others of two vectors, and store it."""
    rates = Rates.of(machine, element_bytes)
    return (rates.shuffle + 2.0 * rates.load) / rates.lanes
