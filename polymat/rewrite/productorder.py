"""The order of products: which of several arrays are multiplied first, by predicted seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from polymat.graph.pipeline import Pipeline
from polymat.graph.simplify import share_common_stages
from polymat.graph.splice import names_taken, without_unread
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.machine.model import Machine
from polymat.options import Options
from polymat.poly.access import Access
from polymat.poly.domain import Domain
from polymat.rewrite.chains import Chain, chains_of
from polymat.rewrite.contractiontime import ContractionTime
from polymat.rewrite.network import Network, covers_box
from polymat.rewrite.productsteps import Order, Writer, bits, loads_in
from polymat.tilesize.assumed import assumed_sizes
from polymat.tilesize.planner import extent

CLEARLY = 0.9  # of the time of the order that the user wrote: the model is no better than that


def order_products(
    pipeline: Pipeline, options: Options, estimates: Mapping[str, int], machine: Machine
) -> Pipeline:
    """Compute products of several arrays in the order that is predicted to be the quickest.

    before:  T(i, k) = sum over j of A(i, j) * B(j, k);  y(i) = sum over k of T(i, k) * v(k)
    after:   t(j) = sum over k of B(j, k) * v(k);  y(i) = sum over j of A(i, j) * t(j)

    Results that others read, outputs among them, stay and count as arrays.  Notes say what was predicted.
    """
    if not options.reassociate:
        return pipeline
    chains = [chain for chain in chains_of(pipeline) if chain.is_open]
    if not chains:
        return pipeline
    sizes = assumed_sizes(pipeline, estimates)
    threads = options.threads or machine.cores
    rewriting = _Rewriting(pipeline, sizes, machine, threads, names_taken(pipeline))
    stages: dict[str, list[Stage]] = {stage.name: [stage] for stage in pipeline.stages}
    notes: list[str] = []
    for chain in chains:
        found, note = rewriting.of(chain)
        stages[chain.root.name] = found
        notes.append(note)
    changed = any(len(each) > 1 for each in stages.values())
    every = tuple(stage for each in stages.values() for stage in each)
    noted = replace(pipeline, notes=(*pipeline.notes, *notes))
    if not changed:
        return noted
    ordered = without_unread(replace(noted, stages=every))
    return share_common_stages(ordered) if options.share else ordered


_Result: TypeAlias = tuple[list[Stage], str]


@dataclass(frozen=True, slots=True, eq=False)
class _Rewriting:
    """What is asked for every chain.  sizes: what is assumed of each.  taken: names that others have."""

    pipeline: Pipeline
    sizes: Mapping[str, int]
    machine: Machine
    threads: int
    taken: set[str]

    def of(self, chain: Chain) -> _Result:
        """The stages in place of the root of a chain, and what was decided in words."""
        order = Order(chain, self._time(chain.root, chain.network))
        seconds, tree = order.best()
        written = sum(self._written(stage, network) for stage, network in chain.within)
        root = self.pipeline.located(chain.root)
        if seconds >= CLEARLY * written or not all(covers_box(stage) for stage, _ in chain.within):
            better = f"no other order is predicted to be clearly quicker, the best takes {seconds:.3g} s"
            return [chain.root], f"{root}: its products are computed as written, {written:.3g} s; {better}"
        stages, text = Writer(chain, order, self.taken).stages(tree)
        if not all(map(self._is_in_bounds, stages)):
            reason = "parts of them have no elements of their arrays for some sizes"
            return [chain.root], f"{root}: its products are computed as written: {reason}"
        times = f"{seconds:.3g} s; not as written, {written:.3g} s"
        return stages, f"{root}: its products are computed as {text}, {times}"

    def _time(self, stage: Stage, network: Network) -> ContractionTime:
        """The model of what is summed over the indices of a product, of the lengths that are assumed."""
        lengths = [extent(high - low + 1, self.sizes) for low, high in network.bounds.values()]
        return ContractionTime.of(lengths, stage.dtype, self.machine, self.threads)

    def _written(self, stage: Stage, network: Network) -> float:
        """The seconds of a stage as the user wrote it; a copy or a scaled array is part of what reads it."""
        if not stage.is_reduction and len(network.factors) == 1:
            return 0.0
        dims = [*network.bounds]
        factors = [bits(names, dims) for names in network.names()]
        return self._time(stage, network).seconds(factors, bits(network.result, dims))

    def _is_in_bounds(self, stage: Stage) -> bool:
        """Whether a new stage reads elements that there are: its box has points where the whole has none."""
        for domain, expr in stage.expressions():
            where = domain.assume(self.pipeline.context)
            for load in loads_in(expr):
                extents = self.pipeline.extents.get(load.source.name)
                if extents is None:
                    continue
                names = [f"d{k}" for k in range(len(extents))]
                box = Domain.box(domain.params, names, [(Affine(), each - 1) for each in extents])
                if not Access.of(where, load.indices).outside(box).is_empty():
                    return False
        return True
