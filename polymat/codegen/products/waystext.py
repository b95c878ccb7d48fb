"""The ways of products in C: the same table that Python evaluates, printed.

`ways_text` gives the C function that says which way a product takes; it is asked before a product is
multiplied and where one is priced.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from polymat.codegen.c.formulas import declarations, formula_text
from polymat.codegen.c.kernels import kernel_text
from polymat.codegen.c.render import LINE_WIDTH
from polymat.product.asked import FACTS
from polymat.product.formula import Formula, Predicate
from polymat.product.formulanames import names
from polymat.product.packs import BLOCKED_LEFT, BLOCKED_RIGHT, COPIED_LEFT, COPIED_RIGHT, PASSING_LEFT
from polymat.product.ways import (
    ALWAYS_FEW,
    COPIES_NEAR,
    COPIES_NOTHING,
    LANES_OVER_DEPTH,
    LARGE,
    NEAR,
    NEAR_ELEMENTS,
    RESULT_TRANSPOSED,
    UNASKED_DEPTH,
    UNASKED_EXTENT,
    UNASKED_SIZE,
    UNROLLED_EXTENT,
    UNROLLED_SIZE,
    WAYS,
    Way,
)


def statements(formulas: Sequence[Formula]) -> str:
    """Declarations of all that some formulas use, from what is asked."""
    facts, used = {each.name for each in FACTS}, names(formulas)
    numbers = [name for name in used if name not in facts]
    lines = [_asked("double", numbers), _asked("int", [name for name in used if name in facts])]
    return "\n".join([*filter(None, lines), *declarations(formulas, "double")])


def _asked(ctype: str, own: Sequence[str]) -> str:
    """The declaration of names from what is asked, in lines that end with a name."""
    values = ", ".join(f"{name}\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}asked->{name}" for name in own)
    return wrapped(f"const {ctype} {values};", 4).replace("\N{NO-BREAK SPACE}", " ") if own else ""


def returned(formula: Formula) -> str:
    """The statement that returns a formula's value."""
    return wrapped(f"return {formula_text(formula, 'double')};", 4)


def way_name(way: Way) -> str:
    """The C name of a way."""
    return f"_PM_WAY_{way.name}"


def wrapped(line: str, indent: int) -> str:
    """A line broken at spaces, as `textwrap` does it, which takes longer: it looks for more than spaces."""
    lines, room = [], LINE_WIDTH - indent
    while len(line) > room and " " in line:
        at = line.rfind(" ", 0, room + 1)
        at = line.find(" ") if at < 0 else at
        lines.append(line[:at])
        line, room = line[at + 1 :], LINE_WIDTH - indent - 8
    return " " * indent + f"\n{' ' * (indent + 8)}".join([*lines, line])


def _taken(table: Sequence[tuple[Way, Predicate]]) -> str:
    """A part of the table: the first condition that holds."""
    lines = []
    for way, condition in table:
        text = formula_text(condition, "double")
        last = text == "1"
        lines += [] if last else [wrapped(f"if ({text})", 4)]
        lines.append(f"{' ' * (4 if last else 8)}return {way_name(way)};")
    return "\n".join(lines)


# Of the table alone, which is a constant of the package.
@cache
def ways_text() -> str:
    """The C of the table: the names of the ways, what is asked, and the function that chooses one."""
    names = "\n".join(wrapped(f"{way_name(way)}, /* {way.value} */", 4) for way in Way)
    return f"""\
#ifndef _PM_WAYS
#define _PM_WAYS
{kernel_text("products/ways", WAYS=names)}
{_choice()}#endif
"""


def _choice() -> str:
    """The functions that choose a way: of small products and those of few rows or columns, then of others."""
    table = list(WAYS.items())
    behind = [*WAYS].index(Way.SMALL) + 1
    large = _chooser("_pm_way_of_large", table[behind:])
    return f"{large}\n{_chooser('_pm_way', table[:behind], '    return _pm_way_of_large(asked);')}"


def _chooser(name: str, table: Sequence[tuple[Way, Predicate]], otherwise: str = "") -> str:
    """The function of a part of the table, with what is done where none of its conditions holds."""
    body = [statements([condition for _, condition in table]), _taken(table), otherwise]
    lines = "\n".join(filter(None, body))
    return f"static inline int {name}(const _pm_asked *asked)\n{{\n{lines}\n}}\n"


# Extents in one number, so that a compiler does not unroll loops for all that each of them may be.
_STRAIGHT = f"(m | n | k) < {UNROLLED_EXTENT} && "
_BELOW = f"(size_t)((m - 1) | (n - 1)) < {UNASKED_EXTENT} && (size_t)(k - 1) < {UNASKED_DEPTH} && "
_NO_OVERFLOW = "(size_t)((m - 1) | (n - 1) | k) < 1 << 14 && "


# As above.
@cache
def choices() -> dict[str, object]:
    """The macros of conditions of integers: what small products ask, and which operands are copied."""
    conditions = {
        "IS_UNROLLED": (_STRAIGHT, UNROLLED_SIZE),
        "IS_OVER_DEPTH": ("", LANES_OVER_DEPTH),
        "IS_TRANSPOSED": ("", RESULT_TRANSPOSED),
        "IS_UNASKED": (_BELOW, UNASKED_SIZE),
        "IS_NEAR": (_NO_OVERFLOW, NEAR),
        "COPIES_A": ("", BLOCKED_LEFT),
        "COPIES_B": ("", BLOCKED_RIGHT),
        "COPIES_STRIPS": ("", PASSING_LEFT),
        "COPIED_LEFT": ("", COPIED_LEFT),
        "COPIED_RIGHT": ("", COPIED_RIGHT),
        "COPIES_NOTHING": ("", COPIES_NOTHING),
        "COPIES_NEAR": ("", COPIES_NEAR),
        "IS_LARGE": ("", LARGE),
    }
    texts = {
        macro: wrapped(first + formula_text(condition, "ptrdiff_t"), 8).lstrip().replace("\n", " \\\n")
        for macro, (first, condition) in conditions.items()
    }
    return {"ALWAYS_FEW": ALWAYS_FEW, "NEAR_ELEMENTS": NEAR_ELEMENTS, **texts}
