"""Working sets of the reuses of a nest, and the cost of a variant that follows from them.

PolyDL, section 4: for every dependence, reads after reads included, the elements touched between its source
and its first and last target (algorithm 1); each goes to the nearest cache that holds it (algorithm 2); the
cost of a variant weighs them by latency over bandwidth (equation 1).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.machine.model import Machine
from polymat.model.footprint import distinct
from polymat.model.hierarchy import Level, hierarchy
from polymat.model.loopnest import Dim, LoopNest, Statement
from polymat.model.polynomial import Number, Polynomial, number
from polymat.model.reuse import meets
from polymat.model.uniform import UniformClass

Variant = TypeVar("Variant")
TILE = ".tile"  # behind the name of a dimension: the loop over its tiles


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """The bytes that a cache must hold for the reuse of an array along a loop.

    least, most: bytes until the first and the last reuse, as polynomials in the extents.
    """

    array: str
    loop: str
    least: Polynomial
    most: Polynomial


@dataclass(frozen=True, slots=True)
class HeldReuse:
    """The reuse of an array along a loop at given sizes, and the caches that hold what it needs.

    least, most: bytes touched until the first and the last reuse, WS_min and WS_max of the paper.
    nearest, furthest: the levels of memory that each is served from.
    """

    array: str
    loop: str
    least: float
    most: float
    nearest: str
    furthest: str

    def __str__(self) -> str:
        """Bytes and levels in words."""
        until = f" to {self.most:.3g}" if self.most > self.least else ""
        tiled = self.loop.endswith(TILE)
        loop = f"tiles of {self.loop.removesuffix(TILE)}" if tiled else self.loop
        return f"{self.array} along {loop}, {self.least:.3g}{until} bytes"


def working_sets(
    nest: LoopNest,
    order: Sequence[str] | None = None,
    parallel: Collection[str] = (),
    *,
    in_bytes: bool = True,
) -> tuple[WorkingSet, ...]:
    """Working sets of a nest whose loops run in this order, outermost first.

    parallel: loops that run in parallel: a reuse between their iterations needs everything that they touch.
    """
    whole = {dim: Polynomial.name(dim) for dim in nest.names}
    return tuple(
        WorkingSet(array, loop, Polynomial() + least, Polynomial() + most)
        for array, loop, least, most in _working_sets(nest, whole, order, parallel, in_bytes)
    )


def _working_sets(
    nest: LoopNest,
    whole: Mapping[str, Number],
    order: Sequence[str] | None,
    parallel: Collection[str],
    in_bytes: bool = True,
) -> Iterator[tuple[str, str, Number, Number]]:
    """Array, loop, and what is touched until the first and the last reuse: one value where it is the same.

    whole: the extents, as polynomials or, which is much quicker, as numbers.
    """
    loops = tuple(nest.names if order is None else order)
    extents, classes = nest.extents, nest.classes
    for group in classes:
        for position, loop in enumerate(loops):
            if extents[loop] < 2:
                continue
            for distance, repeats in _distances(group, loop):
                box = {dim: whole[dim] if at >= position else 1 for at, dim in enumerate(loops)}
                if loop in parallel:
                    all_of_it = _elements(nest, box, None, in_bytes)
                    yield group.array, loop, all_of_it, all_of_it
                    continue
                least = most = _elements(nest, {**box, loop: distance}, loop, in_bytes)
                if repeats:
                    most = _elements(nest, {**box, loop: whole[loop] - 1}, loop, in_bytes)
                yield group.array, loop, least, most


def _distances(group: UniformClass, loop: str) -> Iterable[tuple[int, bool]]:
    """Iterations of the loop between two uses of an element, and whether they repeat until its end."""
    direction = tuple(dict(row).get(loop, 0.0) for row in group.slopes)
    if not any(direction):
        yield 1, True
        return
    pairs = [(a, b) for n, a in enumerate(group.offsets) for b in group.offsets[n + 1 :]]
    yield from ((distance, False) for distance in sorted({meets(a, b, direction) for a, b in pairs} - {0}))


def _elements(nest: LoopNest, box: Mapping[str, Number], target: str | None, in_bytes: bool) -> Number:
    """Elements of a box, and of the one iteration that follows it along the target loop."""
    extents = {dim: float(number(size, nest.extents)) for dim, size in box.items()}
    total: Number = 0
    for group in nest.classes:
        count = distinct(group, box, extents)
        if target is not None:
            count = count + _new_elements(group, target, extents)
        total = total + count * (group.element_bytes if in_bytes else 1)
    return total


def _new_elements(group: UniformClass, target: str, extents: Mapping[str, float]) -> int:
    """Elements of a class that the iteration after the box along a loop is the first to use.

    Exact for indices that are independent of each other.
    """
    return sum(
        not any(_is_touched(group, target, extents, mine, other) for other in group.offsets)
        for mine in group.offsets
    )


def _is_touched(
    group: UniformClass,
    target: str,
    extents: Mapping[str, float],
    mine: tuple[float, ...],
    other: tuple[float, ...],
) -> bool:
    """Whether the box, under another reference of the class, reaches what the next iteration uses."""
    for row, a, b in zip(group.slopes, mine, other, strict=True):
        value = a - b + dict(row).get(target, 0.0) * extents[target]
        ends = [factor * (extents[dim] - 1) for dim, factor in row]
        if not sum(min(0.0, end) for end in ends) <= value <= sum(max(0.0, end) for end in ends):
            return False
        if len(row) == 1 and value % row[0][1]:
            return False
    return True


def sort_by_level(
    sizes: Iterable[float], levels: Sequence[Level], *, cumulative: bool = False
) -> dict[str, float]:
    """Sum of the working sets that each level must serve, in bytes.

    A working set goes to the nearest level that holds it; `cumulative`: that still has room for it.
    """
    sums = {level.name: 0.0 for level in levels}
    for size in sorted(sizes):
        for level in levels:
            if size + (sums[level.name] if cumulative else 0) <= level.bytes:
                sums[level.name] += size
                break
    return sums


def held_reuses(
    nest: LoopNest,
    machine: Machine,
    order: Sequence[str] | None = None,
    *,
    parallel: Collection[str] = (),
    threads: int = 1,
) -> tuple[HeldReuse, ...]:
    """The reuses of each array along each loop, the first and the last one of several distances."""
    levels, values = hierarchy(machine, threads), nest.extents
    sizes: dict[tuple[str, str], list[float]] = {}
    for found in working_sets(nest, order, parallel):
        ends = (found.least.evaluate(values), found.most.evaluate(values))
        sizes.setdefault((found.array, found.loop), []).extend(ends)

    def level(size: float) -> str:
        return next(each.name for each in levels if size <= each.bytes)

    return tuple(
        HeldReuse(array, loop, min(ends), max(ends), level(min(ends)), level(max(ends)))
        for (array, loop), ends in sizes.items()
    )


def variant_cost(
    nest: LoopNest,
    machine: Machine,
    order: Sequence[str] | None = None,
    *,
    parallel: Collection[str] = (),
    threads: int = 1,
) -> float:
    """Sum over the levels of working sets · latency / bandwidth; lower is better."""
    return weighed_sums(
        level_sums(nest, machine, order, parallel=parallel, threads=threads), machine, threads
    )


def weighed_sums(sums: Mapping[str, float], machine: Machine, threads: int = 1) -> float:
    """The cost of working sets that are known by level (equation 1)."""
    return sum(sums[level.name] * level.latency / level.bandwidth for level in hierarchy(machine, threads))


def level_sums(
    nest: LoopNest,
    machine: Machine,
    order: Sequence[str] | None = None,
    *,
    parallel: Collection[str] = (),
    threads: int = 1,
) -> dict[str, float]:
    """The bytes of a variant's working sets by the nearest level of memory that holds each (algorithm 2)."""
    sizes = [
        number(size)
        for _, _, least, most in _working_sets(nest, nest.extents, order, parallel)
        for size in ((least,) if most is least else (least, most))
    ]
    return sort_by_level(sizes, hierarchy(machine, threads))


def rank(variants: Sequence[Variant], cost: Callable[[Variant], float]) -> tuple[Variant, ...]:
    """Variants, cheapest first; equal ones in the order given."""
    return tuple(sorted(variants, key=cost))


def tile_nest(nest: LoopNest, tiles: Mapping[str, int]) -> LoopNest:
    """The nest with every tiled dimension as two: `i` becomes `i.tile`, outside, and `i`.

    before:  C[i, j] over i < N
    after:   C[32*i.tile + i, j] over i.tile < ⌈N / 32⌉, i < 32
    """
    split = {dim.name: tiles[dim.name] for dim in nest.dims if tiles.get(dim.name, dim.extent) < dim.extent}
    forms = {dim: Affine.name(f"{dim}{TILE}").scale(size) + Affine.name(dim) for dim, size in split.items()}
    statements = tuple(
        replace(
            statement,
            dims=_split(statement.dims, split),
            references=tuple(
                replace(r, indices=tuple(form.substitute(forms) for form in r.indices))
                for r in statement.references
            ),
            sequential=(*statement.sequential, *(f"{d}{TILE}" for d in statement.sequential if d in split)),
            share=_same_points(statement, split),
        )
        for statement in nest.statements
    )
    return LoopNest(_split(nest.dims, split), statements, nest.live_out)


def _split(dims: Sequence[Dim], sizes: Mapping[str, int]) -> tuple[Dim, ...]:
    outer = [Dim(f"{d.name}{TILE}", -(-d.extent // sizes[d.name])) for d in dims if d.name in sizes]
    inner = [Dim(d.name, min(d.extent, sizes.get(d.name, d.extent))) for d in dims]
    return (*outer, *inner)


def _same_points(statement: Statement, sizes: Mapping[str, int]) -> float:
    """Share of the larger box that keeps the number of executions."""
    share = statement.share
    for dim in statement.dims:
        if dim.name in sizes:
            share *= dim.extent / (-(-dim.extent // sizes[dim.name]) * min(dim.extent, sizes[dim.name]))
    return share
