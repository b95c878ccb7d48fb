"""The lanes of several vectors added up together: transposed while they are added, in half the steps."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.kernels import kernel_text, statements

SHUFFLES = kernel_text("shuffles")


def row_sums(name: str, vector: str, memory: str, ctype: str, lanes: int) -> str:
    """The C text of a function that adds up the lanes of four vectors, together in half the steps.

    vector, memory: the C types of vectors of `lanes` elements of a type, in registers and anywhere in memory.
    """
    pairs = [(k, lanes + k) for k in range(0, lanes, 2)]
    fours = [(k, k + 1, lanes + k, lanes + k + 1) for k in range(0, lanes, 4)]
    if lanes == 2:
        lines = [f"*({memory} *)to = left", f"*({memory} *)(to + 2) = right"]
    else:
        lines = [f"{vector} all = {_merged('left', 'right', fours, 2)}"]
        for step in (4, 8):
            turned = ", ".join(str((k + step) % lanes) for k in range(lanes))
            lines += [f"all += __builtin_shufflevector(all, all, {turned})"] * (step < lanes)
        lines += [f"to[{row}] = all[{row}]" for row in range(4)]
    macros = {"T": ctype, "LANES": lanes, "VECTOR": vector, "SUMS": name, "TOGETHER": statements(lines)}
    text = kernel_text("rows/sums", macros={**macros, "MERGED(x, y)": _merged("x", "y", pairs, 1)})
    return f"{SHUFFLES}\n{text}"


def _merged(x: str, y: str, places: Sequence[tuple[int, ...]], step: int) -> str:
    """The lanes of two vectors that lie `step` apart, added."""
    low = ", ".join(str(k) for place in places for k in place)
    high = ", ".join(str(k + step) for place in places for k in place)
    return f"__builtin_shufflevector({x}, {y}, {low}) + __builtin_shufflevector({x}, {y}, {high})"
