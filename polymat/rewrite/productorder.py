"""The order of products: which of several arrays are multiplied first, by predicted seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property

from polymat.dataclass import dataclass
from polymat.graph.constant import kept_stages
from polymat.graph.orders import Work
from polymat.graph.pipeline import Pipeline
from polymat.graph.simplify import share_common_stages
from polymat.graph.splice import names_taken, without_unread
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.model.confidence import CLEARLY
from polymat.model.extents import extent
from polymat.options import Options
from polymat.rewrite.chains import Chain, chains_of
from polymat.rewrite.commonfactor import take_out_factors
from polymat.rewrite.contractiontime import ContractionTime, bits
from polymat.rewrite.madestages import reads_inside
from polymat.rewrite.network import Network, covers_box
from polymat.rewrite.otherorders import other_orders
from polymat.rewrite.productsteps import ProductOrder, Writer
from polymat.rewrite.subsets import Tree


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """A pipeline in the order that was chosen for its products.

    work: what that costs at some sizes.  others: the same in other orders, which cost less at other sizes.
    """

    pipeline: Pipeline
    work: Work = field(default_factory=lambda: Work(()))
    others: tuple[tuple[Work, Pipeline], ...] = ()


def order_products(
    pipeline: Pipeline, options: Options, estimates: Mapping[str, int], machine: Machine
) -> Ordered:
    """Compute products of several arrays in the order that is predicted to be the quickest.

    before:  T(i, k) = sum over j of A(i, j) * B(j, k);  y(i) = sum over k of T(i, k) * v(k)
    after:   t(j) = sum over k of B(j, k) * v(k);  y(i) = sum over j of A(i, j) * t(j)

    Results that others read, outputs among them, stay and count as arrays.  Notes say what was predicted.
    Of sizes that nobody gave, other orders of the longest product are kept, of which each call chooses one.
    """
    if not options.reassociate:
        return Ordered(pipeline)
    model = _Model(pipeline, estimates, machine, machine.team(options.threads))
    pipeline = take_out_factors(pipeline, model.time, CLEARLY)
    chains = [chain for chain in chains_of(pipeline) if chain.is_open]
    if not chains:
        return Ordered(pipeline)
    rewriting = _Reordering(pipeline, model, names_taken(pipeline), share=options.share)
    found = {chain.root.name: rewriting.of(chain) for chain in chains}
    ordered = rewriting.pipeline_of(found)
    if estimates or options.cost != "time" or (options.keep and kept_stages(pipeline)):
        return Ordered(ordered)
    longest = max(chains, key=lambda chain: found[chain.root.name].seconds)
    first = found[longest.root.name]
    taken = rewriting.taken - {stage.name for stage in first.stages[:-1]}
    others = [
        (work, rewriting.in_order(longest, tree, work, {*taken}))
        for tree, work in other_orders(longest, first.work, model.sizes, machine, model.threads)
    ]
    kept = [(work, other) for work, other in others if other is not None]
    if not kept:
        return Ordered(ordered)
    texts = [other.text for _, other in kept]
    note = (
        f"{longest.root.name} is also compiled as {', and as '.join(texts)}: each call chooses by its sizes"
    )
    ordered = replace(ordered, notes=(*ordered.notes, note))
    pipelines = [(work, rewriting.pipeline_of({**found, longest.root.name: other})) for work, other in kept]
    return Ordered(ordered, first.work, tuple(pipelines))


@dataclass(frozen=True, eq=False)
class _Model:
    """What times are predicted by; sizes that nobody gave are guessed where there is something to predict."""

    pipeline: Pipeline
    estimates: Mapping[str, int]
    machine: Machine
    threads: int

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """What is assumed of every size."""
        return assumed_sizes(self.pipeline, self.estimates)

    def time(self, stage: Stage, network: Network) -> ContractionTime:
        """The model of what is summed over the indices of a product."""
        lengths = [extent(high - low + 1, self.sizes) for low, high in network.bounds.values()]
        return ContractionTime.of(lengths, stage.dtype, self.machine, self.threads)


@dataclass(frozen=True, slots=True, eq=False)
class _Ordered:
    """The stages in place of the root of a chain, and what was decided in words.

    text: the order.  seconds, work: what is predicted of it.
    """

    stages: list[Stage]
    note: str
    text: str
    seconds: float
    work: Work


@dataclass(frozen=True, slots=True, eq=False)
class _Reordering:
    """What is asked for every chain.  taken: names that others have."""

    pipeline: Pipeline
    model: _Model
    taken: set[str]
    share: bool

    def of(self, chain: Chain) -> _Ordered:
        """The quickest order of a chain."""
        order = ProductOrder(chain, self.model.time(chain.root, chain.network))
        seconds, tree = order.best()
        written = sum(self._written(stage, network) for stage, network in chain.within)
        root = self.pipeline.located(chain.root)
        if seconds < CLEARLY * written:
            found = self.in_order(chain, tree, order.work(tree), self.taken)
            reason = "parts of them have no elements of their arrays for some sizes"
            if found is not None:
                times = f"{seconds:.3g} s; not as written, {written:.3g} s"
                note = f"{root}: its products are computed as {found.text}, {times}"
                return replace(found, note=note, seconds=seconds)
        else:
            reason = f"no other order is predicted to be clearly quicker, the best takes {seconds:.3g} s"
        note = f"{root}: its products are computed as written, {written:.3g} s: {reason}"
        return _Ordered([chain.root], note, "written", written, self._work(chain))

    def in_order(self, chain: Chain, tree: Tree, work: Work, taken: set[str]) -> _Ordered | None:
        """A chain in some order; None where that reads beside arrays.  taken: names that others have."""
        if not all(covers_box(stage) for stage, _ in chain.within):
            return None
        order = ProductOrder(chain, self.model.time(chain.root, chain.network))
        stages, text = Writer(chain, order, taken).stages(tree)
        if not all(reads_inside(stage, self.pipeline) for stage in stages):
            return None
        return _Ordered(stages, "", text, 0.0, work)

    def pipeline_of(self, found: Mapping[str, _Ordered]) -> Pipeline:
        """The pipeline with these chains in these orders."""
        notes = [each.note for each in found.values() if each.note]
        noted = replace(self.pipeline, notes=(*self.pipeline.notes, *notes))
        if all(len(each.stages) == 1 for each in found.values()):
            return noted
        stages: list[Stage] = []
        for stage in self.pipeline.stages:
            each = found.get(stage.name)
            stages += [stage] if each is None else each.stages
        ordered = without_unread(replace(noted, stages=tuple(stages)))
        return share_common_stages(ordered) if self.share else ordered

    def _written(self, stage: Stage, network: Network) -> float:
        """The seconds of a stage as the user wrote it; a copy or a scaled array is part of what reads it."""
        if not stage.is_reduction and len(network.factors) == 1:
            return 0.0
        dims = [*network.bounds]
        factors = [bits(names, dims) for names in network.names()]
        return self.model.time(stage, network).seconds(factors, bits(network.result, dims))

    def _work(self, chain: Chain) -> Work:
        """What a chain costs as it was written."""
        steps: list[tuple[float, tuple[Affine, ...]]] = []
        for stage, network in chain.within:
            if stage.is_reduction or len(network.factors) > 1:
                dims = [*network.bounds]
                factors = [bits(names, dims) for names in network.names()]
                weight = self.model.time(stage, network).weight(factors, bits(network.result, dims))
                steps.append((weight, tuple(high - low + 1 for low, high in network.bounds.values())))
        return Work(tuple(steps))
