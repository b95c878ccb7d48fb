"""Turned register blocks: their lanes are segments of columns, and what is transposed is the result."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.products.blockshape import Shape
from polymat.codegen.products.registerblock import RegisterBlock, block_text, statements, sums
from polymat.product.ways import TURNED_COLUMNS as COLUMNS
from polymat.product.ways import TURNED_ROWS as ROWS

# The steps of a transposition: how far the lines of a pair are apart, and the places of their elements.
_STEPS: tuple[tuple[int, Sequence[int], Sequence[int]], ...] = (
    (1, (0, 8, 2, 10, 4, 12, 6, 14), (1, 9, 3, 11, 5, 13, 7, 15)),
    (2, (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)),
    (4, (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)),
)

_PARAMETERS = """\
ptrdiff_t depth, const {t} *a, const {t} *b, {t} scale, {t} *const *to,
        ptrdiff_t row, int past, _pm_copy_{s} *copy"""
_BEFORE = """\
    const char *from = copy->from;
    char *onto = copy->to;
    ptrdiff_t at = copy->at;
    const ptrdiff_t width = copy->width, jump = copy->jump, step = copy->onto, back = copy->back;
    const ptrdiff_t ahead = copy->ahead;
"""
_COPY = (
    "__builtin_prefetch(from + ahead, 0, 2);",
    "*(_pm_vector_{s} *)onto = *(const _pm_memory_{s} *)from;",
    "from += 64;",
    "onto += step;",
    "if (++at == width) {{",
    "    at = 0;",
    "    from += jump;",
    "    onto += back;",
    "    __builtin_prefetch(from + ahead - 56, 0, 2); /* where that begins within a line */",
    "}}",
    '__asm__("" : "+r"(from)); /* or gcc keeps both addresses in a vector */',
)
_BEHIND = ("copy->from = from;", "copy->to = onto;", "copy->at = at;", "copy->left -= depth;")


def turned_blocks(shape: Shape) -> str:
    """Blocks of three rows and eight columns of eight segments: one, one that copies meanwhile, the table."""
    s = shape.suffix
    alone = _turned_block(shape, "block", before="    (void)copy;\n", copy=(), behind="")
    copying = _turned_block(
        shape,
        "copying",
        before=_BEFORE,
        copy=tuple(line.format(s=s) for line in _COPY),
        behind=statements(_BEHIND, 4),
    )
    both = f"{{_pm_turned_block_{s}, _pm_turned_copying_{s}}}"
    table = f"static const _pm_turned_function_{s} _pm_turns_{s}[2] = {both};\n\n"
    return "\n".join([block_text(alone), block_text(copying), table])


def _turned_block(
    shape: Shape, name: str, *, before: str, copy: tuple[str, ...], behind: str
) -> RegisterBlock:
    """A block; copy: what it copies at each step of the depth."""
    return RegisterBlock(
        f"_pm_turned_{name}_{shape.suffix}",
        _PARAMETERS.format(s=shape.suffix, t=shape.ctype),
        sums=sums(shape, range(ROWS), COLUMNS),
        first=before,
        loads=(f"_pm_vector_{shape.suffix} b_j;", *copy),
        steps=(*_products(shape), f"a += {ROWS};", f"b += {COLUMNS * COLUMNS};"),
        stores=behind + _written(shape),
        linkage="static",
    )


def _products(shape: Shape) -> list[str]:
    """One step of the depth: an element of A for all lanes of a vector of B, each of which is loaded once."""
    lines = []
    for row in range(ROWS):
        lanes = ", ".join([f"a[{row}]"] * COLUMNS)
        lines.append(f"const _pm_vector_{shape.suffix} a{row} = {{{lanes}}};")
    for j in range(COLUMNS):
        lines.append(f"b_j = *(const _pm_vector_{shape.suffix} *)(b + {j * COLUMNS});")
        lines.append('__asm__("" : "+v"(b_j)); /* or gcc loads it again for each row */')
        lines += [f"c{row}_{j} += a{row} * b_j;" for row in range(ROWS)]
    return lines


def _written(shape: Shape) -> str:
    """The block transposed, scaled and stored: of each row eight columns of each segment."""
    text, past, kept = "", "", ""
    for row in range(ROWS):
        lines, names = _transposed(shape, [f"c{row}_{j}" for j in range(COLUMNS)], f"r{row}")
        lines += [f"{name} *= scale;" for name in names]
        text += "".join(f"    {line}\n" for line in lines)
        for segment, name in enumerate(names):
            to = f"to[{segment}] + {row} * row"
            past += f"        __builtin_ia32_movntpd512({to}, {name});\n"
            kept += f"        *(_pm_memory_{shape.suffix} *)({to}) = {name};\n"
    return f"{text}    if (past) {{\n{past}    }} else {{\n{kept}    }}\n"


def _transposed(shape: Shape, names: Sequence[str], title: str) -> tuple[list[str], Sequence[str]]:
    """Eight vectors transposed: the statements, and what the results are called."""
    lines = []
    for apart, *sides in _STEPS:
        made = list(names)
        for first in (at for at in range(COLUMNS) if not at & apart):
            for at, places in zip((first, first + apart), sides, strict=True):
                made[at] = f"{title}_{apart}_{at}"
                order = f"{names[first]}, {names[first + apart]}, {', '.join(map(str, places))}"
                lines.append(f"_pm_vector_{shape.suffix} {made[at]} = __builtin_shufflevector({order});")
        names = made
    return lines, names
