"""Sizes of the register blocks of filters, and of the vectors that recursive filters run in."""

from __future__ import annotations

from dataclasses import dataclass

from polymat.machine.model import Machine

MOST_KINDS = 64  # of results that take their taps from different phases: the factor of an interpolation
RUN = 128  # positions of a run at most: a block of doubles in vectors of eight takes 8 kB, of 32 in a cache


@dataclass(frozen=True, slots=True)
class FilterBlock:
    """A register block of `rows` vectors of `lanes` results, `taps` taps a step."""

    lanes: int
    rows: int
    taps: int


def filter_block(machine: Machine, element_bytes: int) -> FilterBlock:
    """The block for a machine: half of the registers accumulate, the rest holds taps and samples.

    Vectors have at least eight lanes, since transpositions work on eight; shorter registers come in pairs.
    """
    lanes = transposed_lanes(machine, element_bytes)
    registers = machine.vector_registers * machine.lanes(element_bytes) // lanes
    return FilterBlock(lanes, max(2, min(16, registers // 2)), 4 if registers >= 16 else 2)


def transposed_lanes(machine: Machine, element_bytes: int) -> int:
    """Lanes of vectors: at least eight, on which transpositions work; shorter ones come in pairs."""
    return max(8, machine.lanes(element_bytes))
