"""Sizes of the blocks of a matrix product, for the registers and for the caches."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from polymat.machine.model import Machine

PANEL_SHARE = 0.19  # of the second-level cache that a panel of the right operand takes, up to this depth:
MOST_DEPTH = 1024
L2_SHARE = 0.5  # of the second-level cache that the packed block of the left operand takes
L3_SHARE = 2.2  # of a core's part of the last level that the packed block of the right operand takes


@dataclass(frozen=True, slots=True)
class Blocks:
    """Sizes, in elements: a register block of rows x (vectors x lanes), and blocks kc, mc, nc for the caches.

    small: elements that the second-level cache holds; twice as many of the right operand and of the result
    need no packing.
    """

    vector_bytes: int
    rows: int
    vectors: int
    lanes: int
    kc: int
    mc: int
    nc: int
    small: int

    @property
    def columns(self) -> int:
        """Columns of a register block."""
        return self.vectors * self.lanes

    def at(
        self, m: float, n: float, k: float, segments: float = 1, *, rows_are_one: bool = True
    ) -> tuple[int, int, int]:
        """Rows, columns and depth of the blocks of a packed product of m x k by k x n elements.

        segments: how many depths of k follow each other.  Each is cut evenly; where there is less depth than
        `kc`, blocks are larger the other way.  A small part of the right operand is used at a time where all
        rows are in one block, so that its copy stays in the second level.  rows_are_one: they have one
        stride; a large result is then walked along them where that copy stays there.
        """
        pieces = max(1, ceil(k / self.kc))
        piece = max(1, ceil(k / pieces))
        depth = min(max(1, int(pieces * segments)), self.kc // piece) * piece
        more = max(1, self.kc // depth)
        strips, panels = ceil(m / self.rows), ceil(n / self.columns)
        tallest = self.mc * more // self.rows
        near = self.mc < self.nc and strips <= tallest and self.mc * more >= 20 * self.columns
        widest = (self.mc // 4 if near else self.nc) * more // self.columns
        columns = _share(panels, widest) * self.columns
        if rows_are_one and m * n > self.small and min(columns, panels * self.columns) * depth <= self.small:
            tallest = min(tallest, 2)
        rows = _share(strips, tallest) * self.rows
        return min(rows, max(1, ceil(m))), min(columns, max(1, ceil(n))), depth


def blocks_of(machine: Machine, element_bytes: int) -> Blocks:
    """Register and cache blocks for a machine, after the analytical model of BLIS (Low and others).

    The accumulators leave registers for one row of the right operand and a scalar.  With 32 registers three
    vectors by eight rows were measured to be best: more rows spill, and fewer vectors load more for each
    multiplication.

    A panel of the right operand stays in the second level beside the block of the left one with every strip
    of which it is used; the model has it in the first.  Measured on a Zen 5, both stream from the second
    level as fast as they are used, and what counts is how often the result is read and written: with panels
    as deep as this a product of 1024 took 0.92 of the time.  The packed right operand may exceed the last
    level, because panels are requested long before their use; packing the left one is what repeats.
    """
    vectors = 3 if machine.vector_registers >= 32 else 2
    rows = max(1, min(8, (machine.vector_registers - vectors - 1) // vectors))
    lanes = machine.lanes(element_bytes)
    columns = vectors * lanes
    kc = min(MOST_DEPTH, whole_units(PANEL_SHARE * machine.l2_bytes / (element_bytes * columns), 32))
    mc = whole_units(L2_SHARE * machine.l2_bytes / (element_bytes * kc), rows)
    last = max(machine.capacity(3, machine.cores), machine.l2_bytes)
    nc = whole_units(L3_SHARE * last / (element_bytes * kc), columns)
    small = machine.l2_bytes // element_bytes
    return Blocks(machine.vector_bits // 8, rows, vectors, lanes, kc, mc, nc, small)


def whole_units(size: float, unit: int) -> int:
    """The size in whole units, rounded down, one at least."""
    return max(1, int(size) // unit) * unit


def _share(count: int, most: int) -> int:
    """The largest of the fewest nearly equal pieces, `most` at most, that a number is cut into."""
    return max(1, ceil(count / max(1, ceil(count / most))))
