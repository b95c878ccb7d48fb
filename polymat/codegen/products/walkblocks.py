"""Blocks that walk over segments of depth, and how they are declared beside those of one segment."""

from __future__ import annotations

from polymat.codegen.products.blockresults import requested, results
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.registerblock import (
    UNUSED,
    WRITTEN_OUT,
    RegisterBlock,
    WrittenSteps,
    loads,
    mask,
    right_row,
    statements,
    steps,
    sums,
    whole_vectors,
)

SHORT_STEP = 16  # multiply-adds of a step, below which the instructions around them take as long
COPIED_AHEAD = 32  # steps of depth between a request for a row of B that is copied, and the copy
_WHOLE_COMMENT = (
    "/* Of whole vectors alone: beside a mask gcc keeps sums of steps that are written out in memory. */\n"
)
_SEGMENTS = (
    "for (ptrdiff_t segment = 0; segment < segments; segment++) {",
    "    a = first + at[2 * segment];",
)
_COPYING_COMMENT = "/* Copies what it reads of B, of which rows begin anywhere within lines. */\n"


def parameters(shape: Shape, kind: str = "block") -> str:
    """Of a block; of one that walks, the depth is that of a segment, whose elements are neighbours."""
    t = shape.ctype
    segments = "" if kind == "block" else "ptrdiff_t segments, const ptrdiff_t *at, "
    a_step = " ptrdiff_t a_step," if kind == "block" else ""
    copied = f"{t} *copied, " if kind == "copying" else ""
    return (
        f"{segments}ptrdiff_t depth, const {t} *a, ptrdiff_t a_row,{a_step} const {t} *b, ptrdiff_t b_step,\n"
        f"        {copied}{t} scale, {t} beta, const _pm_result_{shape.suffix} *to, int last"
    )


def walk(shape: Shape, rows: int, vectors: int) -> RegisterBlock:
    """A block that walks over segments of depth at offsets `at`, two apart, in A; in B they are packed."""
    whole = _calls_whole(shape, rows, vectors) if has_whole_walk(shape, rows, vectors) else ""
    return RegisterBlock(
        f"_pm_walk_{shape.suffix}_{rows}x{vectors}",
        parameters(shape, "walk"),
        before=whole + mask(shape) + _before(shape, rows, vectors),
        sums=sums(shape, range(rows), vectors),
        around=_SEGMENTS,
        loads=loads(shape, right_row(shape, rows, vectors)),
        steps=steps(shape, rows, vectors, "a_row", "1", "b_step"),
        stores=results(shape, rows, vectors, masked=True),
    )


def has_whole_walk(shape: Shape, rows: int, vectors: int) -> bool:
    """Whether whole vectors have a block of their own, whose steps are written out: the two highest.

    Only where steps are short: longer ones take as long with a mask beside them, one by one.
    """
    return shape.rows * shape.vectors < SHORT_STEP and rows + 1 >= shape.rows and vectors == shape.vectors


def whole_walk(shape: Shape, rows: int, vectors: int) -> RegisterBlock:
    """A block that walks, of whole vectors alone, with several steps written out."""
    return RegisterBlock(
        f"_pm_whole_walk_{shape.suffix}_{rows}x{vectors}",
        parameters(shape, "walk").removesuffix(", int last"),
        before=_before(shape, rows, vectors),
        sums=sums(shape, range(rows), vectors),
        around=_SEGMENTS,
        loads=loads(shape, whole_vectors(shape, vectors, once=True)),
        steps=steps(shape, rows, vectors, "a_row", "1", "b_step"),
        written=WrittenSteps(WRITTEN_OUT),
        stores=results(shape, rows, vectors, masked=False),
        comment=_WHOLE_COMMENT,
    )


def _before(shape: Shape, rows: int, vectors: int) -> str:
    """What a walk begins with: where its first segment is, and requests for its part of the result."""
    return f"    const {shape.ctype} *const first = a;\n" + requested(shape, rows, vectors)


def _calls_whole(shape: Shape, rows: int, vectors: int) -> str:
    """The call of the block of whole vectors, where the last one is whole."""
    name = f"_pm_whole_walk_{shape.suffix}_{rows}x{vectors}"
    given = "segments, at, depth, a, a_row, b, b_step, scale, beta, to"
    return statements((f"if (last == {shape.lanes}) {{", f"    {name}({given});", "    return;", "}"), 4)


def copies(shape: Shape, rows: int, vectors: int) -> bool:
    """Whether blocks of this size copy: strips and panels that are shared out evenly are no smaller."""
    return 2 * rows >= shape.rows and 2 * vectors >= shape.vectors


def copying_walk(shape: Shape, rows: int, vectors: int) -> RegisterBlock:
    """A block that walks, over segments of B where they lie, too, which it copies for those after it.

    A copy that is made before waits for memory, and then takes as long as a few strips do; stores beside
    multiplications take nothing.
    """
    s, t = shape.suffix, shape.ctype
    names = f"    const {t} *const first = a, *const right = b;\n"
    names += f"    const ptrdiff_t ahead = {COPIED_AHEAD} * b_step;\n"
    elements = (*(v * shape.lanes for v in range(vectors)), vectors * shape.lanes - 1)
    requests = (f"__builtin_prefetch(b + ahead + {element}, 0, 2);" for element in elements)
    stored = [f"*(_pm_memory_{s} *)(copied + {v * shape.lanes}) = b{v};" for v in range(vectors)]
    stored.append(f"copied += {vectors * shape.lanes};")
    return RegisterBlock(
        f"_pm_copying_{s}_{rows}x{vectors}",
        parameters(shape, "copying"),
        before=mask(shape) + names + requested(shape, rows, vectors),
        sums=sums(shape, range(rows), vectors),
        around=(
            "for (ptrdiff_t segment = 0; segment < segments; segment++) {",
            "    a = first + at[2 * segment];",
            "    b = right + at[2 * segment + 1];",
        ),
        loads=(*loads(shape, right_row(shape, rows, vectors)), *stored),
        steps=(*requests, *steps(shape, rows, vectors, "a_row", "1", "b_step")),
        stores=results(shape, rows, vectors, masked=True),
        comment=_COPYING_COMMENT,
    )


def table(shape: Shape, kind: str) -> str:
    """The blocks of a kind by their vectors and rows: none where there is none of that size."""
    s = shape.suffix
    rows = []
    for v in range(1, shape.vectors + 1):
        sizes = [(r, kind != "copying" or copies(shape, r, v)) for r in range(1, shape.rows + 1)]
        names = ", ".join(f"_pm_{kind}_{s}_{r}x{v}" if is_there else "NULL" for r, is_there in sizes)
        rows.append(f"    {{{names}}},\n")
    return f"""\
/* The blocks by vectors and rows, from 1 each. */
typedef void (*_pm_{kind}_{s})({parameters(shape, kind)});
static const _pm_{kind}_{s} _pm_{kind}s_{s}[{shape.vectors}][{shape.rows}] {UNUSED} = {{
{"".join(rows)}}};
"""
