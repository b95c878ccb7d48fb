"""Sizes of the blocks of a matrix product, for the registers and for the caches."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.machine.model import Machine
from polymat.product.ways import TURNED_COLUMNS

PANEL_SHARE = 0.19  # of the second-level cache that a panel of the right operand takes, up to this depth:
MOST_DEPTH = 1024
MOST_VECTORS = 6  # of a register block, where that is measured
LEAST_KC = 32  # of any block: segments that are gathered share it
CLASS = 0.85  # of the best rate, above which register blocks count as equally fast
TURNED_SHARE = 0.87  # of the first-level cache that its columns of B take at most
L2_SHARE = 0.5  # of the second-level cache that the packed block of the left operand takes
L3_SHARE = 2.2  # of a core's part of the last level that the packed block of the right operand takes


@dataclass(frozen=True, slots=True)
class Blocks:
    """Sizes, in elements: a register block of rows x (vectors x lanes), and blocks kc, mc, nc for the caches.

    small: elements that the second-level cache holds; twice as many of the right operand and of the result
    need no packing.  turned_depth: the most depth of register blocks whose vectors hold segments of columns;
    0 where there are none.
    """

    vector_bytes: int
    rows: int
    vectors: int
    lanes: int
    kc: int
    mc: int
    nc: int
    small: int
    turned_depth: int = 0

    @property
    def columns(self) -> int:
        """Columns of a register block."""
        return self.vectors * self.lanes


def blocks_of(machine: Machine, element_bytes: int) -> Blocks:
    """Register and cache blocks for a machine, after the analytical model of BLIS (Low and others).

    A panel of the right operand stays in the second level beside the block of the left one with every strip
    of which it is used; the model has it in the first.  Measured on a Zen 5, both stream from the second
    level as fast as they are used, and what counts is how often the result is read and written: with panels
    as deep as this a product of 1024 took 0.92 of the time.  The packed right operand may exceed the last
    level, because panels are requested long before their use; packing the left one is what repeats.
    """
    rows, vectors = register_block(machine, element_bytes)
    lanes = machine.lanes(element_bytes)
    columns = vectors * lanes
    kc = min(MOST_DEPTH, whole_units(PANEL_SHARE * machine.l2_bytes / (element_bytes * columns), 32))
    mc = whole_units(L2_SHARE * machine.l2_bytes / (element_bytes * kc), rows)
    last = max(machine.capacity(3, machine.cores), machine.l2_bytes)
    nc = whole_units(L3_SHARE * last / (element_bytes * kc), columns)
    small = machine.l2_bytes // element_bytes
    depth = int(TURNED_SHARE * machine.l1_bytes / (element_bytes * TURNED_COLUMNS**2))
    turns = lanes == TURNED_COLUMNS and machine.vector_bits == 512 and machine.vector_registers >= 32
    return Blocks(machine.vector_bits // 8, rows, vectors, lanes, kc, mc, nc, small, depth if turns else 0)


def modelled_block(machine: Machine) -> tuple[int, int]:
    """Rows and vectors of a register block where none was measured.

    The accumulators leave registers for one row of the right operand and a scalar.  With 32 registers three
    vectors by eight rows are among the fastest, and were the best in whole products: more rows spill, and
    fewer vectors load more for each multiplication.
    """
    vectors = 3 if machine.vector_registers >= 32 else 2
    return max(1, min(8, _most_rows(machine, vectors))), vectors


def register_family(machine: Machine) -> tuple[tuple[int, int], ...]:
    """Rows and vectors of the blocks that registers and the latency of the addition allow.

    For each number of vectors the most rows that the registers hold, one less, and three quarters of them.
    """
    model = modelled_block(machine)
    family = [model]
    waiting = machine.fma_units * machine.fma_latency  # sums below which each waits for itself
    for vectors in range(1, MOST_VECTORS + 1):
        most = _most_rows(machine, vectors)
        counts = (most, most - 1, 3 * most // 4)
        family += [(rows, vectors) for rows in counts if rows > 0 and rows * vectors >= waiting]
    return tuple(dict.fromkeys(family))


def register_block(machine: Machine, element_bytes: int) -> tuple[int, int]:
    """Rows and vectors of register blocks: what was chosen, what was measured on the machine, or the model.

    Blocks that reach nearly the best rate are one class.  Of the first class the model's block is taken, so
    that noise does not change code; where it is not in there, the fastest.  The class is wide, since rates
    are those of full blocks on packed operands, and say nothing of columns that are left over or of operands
    off the lines of the cache, for which wide blocks of few rows are worst.
    """
    for size, rows, vectors in machine.registers:
        if size == element_bytes:
            return rows, vectors
    model = modelled_block(machine)
    rates = machine.calibration.blocks if machine.calibration is not None else ()
    measured = {(r.rows, r.vectors): r.flops for r in rates if r.element_bytes == element_bytes}
    best = max(measured, key=lambda block: measured[block], default=model)
    is_first_class = model not in measured or measured[model] >= CLASS * measured[best]
    return model if is_first_class else best


def _most_rows(machine: Machine, vectors: int) -> int:
    return (machine.vector_registers - vectors - 1) // vectors


def whole_units(size: float, unit: int) -> int:
    """The size in whole units, rounded down, one at least."""
    return max(1, int(size) // unit) * unit


def holds(blocks: Blocks) -> bool:
    """Whether the scratch of a product has room for what these blocks are packed into.

    It has for kc x nc elements of each operand: as many as mc rows and the parts of the second level that are
    used at a time, with room to spare.
    """
    deep = (
        blocks.kc >= LEAST_KC and blocks.mc >= blocks.rows and blocks.nc >= max(2 * blocks.mc, blocks.columns)
    )
    return deep and blocks.nc * blocks.kc >= 2 * blocks.small
