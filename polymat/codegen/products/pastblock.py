"""Register blocks that write their part of the result past the caches, in whole lines.

A store into a line that is in no cache fetches it first, though all of it is replaced, and where sums are
short the lines of the result that are on their way limit a product.  Stores past the caches want whole lines,
and arrays seldom begin with one: the end of a row of a block waits for the block to its right.
"""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.elements import INTEGERS
from polymat.codegen.c.vectortypes import memory_suffix
from polymat.codegen.products.blockends import ends_of_block
from polymat.codegen.products.blockresults import ended
from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.headers import headers_text
from polymat.codegen.products.microkernel import AHEAD
from polymat.codegen.products.registerblock import (
    UNUSED,
    RegisterBlock,
    block_text,
    declared,
    loads,
    statements,
    steps,
    sums,
    whole_vectors,
)

_PAST = """\
ptrdiff_t depth, const {t} *a, const {t} *b, {t} scale,
        const _pm_result_{s} *to, const char *next, ptrdiff_t pace, {t} *carry, int follows, int goes_on,
        int rotated"""


_TURN = "/* elements before the first whole line */"
_COMMENT = """\
/* All rows and {vectors} whole vectors of packed operands, written past the caches in whole lines; all rows
   of c begin at the same place of a line.  carry: of each row the last vector of the block to the left, if
   this one follows it, and then of this one, if another goes on.  rotated: how many elements of the last
   vector are the beginning of the row, which is a line with the end of the row above; carry is then the last
   vector of that, if the block follows it, and c begins with a line. */
"""


def _parameters(shape: Shape) -> str:
    return _PAST.format(t=shape.ctype, s=shape.suffix)


def past_table(shape: Shape) -> str:
    """The macro that says whether there are such blocks, and the table of them by vectors."""
    s, counts = shape.suffix, range(1, shape.vectors + 1)
    names = ", ".join(f"_pm_past_{s}_{vectors}" for vectors in counts)
    return f"""\
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && {shape.vector_bytes} == 64
#define _PM_WHOLE_{s} 1
{headers_text(shape, "somedeclared")}{declared(_blocks(shape))}
typedef void (*_pm_past_{s})({_parameters(shape)});
static const _pm_past_{s} _pm_pasts_{s}[{shape.vectors}] {UNUSED} = {{{names}}};
#else
#define _PM_WHOLE_{s} 0
#endif
"""


def past_blocks(shape: Shape) -> str:
    """The C functions."""
    texts = "\n".join(map(block_text, _blocks(shape)))
    return f"{headers_text(shape, 'some')}#if _PM_WHOLE_{shape.suffix}\n{texts}#endif\n"


def _blocks(shape: Shape) -> list[RegisterBlock]:
    return [_past_block(shape, vectors) for vectors in range(1, shape.vectors + 1)]


def _past_block(shape: Shape, vectors: int) -> RegisterBlock:
    """The block of all rows and so many whole vectors."""
    rows = shape.rows
    made = ends_of_block(shape, rows, vectors, masked=False)
    scaled = (f"c{row}_{v} *= scale;" for row in range(rows) for v in range(vectors))
    return RegisterBlock(
        f"_pm_past_{shape.suffix}_{vectors}",
        _parameters(shape),
        before=_before(shape, vectors),
        sums=sums(shape, range(rows), vectors),
        loads=loads(shape, whole_vectors(shape, vectors)),
        steps=steps(shape, rows, vectors, "1", str(rows), str(vectors * shape.lanes)),
        requests=AHEAD,
        stores=f"{statements(scaled, 4)}{made}{_stores(shape, vectors)}",
        comment=_COMMENT.format(vectors=vectors),
    )


def _before(shape: Shape, vectors: int) -> str:
    """Where the result lies in its lines, and requests for those that are not written as wholes."""
    s, t, rows, lanes = shape.suffix, shape.ctype, range(shape.rows), shape.lanes
    last = vectors * lanes - 1
    joined = f"__builtin_prefetch(c + {last - lanes + 1}"
    lines = [
        f"typedef {INTEGERS[s]} lanes __attribute__((vector_size(64)));",
        f"{t} *const c = to->c;",
        "const ptrdiff_t c_row = to->c_row;",
        f"const int turn = (int)(-(uintptr_t)c % 64 / sizeof({t})); {_TURN}",
    ]
    order = f"const lanes order = (lanes){{{', '.join(map(str, range(lanes)))}}} + turn;"
    rows_begin = [f"__builtin_prefetch(c + {row} * c_row, 1);" for row in rows]
    rows_end = [f"__builtin_prefetch(c + {row} * c_row + {last}, 1);" for row in rows]
    asked = [
        order,
        *_if("rotated != 0", [f"{joined} - c_row, 1);", f"{joined} + {shape.rows - 1} * c_row, 1);"]),
        *_if("turn != 0 && !follows", rows_begin),
        *_if("turn != 0 && !goes_on", rows_end),
    ]
    return f"{statements(lines, 4)}{ended(shape)}{statements(asked, 4)}"


def _if(condition: str, lines: Sequence[str]) -> list[str]:
    return [f"if ({condition}) {{", *(f"    {line}" for line in lines), "}"]


def _stores(shape: Shape, vectors: int) -> str:
    s, rows, lanes = shape.suffix, range(shape.rows), shape.lanes
    kept = [f"*(_pm_memory_{s} *)(carry + {row * lanes})" for row in rows]
    left = [f"(_pm_vector_{s}){place}" for place in kept]
    stream = f"__builtin_ia32_movnt{memory_suffix(shape.suffix)}512"
    final = vectors - 1

    def at(row: int, place: int, turned: str = "") -> str:
        return f"c + {row} * c_row{f' + {place}' if place > 0 else ''}{turned}"

    def block(head: str, lines: list[str]) -> str:
        inner = "".join(f"        {line};\n" for line in lines)
        return f"    {head} {{\n{inner}    }}"

    whole = [f"{stream}({at(row, v * lanes)}, c{row}_{v})" for row in rows for v in range(vectors)]
    first = [
        f"{stream}({at(row, 0)} + turn - {lanes}, __builtin_shuffle({left[row]}, c{row}_0, order))"
        for row in rows
    ]
    begin = [f"_pm_some_{s}({at(row, 0)}, c{row}_0, 0, turn)" for row in rows]
    middle = [
        f"{stream}({at(row, v * lanes, ' + turn')}, __builtin_shuffle(c{row}_{v}, c{row}_{v + 1}, order))"
        for row in rows
        for v in range(final)
    ]
    keep = [f"{kept[row]} = c{row}_{final}" for row in rows]
    end = [f"_pm_some_{s}({at(row, final * lanes)}, c{row}_{final}, turn, {lanes})" for row in rows]
    texts = [
        block("if (rotated != 0)", [*_joined(shape, vectors), "return"]),
        block("if (turn == 0)", [*whole, "return"]),
        f"{block('if (follows)', first)} {block('else', begin).lstrip()}",
        *(f"    {line};" for line in middle),
        f"{block('if (goes_on)', keep)} {block('else', end).lstrip()}",
    ]
    return "\n".join(texts) + "\n"


def _joined(shape: Shape, vectors: int) -> list[str]:
    """The stores of rows that follow each other and end with their beginnings."""
    s, rows, lanes, final = shape.suffix, shape.rows, shape.lanes, vectors - 1
    stream = f"__builtin_ia32_movnt{memory_suffix(shape.suffix)}512"
    kept = f"*(_pm_memory_{s} *)carry"

    def at(row: int, v: int) -> str:
        return f"c + {row} * c_row + {v * lanes}"

    def both(above: str, row: int) -> str:
        return f"(_pm_vector_{s})(((lanes){above} & ends) | ((lanes)c{row}_{final} & ~ends))"

    lines = [f"const lanes ends = order < {lanes} - rotated"]
    lines += [f"{stream}({at(row, v)}, c{row}_{v})" for row in range(rows) for v in range(final)]
    lines += [
        f"if (follows) {stream}({at(-1, final)}, {both(kept, 0)});"
        f" else _pm_some_{s}({at(-1, final)}, c0_{final}, {lanes} - rotated, {lanes})"
    ]
    lines += [f"{stream}({at(row - 1, final)}, {both(f'c{row - 1}_{final}', row)})" for row in range(1, rows)]
    last = f"c{rows - 1}_{final}"
    lines += [
        f"if (goes_on) {kept} = {last};"
        f" else _pm_some_{s}({at(rows - 1, final)}, {last}, 0, {lanes} - rotated)"
    ]
    return lines
