"""The ways of products in C: the same table that Python evaluates, printed.

`WAYS_TEXT` gives the C function that says which way a product takes; it is asked before a product is
multiplied and where one is priced.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from polymat.product.asked import FACTS, NUMBERS, place
from polymat.product.formula import Condition, Formula
from polymat.product.names import declarations, names
from polymat.product.ways import (
    ALWAYS_FEW,
    LANES_OVER_DEPTH,
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

_WIDTH = 110


def statements(formulas: Sequence[Formula]) -> str:
    """Declarations of all that some formulas use, from what is asked."""
    facts = {each.name for each in FACTS}
    lines = [
        f"const {'int' if name in facts else 'double'} {name} = asked->{name};" for name in names(formulas)
    ]
    lines += declarations(formulas, "double")
    return "\n".join(_wrapped(line, 4) for line in lines)


def returned(formula: Formula, indent: int) -> str:
    """The statement that returns a formula's value."""
    return _wrapped(f"return {formula.text('double')};", indent)


def way_name(way: Way) -> str:
    """The C name of a way."""
    return f"_PM_WAY_{way.name}"


def _wrapped(line: str, indent: int) -> str:
    space, further = " " * indent, " " * (indent + 8)
    return "\n".join(
        wrap(line, _WIDTH, initial_indent=space, subsequent_indent=further, break_long_words=False)
    )


def _taken() -> str:
    """The table: the first condition that holds."""
    lines = []
    for way, condition in WAYS.items():
        text = condition.text("double")
        last = text == "1"
        lines += [] if last else [_wrapped(f"if ({text})", 4)]
        lines.append(f"{' ' * (4 if last else 8)}return {way_name(way)};")
    return "\n".join(lines)


_NAMES = "\n".join(_wrapped(f"{way_name(way)}, /* {way.value} */", 4) for way in Way)
_FIELDS = ", ".join(each.name for each in NUMBERS if each is not place)
_FLAGS = ", ".join(each.name for each in FACTS)

WAYS_TEXT = f"""\
#ifndef _PM_WAYS
#define _PM_WAYS
/* The ways in which a product is computed. */
enum {{
{_NAMES}
}};

/* What is asked of a product: extents of a segment and how many there are, how operands lie in memory, what
   else is known of it, and the blocks of the machine. */
typedef struct {{
{_wrapped(f"double {_FIELDS};", 4)}
{_wrapped(f"int place, {_FLAGS};", 4)}
}} _pm_asked;

/* The way that a product takes. */
static inline int _pm_way(const _pm_asked *asked)
{{
{statements([*WAYS.values()])}
{_taken()}
}}

/* The largest power of two that divides a step. */
static inline double _pm_power(long long step)
{{
    return step == 0 ? 1.0 : (double)(step & -step);
}}

/* Tests ask which ways were taken, and may do so without multiplying. */
#ifdef _PM_TRACE
static int _pm_taken, _pm_packed_left, _pm_packed_right;
#define _PM_TAKES(way) _pm_taken = _PM_WAY_##way; if (_PM_TRACE) return
#define _PM_PACKS(left, right) _pm_packed_left = left, _pm_packed_right = right; if (_PM_TRACE) return
#else
#define _PM_TAKES(way) (void)0
#define _PM_PACKS(left, right) (void)0
#endif
#endif
"""


def _test(condition: Condition, first: str = "") -> str:
    """The statement that returns a condition of integers, the arguments of a product, after another one."""
    return _wrapped(f"return {first}{condition.text('ptrdiff_t')};", 4)


# Extents in one number, so that a compiler does not unroll loops for all that each of them may be.
_STRAIGHT = f"(m | n | k) < {UNROLLED_EXTENT} && "
_BELOW = f"(size_t)((m - 1) | (n - 1)) < {UNASKED_EXTENT} && (size_t)(k - 1) < {UNASKED_DEPTH} && "

HEAD_TESTS = f"""\
/* The most columns of sums along rows, and elements of a copy that stays near. */
enum {{ _PM_OVER_DEPTH_$S = $L / 2 > {ALWAYS_FEW} ? $L / 2 : {ALWAYS_FEW}, _PM_NEAR_$S = {NEAR_ELEMENTS} }};

/* What small products ask, by the same conditions as the table of ways, of integers.  Whether a product is
   straight code: */
static inline __attribute__((always_inline)) int _pm_is_unrolled_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k)
{{
    enum {{ lanes = $L }};
{_test(UNROLLED_SIZE, _STRAIGHT)}
}}

/* Whether the lanes of vectors are steps of the depth. */
static inline int _pm_is_over_depth_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t a_step,
        ptrdiff_t b_step, ptrdiff_t b_column)
{{
    enum {{ lanes = $L }};
    const int along = a_step == 1, down = b_step == 1, ordered = b_column == 1 || n == 1;
{_test(LANES_OVER_DEPTH)}
}}

/* Whether they are rows. */
static inline int _pm_is_transposed_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t a_row,
        ptrdiff_t a_step, ptrdiff_t small)
{{
    enum {{ lanes = $L }};
    const int along = a_step == 1, rowwise = a_row == 1;
{_test(RESULT_TRANSPOSED)}
}}

/* Whether register blocks on matrices where they are need not be asked for: of little depth, with a result
   and operands that the second level holds.  Of 12 x 96 x 12 asking took a tenth of the time. */
static inline int _pm_is_unasked_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t small)
{{
{_test(UNASKED_SIZE, _BELOW)}
}}

/* Whether B is copied as a whole, to where it stays near; extents below a power of two first, so that
   products of two do not overflow. */
static inline int _pm_is_near_$S(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t small)
{{
    const ptrdiff_t width = (n + $L - 1) / $L * $L;
{_test(NEAR, "(size_t)((m - 1) | (n - 1) | (k - 1)) < 1 << 14 && ")}
}}

"""


def packed(condition: Condition) -> str:
    """The declaration's right side of what blocks for the caches copy, of integers."""
    return _wrapped(condition.text("ptrdiff_t"), 8).lstrip()
