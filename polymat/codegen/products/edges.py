"""Register blocks at the diagonal of a triangular operand, whose rows differ in depth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.registerblock import (
    UNUSED,
    RegisterBlock,
    block_text,
    declared,
    statements,
    sums,
)


def edges(shape: Shape) -> str:
    """The steps at a diagonal that add to a block of all rows, by the side of the triangle and vectors.

    The rows of a strip of a triangle begin, or end, one step after the other.  Nothing is multiplied
    outside the triangle.
    """
    return "\n".join(map(block_text, _edges(shape)))


def edge_table(shape: Shape) -> str:
    """The table of them."""
    s, counts = shape.suffix, range(1, shape.vectors + 1)
    rows = ("{" + ", ".join(f"_pm_edge_{s}_{b}x{v}" for v in counts) + "}" for b in (0, 1))
    return f"""\
{declared(_edges(shape))}
/* The steps at the diagonal, by the side of the triangle and vectors. */
typedef void (*_pm_edge_{s})({_parameters(shape)});
static const _pm_edge_{s} _pm_edges_{s}[2][{shape.vectors}] {UNUSED} = {{{", ".join(rows)}}};
"""


def _edges(shape: Shape) -> list[RegisterBlock]:
    counts = range(1, shape.vectors + 1)
    return [_edge(shape, before, vectors) for before in (False, True) for vectors in counts]


def _parameters(shape: Shape) -> str:
    t = shape.ctype
    return (
        f"const {t} *a, ptrdiff_t a_row, ptrdiff_t a_step, const {t} *b, ptrdiff_t b_step,\n"
        f"        {t} scale, {t} *c, ptrdiff_t c_row, int last"
    )


def _edge(shape: Shape, before: bool, vectors: int) -> RegisterBlock:
    """c += scale * sums; step by step one row more, or (before) one less, is summed."""
    s, rows = shape.suffix, shape.rows
    parts = _parts(shape, vectors)
    summed = range(1, rows) if before else range(rows - 1)
    masks = (
        f"const _pm_mask_{s} mask = _PM_MASK_{s}(last), all = _PM_MASK_{s}({shape.lanes});",
        "(void)all;",
    )
    steps = [f"_pm_vector_{s} {', '.join(f'b{v}' for v in range(vectors))};"]
    for step in range(rows - 1):
        steps += [f"b{v} = _pm_load_{s}(b + {step} * b_step + {at}, {mask});" for v, at, mask in parts]
        for row in range(step + 1, rows) if before else range(step + 1):
            steps += [f"c{row}_{v} += a[{row} * a_row + {step} * a_step] * b{v};" for v in range(vectors)]
    return RegisterBlock(
        f"_pm_edge_{s}_{int(before)}x{vectors}",
        _parameters(shape),
        before=statements(masks, 4),
        sums=sums(shape, summed, vectors),
        first=statements(steps, 4),
        stores=statements(_added(shape, summed, vectors), 4),
    )


def _parts(shape: Shape, vectors: int) -> list[tuple[int, int, str]]:
    """The vectors of a row: their numbers, where they begin, and their masks."""
    return [(v, v * shape.lanes, "mask" if v == vectors - 1 else "all") for v in range(vectors)]


def _added(shape: Shape, summed: Iterable[int], vectors: int) -> Iterator[str]:
    """The sums of some rows, scaled, added to the result."""
    s = shape.suffix
    for row in summed:
        for v, place, mask in _parts(shape, vectors):
            at = f"c + {row} * c_row + {place}"
            yield f"_pm_store_{s}({at}, _pm_load_{s}({at}, {mask}) + scale * c{row}_{v}, {mask});"
