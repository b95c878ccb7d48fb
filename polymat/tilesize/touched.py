"""The bytes of an array that a read touches over some loops, each element once, in lines of the caches.

before:  for j: known += L(i, j) * x(j), at one step i
after:   a row of L and all of x, not the whole matrix
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod

from polymat.lang.affine import Affine, Atom, FloorDiv, computed_in
from polymat.lang.expr import Load


def touched_bytes(load: Load, lengths: Mapping[str, float], count: float, line_bytes: int) -> float:
    """Bytes that a read touches whose loops have these lengths and so many points.

    Of every so many-th element what lies between in the same line counts as well, and a line for each element
    of a column.
    """
    size, points = load.dtype.size, count
    apart = min(size * _apart(load, lengths), line_bytes)
    if computed_in(load.indices):
        return points * apart
    used = {name for form in load.indices for name in form.names() if name in lengths}
    points = min(points, prod(lengths[name] for name in used))
    if points > 1.0 and not _moves(load, lengths):
        return points * line_bytes
    return min(points * apart, size * prod(_width(form, lengths) for form in load.indices))


def _moves(load: Load, dims: Collection[str]) -> bool:
    """Whether loops walk along the innermost dimension of an array."""
    return any(name in dims for name in load.indices[-1].names())


def _apart(load: Load, dims: Collection[str]) -> int:
    """How far elements that loops read one after the other are apart, along the innermost dimension.

    The nearest ones: windows that begin at 256 i have all elements at 256 i + j.  Sizes move nothing.
    """
    terms = load.indices[-1].terms if load.indices else ()
    moving = (abs(factor) for atom, factor in terms if not isinstance(atom, str) or atom in dims)
    return min(moving, default=1)


def _width(form: Affine, lengths: Mapping[str, float]) -> float:
    """Values from the smallest to the largest that a form has; 1 of one that no loop moves."""
    return 1.0 + sum(abs(factor) * (_atom_width(atom, lengths) - 1.0) for atom, factor in form.terms)


def _atom_width(atom: Atom, lengths: Mapping[str, float]) -> float:
    if isinstance(atom, FloorDiv):
        return 1.0 + (_width(atom.numerator, lengths) - 1.0) / atom.divisor
    return max(1.0, lengths.get(atom, 1.0)) if isinstance(atom, str) else 1.0
