"""What becomes of the sums of a register block: scaled, added to what is there, and stored."""

from __future__ import annotations

from polymat.codegen.memory.storage import LINE_BYTES
from polymat.codegen.products.blockends import ends_of_block
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.registerblock import statements


def located(shape: Shape) -> str:
    """Names for where a block's part of the result lies, and what is added to it."""
    t = shape.ctype
    return f"""\
    const {t} *const from = to->from;
    {t} *const c = to->c;
    const ptrdiff_t from_row = to->from_row, c_row = to->c_row;
"""


def ended(shape: Shape) -> str:
    """A name for what becomes of it."""
    return f"    const _pm_end_{shape.suffix} *const end = to->end;\n" if shape.ends else ""


def requested(shape: Shape, rows: int, vectors: int) -> str:
    """Prefetching a block's part of the result, and of what is added to."""
    result = lines_requested(shape, rows, vectors, "c", ", 1")
    start = lines_requested(shape, rows, vectors, "from")
    return f"    {{\n{located(shape)}{result}    if (from != NULL && from != c) {{\n{start}    }}\n    }}\n"


def lines_requested(shape: Shape, rows: int, vectors: int, array: str, use: str = "") -> str:
    """Prefetching a block's part of `c` or `from`: lines, and the one that its last element lies in.

    Arrays of NumPy begin within a line, so that rows of a block end in the line behind.
    """
    width, line = vectors * shape.lanes, LINE_BYTES * shape.lanes // shape.vector_bytes
    columns = sorted({*range(0, width, line), width - 1})
    places = [(row, at) for row in range(rows) for at in columns]
    return statements(
        (f"__builtin_prefetch({array} + {row} * {array}_row + {at}{use});" for row, at in places), 4
    )


def results(shape: Shape, rows: int, vectors: int, *, masked: bool) -> str:
    """c = scale * sums, plus beta * from where there is one, and what is made of that.

    A product that is neither scaled nor added to something, most are, passes both by.  What is added as it is
    takes an addition, which does not wait for the units that multiply: of depth 16 the addition of a bias, or
    to what is there, took 0.01 to 0.03 of the product's time instead of 0.12 to 0.15 (Zen 5).
    """
    s = shape.suffix

    def part(v: int) -> bool:
        return masked and v == vectors - 1

    def read(row: int, v: int) -> str:
        at = f"from + {row} * from_row + {v * shape.lanes}"
        return f"_pm_load_{s}({at}, mask)" if part(v) else f"*(const _pm_memory_{s} *)({at})"

    def whole(row: int, v: int) -> str:
        return f"*(_pm_memory_{s} *)(c + {row} * c_row + {v * shape.lanes}) = c{row}_{v};"

    def some(row: int, v: int) -> str:
        return f"_pm_store_{s}(c + {row} * c_row + {v * shape.lanes}, c{row}_{v}, mask);"

    points = [(row, v) for row in range(rows) for v in range(vectors)]
    scaled = statements((f"c{row}_{v} *= scale;" for row, v in points), 12)
    added = statements((f"c{row}_{v} += {read(row, v)};" for row, v in points), 12)
    times = statements((f"c{row}_{v} += beta * {read(row, v)};" for row, v in points), 12)
    made = ends_of_block(shape, rows, vectors, masked=masked)
    stored = statements((whole(row, v) for row, v in points if not part(v)), 4)
    if masked:
        ways = (statements((way(row, vectors - 1) for row in range(rows)), 8) for way in (whole, some))
        stored += _whole_or_some(shape, *ways)
    return (
        f"{located(shape)}{ended(shape)}    if (from != NULL || scale != 1) {{\n"
        f"        if (scale != 1) {{\n{scaled}        }}\n"
        f"        if (from != NULL && beta == 1) {{\n{added}"
        f"        }} else if (from != NULL) {{\n{times}        }}\n"
        f"    }}\n{made}{stored}"
    )


def _whole_or_some(shape: Shape, whole: str, some: str) -> str:
    """Two ways to store the last vectors: where all their lanes are there, the one that stores whole ones.

    Storing a part takes AMD's processors many steps, even where the mask leaves nothing out.  Measured (Zen
    3, one thread): 32 x 2000 x 32 took 0.81 to 0.87 of the time, 64 cubed 0.81 (float32) and 0.94.
    """
    return f"    if (last == {shape.lanes}) {{\n{whole}    }} else {{\n{some}    }}\n"
