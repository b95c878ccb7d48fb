"""The C text that measures register blocks: small products of packed operands by blocks of several shapes."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.apart import SHARED
from polymat.codegen.products.blockshape import Shape, vector_types
from polymat.codegen.products.headers import headers_text
from polymat.codegen.products.microkernel import full_block
from polymat.measuring.programs import calibration_text

LINES, COLUMNS, DEPTH = 96, 96, 256  # of the products, about: the operands stay in a second-level cache
BLOCK = "BLOCK(depth, a, b, a_step, b_step, part, next, turn)"  # as its header takes it


def name_of(shape: Shape) -> str:
    """The name of a register block's shape in C code."""
    return f"{shape.suffix}_{shape.rows}x{shape.vectors}"


def counts(shape: Shape) -> tuple[int, int]:
    """Strips and panels of the product that it is measured by."""
    return max(1, round(LINES / shape.rows)), max(1, round(COLUMNS / (shape.vectors * shape.lanes)))


def operations(shape: Shape) -> float:
    """Floating-point operations of one product."""
    strips, panels = counts(shape)
    return 2.0 * strips * shape.rows * panels * shape.vectors * shape.lanes * DEPTH


def block_text(shapes: Sequence[Shape]) -> str:
    """A function for each shape, a table of them, and `pm_block`; a product takes less than 2 MiB."""
    types = {shape.suffix: vector_types(shape) + headers_text(shape, "operands") for shape in shapes}
    products = [_product(shape) for shape in shapes]
    names = ", ".join(f"product_{name_of(shape)}" for shape in shapes)
    return "\n".join(
        [
            SHARED,
            *types.values(),
            *products,
            calibration_text("blocks", macros={"PRODUCTS": names}),
        ]
    )


def _product(shape: Shape) -> str:
    strips, panels = counts(shape)
    macros: dict[str, object] = {
        "TIMER": f"product_{name_of(shape)}",
        BLOCK: BLOCK.replace("BLOCK", f"full_{name_of(shape)}"),
        "ROWS": shape.rows,
        "WIDE": shape.vectors * shape.lanes,
        "STRIPS": strips,
        "PANELS": panels,
        "DEPTH": DEPTH,
    }
    block = full_block(shape).replace(f"_pm_full_{shape.suffix}", f"full_{name_of(shape)}")
    return f"{block}{calibration_text('block', shape.suffix, macros)}\n"
