"""The stages as a graph of bit masks, which is what the partition algorithms count on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from polymat.dataclass import dataclass
from polymat.errors import InternalError
from polymat.graph.pipeline import Pipeline

Edge = tuple[str, str]


def bits(mask: int) -> Iterator[int]:
    """The numbers of the stages in a mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


@dataclass(frozen=True, slots=True)
class Dag:
    """Stages 0, 1, ... in an order in which they can run; sets of stages are masks.

    succ: direct consumers.  pred: direct producers.  ancestors, descendants: all of them.  beside: the stages
    that one may be grouped with directly; a group is connected through these.  family: all stages that one is
    connected with; a group lies within one family.  edges_join: whether every edge is such a connection.
    """

    names: tuple[str, ...]
    succ: tuple[int, ...]
    pred: tuple[int, ...]
    ancestors: tuple[int, ...]
    descendants: tuple[int, ...]
    beside: tuple[int, ...]
    family: tuple[int, ...]
    edges_join: bool

    @staticmethod
    def of(names: Sequence[str], edges: Iterable[Edge], joins: Iterable[Edge] | None = None) -> Dag:
        """The graph of producer -> consumer edges; `joins` connect groups (default: all edges)."""
        number = {name: k for k, name in enumerate(names)}
        succ, pred, beside = ([0] * len(names) for _ in range(3))
        known = [(number[a], number[b]) for a, b in edges]
        for a, b in known:
            if a >= b:
                raise InternalError(f"bug in polymat: {names[b]} runs before {names[a]}, which it reads")
            succ[a] |= 1 << b
            pred[b] |= 1 << a
        for a, b in known if joins is None else [(number[a], number[b]) for a, b in joins]:
            beside[a] |= 1 << b
            beside[b] |= 1 << a
        ancestors, descendants = [0] * len(names), [0] * len(names)
        for k in range(len(names)):
            for p in bits(pred[k]):
                ancestors[k] |= ancestors[p] | 1 << p
        for k in reversed(range(len(names))):
            for s in bits(succ[k]):
                descendants[k] |= descendants[s] | 1 << s
        family = [0] * len(names)
        for part in _parts((1 << len(names)) - 1, beside):
            for k in bits(part):
                family[k] = part
        return Dag(
            names=tuple(names),
            succ=tuple(succ),
            pred=tuple(pred),
            ancestors=tuple(ancestors),
            descendants=tuple(descendants),
            beside=tuple(beside),
            family=tuple(family),
            edges_join=not any(s & ~b for s, b in zip(succ, beside, strict=True)),
        )

    @staticmethod
    def of_pipeline(pipeline: Pipeline, joins: Iterable[Edge] | None = None) -> Dag:
        """The stages of a pipeline."""
        names = [stage.name for stage in pipeline.stages]
        return Dag.of(names, stage_edges(pipeline), joins)

    @property
    def all(self) -> int:
        """Every stage."""
        return (1 << len(self.names)) - 1

    def mask(self, names: Iterable[str]) -> int:
        """The mask of stages given by name."""
        wanted = set(names)
        return sum(1 << k for k, name in enumerate(self.names) if name in wanted)

    def group(self, mask: int) -> tuple[str, ...]:
        """Names of the stages in a mask, producers first."""
        return tuple(self.names[k] for k in bits(mask))

    def components(self, mask: int) -> tuple[int, ...]:
        """The parts of a mask that no edge and no join connects, by their first stage."""
        links = [s | p | b for s, p, b in zip(self.succ, self.pred, self.beside, strict=True)]
        return _parts(mask, links)

    def is_connected(self, mask: int) -> bool:
        """Whether joins connect all stages of a mask."""
        return len(_parts(mask, self.beside)) == 1

    def is_convex(self, mask: int) -> bool:
        """Whether no path leaves a mask and comes back."""
        above = below = 0
        for k in bits(mask):
            above |= self.ancestors[k]
            below |= self.descendants[k]
        return not above & below & ~mask

    def run_order(self, groups: Sequence[int]) -> tuple[int, ...] | None:
        """Groups in an order in which they can run; None when they need each other."""
        waiting = sorted(groups, key=lambda g: g & -g)
        order: list[int] = []
        done = 0
        while waiting:
            for group in waiting:
                if not self.producers(group) & ~done:
                    break
            else:
                return None
            waiting.remove(group)
            order.append(group)
            done |= group
        return tuple(order)

    def producers(self, mask: int) -> int:
        """Stages outside a mask that its stages read."""
        found = 0
        for k in bits(mask):
            found |= self.pred[k]
        return found & ~mask

    def consumers(self, mask: int) -> int:
        """Stages outside a mask that read its stages."""
        found = 0
        for k in bits(mask):
            found |= self.succ[k]
        return found & ~mask


def _parts(mask: int, links: Sequence[int]) -> tuple[int, ...]:
    found = []
    while mask:
        part = frontier = mask & -mask
        while frontier:
            reached = 0
            for k in bits(frontier):
                reached |= links[k]
            frontier = reached & mask & ~part
            part |= frontier
        found.append(part)
        mask &= ~part
    return tuple(found)


def stage_edges(pipeline: Pipeline) -> tuple[Edge, ...]:
    """Every (producer, consumer) pair of stages once, by consumer."""
    names = {stage.name for stage in pipeline.stages}
    pairs = [
        (load.source.name, stage.name)
        for stage in pipeline.stages
        for load in stage.loads()
        if load.source.name in names and load.source.name != stage.name
    ]
    return tuple(dict.fromkeys(pairs))
