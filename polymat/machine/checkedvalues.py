"""Values of a file that keeps measurements, each checked: a `ValueError` says what is wrong with others."""

from __future__ import annotations

from typing import Any

_LONGEST_TEXT = 8192
_MOST_ROWS, _MOST_EXTENT = 256, 64


def rows(value: Any, length: int) -> list[list[Any]]:
    """A table of so many columns."""
    if not isinstance(value, list) or len(value) > _MOST_ROWS:
        raise ValueError("a table is no list")
    if not all(isinstance(row, list) and len(row) == length for row in value):
        raise ValueError(f"a row is not one of {length} figures")
    return value


def extent(value: Any) -> int:
    """A small whole number, from 1 on."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_EXTENT:
        raise ValueError("an extent is none")
    return value


def number(value: Any, bounds: tuple[float, float]) -> float:
    """A figure within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a figure is no number")
    if not bounds[0] <= value <= bounds[1]:  # which no NaN is
        raise ValueError("a figure is out of all proportion")
    return float(value)


def count(value: Any, most: int) -> int:
    """How many there are, one at least."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise ValueError("the number of threads or passes is none")
    return value


def text(value: Any) -> str:
    """A line of text."""
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT or not value.isprintable():
        raise ValueError("a name is no text")
    return value
