"""Ends of register blocks: an expression of the result that is computed while that is in registers.

A second pass over a part of the result, even in the second-level cache, takes a quarter of the time of a
product of depth 16.  Here the register block of the last part of the depth computes the expression before it
stores.  All products of a file share their register blocks; a number says which of the expressions is meant.
"""

from __future__ import annotations

from polymat.codegen.c.elements import INTEGERS
from polymat.codegen.c.kernels import kernel_text
from polymat.codegen.c.vectortypes import memory_suffix
from polymat.codegen.products.blockshape import End, Shape
from polymat.product.ends import MOST_ARRAYS, Kind

# By bytes of a vector: the feature that has extremes of them, how their names end, and further arguments.
_EXTREMES = {
    16: ("__SSE2__", "", ""),
    32: ("__AVX__", "256", ""),
    64: ("__AVX512F__", "512_mask", ", a, $ALL, 4"),
}


def ends_text(shape: Shape) -> str:
    """The types, the expressions, and the vector minima and maxima that they use; nothing without ends."""
    if not shape.ends:
        return ""
    s = shape.suffix
    names = ", ".join(f"_PM_END_{s}_{end.title}" for end in shape.ends)
    numbers = max(1, *(end.numbers for end in shape.ends))
    parts = (
        f"enum {{ _PM_NO_END_{s}, {names} }};\n",
        kernel_text("products/ends", s, ARRAYS=MOST_ARRAYS, NUMBERS=numbers),
        f"typedef {INTEGERS[s]} _pm_lanes_{s} __attribute__((vector_size({shape.vector_bytes})));\n",
        *(_extreme(shape, op, sign) for op, sign in (("min", "<"), ("max", ">"))),
        *(_value(shape, end) for end in shape.ends),
    )
    return "".join(parts)


def _extreme(shape: Shape, op: str, sign: str) -> str:
    """The extreme beside a constant, and of any two: NaN on either side is the result."""
    s, head = shape.suffix, "static inline __attribute__((always_inline, unused))"
    chosen = f"(_pm_vector_{s})((second & (_pm_lanes_{s})b) | (~second & (_pm_lanes_{s})a))"
    one = _instruction(shape, op)
    return "".join(
        f"""\
{head} _pm_vector_{s} _pm_{op}_{name}_{s}(_pm_vector_{s} a, _pm_vector_{s} b)
{{
{before}    const _pm_lanes_{s} second = {condition};
    return {chosen};
{after}}}
"""
        for name, condition, before, after in (
            ("of", f"b {sign} a", f"{one}", "#endif\n" if one else ""),
            ("any", f"(b {sign} a) | (b != b)", "", ""),
        )
    )


def _instruction(shape: Shape, op: str) -> str:
    """By one instruction: `a` where either is NaN.  GCC makes two of a comparison and a choice."""
    found = _EXTREMES.get(shape.vector_bytes)
    if found is None:
        return ""
    feature, ending, more = found
    more = more.replace("$ALL", "0xff" if shape.lanes == 8 else "-1")  # of an unsigned char, of a short
    name = f"__builtin_ia32_{op}{memory_suffix(shape.suffix)}{ending}"
    return f"""\
#if defined({feature}) && defined(__GNUC__) && !defined(__clang__)
    return {name}(b, a{more});
#else
"""


def _value(shape: Shape, end: End) -> str:
    s, t = shape.suffix, shape.ctype
    arrays = "".join(f", _pm_vector_{s} e{k}" for k in range(len(end.kinds)))
    numbers = "".join(f"    const {t} s{k} = end->numbers[{k}];\n" for k in range(end.numbers))
    unused = "" if end.numbers else "    (void)end;\n"
    x = "" if "x" in end.value else "    (void)x;\n"
    return f"""\
static inline __attribute__((always_inline)) _pm_vector_{s} _pm_value_{s}_{end.title}(
        const _pm_end_{s} *end, _pm_vector_{s} x{arrays})
{{
{numbers}{unused}{x}    return {end.value};
}}
"""


def ends_of_block(shape: Shape, rows: int, vectors: int, *, masked: bool) -> str:
    """The code by which a register block ends its sums before it stores them."""
    cases = "".join(_case(shape, end, rows, vectors, masked) for end in shape.ends)
    return f"    if (end != NULL)\n        switch (end->kind) {{\n{cases}        }}\n" if cases else ""


def _case(shape: Shape, end: End, rows: int, vectors: int, masked: bool) -> str:
    s, t, lanes = shape.suffix, shape.ctype, shape.lanes
    places = {"full": "at", "column": "at % end->width", "row": "at / end->width"}
    lines = ["const ptrdiff_t at = c - end->base;"] if end.kinds else []
    lines += [
        f"const {t} *const e{k} = end->arrays[{k}] + {places[kind]};" for k, kind in enumerate(end.kinds)
    ]
    lines += ["const ptrdiff_t down = c_row / end->width;"] if "row" in end.kinds else []

    def read(k: int, kind: Kind, row: int, v: int) -> str:
        if kind == "row":
            return f"e{k}[{row} * down] - (_pm_vector_{s}){{0}}"
        at = f"e{k} + {v * lanes}" if kind == "column" else f"e{k} + {row} * c_row + {v * lanes}"
        part = masked and v == vectors - 1
        return f"_pm_load_{s}({at}, mask)" if part else f"*(const _pm_memory_{s} *)({at})"

    for row in range(rows):
        for v in range(vectors):
            arguments = "".join(f", {read(k, kind, row, v)}" for k, kind in enumerate(end.kinds))
            lines.append(f"c{row}_{v} = _pm_value_{s}_{end.title}(end, c{row}_{v}{arguments});")
    body = "".join(f"            {line}\n" for line in [*lines, "break;"])
    return f"        case _PM_END_{s}_{end.title}: {{\n{body}        }}\n"
