"""How long functions are, where copies of a statement for several points count once."""

from __future__ import annotations

import re
from operator import eq

MOST_COPIED = 40  # statements of one copy
_DISTANCE = re.compile(r" \+ \d+\b(?!\.)")
_NEAR = re.compile(r"\(([^()]+) \+ \d+\)")
_NUMBER = re.compile(r"\d+")


def rolled_lines(function: str) -> int:
    """The lines of a function without those of copies that follow each other and differ in numbers alone.

    before:  s0 += A[i * K] * x[j];  s1 += A[(i + 1) * K] * x[j];  s2 += A[(i + 2) * K] * x[j];
    after:   s0 += A[i * K] * x[j];
    """
    statements = _statements(function)
    before = None
    while before != len(statements):
        before = len(statements)
        for count in range(1, min(MOST_COPIED, len(statements) // 2 + 1)):
            statements = _without_copies(statements, count)
    return sum(lines for _, lines in statements)


def _statements(function: str) -> list[tuple[int, int]]:
    """Each statement as a number, the same for those that differ in numbers alone, and its lines."""
    found: list[tuple[int, int]] = []
    known: dict[str, int] = {}
    parts: list[str] = []
    for line in filter(str.strip, function.splitlines()):
        parts.append(line.strip() if parts else line)
        if line.endswith((";", "{", "}")) or parts[0].startswith("#"):
            found.append((known.setdefault(_shape(" ".join(parts)), len(known)), len(parts)))
            parts = []
    return found


def _shape(statement: str) -> str:
    """A statement with nothing in place of distances between points, and one sign for all numbers."""
    return _NUMBER.sub("#", _DISTANCE.sub("", _NEAR.sub(r"\1", statement)))


def _without_copies(statements: list[tuple[int, int]], count: int) -> list[tuple[int, int]]:
    """Without the second of any two neighbouring runs of so many statements that are alike."""
    found = [shape for shape, _ in statements]
    if sum(map(eq, found, found[count:])) < count:
        return statements
    kept: list[tuple[int, int]] = []
    shapes: list[int] = []
    for each in statements:
        kept.append(each)
        shapes.append(each[0])
        begin = len(shapes) - 2 * count
        if begin >= 0 and shapes[-1] == shapes[-1 - count] and shapes[-count:] == shapes[begin:-count]:
            del kept[-count:], shapes[-count:]
    return kept
