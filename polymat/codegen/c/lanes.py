"""The lanes of several vectors added up together: transposed while they are added, in half the steps."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.kernels import kernel_text

SHUFFLES = kernel_text("shuffles")


def row_sums(name: str, vector: str, memory: str, ctype: str, lanes: int) -> str:
    """The C text of a function that adds up the lanes of four vectors, together in half the steps.

    vector, memory: the C types of vectors of `lanes` elements of a type, in registers and anywhere in memory.
    """
    pairs = [(k, lanes + k) for k in range(0, lanes, 2)]
    fours = [(k, k + 1, lanes + k, lanes + k + 1) for k in range(0, lanes, 4)]
    merged = f"{_merged('a', 'b', pairs, 1)}, right = {_merged('c', 'd', pairs, 1)}"
    if lanes == 2:
        rest = ["*(VECTOR *)to = left;", "*(VECTOR *)(to + 2) = right;"]
    else:
        rest = [f"{vector} all = {_merged('left', 'right', fours, 2)};"]
        for step in (4, 8):
            turned = ", ".join(str((k + step) % lanes) for k in range(lanes))
            rest += [f"all += __builtin_shufflevector(all, all, {turned});"] * (step < lanes)
        rest += ["for (int row = 0; row < 4; row++)", "    to[row] = all[row];"]
    lines = [f"const {vector} left = {merged};", *rest]
    text = "\n".join(f"    {line}" for line in lines).replace("VECTOR", memory)
    return f"""\
{SHUFFLES}
/* The sums of the lanes of four vectors. */
static inline __attribute__((always_inline)) void {name}({vector} a,
        {vector} b, {vector} c, {vector} d, {ctype} *to)
{{
#ifdef _PM_SHUFFLES
{text}
#else
    const {vector} rows[] = {{a, b, c, d}};
    for (int row = 0; row < 4; row++) {{
        to[row] = 0;
        for (int lane = 0; lane < {lanes}; lane++)
            to[row] += rows[row][lane];
    }}
#endif
}}
"""


def _merged(x: str, y: str, places: Sequence[tuple[int, ...]], step: int) -> str:
    """The lanes of two vectors that lie `step` apart, added."""
    low = ", ".join(str(k) for place in places for k in place)
    high = ", ".join(str(k + step) for place in places for k in place)
    return f"__builtin_shufflevector({x}, {y}, {low}) + __builtin_shufflevector({x}, {y}, {high})"
