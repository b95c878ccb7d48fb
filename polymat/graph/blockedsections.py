"""Sections of a circle in blocks of its steps, with sums over finished blocks in front of each block.

before:  for each i: for each j: t(i, j) = min over k of t(i, k) + t(k + 1, j)
after:   for each block of rows: for each block of columns: early(i, j), for all k in finished blocks; then
         for each i and j of the block: t(i, j) = min(early(i, j), min over all other k)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from polymat.graph.blockedsums import EarlySum, in_block
from polymat.graph.latesums import over, stage_over, with_rest
from polymat.graph.pipeline import Pipeline
from polymat.graph.placedreads import SharedArrays
from polymat.graph.splice import free_name
from polymat.graph.stage import Accumulation, InputArray, Part, Ref, ScalarInput, Stage
from polymat.graph.stepblocks import StepBlocks
from polymat.graph.stepwise import WHOLE, ArrayView, HeldArray, Steps, StepSection, Stepwise
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load
from polymat.lang.neutral import neutral
from polymat.lang.traverse import rebuild
from polymat.lang.types import Long
from polymat.poly.domain import Domain


def in_blocks(
    shared: SharedArrays, blocks: StepBlocks, sums: Sequence[EarlySum], every: int, taken: Set[str]
) -> StepSection[Pipeline]:
    """A section whose steps run block by block, each of so many outer and inner steps.

    taken: names of everything around it.
    """
    return _Blocked(shared, blocks, sums, every, taken).section()


def early_names(sums: Sequence[EarlySum], taken: Set[str]) -> dict[int, str]:
    """The names of sums over finished blocks, by the identity of each."""
    found: dict[int, str] = {}
    for each in sums:
        found[id(each)] = free_name(f"{each.stage.name}_before", {*taken, *found.values()})
    return found


class _Blocked:
    """The work of putting a section into blocks."""

    def __init__(
        self, shared: SharedArrays, blocks: StepBlocks, sums: Sequence[EarlySum], every: int, taken: Set[str]
    ) -> None:
        self.shared, self.blocks, self.sums, self.every = shared, blocks, sums, every
        self.taken = {*taken, *blocks.names, *shared.steps}
        self.arrays = shared.arrays()
        ends = (pair for pair in (blocks.rows, blocks.columns) if pair)
        self.known = blocks.known.at_least_zero(
            [Affine.name(low) + (every - 1) - Affine.name(high) for low, high in ends]
        )
        self.names = early_names(sums, self.taken)
        self.taken |= {*self.names.values()}
        self.sizes = tuple(size for size in shared.whole.sizes if size.name not in shared.steps)

    def _free(self, name: str) -> str:
        found = free_name(name, self.taken)
        self.taken.add(found)
        return found

    def section(self) -> StepSection[Pipeline]:
        """Blocks of rows, and of columns within these."""
        around, blocks = self.shared.section.steps, self.blocks
        assert around is not None
        level = self._block()
        if blocks.columns:
            begin, end = blocks.columns
            columns = Steps(begin, blocks.first, blocks.last, end, self.every)
            level = self._within((self._all(level, columns),), (), blocks.rows)
        rows = Steps(blocks.rows[0], around.first, around.last, blocks.rows[1], self.every)
        return self._all(level, rows)

    def _all(self, level: Stepwise[Pipeline], steps: Steps) -> StepSection[Pipeline]:
        """A section that is given all arrays, and changes some of them."""
        views = tuple(ArrayView(array.name) for array in self.arrays)
        return StepSection(level, views, (), steps, changed=self.shared.written())

    def _within(
        self,
        sections: Sequence[StepSection[Pipeline]],
        own: Sequence[HeldArray],
        names: Sequence[str],
    ) -> Stepwise[Pipeline]:
        """Sections of some steps, whose arrays are given."""
        held = self.shared.held
        around = [held[array.name] for array in self.arrays if array.name in held]
        whole = Pipeline(
            inputs=self.arrays,
            sizes=(*self.sizes, *_sizes(names)),
            scalars=self.shared.whole.scalars,
            stages=(),
            outputs=(),
            order=(),
            context=self._context(names),
        )
        return Stepwise(whole, (*(replace(each, place="input") for each in around), *own), tuple(sections))

    def _context(self, names: Sequence[str]) -> Domain:
        """What is known of the sizes and some of those of blocks."""
        known = self.known
        for name in (name for name in self.blocks.names if name not in names):
            known = known.raised(name)
        return Domain(known.params, (), known.set.params())

    # ---- a block ----

    def _block(self) -> Stepwise[Pipeline]:
        """Early sums, and the steps of a block."""
        rows, held = self.blocks.rows, [self._held(each) for each in self.sums]
        sections = [section for each in self.sums for section in self._early(each)]
        first, last = (Affine.name(name) for name in rows)
        old = self.shared.section
        assert old.steps is not None
        views = tuple(ArrayView(each.name) for each in held)
        own = replace(
            old,
            level=self._steps(),
            inputs=(*old.inputs, *views),
            steps=Steps(old.steps.name, (first,), (last,)),
        )
        if self.shared.inner is not None:  # what a block makes of a plane is beside what others made of it
            own = replace(own, inputs=(*own.inputs, *old.outputs), outputs=(), changed=self.shared.written())
        return self._within([*sections, own], held, self.blocks.names)

    def _held(self, each: EarlySum) -> HeldArray:
        ends = (pair for pair in (self.blocks.rows, self.blocks.columns) if pair)
        sides = [Affine.name(high) - Affine.name(low) + 1 for low, high in ends]
        return HeldArray(self.names[id(each)], each.stage.dtype, "workspace", (*sides, *_extents(each)))

    def _input(self, each: EarlySum) -> InputArray:
        held = self._held(each)
        return InputArray(held.name, held.dtype, held.extents, checked=True)

    def _early(self, each: EarlySum) -> Iterator[StepSection[Pipeline]]:
        """The neutral element everywhere, and instead of that the sum where it has terms."""
        low, high = self._free(f"{each.reduced}_from"), self._free(f"{each.reduced}_upto")
        views = (ArrayView(self.names[id(each)]),)
        yield StepSection(self._early_pipeline(each, None), (), views)
        level = self._early_pipeline(each, (low, high))
        inputs = tuple(ArrayView(array.name) for array in level.inputs)
        yield StepSection(level, inputs, views, Steps(low, *each.between, high, WHOLE))

    def _early_pipeline(self, each: EarlySum, ends: tuple[str, str] | None) -> Pipeline:
        stage = self._early_stage(each, ends)
        read = {load.source.name for load in stage.loads()}
        return Pipeline(
            inputs=tuple(array for array in self.arrays if array.name in read),
            sizes=(*self.sizes, *_sizes((*self.blocks.names, *(ends or ())))),
            scalars=self.shared.whole.scalars,
            stages=(stage,),
            outputs=(stage.name,),
            order=(),
            context=self._of_terms(each, ends),
            alone=self.shared.whole.alone,
        )

    def _of_terms(self, each: EarlySum, ends: tuple[str, str] | None) -> Domain:
        known = self.known
        if ends is None:
            return known
        low, high = map(Affine.name, ends)
        lows, highs = each.between
        known = known.with_params(ends)
        return known.at_least_zero([high - low, *(low - x for x in lows), *(x - high for x in highs)])

    def _early_stage(self, each: EarlySum, ends: tuple[str, str] | None) -> Stage:
        """The sum of a block, by row and column in it."""
        inside = tuple(self._free(f"{step}_in") for step in self.shared.steps)
        own, params = each.item.dims[:-1], self._of_terms(each, ends).params
        pairs = [pair for pair in (self.blocks.rows, self.blocks.columns) if pair]
        bounds = [(Affine(), Affine.name(high) - Affine.name(low)) for low, high in pairs]
        bounds += each.ranges
        dims, stage = (*inside, *own), each.stage
        domain = Domain.box(params, dims, bounds)
        start = Part(domain, None, neutral(stage.operation, stage.dtype), stage.at)
        made = replace(
            stage,
            name=self.names[id(each)],
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
        solved = in_block(self.blocks, each.reduced, each.term)
        pairs = zip(self.shared.steps, (self.blocks.rows, self.blocks.columns), inside, strict=False)
        places = {step: Affine.name(ends[0]) + Affine.name(place) for step, ends, place in pairs}

        def leaf(node: Expr) -> Expr:
            if not isinstance(node, Load):
                return node
            element = each.operands[node]
            indices = tuple(form.substitute(solved).substitute(places) for form in element.indices)
            return Load(Ref(element.array, node.dtype, is_input=True), indices, node.dtype, node.at)

        return rebuild(each.item.expr, leaf)

    # ---- the steps of a block ----

    def _steps(self) -> Pipeline | Stepwise[Pipeline]:
        """What a step computes of the columns of a block."""
        inner, blocks = self.shared.inner, self.blocks
        if inner is None:
            assert isinstance(self.shared.section.level, Pipeline)
            return self._late(0, self.shared.section.level)
        row = Affine.name(self.shared.steps[0]).scale(blocks.skew)
        first, last = (Affine.name(name) - row for name in blocks.columns)
        sections = []
        for number, section in enumerate(inner.sections):
            steps, level = section.steps, section.level
            assert steps is not None
            assert isinstance(level, Pipeline)
            mine = [each for each in self.sums if each.number == number]
            views = tuple(ArrayView(self.names[id(each)]) for each in mine)
            steps = replace(steps, first=(*steps.first, first), last=(*steps.last, last))
            late = self._late(number, level)
            sections.append(replace(section, level=late, inputs=(*section.inputs, *views), steps=steps))
        planes = (self._plane(name) for name in inner.whole.outputs)
        inputs = (*inner.whole.inputs, *map(self._input, self.sums), *planes)
        whole = replace(self._with_sizes(inner.whole), inputs=inputs, outputs=())
        held = tuple(replace(each, place="input") for each in inner.held)
        return replace(inner, whole=whole, held=held, sections=tuple(sections))

    def _plane(self, name: str) -> InputArray:
        """A plane of an array, as what a step is given and changes."""
        outputs = dict(zip(self.shared.whole.outputs, self.shared.section.outputs, strict=True))
        held = self.shared.held[outputs[name].array]
        return InputArray(name, held.dtype, held.extents, checked=True)

    def _late(self, number: int, pipeline: Pipeline) -> Pipeline:
        """An innermost pipeline with the rest of its sums."""
        mine = {each.stage.name: each for each in self.sums if each.number == number}
        wide = self._with_sizes(pipeline)
        stages = tuple(
            with_rest(stage, mine[stage.name], self._value(mine[stage.name])) if stage.name in mine else stage
            for stage in wide.stages
        )
        inputs = (*pipeline.inputs, *(self._input(each) for each in mine.values()))
        return replace(wide, stages=stages, inputs=inputs)

    def _value(self, each: EarlySum) -> Load:
        """The early sum of a point."""
        made = [*map(Affine.name, self.shared.steps)]
        lows = (Affine.name(ends[0]) for ends in (self.blocks.rows, self.blocks.columns) if ends)
        places = [place - low for place, low in zip(self.blocks.places(made), lows, strict=True)]
        indices = (*places, *map(Affine.name, each.stage.dims))
        source = Ref(self.names[id(each)], each.stage.dtype, is_input=True)
        return Load(source, indices, each.stage.dtype, each.item.at)

    def _with_sizes(self, pipeline: Pipeline) -> Pipeline:
        """A pipeline of the steps of a block, which it knows."""
        blocks = self.blocks
        context = pipeline.context.with_params(blocks.names)
        context = context.assume(over(self.known, context.params))
        made = [Affine.name(step) for step in self.shared.steps if step in context.params]
        places = blocks.places(made) if len(made) == len(self.shared.steps) else made
        pairs = zip(places, (blocks.rows, blocks.columns), strict=False)
        limits = ((place, Affine.name(low), Affine.name(high)) for place, (low, high) in pairs)
        context = context.at_least_zero([x for at, low, high in limits for x in (at - low, high - at)])
        stages = tuple(stage_over(stage, context.params) for stage in pipeline.stages)
        sizes = (*pipeline.sizes, *_sizes(blocks.names))
        return replace(pipeline, context=context, stages=stages, sizes=sizes)


def _sizes(names: Sequence[str]) -> tuple[ScalarInput, ...]:
    return tuple(ScalarInput(name, Long) for name in names)


def _extents(each: EarlySum) -> tuple[Affine, ...]:
    return tuple(high + 1 for _, high in each.ranges)
