"""Register blocks at the diagonal of a triangular operand, whose rows differ in depth."""

from __future__ import annotations

from polymat.codegen.c.apart import prototypes
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.microkernel import UNUSED


def edges(shape: Shape) -> str:
    """The steps at a diagonal that add to a block of all rows, by the side of the triangle and vectors.

    The rows of a strip of a triangle begin, or end, one step after the other.  Nothing is multiplied
    outside the triangle.
    """
    sides = [(before, v) for before in (False, True) for v in range(1, shape.vectors + 1)]
    return "\n".join(_edge(shape, before, vectors) for before, vectors in sides)


def edge_table(shape: Shape) -> str:
    """The table of them."""
    s, counts = shape.suffix, range(1, shape.vectors + 1)
    rows = ("{" + ", ".join(f"_pm_edge_{s}_{b}x{v}" for v in counts) + "}" for b in (0, 1))
    return f"""\
{prototypes(edges(shape))}
/* The steps at the diagonal, by the side of the triangle and vectors. */
typedef void (*_pm_edge_{s})({_parameters(shape)});
static const _pm_edge_{s} _pm_edges_{s}[2][{shape.vectors}] {UNUSED} = {{{", ".join(rows)}}};
"""


def _parameters(shape: Shape) -> str:
    t = shape.ctype
    return (
        f"const {t} *a, ptrdiff_t a_row, ptrdiff_t a_step, const {t} *b, ptrdiff_t b_step,\n"
        f"        {t} scale, {t} *c, ptrdiff_t c_row, int last"
    )


def _edge(shape: Shape, before: bool, vectors: int) -> str:
    """c += scale * sums; step by step one row more, or (before) one less, is summed."""
    s, rows = shape.suffix, shape.rows
    masks = ["all"] * (vectors - 1) + ["mask"]
    places = [v * shape.lanes for v in range(vectors)]
    summed = range(1, rows) if before else range(rows - 1)
    lines = [f"_pm_vector_{s} c{row}_{v} = {{0}};" for row in summed for v in range(vectors)]
    lines.append(f"_pm_vector_{s} b0" + "".join(f", b{v}" for v in range(1, vectors)) + ";")
    for step in range(rows - 1):
        lines += [
            f"b{v} = _pm_load_{s}(b + {step} * b_step + {place}, {mask});"
            for v, (place, mask) in enumerate(zip(places, masks, strict=True))
        ]
        for row in range(step + 1, rows) if before else range(step + 1):
            lines += [f"c{row}_{v} += a[{row} * a_row + {step} * a_step] * b{v};" for v in range(vectors)]
    for row in summed:
        for v, (place, mask) in enumerate(zip(places, masks, strict=True)):
            at = f"c + {row} * c_row + {place}"
            lines.append(f"_pm_store_{s}({at}, _pm_load_{s}({at}, {mask}) + scale * c{row}_{v}, {mask});")
    body = "\n".join(f"    {line}" for line in lines)
    return f"""\
_PM_SHARED __attribute__((noinline)) void _pm_edge_{s}_{int(before)}x{vectors}({_parameters(shape)})
{{
    const _pm_mask_{s} mask = _PM_MASK_{s}(last), all = _PM_MASK_{s}({shape.lanes});
    (void)all;
{body}
}}
"""
