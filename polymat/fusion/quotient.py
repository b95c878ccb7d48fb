"""A graph of stages some of which are one node, for a search that does not divide them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polymat.dataclass import dataclass
from polymat.errors import InternalError
from polymat.fusion.dag import Dag, Edge, bits


@dataclass(frozen=True, slots=True)
class Quotient:
    """A graph, and one in which each set of its stages is a node that has the name of its first stage."""

    whole: Dag
    dag: Dag
    masks: dict[str, int]

    @staticmethod
    def of(whole: Dag, sets: Sequence[Sequence[str]]) -> Quotient:
        """The graph with these disjoint sets as nodes, which can run in some order; the others stay alone."""
        masks = [whole.mask(names) for names in sets]
        taken = sum(masks)
        order = whole.run_order([*masks, *(1 << k for k in bits(whole.all & ~taken))])
        if order is None:
            raise InternalError("bug in polymat: sets of stages that are fused together need each other")
        node = {k: whole.names[next(bits(mask))] for mask in order for k in bits(mask)}
        dag = Dag.of(
            [node[next(bits(mask))] for mask in order], _links(whole.succ, node), _links(whole.beside, node)
        )
        return Quotient(whole, dag, {node[next(bits(mask))]: mask for mask in order})

    def stages(self, nodes: Iterable[str]) -> tuple[str, ...]:
        """The stages of nodes, producers first."""
        return self.whole.group(sum(self.masks[node] for node in nodes))


def _links(links: Sequence[int], node: dict[int, str]) -> tuple[Edge, ...]:
    """The pairs of nodes that are linked, each once."""
    pairs = ((node[a], node[b]) for a in range(len(links)) for b in bits(links[a]))
    return tuple(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))
