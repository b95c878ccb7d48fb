"""Numbers with units, as people read them."""

from __future__ import annotations

from math import inf

from polymat.codegen.profile import seconds_text

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_BINARY = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_WORDS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))

__all__ = ["bytes_text", "count_text", "rate_text", "ratio_text", "seconds_text"]


def bytes_text(count: float) -> str:
    """Bytes, by powers of 1024."""
    if count == inf:
        return "unlimited"
    for size, unit in _BINARY:
        if count >= size:
            return f"{count / size:.{3 if count < 1000 * size else 4}g} {unit}"
    return f"{count:.0f} bytes"


def rate_text(count: float, unit: str) -> str:
    """A rate or a count, by powers of 1000."""
    for size, prefix in _PREFIXES:
        if count >= size:
            return f"{count / size:.3g} {prefix}{unit}"
    return f"{count:.3g} {unit}"


def count_text(count: float, what: str) -> str:
    """How many, in words from a million on."""
    for size, name in _WORDS:
        if count >= size:
            return f"{count / size:.3g} {name} {what}"
    return f"{count:,.0f} {what}"


def ratio_text(one: float, other: float) -> str:
    """How many times as large as another a figure is."""
    return f"{one / other:.2g}" if one < 10 * other else f"{one / other:.0f}"
