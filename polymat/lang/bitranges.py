"""Between which numbers the result of an operation on the bits of integers lies."""

from __future__ import annotations

from typing import TypeAlias

Hull: TypeAlias = "tuple[int, int] | None"  # the least and the largest value, where they are known

_WIDEST = 62  # bits of what a shift by a constant multiplies or divides by


def power_of(shifted: int | None) -> int | None:
    """The power of two that a shift by a known number of bits multiplies or divides by."""
    return None if shifted is None or not 0 <= shifted < _WIDEST else 1 << shifted


def bit_range(op: str, left: Hull, right: Hull) -> Hull:
    """The range of `left op right`, from those of its operands; None where nothing is known of it."""
    if op == "&":
        least = [side[1] for side in (left, right) if side is not None and side[0] >= 0]
        return (0, min(least)) if least else None
    if left is None:
        return None
    if op == ">>":
        return (min(left[0], 0), max(left[1], -1 if left[0] < 0 else 0))
    if right is None or op == "<<":
        return None
    if op == "^" and right[0] == right[1] == -1:
        return (-1 - left[1], -1 - left[0])
    if left[0] < 0 or right[0] < 0:
        return None
    bits = max(left[1], right[1]).bit_length()
    return (max(left[0], right[0]) if op == "|" else 0, (1 << bits) - 1)
