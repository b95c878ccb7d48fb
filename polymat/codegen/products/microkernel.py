"""Register blocks: the C functions that multiply a few rows by a few vectors of columns.

A block keeps rows x vectors accumulators in registers over the whole depth, in the manner of BLIS; rows come
as scalars that are broadcast, columns as vectors.  The last vector may be a part of one, so a result of any
width is computed without a scalar loop.
"""

from __future__ import annotations

from functools import lru_cache

from polymat.codegen.products.blockends import ends_text
from polymat.codegen.products.blockresults import lines_requested, requested, results
from polymat.codegen.products.blockshape import Shape, vector_types
from polymat.codegen.products.headers import headers_text
from polymat.codegen.products.registerblock import (
    FEW_ROWS,
    UNUSED,
    WRITTEN_OUT,
    RegisterBlock,
    WrittenSteps,
    block_text,
    declared,
    loads,
    mask,
    right_row,
    statements,
    steps,
    sums,
    whole_vectors,
)
from polymat.codegen.products.walkblocks import (
    copies,
    copying_walk,
    has_whole_walk,
    parameters,
    table,
    walk,
    whole_walk,
)

FEW_SUMS = 6  # of a block, which wait for themselves: while one is added up, eight more can begin
AHEAD = ("__builtin_prefetch(next, 0, 2);", "next += pace;")
_STEPS_AHEAD = WrittenSteps(
    WRITTEN_OUT, ("__builtin_prefetch(next + turn * pace, 0, 2);",), (f"next += {WRITTEN_OUT} * pace;",)
)
_READ_AHEAD = (
    "__builtin_prefetch(next, 0, 2);",
    "__builtin_prefetch(next + apart, 0, 2);",
    "__builtin_prefetch(next + 2 * apart, 0, 2);",
    "at += pace;",
    "next += at < width ? pace : pace + jump;",
    "at -= at < width ? 0 : width;",
)
_FULL_COMMENT = """\
/* The full block of packed operands; its part of the result, and of what that is added to, is fetched while
   the product is computed, and what will be needed after it, from `next` on, `pace` bytes a step. */
"""
_PASSING_COMMENT = """\
/* All rows and {vectors} whole vectors; rows of A are contiguous and read where they are.  Meanwhile what the
   product is added to is fetched, and lines of as many rows at `next`, `pace` bytes further on after each. */
"""
_FULL = """\
ptrdiff_t depth, const {t} *a, const {t} *b, {t} scale,
        {t} beta, const _pm_result_{s} *to, const char *next, ptrdiff_t pace"""
_READING = """\
ptrdiff_t depth, const {t} *a, ptrdiff_t a_step, const {t} *b, ptrdiff_t b_step,
        {t} scale, {t} beta, const _pm_result_{s} *to, const _pm_requests_{s} *asked"""
_STRIP_COMMENT = "/* All rows and {vectors} whole vectors; requests `pace` bytes a step, from `next` on. */\n"
_PASSING = """\
ptrdiff_t depth, const {t} *a, ptrdiff_t a_row, const {t} *b, {t} scale,
        {t} beta, const _pm_result_{s} *to, const char *next, ptrdiff_t pace"""


def microkernels(shape: Shape) -> str:
    """The C functions of the blocks."""
    return "\n".join(map(block_text, described(shape)))


# Of a shape alone, asked for the blocks and for their declarations.
@lru_cache(maxsize=8)
def described(shape: Shape) -> tuple[RegisterBlock, ...]:
    """Every block up to the full one, and those of whole vectors for packed operands and those in place."""
    sizes = [(r, v) for v in range(1, shape.vectors + 1) for r in range(1, shape.rows + 1)]
    counts = range(1, shape.vectors + 1)
    blocks = [_block(shape, rows, vectors) for rows, vectors in sizes]
    blocks += [_full_block(shape)]
    blocks += [_passing_block(shape, vectors) for vectors in counts]
    blocks += [_strip_block(shape, vectors) for vectors in counts] if shape.panels else []
    blocks += [_reading_block(shape, vectors) for vectors in counts]
    if shape.walks:
        blocks += [walk(shape, rows, vectors) for rows, vectors in sizes]
        blocks += [whole_walk(shape, *size) for size in sizes if has_whole_walk(shape, *size)]
        blocks += [copying_walk(shape, *size) for size in sizes if copies(shape, *size)]
    return tuple(blocks)


def full_block(shape: Shape) -> str:
    """The largest block, on packed operands."""
    return block_text(_full_block(shape))


def block_tables(shape: Shape) -> str:
    """The text around register blocks: types, declarations, and the tables by which they are called."""
    walks = [table(shape, "walk"), table(shape, "copying")] if shape.walks else []
    blocks = [table(shape, "block"), *walks]
    blocks += [_pointers(shape, "strips", "strip", _PASSING)] if shape.panels else []
    passing = _pointers(shape, "passing", "passing", _PASSING)
    tables = [*blocks, passing, _pointers(shape, "readings", "reading", _READING)]
    types = [vector_types(shape), ends_text(shape), headers_text(shape, "operands", "requests")]
    return "\n".join([*types, declared(described(shape)), *tables])


def _block(shape: Shape, rows: int, vectors: int) -> RegisterBlock:
    """One block whose operands have any strides and whose last vector has `last` lanes."""
    return RegisterBlock(
        f"_pm_block_{shape.suffix}_{rows}x{vectors}",
        parameters(shape),
        before=mask(shape),
        sums=sums(shape, range(rows), vectors),
        first=_pairs_loop(shape, rows, vectors) if rows * vectors <= FEW_SUMS else "",
        loads=loads(shape, right_row(shape, rows, vectors)),
        steps=steps(shape, rows, vectors, "a_row", "a_step", "b_step"),
        stores=results(shape, rows, vectors, masked=True),
    )


def _pairs_loop(shape: Shape, rows: int, vectors: int) -> str:
    """The depth of a small block in pairs, the second of each into sums of its own.

    Measured (Zen 5, from C): 1 x 64 x 64 took 0.7 of the time, 1 x 24 x 300 in float32 0.56.
    """
    s, t = shape.suffix, shape.ctype
    points = [(row, v) for row in range(rows) for v in range(vectors)]
    lines = []
    for step, name in enumerate("cd"):
        values = enumerate(right_row(shape, rows, vectors))
        lines += [f"const _pm_vector_{s} b{step}_{v} = {value};" for v, value in values]
        for row in range(rows):
            lines.append(f"const {t} a{step}_{row} = a[{row} * a_row];")
            lines += [f"{name}{row}_{v} += a{step}_{row} * b{step}_{v};" for v in range(vectors)]
        lines += ["a += a_step;", "b += b_step;"]
    own = statements((f"_pm_vector_{s} d{row}_{v} = {{0}};" for row, v in points), 4)
    together = statements((f"c{row}_{v} += d{row}_{v};" for row, v in points), 4)
    head = "#pragma GCC unroll 1\n    for (; depth >= 2; depth -= 2) {\n"
    return f"{own}{head}{statements(lines, 8)}    }}\n{together}"


def _full_block(shape: Shape) -> RegisterBlock:
    """The largest block, on packed operands whose strides are therefore constants."""
    s, rows, vectors = shape.suffix, shape.rows, shape.vectors
    return RegisterBlock(
        f"_pm_full_{s}",
        _FULL.format(t=shape.ctype, s=s),
        before=requested(shape, rows, vectors),
        sums=sums(shape, range(rows), vectors),
        loads=loads(shape, whole_vectors(shape, vectors, once=True)),
        steps=steps(shape, rows, vectors, "1", str(rows), str(vectors * shape.lanes)),
        requests=AHEAD,
        written=_STEPS_AHEAD,
        stores=results(shape, rows, vectors, masked=False),
        comment=_FULL_COMMENT,
    )


def _pointers(shape: Shape, table: str, block: str, parameters: str) -> str:
    """A table of blocks of all rows by their vectors."""
    s = shape.suffix
    names = ", ".join(f"_pm_{block}_{s}_{vectors}" for vectors in range(1, shape.vectors + 1))
    taken = parameters.format(t=shape.ctype, s=s)
    return f"static void (*const _pm_{table}_{s}[{shape.vectors}])({taken}) {UNUSED} = {{{names}}};\n"


def _passing_block(shape: Shape, vectors: int) -> RegisterBlock:
    """A block of all rows and whole vectors, on a left operand that is read where it is."""
    s, rows = shape.suffix, shape.rows
    ahead = "__builtin_prefetch(next + turn * a_row * (ptrdiff_t)sizeof(*a), 0, 2);"
    before = (
        f"    if (to->from != NULL) {{\n        const {shape.ctype} *const from = to->from;\n"
        "        const ptrdiff_t from_row = to->from_row;\n"
        f"{lines_requested(shape, rows, vectors, 'from')}    }}\n"
    )
    return RegisterBlock(
        f"_pm_passing_{s}_{vectors}",
        _PASSING.format(t=shape.ctype, s=s),
        before=before,
        sums=sums(shape, range(rows), vectors),
        loads=loads(shape, whole_vectors(shape, vectors, once=True)),
        steps=steps(shape, rows, vectors, "a_row", "1", str(vectors * shape.lanes)),
        written=WrittenSteps(rows, (ahead,), ("next += pace;",)),
        stores=results(shape, rows, vectors, masked=False),
        comment=_PASSING_COMMENT.format(vectors=vectors),
    )


def _strip_block(shape: Shape, vectors: int) -> RegisterBlock:
    """A block of all rows and whole vectors, on a left operand that is read where it is, in the caches."""
    s, rows = shape.suffix, shape.rows
    return RegisterBlock(
        f"_pm_strip_{s}_{vectors}",
        _PASSING.format(t=shape.ctype, s=s),
        sums=sums(shape, range(rows), vectors),
        loads=loads(shape, whole_vectors(shape, vectors, once=True)),
        steps=steps(shape, rows, vectors, "a_row", "1", str(vectors * shape.lanes)),
        requests=AHEAD,
        written=_STEPS_AHEAD,
        stores=results(shape, rows, vectors, masked=False),
        comment=_STRIP_COMMENT.format(vectors=vectors),
    )


def _reading_block(shape: Shape, vectors: int) -> RegisterBlock:
    """A block of all rows, which are neighbours in A, and whole vectors; the depth has any steps."""
    s, rows = shape.suffix, shape.rows
    asked = ", ".join(f"{name} = asked->{name}" for name in ("pace", "apart", "width", "jump"))
    requests = ("const char *next = asked->next;", f"const ptrdiff_t {asked};", "ptrdiff_t at = 0;")
    return RegisterBlock(
        f"_pm_reading_{s}_{vectors}",
        _READING.format(t=shape.ctype, s=s),
        before=statements(requests, 4) + requested(shape, rows, vectors),
        sums=sums(shape, range(rows), vectors),
        loads=loads(shape, whole_vectors(shape, vectors, once=rows in FEW_ROWS)),
        steps=steps(shape, rows, vectors, "1", "a_step", "b_step"),
        requests=_READ_AHEAD,
        stores=results(shape, rows, vectors, masked=False),
    )
