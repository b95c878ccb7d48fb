"""What of a product each thread computes: it decides for its share how, and what it copies.

Generated code cuts the range that threads share in the same places (`polymat.codegen.nestshares`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from math import sqrt
from typing import Literal

from polymat.lang.affine import Affine
from polymat.product.contraction import Contraction

Work = Literal["even", "rising", "falling"]
Share = Mapping[str, float]  # lengths of dimensions of which a thread has a part
WHOLE: Share = {}


def work_along(found: Contraction, dim: str | None) -> Work:
    """Which parts of a dimension that threads share have more to do: those of a triangle."""
    half = found.half
    if half is None or dim not in (half.line, half.across) or (half.place != "result" and dim != half.line):
        return "even"
    return "rising" if half.before == (dim == half.line) else "falling"


def shares(
    found: Contraction, dim: str | None, rows: int, estimates: Mapping[str, int], threads: int
) -> tuple[Share, ...]:
    """The share of each thread that has one; all of the product where they share no dimension.

    rows: of a register block, of which there are whole ones in a share of the rows.
    """
    if dim is None or threads == 1:
        return (WHOLE,)
    length = int(found.length(dim, estimates))
    unit = rows if dim == found.rows else 1
    found_parts = parts(work_along(found, dim), length, unit, threads)
    return tuple({dim: float(part)} for part in found_parts) or (WHOLE,)


def parts(work: Work, length: int, unit: int, threads: int) -> list[int]:
    """The lengths of the shares of threads that have one; unit: of which there are whole ones in each."""
    begins = [_begin(work, length, unit, threads, number) for number in range(threads + 1)]
    return [end - begin for begin, end in pairwise(begins) if end > begin]


def cut(found: Contraction, share: Share) -> Contraction:
    """A contraction with no more of its dimensions than a share has."""
    if not share:
        return found
    short = {dim: (Affine(), Affine(const=int(length) - 1)) for dim, length in share.items()}
    return replace(found, bounds={**found.bounds, **short})


def _begin(work: Work, length: int, unit: int, threads: int, number: int) -> int:
    """Where the share of that number begins; those of a triangle's rows have the same area."""
    if work == "rising":
        return int(length * sqrt(number / threads))
    if work == "falling":
        return length - int(length * sqrt((threads - number) / threads))
    return min(-(-length // unit) * number // threads * unit, length)
