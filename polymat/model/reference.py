"""References to arrays, as the cost models see them: what a `LoopNest` has for each read and write."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine, FloorDiv

Slopes: TypeAlias = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Reference:
    """`array[indices]`, read or written or both; the last index is contiguous in memory.

    parts: the real numbers of an element, of which a complex one has two.

    What follows from its indices is found once: a partition of many stages asks for it thousands of times.
    """

    array: str
    indices: tuple[Affine, ...]
    element_bytes: int = 8
    reads: bool = True
    writes: bool = False
    parts: int = 1

    @property
    def accesses(self) -> int:
        """How many accesses it stands for: a read and a write are two."""
        return self.reads + self.writes

    @cached_property
    def slopes(self) -> tuple[Slopes, ...]:
        """Change of every index along the dimensions that it uses."""
        return tuple(map(slopes, self.indices))

    @cached_property
    def offsets(self) -> tuple[float, ...]:
        """Value of every index at the origin."""
        return tuple(map(offset, self.indices))

    @cached_property
    def dims(self) -> frozenset[str]:
        """The dimensions that occur in its indices."""
        return frozenset(name for form in self.indices for name in form.names())

    def uses(self, dim: str) -> bool:
        """Whether an index moves along the dimension."""
        return dim in self.dims

    def is_contiguous(self, dim: str) -> bool:
        """Whether one step along the dimension goes to a neighbour in memory."""
        if not self.indices or any(dim in form.names() for form in self.indices[:-1]):
            return False
        return slope(self.indices[-1], dim) in (1, -1)

    def __str__(self) -> str:
        return f"{self.array}[{', '.join(map(str, self.indices))}]"


def slope(form: Affine, dim: str) -> float:
    """Change of the form along one dimension; floor divisions count as fractions."""
    return dict(slopes(form)).get(dim, 0)


def slopes(form: Affine) -> Slopes:
    """Change of the form along every dimension that it uses, by name."""
    sums: dict[str, float] = {}
    for name, factor in _changes(form):
        sums[name] = sums.get(name, 0) + factor
    return tuple(sorted((name, factor) for name, factor in sums.items() if factor))


def offset(form: Affine) -> float:
    """Value of the form at the origin."""
    total: float = form.const
    for atom, factor in form.terms:
        if isinstance(atom, FloorDiv):
            total += factor * offset(atom.numerator) / atom.divisor
    return total


def _changes(form: Affine) -> Iterator[tuple[str, float]]:
    for atom, factor in form.terms:
        if isinstance(atom, FloorDiv):
            yield from ((name, factor * inner / atom.divisor) for name, inner in _changes(atom.numerator))
        elif isinstance(atom, str):
            yield atom, factor
