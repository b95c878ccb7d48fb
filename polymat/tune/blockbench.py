"""The C text that measures register blocks: small products of packed operands by blocks of several shapes."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.apart import SHARED
from polymat.codegen.products.blockshape import Shape, vector_types
from polymat.codegen.products.headers import headers_text
from polymat.codegen.products.microkernel import full_block

LINES, COLUMNS, DEPTH = 96, 96, 256  # of the products, about: the operands stay in a second-level cache

# Of the left operand strips of R rows follow each other, of the right one panels of W columns.  The result is
# scaled by 0, so that no product grows where it is an operand of the next one.
_PRODUCT = """\
static double product_@NAME@(char *memory, ptrdiff_t repeats)
{
    enum { rows = @R@, wide = @W@, strips = @STRIPS@, panels = @PANELS@, depth = @DEPTH@ };
    @T@ *const a = (@T@ *)(void *)memory, *const b = a + strips * rows * depth;
    @T@ *const c = b + panels * wide * depth;
    const double begin = now();
    for (ptrdiff_t repeat = 0; repeat < repeats; repeat++)
        for (int panel = 0; panel < panels; panel++)
            for (int strip = 0; strip < strips; strip++)
                full_@NAME@(depth, a + strip * rows * depth, b + panel * wide * depth, 0, 0,
                            &(_pm_result_@S@){NULL, 0, c + (strip * rows * panels + panel) * wide,
                                              panels * wide},
                            memory, 0);
    return now() - begin;
}

"""


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
            f"static double (*const products[])(char *, ptrdiff_t) = {{{names}}};\n",
            "/* Seconds of so many products by the block of that number. */",
            "double pm_block(int number, char *memory, ptrdiff_t repeats)",
            "{",
            "    return products[number](memory, repeats);",
            "}",
        ]
    )


def _product(shape: Shape) -> str:
    strips, panels = counts(shape)
    values = {
        "NAME": name_of(shape),
        "S": shape.suffix,
        "T": shape.ctype,
        "R": shape.rows,
        "W": shape.vectors * shape.lanes,
        "STRIPS": strips,
        "PANELS": panels,
        "DEPTH": DEPTH,
    }
    text = full_block(shape).replace(f"_pm_full_{shape.suffix}", f"full_{name_of(shape)}") + _PRODUCT
    for name, value in values.items():
        text = text.replace(f"@{name}@", str(value))
    return text
