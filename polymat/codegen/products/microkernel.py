"""Register blocks: the C functions that multiply a few rows by a few vectors of columns.

A block keeps rows x vectors accumulators in registers over the whole depth, in the manner of BLIS; rows come
as scalars that are broadcast, columns as vectors.  The last vector may be a part of one, so a result of any
width is computed without a scalar loop.
"""

from __future__ import annotations

from functools import lru_cache
from textwrap import indent

from polymat.codegen.c.apart import prototypes
from polymat.codegen.products.blockshape import Shape, vector_types
from polymat.codegen.products.ends import ends_of_block, ends_text
from polymat.codegen.products.headers import headers_text

UNUSED = "__attribute__((unused))"  # tables, by some of the files that a product is compiled as
FEW_ROWS = range(2, 5)  # of blocks whose vectors gcc would load again for each row
FEW_SUMS = 6  # of a block, which wait for themselves: while one is added up, eight more can begin
_AHEAD = ("        __builtin_prefetch(next, 0, 2);", "        next += pace;")
_ROWS_AHEAD = (
    "        __builtin_prefetch(next + row, 0, 2);",
    "        row += a_row * (ptrdiff_t)sizeof(*a);",
    "        next += row == rows ? pace : 0;",
    "        row = row == rows ? 0 : row;",
)
_READ_AHEAD = (
    "        __builtin_prefetch(next, 0, 2);",
    "        __builtin_prefetch(next + apart, 0, 2);",
    "        __builtin_prefetch(next + 2 * apart, 0, 2);",
    "        at += pace;",
    "        next += at < width ? pace : pace + jump;",
    "        at -= at < width ? 0 : width;",
)
_READING = """\
ptrdiff_t depth, const {t} *a, ptrdiff_t a_step, const {t} *b, ptrdiff_t b_step,
        {t} scale, {t} beta, const _pm_result_{s} *to, const _pm_requests_{s} *asked"""
_PASSING = """\
ptrdiff_t depth, const {t} *a, ptrdiff_t a_row, const {t} *b, {t} scale,
        {t} beta, const _pm_result_{s} *to, const char *next, ptrdiff_t pace"""


# Of a shape alone, asked for the blocks and for their prototypes.
@lru_cache(maxsize=8)
def microkernels(shape: Shape) -> str:
    """Every block up to the full one, and those of whole vectors for packed operands and those in place."""
    sizes = [(r, v) for v in range(1, shape.vectors + 1) for r in range(1, shape.rows + 1)]
    blocks = [_block(shape, rows, vectors) for rows, vectors in sizes]
    walks = [_walk(shape, rows, vectors) for rows, vectors in sizes] if shape.walks else []
    counts = range(1, shape.vectors + 1)
    passing = [_passing_block(shape, vectors) for vectors in counts]
    reading = [_reading_block(shape, vectors) for vectors in counts]
    return "\n".join([*blocks, full_block(shape), *passing, *reading, *walks])


def block_tables(shape: Shape) -> str:
    """The text around register blocks: types, declarations, and the tables by which they are called."""
    blocks = [_table(shape, "block"), *([_table(shape, "walk")] if shape.walks else [])]
    tables = [*blocks, _passing_table(shape), _reading_table(shape)]
    types = [vector_types(shape), ends_text(shape), headers_text(shape, "operands", "requests")]
    return "\n".join([*types, prototypes(microkernels(shape)), *tables])


def _parameters(shape: Shape, kind: str = "block") -> str:
    """Of a block; of one that walks, the depth is that of a segment, whose elements are neighbours."""
    t = shape.ctype
    segments = "ptrdiff_t segments, const ptrdiff_t *at, " if kind == "walk" else ""
    a_step = "" if kind == "walk" else " ptrdiff_t a_step,"
    return (
        f"{segments}ptrdiff_t depth, const {t} *a, ptrdiff_t a_row,{a_step} const {t} *b, ptrdiff_t b_step,\n"
        f"        {t} scale, {t} beta, const _pm_result_{shape.suffix} *to, int last"
    )


def _block(shape: Shape, rows: int, vectors: int) -> str:
    """One block whose operands have any strides and whose last vector has `last` lanes."""
    s, strides = shape.suffix, ("a_row", "a_step", "b_step")
    sums = _depth_loop(shape, rows, vectors, _loads(shape, rows, vectors), strides)
    pairs = _pairs_loop(shape, rows, vectors) if rows * vectors <= FEW_SUMS else ""
    return f"""\
_PM_SHARED __attribute__((noinline)) void _pm_block_{s}_{rows}x{vectors}({_parameters(shape)})
{{
    const _pm_mask_{s} mask = _PM_MASK_{s}(last);
{_accumulators(shape, rows, vectors)}{pairs}{sums}{_results(shape, rows, vectors, masked=True)}}}
"""


def _pairs_loop(shape: Shape, rows: int, vectors: int) -> str:
    """The depth of a small block in pairs, the second of each into sums of its own.

    Measured (Zen 5, from C): 1 x 64 x 64 took 0.7 of the time, 1 x 24 x 300 in float32 0.56.
    """
    s, t = shape.suffix, shape.ctype
    points = [(row, v) for row in range(rows) for v in range(vectors)]
    lines = []
    for step, name in enumerate("cd"):
        loads = enumerate(_loads(shape, rows, vectors))
        lines += [f"        const _pm_vector_{s} b{step}_{v} = {load};" for v, load in loads]
        for row in range(rows):
            lines.append(f"        const {t} a{step}_{row} = a[{row} * a_row];")
            lines += [f"        {name}{row}_{v} += a{step}_{row} * b{step}_{v};" for v in range(vectors)]
        lines += ["        a += a_step;", "        b += b_step;"]
    own = "".join(f"    _pm_vector_{s} d{row}_{v} = {{0}};\n" for row, v in points)
    together = "".join(f"    c{row}_{v} += d{row}_{v};\n" for row, v in points)
    body = "\n".join(lines)
    return f"""\
{own}#pragma GCC unroll 1
    for (; depth >= 2; depth -= 2) {{
{body}
    }}
{together}"""


def _walk(shape: Shape, rows: int, vectors: int) -> str:
    """A block that walks over segments of depth at offsets `at`, two apart, in A; in B they are packed."""
    s = shape.suffix
    sums = _depth_loop(shape, rows, vectors, _loads(shape, rows, vectors), ("a_row", "1", "b_step"))
    sums = indent(sums, "    ", lambda line: not line.startswith("#"))
    before = _requests(shape, rows, vectors) + _accumulators(shape, rows, vectors)
    return f"""\
_PM_SHARED __attribute__((noinline)) void _pm_walk_{s}_{rows}x{vectors}({_parameters(shape, "walk")})
{{
    const _pm_mask_{s} mask = _PM_MASK_{s}(last);
    const {shape.ctype} *const first = a;
{before}    for (ptrdiff_t segment = 0; segment < segments; segment++) {{
        a = first + at[2 * segment];
{sums}    }}
{_results(shape, rows, vectors, masked=True)}}}
"""


def _requests(shape: Shape, rows: int, vectors: int) -> str:
    """Prefetching a block's part of the result, and of what is added to."""
    result, start = _lines(shape, rows, vectors, "c", ", 1"), _lines(shape, rows, vectors, "from")
    return f"    {{\n{located(shape)}{result}    if (from != NULL && from != c) {{\n{start}    }}\n    }}\n"


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


def _lines(shape: Shape, rows: int, vectors: int, array: str, use: str = "") -> str:
    """Prefetching a block's part of `c` or `from`."""
    places = [(row, v * shape.lanes) for row in range(rows) for v in range(vectors)]
    return "".join(
        f"    __builtin_prefetch({array} + {row} * {array}_row + {at}{use});\n" for row, at in places
    )


def _loads(shape: Shape, rows: int, vectors: int) -> list[str]:
    """A row of B whose last vector is a part of one.

    gcc takes memory that nobody writes for as good as a register, and loads it once more for each of a few
    rows; volatile loads it does not repeat.
    """
    s, once = shape.suffix, "volatile " if rows in FEW_ROWS else ""
    loads = [f"*(const {once}_pm_memory_{s} *)(b + {v * shape.lanes})" for v in range(vectors - 1)]
    return [*loads, f"_pm_load_{s}(b + {(vectors - 1) * shape.lanes}, mask)"]


def full_block(shape: Shape) -> str:
    """The largest block, on packed operands whose strides are therefore constants."""
    s, rows, vectors = shape.suffix, shape.rows, shape.vectors
    fetch = _requests(shape, rows, vectors)
    t = shape.ctype
    return f"""\
/* The full block of packed operands; its part of the result, and of what that is added to, is fetched while
   the product is computed, and what will be needed after it, from `next` on, `pace` bytes a step. */
_PM_SHARED __attribute__((noinline)) void _pm_full_{s}(ptrdiff_t depth, const {t} *a, const {t} *b, {t} scale,
        {t} beta, const _pm_result_{s} *to, const char *next, ptrdiff_t pace)
{{
{fetch}{ahead_loop(shape, vectors)}{_results(shape, rows, vectors, masked=False)}}}
"""


def ahead_loop(shape: Shape, vectors: int) -> str:
    """The sums of all rows of packed operands, with the requests for what will be needed after them."""
    rows = shape.rows
    loads = [f"*(const _pm_memory_{shape.suffix} *)(b + {v * shape.lanes})" for v in range(vectors)]
    steps = ("1", str(rows), str(vectors * shape.lanes))
    return _accumulators(shape, rows, vectors) + _depth_loop(shape, rows, vectors, loads, steps, _AHEAD)


def _passing_table(shape: Shape) -> str:
    """The blocks for a left operand that is read where it is, by vectors."""
    s, counts = shape.suffix, range(1, shape.vectors + 1)
    names = ", ".join(f"_pm_passing_{s}_{vectors}" for vectors in counts)
    return f"""\
typedef void (*_pm_pass_{s})({_PASSING.format(t=shape.ctype, s=s)});
static const _pm_pass_{s} _pm_passing_{s}[{shape.vectors}] {UNUSED} = {{{names}}};
"""


def _passing_block(shape: Shape, vectors: int) -> str:
    """A block of all rows and whole vectors, on a left operand that is read where it is."""
    s, t, rows = shape.suffix, shape.ctype, shape.rows
    loads = [f"*(const _pm_memory_{s} *)(b + {v * shape.lanes})" for v in range(vectors)]
    steps = ("a_row", "1", str(vectors * shape.lanes))
    body = _accumulators(shape, rows, vectors) + _depth_loop(shape, rows, vectors, loads, steps, _ROWS_AHEAD)
    parameters = _PASSING.format(t=t, s=s)
    return f"""\
/* All rows and {vectors} whole vectors; rows of A are contiguous and read where they are.  Meanwhile what the
   product is added to is fetched, and lines of as many rows at `next`, `pace` bytes further on after each. */
_PM_SHARED __attribute__((noinline)) void _pm_passing_{s}_{vectors}({parameters})
{{
    const ptrdiff_t rows = {rows} * a_row * (ptrdiff_t)sizeof(*a);
    ptrdiff_t row = 0;
    if (to->from != NULL) {{
        const {t} *const from = to->from;
        const ptrdiff_t from_row = to->from_row;
{_lines(shape, rows, vectors, "from")}    }}
{body}{_results(shape, rows, vectors, masked=False)}}}
"""


def _reading_table(shape: Shape) -> str:
    """The blocks for operands of which one is read where it is, by vectors."""
    s, t, counts = shape.suffix, shape.ctype, range(1, shape.vectors + 1)
    names = ", ".join(f"_pm_reading_{s}_{vectors}" for vectors in counts)
    return f"""\
typedef void (*_pm_reader_{s})({_READING.format(t=t, s=s)});
static const _pm_reader_{s} _pm_readings_{s}[{shape.vectors}] {UNUSED} = {{{names}}};
"""


def _reading_block(shape: Shape, vectors: int) -> str:
    """A block of all rows, which are neighbours in A, and whole vectors; the depth has any steps."""
    s, t, rows = shape.suffix, shape.ctype, shape.rows
    loads = [f"*(const _pm_memory_{s} *)(b + {v * shape.lanes})" for v in range(vectors)]
    steps = ("1", "a_step", "b_step")
    body = _accumulators(shape, rows, vectors) + _depth_loop(shape, rows, vectors, loads, steps, _READ_AHEAD)
    parameters = _READING.format(t=t, s=s)
    return f"""\
_PM_SHARED __attribute__((noinline)) void _pm_reading_{s}_{vectors}({parameters})
{{
    const char *next = asked->next;
    const ptrdiff_t pace = asked->pace, apart = asked->apart, width = asked->width, jump = asked->jump;
    ptrdiff_t at = 0;
{_requests(shape, rows, vectors)}{body}{_results(shape, rows, vectors, masked=False)}}}
"""


def _depth_loop(
    shape: Shape,
    rows: int,
    vectors: int,
    loads: list[str],
    steps: tuple[str, str, str],
    more: tuple[str, ...] = (),
) -> str:
    """The sums; steps: elements from row to row of a, and along the depth of a and b."""
    a_row, a_step, b_step = steps
    s, t = shape.suffix, shape.ctype
    lines = ["#pragma GCC unroll 1", "    for (ptrdiff_t k = 0; k < depth; k++) {"]
    lines += [f"        const _pm_vector_{s} b{v} = {load};" for v, load in enumerate(loads)]
    for row in range(rows):
        lines.append(f"        const {t} a{row} = a[{row} * {a_row}];")
        lines += [f"        c{row}_{v} += a{row} * b{v};" for v in range(vectors)]
    lines += [f"        a += {a_step};", f"        b += {b_step};", *more, "    }"]
    return "\n".join(lines) + "\n"


def _accumulators(shape: Shape, rows: int, vectors: int) -> str:
    """The sums, zero each."""
    lines = []
    for row in range(rows):
        sums = ", ".join(f"c{row}_{v} = {{0}}" for v in range(vectors))
        lines.append(f"    _pm_vector_{shape.suffix} {sums};\n")
    return "".join(lines)


def _results(shape: Shape, rows: int, vectors: int, *, masked: bool) -> str:
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

    def write(row: int, v: int) -> str:
        at = f"c + {row} * c_row + {v * shape.lanes}"
        if part(v):
            return f"    _pm_store_{s}({at}, c{row}_{v}, mask);"
        return f"    *(_pm_memory_{s} *)({at}) = c{row}_{v};"

    points = [(row, v) for row in range(rows) for v in range(vectors)]
    lines = [
        located(shape) + ended(shape) + "    if (from != NULL || scale != 1) {",
        "        if (scale != 1) {",
    ]
    lines += [f"            c{row}_{v} *= scale;" for row, v in points]
    lines += ["        }", "        if (from != NULL && beta == 1) {"]
    lines += [f"            c{row}_{v} += {read(row, v)};" for row, v in points]
    lines += ["        } else if (from != NULL) {"]
    lines += [f"            c{row}_{v} += beta * {read(row, v)};" for row, v in points]
    lines += ["        }", "    }"]
    made = ends_of_block(shape, rows, vectors, masked=masked)
    stores = [write(row, v) for row, v in points]
    return "\n".join(lines) + f"\n{made}" + "\n".join(stores) + "\n"


def _table(shape: Shape, kind: str) -> str:
    s = shape.suffix
    rows = []
    for v in range(1, shape.vectors + 1):
        names = ", ".join(f"_pm_{kind}_{s}_{r}x{v}" for r in range(1, shape.rows + 1))
        rows.append(f"    {{{names}}},\n")
    return f"""\
/* The blocks by vectors and rows, from 1 each. */
typedef void (*_pm_{kind}_{s})({_parameters(shape, kind)});
static const _pm_{kind}_{s} _pm_{kind}s_{s}[{shape.vectors}][{shape.rows}] {UNUSED} = {{
{"".join(rows)}}};
"""
