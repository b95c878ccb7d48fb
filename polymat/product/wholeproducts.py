"""What whole products by register blocks took on a machine, over what their price says."""

from __future__ import annotations

from polymat.machine.model import Machine
from polymat.machine.producttimes import Extents, Ratios, ratios_of
from polymat.memo import remembered
from polymat.product.asked import FACTS
from polymat.product.blocks import Blocks
from polymat.product.formula import Values
from polymat.product.prices import price
from polymat.product.question import machine_values
from polymat.product.shares import LEAST_GRID, SharedSide, grid_down, parts
from polymat.product.ways import way_of


@remembered
def measured_ratios(machine: Machine, blocks: Blocks, element_bytes: int) -> Ratios | None:
    """By what products took longer than their price says; None where none were timed in such blocks."""
    calibration = machine.calibration
    if calibration is None:
        return None
    block = blocks.rows, blocks.vectors
    timed = [each for each in calibration.products if each.block == block]

    def predicted(extents: Extents, threads: int) -> float:
        operations = product_operations(blocks, extents, threads)
        return threads * operations / machine.peak_flops(element_bytes, threads)

    return ratios_of(timed, element_bytes, predicted)


def product_operations(blocks: Blocks, extents: Extents, threads: int) -> float:
    """The price of the largest share of a product of two matrices whose rows are contiguous."""
    m, n, _ = extents
    turned = shares_columns(m, n)
    sides = (
        SharedSide(int(m), blocks.rows),
        SharedSide(int(n), blocks.lanes if threads >= LEAST_GRID else 1),
    )
    first, second = reversed(sides) if turned else sides
    down = grid_down(threads, first, second)
    long, wide = (
        {*parts("even", side.length, side.unit, count)} or {0}
        for side, count in ((first, down), (second, threads // down))
    )
    lengths = ((b, a) if turned else (a, b) for a in long for b in wide)
    return max(_price(blocks, extents, rows, columns) for rows, columns in lengths)


def _price(blocks: Blocks, extents: Extents, m: float, n: float) -> float:
    """The price of a part of a product."""
    values = _asked(m, n, extents[2], row_of_right=extents[1]) | machine_values(blocks)
    return price(way_of(values)).at(values)


def shares_columns(rows: float, columns: float) -> bool:
    """Whether threads share the columns of a product: where these are more than twice its rows."""
    return 2 * rows < columns


def _asked(m: float, n: float, k: float, *, row_of_right: float) -> Values:
    """What is asked of a product of two matrices; a power of two for what steps along the depth."""
    step = int(row_of_right)
    lies = {"along": True, "rowwise": k == 1, "in_order": True, "down": row_of_right == 1}
    values: Values = {each.name: 0.0 for each in FACTS}
    values |= {name: float(holds) for name, holds in lies.items()}
    values |= {"m": m, "n": n, "k": k, "row_segments": 1.0, "column_segments": 1.0, "depth_segments": 1.0}
    return values | {"left_power": 1.0, "right_power": float(step & -step), "place": 0.0}
