"""Intervals and index forms of random programs: in bounds by construction, for all sizes.

Every interval is lo..(m * size + c) // d with constant lo and c.  An access form says, for a producer's
interval, which interval a variable must have so that the form stays inside.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

Kind = tuple[str, int, int]  # size, m, d
CONSTANT: Kind = ("", 0, 1)


@dataclass(frozen=True)
class Span:
    """lo..(m * size + c) // d."""

    kind: Kind
    lo: int
    c: int

    @property
    def hi(self) -> str:
        """The upper bound as the program writes it."""
        return upper(self.kind, self.c)


def upper(kind: Kind, c: int) -> str:
    """(m * size + c) // d as text."""
    size, m, d = kind
    if not m:
        return str(c)
    text = size if m == 1 else f"{m}*{size}"
    if c:
        text += f" {'+' if c > 0 else '-'} {abs(c)}"
    return f"({text})//{d}" if d > 1 else text


class Axis:
    """A variable whose interval narrows with every access that it takes part in."""

    def __init__(self, name: str, kind: Kind) -> None:
        self.name, self.kind = name, kind
        self.lo: int | None = None
        self.c: int | None = None

    def narrow(self, lo: int, c: int) -> None:
        """Keep the part from lo to the bound with constant c."""
        self.lo = lo if self.lo is None else max(self.lo, lo)
        self.c = c if self.c is None else min(self.c, c)

    @property
    def span(self) -> Span:
        """What is left."""
        assert self.lo is not None
        assert self.c is not None
        return Span(self.kind, self.lo, self.c)


def reader_kinds(span: Span) -> Iterator[Kind]:
    """The kinds of variables that can index a dimension."""
    size, m, d = span.kind
    yield span.kind
    if (m, d) == (1, 1):
        yield from ((size, 1, 2), (size, 1, 3), (size, 2, 1))
    elif (m, d) in ((2, 1), (1, 2)):
        yield (size, 1, 1)


def offset(form: str, b: int) -> str:
    """form + b."""
    return form if not b else f"{form} {'+' if b > 0 else '-'} {abs(b)}"


def access(rng: random.Random, span: Span, axis: Axis) -> str | None:
    """A random index form of an axis into a dimension; narrows the axis."""
    _, _, d = span.kind
    v, b = axis.name, rng.choice((0, 0, 0, 0, 1, -1, 2, -2))
    if axis.kind == span.kind:
        if d == 1 and rng.random() < 0.15:
            e = span.c + span.lo + rng.choice((0, 0, 1))
            axis.narrow(e - span.c, e - span.lo)
            return f"{upper(span.kind, e)} - {v}"
        axis.narrow(span.lo - b, span.c - b * d)
        return offset(v, b)
    match span.kind[1:], axis.kind[1:]:
        case ((1, 1), (1, (2 | 3) as step)):
            axis.narrow(-((b - span.lo) // step), span.c - b)
            return offset(f"{step}*{v}", b)
        case ((2, 1), (1, 1)):
            axis.narrow(-((b - span.lo) // 2), (span.c - b) // 2)
            return offset(f"2*{v}", b)
        case ((1, 2), (1, 1)):
            axis.narrow(2 * (span.lo - b), span.c - 2 * b)
            return offset(f"{v}//2", b)
        case ((1, 1), (2, 1)):
            axis.narrow(2 * (span.lo - b), 2 * span.c - 2 * b + 1)
            return offset(f"{v}//2", b)
    return None


def can_read(span: Span, axis: Axis) -> bool:
    """Whether some form of the axis can index the dimension."""
    return axis.kind[0] == span.kind[0] and axis.kind in set(reader_kinds(span))
