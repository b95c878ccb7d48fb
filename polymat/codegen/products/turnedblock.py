"""Turned register blocks: their lanes are segments of columns, and what is transposed is the result."""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

from polymat.codegen.products.blockshape import Shape
from polymat.product.ways import TURNED_COLUMNS as COLUMNS
from polymat.product.ways import TURNED_ROWS as ROWS

# The steps of a transposition: how far the lines of a pair are apart, and the places of their elements.
_STEPS: tuple[tuple[int, Sequence[int], Sequence[int]], ...] = (
    (1, (0, 8, 2, 10, 4, 12, 6, 14), (1, 9, 3, 11, 5, 13, 7, 15)),
    (2, (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)),
    (4, (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)),
)

_PARAMETERS = """\
ptrdiff_t depth, const $T *a, const $T *b, $T scale, $T *const *to,
        ptrdiff_t row, int past, _pm_copy_$S *copy"""
_BLOCK = f"""\
static __attribute__((noinline)) void $NAME({_PARAMETERS})
{{
${{SUMS}}${{BEFORE}}#pragma GCC unroll 1
    for (ptrdiff_t k = 0; k < depth; k++) {{
        _pm_vector_$S b_j;
${{COPY}}${{PRODUCTS}}        a += {ROWS};
        b += {COLUMNS * COLUMNS};
    }}
${{BEHIND}}${{WRITTEN}}}}

"""
_BEFORE = """\
    const char *from = copy->from;
    char *onto = copy->to;
    ptrdiff_t at = copy->at;
    const ptrdiff_t width = copy->width, jump = copy->jump, step = copy->onto, back = copy->back;
    const ptrdiff_t ahead = copy->ahead;
"""
_COPY = """\
        __builtin_prefetch(from + ahead, 0, 2);
        *(_pm_vector_$S *)onto = *(const _pm_memory_$S *)from;
        from += 64;
        onto += step;
        if (++at == width) {
            at = 0;
            from += jump;
            onto += back;
            __builtin_prefetch(from + ahead - 56, 0, 2); /* where that begins within a line */
        }
        __asm__("" : "+r"(from)); /* or gcc keeps both addresses in a vector */
"""
_BEHIND = """\
    copy->from = from;
    copy->to = onto;
    copy->at = at;
    copy->left -= depth;
"""
_TABLE = """\
static const _pm_turn_$S _pm_turns_$S[2] = {_pm_turned_block_$S, _pm_turned_copying_$S};

"""


def turned_blocks(shape: Shape) -> str:
    """Blocks of three rows and eight columns of eight segments: one, one that copies meanwhile, the table."""
    s, names = shape.suffix, {"S": shape.suffix, "T": shape.ctype}
    copying = Template(_COPY).substitute(names)
    parts = {
        f"_pm_turned_block_{s}": {"BEFORE": "    (void)copy;\n", "COPY": "", "BEHIND": ""},
        f"_pm_turned_copying_{s}": {"BEFORE": _BEFORE, "COPY": copying, "BEHIND": _BEHIND},
    }
    same = {"SUMS": _sums(shape), "PRODUCTS": _products(shape), "WRITTEN": _written(shape)}
    blocks = [Template(_BLOCK).substitute(names, NAME=name, **same, **part) for name, part in parts.items()]
    return "".join((*blocks, Template(_TABLE).substitute(names)))


def _sums(shape: Shape) -> str:
    columns = [[f"c{row}_{j} = {{0}}" for j in range(COLUMNS)] for row in range(ROWS)]
    return "".join(f"    _pm_vector_{shape.suffix} {', '.join(each)};\n" for each in columns)


def _products(shape: Shape) -> str:
    """One step of the depth: an element of A for all lanes of a vector of B, each of which is loaded once."""
    lines = []
    for row in range(ROWS):
        lanes = ", ".join([f"a[{row}]"] * COLUMNS)
        lines.append(f"const _pm_vector_{shape.suffix} a{row} = {{{lanes}}};")
    for j in range(COLUMNS):
        lines.append(f"b_j = *(const _pm_vector_{shape.suffix} *)(b + {j * COLUMNS});")
        lines.append('__asm__("" : "+v"(b_j)); /* or gcc loads it again for each row */')
        lines += [f"c{row}_{j} += a{row} * b_j;" for row in range(ROWS)]
    return "".join(f"        {line}\n" for line in lines)


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
