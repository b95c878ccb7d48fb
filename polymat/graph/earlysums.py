"""The pipelines of sums that a block of steps, or a row of one, has before its points are computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from polymat.graph.blockedsums import EarlySum, in_block
from polymat.graph.pipeline import Pipeline
from polymat.graph.placedreads import SharedArrays
from polymat.graph.splice import free_name
from polymat.graph.stage import Accumulation, InputArray, Part, Ref, ScalarInput, Stage
from polymat.graph.stepblocks import StepBlocks
from polymat.graph.stepwise import WHOLE, ArrayView, HeldArray, Steps, StepSection
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load
from polymat.lang.neutral import neutral
from polymat.lang.traverse import rebuild
from polymat.lang.types import Long
from polymat.poly.domain import Domain


def no_larger(known: Domain, blocks: StepBlocks, every: int) -> Domain:
    """That which is known where no block has more rows or columns than so many."""
    ends = (pair for pair in (blocks.rows, blocks.columns) if pair)
    return known.at_least_zero([Affine.name(low) + (every - 1) - Affine.name(high) for low, high in ends])


def early_names(sums: Sequence[EarlySum], taken: Set[str]) -> dict[int, str]:
    """The names of sums over finished blocks, by the identity of each."""
    found: dict[int, str] = {}
    for each in sums:
        found[id(each)] = free_name(f"{each.stage.name}_before", {*taken, *found.values()})
    return found


class EarlySums:
    """Writes the sections of early sums, and says where these lie.

    every: rows and columns of a block.  taken: names of everything around, to which new ones are added.
    """

    def __init__(
        self, shared: SharedArrays, blocks: StepBlocks, sums: Sequence[EarlySum], every: int, taken: set[str]
    ) -> None:
        self.shared, self.blocks, self.every, self.taken = shared, blocks, every, taken
        self.arrays = shared.arrays()
        self.sizes = tuple(size for size in shared.whole.sizes if size.name not in shared.steps)
        self._named = early_names(sums, taken)
        self.taken |= {*self._named.values()}

    def free(self, name: str) -> str:
        """A name like this that nothing else has."""
        found = free_name(name, self.taken)
        self.taken.add(found)
        return found

    def name(self, each: EarlySum) -> str:
        """The name of the array of a sum."""
        return self._named[id(each)]

    def _known(self, each: EarlySum) -> Domain:
        return no_larger(each.blocks.known, self.blocks, self.every)

    def _names(self, each: EarlySum) -> list[str]:
        """The sizes that tell where a block is, and a row in it."""
        whole = {size.name for size in self.sizes}
        return [name for name in each.blocks.known.params if name not in whole]

    def held(self, each: EarlySum) -> HeldArray:
        """The array of an early sum, by row and column in a block."""
        ends = (pair for pair in (each.blocks.rows, each.blocks.columns) if pair)
        sides = [Affine.name(high) - Affine.name(low) + 1 for low, high in ends]
        return HeldArray(self.name(each), each.stage.dtype, "workspace", (*sides, *_extents(each)))

    def input(self, each: EarlySum) -> InputArray:
        """The array as those have it who read it."""
        held = self.held(each)
        return InputArray(held.name, held.dtype, held.extents, checked=True)

    def sections(self, each: EarlySum, named: Mapping[str, str]) -> Iterator[StepSection[Pipeline]]:
        """The neutral element everywhere, and instead of that the sum where it has terms.

        named: arrays where they have other names around these sections.
        """
        low, high = self.free(f"{each.reduced}_from"), self.free(f"{each.reduced}_upto")
        views = (ArrayView(self.name(each)),)
        yield StepSection(self._early_pipeline(each, None), (), views)
        level = self._early_pipeline(each, (low, high))
        inputs = tuple(ArrayView(named.get(array.name, array.name)) for array in level.inputs)
        yield StepSection(level, inputs, views, Steps(low, *each.between, high, WHOLE))

    def _early_pipeline(self, each: EarlySum, ends: tuple[str, str] | None) -> Pipeline:
        stage = self._early_stage(each, ends)
        read = {load.source.name for load in stage.loads()}
        return Pipeline(
            inputs=tuple(array for array in self.arrays if array.name in read),
            sizes=(*self.sizes, *step_sizes([*self._names(each), *(ends or ())])),
            scalars=self.shared.whole.scalars,
            stages=(stage,),
            outputs=(stage.name,),
            order=(),
            context=self._of_terms(each, ends),
            alone=self.shared.whole.alone,
        )

    def _of_terms(self, each: EarlySum, ends: tuple[str, str] | None) -> Domain:
        known = self._known(each)
        if ends is None:
            return known
        low, high = map(Affine.name, ends)
        lows, highs = each.between
        known = known.with_params(ends)
        return known.at_least_zero([high - low, *(low - x for x in lows), *(x - high for x in highs)])

    def _early_stage(self, each: EarlySum, ends: tuple[str, str] | None) -> Stage:
        """The sum of a block, by row and column in it."""
        inside = tuple(self.free(f"{step}_in") for step in self.shared.steps)
        own, params = each.item.dims[:-1], self._of_terms(each, ends).params
        pairs = [pair for pair in (each.blocks.rows, each.blocks.columns) if pair]
        bounds = [(Affine(), Affine.name(high) - Affine.name(low)) for low, high in pairs]
        bounds += each.ranges
        dims, stage = (*inside, *own), each.stage
        domain = Domain.box(params, dims, bounds)
        start = Part(domain, None, neutral(stage.operation, stage.dtype), stage.at)
        made = replace(
            stage,
            name=self.name(each),
            dims=dims,
            bounds=tuple(bounds),
            domain=domain,
            parts=(start,),
            op=None,
            accumulations=(),
            circle=(),
        )
        if ends is None:
            return made
        terms = (Affine.name(ends[0]), Affine.name(ends[1]))
        item = Accumulation(
            dims=(*dims, each.reduced),
            bounds=(*bounds, terms),
            domain=Domain.box(params, (*dims, each.reduced), [*bounds, terms]),
            condition=None,
            target=tuple(map(Affine.name, dims)),
            expr=self._terms(each, inside),
            at=each.item.at,
        )
        return replace(made, op=stage.op, accumulations=(item,))

    def _terms(self, each: EarlySum, inside: Sequence[str]) -> Expr:
        """What is summed up, of whole arrays."""
        solved = in_block(each.blocks, each.reduced, each.term)
        pairs = zip(self.shared.steps, (each.blocks.rows, each.blocks.columns), inside, strict=False)
        places = {step: Affine.name(ends[0]) + Affine.name(place) for step, ends, place in pairs}

        def leaf(node: Expr) -> Expr:
            if not isinstance(node, Load):
                return node
            element = each.operands[node]
            indices = tuple(form.substitute(solved).substitute(places) for form in element.indices)
            return Load(Ref(element.array, node.dtype, is_input=True), indices, node.dtype, node.at)

        return rebuild(each.item.expr, leaf)

    def value(self, each: EarlySum) -> Load:
        """The early sum of a point."""
        made = [*map(Affine.name, self.shared.steps)]
        lows = (Affine.name(ends[0]) for ends in (each.blocks.rows, each.blocks.columns) if ends)
        places = [place - low for place, low in zip(each.blocks.places(made), lows, strict=True)]
        indices = (*places, *map(Affine.name, each.stage.dims))
        source = Ref(self.name(each), each.stage.dtype, is_input=True)
        return Load(source, indices, each.stage.dtype, each.item.at)


def step_sizes(names: Sequence[str]) -> tuple[ScalarInput, ...]:
    """Sizes that are steps, or ends of blocks of them."""
    return tuple(ScalarInput(name, Long) for name in names)


def _extents(each: EarlySum) -> tuple[Affine, ...]:
    return tuple(high + 1 for _, high in each.ranges)
