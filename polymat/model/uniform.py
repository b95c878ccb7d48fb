"""Uniformly generated references: those to one array that differ by constants only."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import TypeAlias

from polymat.dataclass import dataclass
from polymat.model.reference import Reference, Slopes

Matrix: TypeAlias = tuple[Slopes, ...]


@dataclass(frozen=True)
class UniformClass:
    """References to one array with the same slopes.

    slopes: one row an index.  offsets: the distinct constant vectors.
    """

    array: str
    slopes: Matrix
    offsets: tuple[tuple[float, ...], ...]
    element_bytes: int
    reads: bool
    writes: bool

    @cached_property
    def dims(self) -> tuple[str, ...]:
        """The dimensions that move it."""
        return tuple(dict.fromkeys(name for row in self.slopes for name, _ in row))


def uniform_classes(references: Iterable[Reference]) -> tuple[UniformClass, ...]:
    """The classes of distinct references, in order of first use."""
    members: dict[tuple[str, Matrix], list[Reference]] = {}
    for reference in references:
        key = (reference.array, reference.slopes)
        members.setdefault(key, []).append(reference)
    return tuple(
        UniformClass(
            array,
            matrix,
            tuple(dict.fromkeys(r.offsets for r in group)),
            group[0].element_bytes,
            any(r.reads for r in group),
            any(r.writes for r in group),
        )
        for (array, matrix), group in members.items()
    )


@dataclass(frozen=True, slots=True)
class Component:
    """Indices that share dimensions.

    rows: positions of the indices.  injective: no two points have the same values in these indices.
    """

    rows: tuple[int, ...]
    dims: tuple[str, ...]
    injective: bool


# Arithmetic on numbers alone, of which nothing belongs to one pipeline: every compilation asks the same.
# Of numbers and names alone, of any pipeline.
@lru_cache(maxsize=4096)
def components(matrix: Matrix) -> tuple[Component, ...]:
    """Split indices into independent ones; constant indices belong to none."""
    groups: list[tuple[list[int], list[str]]] = []
    for position, row in enumerate(matrix):
        if not row:
            continue
        rows, dims = [position], [name for name, _ in row]
        for group in [g for g in groups if set(g[1]) & set(dims)]:
            groups.remove(group)
            rows, dims = group[0] + rows, list(dict.fromkeys(group[1] + dims))
        groups.append((rows, dims))
    return tuple(
        Component(tuple(rows), tuple(dims), _is_injective([matrix[r] for r in rows], dims))
        for rows, dims in groups
    )


def _is_injective(rows: list[Slopes], dims: list[str]) -> bool:
    if any(factor != int(factor) for row in rows for _, factor in row):
        return False
    return rank([[dict(row).get(dim, 0) for dim in dims] for row in rows]) == len(dims)


def rank(matrix: list[list[float]]) -> int:
    """Rank of a small matrix of small numbers."""
    rows, found = [list(row) for row in matrix], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((r for r in range(found, len(rows)) if abs(rows[r][column]) > 1e-9), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for row in rows[found + 1 :]:
            factor = row[column] / rows[found][column]
            for position, value in enumerate(rows[found]):
                row[position] -= factor * value
        found += 1
    return found
