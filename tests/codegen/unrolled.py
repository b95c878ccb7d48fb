"""How long generated functions are, where copies of a statement for several points count once."""

from __future__ import annotations

import re

MOST_COPIED = 40  # statements of one copy


def rolled_lines(function: str) -> int:
    """The lines of a function without those of copies that follow each other and differ in numbers alone.

    before:  s0 += A[i * K] * x[j];  s1 += A[(i + 1) * K] * x[j];  s2 += A[(i + 2) * K] * x[j];
    after:   s0 += A[i * K] * x[j];
    """
    statements = _statements(function)
    before = None
    while before != len(statements):
        before = len(statements)
        for count in range(1, MOST_COPIED):
            statements = _without_copies(statements, count)
    return sum(lines for _, lines in statements)


def _statements(function: str) -> list[tuple[str, int]]:
    """What each statement is but for its numbers, with how far it is indented, and its lines."""
    found: list[tuple[str, int]] = []
    parts: list[str] = []
    for line in filter(str.strip, function.splitlines()):
        parts.append(line.strip() if parts else line)
        if line.endswith((";", "{", "}")) or parts[0].startswith("#"):
            found.append((_shape(" ".join(parts)), len(parts)))
            parts = []
    return found


def _shape(statement: str) -> str:
    """A statement with nothing in place of distances between points, and one sign for all numbers."""
    near = re.sub(r"\((\w+) \+ \d+\)", r"\1", statement)
    return re.sub(r"\d+", "#", re.sub(r" \+ \d+\b(?!\.)", "", near))


def _without_copies(statements: list[tuple[str, int]], count: int) -> list[tuple[str, int]]:
    """Without the second of any two neighbouring runs of so many statements that are alike."""
    kept: list[tuple[str, int]] = []
    for each in statements:
        kept.append(each)
        shapes = [shape for shape, _ in kept[-2 * count :]]
        if len(shapes) == 2 * count and shapes[:count] == shapes[count:]:
            del kept[-count:]
    return kept
