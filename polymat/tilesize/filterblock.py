"""Sizes of the register blocks of filters, and of the vectors that recursive filters run in."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.machine.model import Machine

MOST_KINDS = 64  # of results that take their taps from different phases: the factor of an interpolation
NEAR_BYTES = 32  # of vectors of neighbouring results, at most
NEAR_CHUNK = 512  # of them that are computed together, of each kind
MANY = 12  # vectors of taps that outweigh moving a sample, or a result, by itself
RUN = 128  # positions of a run at most: a block of doubles in vectors of eight takes 8 kB, of 32 in a cache


@dataclass(frozen=True, slots=True)
class FilterBlock:
    """A register block of `rows` times `lanes` results, `taps` taps a step; a register holds `width`."""

    lanes: int
    rows: int
    taps: int
    width: int


def filter_block(machine: Machine, element_bytes: int) -> FilterBlock:
    """The block for a machine: half of the registers accumulate, the rest holds taps and samples.

    At least eight lanes go side by side, runs of results far apart: shorter registers come in pairs.
    """
    lanes = transposed_lanes(machine, element_bytes)
    registers = machine.vector_registers * machine.lanes(element_bytes) // lanes
    rows, taps = max(2, min(16, registers // 2)), 4 if registers >= 16 else 2
    return FilterBlock(lanes, rows, taps, register_lanes(machine, element_bytes))


def transposed_lanes(machine: Machine, element_bytes: int) -> int:
    """Runs side by side: at least eight, in one register or in several."""
    return max(8, machine.lanes(element_bytes))


def register_lanes(machine: Machine, element_bytes: int) -> int:
    """Lanes of the vectors that code is written in.

    Wider ones than registers gcc keeps in memory: filters of doubles in vectors of eight took 12 to 27 times
    as long on a Zen 3, which has registers of four, and recursive ones 12 times.
    """
    return max(2, machine.lanes(element_bytes))


def are_neighbours(machine: Machine, element_bytes: int, taps: float, step: int, up: int) -> bool:
    """Whether vectors are of neighbouring results, and no runs are transposed, as `filter.h` decides."""
    width = register_lanes(machine, element_bytes)
    many, is_near = MANY * width, width * element_bytes <= NEAR_BYTES
    is_plain = step == 1 or (step == 2 and width <= 4) or taps >= many * step
    return is_near and is_plain and (up <= 2 or taps >= many * up)


def square_side(width: int) -> int:
    """The side of the squares that are transposed, for registers of so many lanes."""
    return min(8, width)
