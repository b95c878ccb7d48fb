"""Stages that a search need not divide: maps over one domain that read each other at the same point.

Such stages in one group compute nothing twice, since no tile needs more of one than of another, and what one
hands to the next need not go to memory and back.  The predicted time of a group is a norm of its arithmetic
and its traffic: of a union the arithmetic is the sum, and the traffic at most the sum, so that it costs at
most what its parts do, apart from the sizes of tiles, which are found once the groups are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from polymat.fusion.dag import Dag, bits
from polymat.fusion.reads import Reads
from polymat.lang.affine import Affine


def compatible(dag: Dag, sets: Iterable[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Those of some sets of stages, the first ones first, that are disjoint and can run as one each."""
    found: dict[int, tuple[str, ...]] = {}
    for names in sets:
        mask, taken = dag.mask(names), sum(found)
        alone = (1 << k for k in bits(dag.all & ~(mask | taken)))
        if not mask & taken and dag.run_order([*found, mask, *alone]) is not None:
            found[mask] = names
    return tuple(found.values())


def undivided(reads: Reads, dag: Dag, alike: Callable[[str, str], bool]) -> tuple[tuple[str, ...], ...]:
    """Sets of two or more maps, each connected by reads at the same point, that can run as one.

    No path leaves a set and comes back, through whichever other sets.  alike: whether two stages may share a
    group at all.  Stages beside sums and recurrences are left out: with these they may become one product.

    before:  k(i) = x(i) * x(i);  u(i) = x(i) + k(i);  v(i) = u(i) + k(i)
    after:   {k, u, v}
    """
    names = dag.names
    free = [_is_free(reads, name) for name in names]
    sets = [1 << k for k in range(len(names))]  # for each stage its set
    for consumer in range(len(names)):
        for producer in bits(dag.pred[consumer]):
            first, second = sets[producer], sets[consumer]
            if first == second or not (free[producer] and free[consumer]):
                continue
            pair = names[producer], names[consumer]
            if alike(*pair) and _at_one_point(reads, *pair) and not _between(dag, sets, first, second):
                for k in bits(first | second):
                    sets[k] = first | second
    found = dict.fromkeys(mask for mask in sets if mask.bit_count() > 1)
    return tuple(dag.group(mask) for mask in found)


def _is_free(reads: Reads, name: str) -> bool:
    """Whether a stage is a map over a box that neither reads sums and recurrences nor is read by them."""
    near = [*reads.producers[name], *reads.readers.get(name, ())]
    return _is_map(reads, name) and all(_is_map(reads, other) for other in near)


def _is_map(reads: Reads, name: str) -> bool:
    stage = reads.stages[name]
    return bool(stage.dims) and not stage.is_reduction and not stage.reads_itself and stage.domain.is_box()


def _at_one_point(reads: Reads, producer: str, consumer: str) -> bool:
    """Whether two stages have the same points and one reads the other at its own alone."""
    first, second = reads.stages[producer], reads.stages[consumer]
    if first.dtype != second.dtype or first.box != second.box:
        return False
    own = tuple(map(Affine.name, second.dims))
    return all(read.indices == own for read in reads.between(producer, consumer))


def _between(dag: Dag, sets: list[int], first: int, second: int) -> bool:
    """Whether a path of sets leads from one set through others to another that reads it."""
    both = first | second
    below, above = (
        _reached(sets, start, links, both)
        for start, links in ((first, dag.descendants), (second, dag.ancestors))
    )
    return bool(below & above)


def _reached(sets: list[int], start: int, links: tuple[int, ...], without: int) -> int:
    """The sets that paths from one set come to, but for two."""
    found = frontier = start
    while frontier:
        reached = 0
        for k in bits(frontier):
            reached |= links[k]
        for k in bits(reached & ~found):
            reached |= sets[k]
        frontier = reached & ~found & ~without
        found |= frontier
    return found & ~without
