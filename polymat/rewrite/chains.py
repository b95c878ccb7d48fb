"""Products that are read by nobody but other products: what they amount to together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load
from polymat.rewrite.network import MOST_FACTORS, Network, is_whole, network_of


@dataclass(frozen=True, eq=False)
class Chain:
    """A sum of products with all those put into it that nobody else reads.

    within: the stages, the root last, each with its own product.  inner: what was put into the root.
    """

    root: Stage
    network: Network
    within: tuple[tuple[Stage, Network], ...]
    inner: tuple[Chain, ...] = ()

    def sums(self) -> Iterator[Chain]:
        """Itself, or where it sums up nothing the sums that it multiplies element by element."""
        if self.root.is_reduction:
            yield self
        else:
            yield from (chain for each in self.inner for chain in each.sums())

    @cached_property
    def is_open(self) -> bool:
        """Whether there are several orders: three arrays, or two with indices of one alone to be summed."""
        if not self.root.is_reduction or len(self.network.factors) < 2:
            return False
        names = self.network.names()
        return len(names) > 2 or any(sum(dim in each for each in names) == 1 for dim in self.network.summed)


def chains_of(pipeline: Pipeline) -> list[Chain]:
    """All sums of products that are part of no other."""
    hidden = read_once(pipeline)
    own = {stage.name: found for stage in pipeline.stages if (found := network_of(stage)) is not None}
    chains: dict[str, Chain] = {}
    for stage in pipeline.stages:
        network = own.get(stage.name)
        if network is None:
            continue
        chains[stage.name] = _with_inner(stage, network, hidden, chains)
    return [chain for each in chains.values() for chain in each.sums()]


def _with_inner(stage: Stage, network: Network, hidden: set[str], chains: dict[str, Chain]) -> Chain:
    """A stage with all chains put into it that nobody else reads, which are taken out of `chains`."""
    found: list[Chain] = []
    within = [(stage, network)]
    position = 0
    while position < len(network.factors):
        inner = _inner(network.factors[position], network, hidden, chains)
        if inner is None or len(network.factors) + len(inner.network.factors) > MOST_FACTORS:
            position += 1
            continue
        network = network.with_factor(position, inner.network)
        within = [*inner.within, *within]
        position += len(inner.network.factors)
        found.append(chains.pop(inner.root.name))
    return Chain(stage, network, tuple(within), tuple(found))


def _inner(factor: Expr, network: Network, hidden: set[str], chains: Mapping[str, Chain]) -> Chain | None:
    """What computes a factor, if nobody else reads it and it can be put in its place."""
    if not isinstance(factor, Load) or factor.source.name not in hidden:
        return None
    chain = chains.get(factor.source.name)
    if chain is None or factor.dtype != chain.root.dtype:
        return None
    plain = all(form in map(Affine.name, network.bounds) for form in factor.indices)
    return chain if plain and is_whole(chain.root, chain.within[-1][1]) else None


def read_once(pipeline: Pipeline) -> set[str]:
    """The stages that are no outputs and are read in one place."""
    count = dict.fromkeys((stage.name for stage in pipeline.stages), 0)
    for stage in pipeline.stages:
        for load in stage.loads():
            if load.source.name in count:
                count[load.source.name] += 1
    return {name for name, times in count.items() if times == 1} - set(pipeline.outputs)
