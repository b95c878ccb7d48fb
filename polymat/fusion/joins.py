"""Which pairs of stages a group may hold at all: what keeps the search for a partition small."""

from __future__ import annotations

from polymat.fusion.alignment import align
from polymat.fusion.dag import Dag
from polymat.fusion.reads import Reads, is_alignable


def unfit(reads: Reads, name: str) -> str | None:
    """Why a stage shares tiles with no other; None when it may."""
    stage = reads.stages[name]
    if name in reads.readers.get(name, ()):
        return f"{name} is a recurrence: its points run in an order of their own"
    if not is_alignable(stage):
        return f"{name} accumulates into computed elements, which no tile owns"
    return None


def may_join(reads: Reads, producer: str, consumer: str) -> bool:
    """Whether any group could hold both: some dimension of the producer has a constant distance.

    At whatever scale.  Necessary for every group that contains the two, whatever else it contains.
    """
    if unfit(reads, producer) is not None or unfit(reads, consumer) is not None:
        return False
    if any(slope > 0 for _, _, slope in reads.links(producer, consumer).pairs):
        return True
    return any(
        reads.span(producer, consumer, produced, consumed) is not None
        for produced in reads.stages[producer].dims
        for consumed in reads.dims[consumer]
    )


def joinable_edges(reads: Reads, dag: Dag) -> tuple[tuple[str, str], ...]:
    """The (producer, consumer) pairs that some group could hold."""
    names = dag.names
    return tuple(
        (names[p], names[c])
        for c in range(len(names))
        for p in range(c)
        if dag.pred[c] >> p & 1 and may_join(reads, names[p], names[c])
    )


def siblings(reads: Reads, dag: Dag) -> tuple[tuple[str, str], ...]:
    """Pairs of stages that do not need each other and walk through an array that both read alike."""
    names = dag.names
    found = []
    for second in range(len(names)):
        for first in range(second):
            if dag.ancestors[second] >> first & 1 or not _share(reads, names[first], names[second]):
                continue
            if unfit(reads, names[first]) is None and unfit(reads, names[second]) is None:
                along = align(reads, (names[first], names[second])).along
                if any(a and b for a, b in zip(along[names[first]], along[names[second]], strict=True)):
                    found.append((names[first], names[second]))
    return tuple(found)


def _share(reads: Reads, first: str, second: str) -> bool:
    return any(second in users and first in users for users in reads.readers.values())
