"""Sections of a circle in blocks of its steps, with sums over finished blocks in front of each block.

before:  for each i: for each j: t(i, j) = min over k of t(i, k) + t(k + 1, j)
after:   for each block of rows: for each block of columns: early(i, j), for all k in finished blocks; then
         for each i and j of the block: t(i, j) = min(early(i, j), min over all other k)
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from polymat.graph.blockedsums import EarlySum
from polymat.graph.earlysums import EarlySums, no_larger, step_sizes
from polymat.graph.latesums import over, stage_over, with_rest
from polymat.graph.pipeline import Pipeline
from polymat.graph.placedreads import SharedArrays
from polymat.graph.stage import InputArray
from polymat.graph.stepblocks import StepBlocks
from polymat.graph.stepwise import ArrayView, HeldArray, Steps, StepSection, Stepwise
from polymat.lang.affine import Affine
from polymat.poly.domain import Domain


def in_blocks(
    shared: SharedArrays, blocks: StepBlocks, sums: Sequence[EarlySum], every: int, taken: Set[str]
) -> StepSection[Pipeline]:
    """A section whose steps run block by block, each of so many outer and inner steps.

    taken: names of everything around it.
    """
    return _Blocked(shared, blocks, sums, every, taken).section()


class _Blocked:
    """The work of putting a section into blocks."""

    def __init__(
        self, shared: SharedArrays, blocks: StepBlocks, sums: Sequence[EarlySum], every: int, taken: Set[str]
    ) -> None:
        self.shared, self.blocks, self.every = shared, blocks, every
        self.early = EarlySums(shared, blocks, sums, every, {*taken, *blocks.names, *shared.steps})
        self.arrays, self.sizes = self.early.arrays, self.early.sizes
        self.known = no_larger(blocks.known, blocks, every)
        self.sums = [each for each in sums if each.blocks is blocks]
        self.of_rows = [each for each in sums if each.blocks is not blocks]

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
            sizes=(*self.sizes, *step_sizes(names)),
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
        rows, held = self.blocks.rows, [self.early.held(each) for each in self.sums]
        sections = [section for each in self.sums for section in self.early.sections(each, {})]
        first, last = (Affine.name(name) for name in rows)
        old = self.shared.section
        assert old.steps is not None
        views = tuple(ArrayView(each.name) for each in held)
        steps, level = Steps(old.steps.name, (first,), (last,)), self._steps()
        own = replace(old, level=level, inputs=(*old.inputs, *views), steps=steps)
        if self.shared.inner is not None:  # what a block makes of a plane is beside what others made of it
            named, _ = self._whole_arrays()
            known = {view.array for view in old.inputs if view.step is None}
            more = tuple(ArrayView(name) for name in named if name not in known)
            inputs = (*own.inputs, *old.outputs, *more)
            own = replace(own, inputs=inputs, outputs=(), changed=self.shared.written())
        return self._within([*sections, own], held, self.blocks.names)

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
            mine = [each for each in (*self.sums, *self.of_rows) if each.number == number]
            views = tuple(ArrayView(self.early.name(each)) for each in mine)
            steps = replace(steps, first=(*steps.first, first), last=(*steps.last, last))
            late = self._late(number, level)
            sections.append(replace(section, level=late, inputs=(*section.inputs, *views), steps=steps))
        named, more = self._whole_arrays()
        early = [section for each in self.of_rows for section in self.early.sections(each, named)]
        planes = (self._plane(name) for name in inner.whole.outputs)
        inputs = (*inner.whole.inputs, *map(self.early.input, self.sums), *planes, *more)
        whole = replace(self._with_sizes(inner.whole), inputs=inputs, outputs=())
        held = [replace(each, place="input") for each in inner.held]
        held += map(self.early.held, self.of_rows)
        return replace(inner, whole=whole, held=tuple(held), sections=(*early, *sections))

    def _whole_arrays(self) -> tuple[dict[str, str], tuple[InputArray, ...]]:
        """The names of whole arrays within a step, and those that no step had before."""
        if not self.of_rows:
            return {}, ()
        pairs = zip(self.shared.whole.inputs, self.shared.section.inputs, strict=True)
        named = {view.array: array.name for array, view in pairs if view.step is None}
        read = {element.array for each in self.of_rows for element in each.operands.values()}
        missing = [array for array in self.arrays if array.name in read - named.keys()]
        more = tuple(replace(array, name=self.early.free(f"{array.name}_all")) for array in missing)
        named |= {array.name: new.name for array, new in zip(missing, more, strict=True)}
        return named, more

    def _plane(self, name: str) -> InputArray:
        """A plane of an array, as what a step is given and changes."""
        outputs = dict(zip(self.shared.whole.outputs, self.shared.section.outputs, strict=True))
        held = self.shared.held[outputs[name].array]
        return InputArray(name, held.dtype, held.extents, checked=True)

    def _late(self, number: int, pipeline: Pipeline) -> Pipeline:
        """An innermost pipeline with the rest of its sums."""
        mine = [each for each in (*self.sums, *self.of_rows) if each.number == number]
        wide = self._with_sizes(pipeline)
        stages = tuple(
            with_rest(
                stage, [(each, self.early.value(each)) for each in mine if each.stage.name == stage.name]
            )
            for stage in wide.stages
        )
        return replace(wide, stages=stages, inputs=(*pipeline.inputs, *map(self.early.input, mine)))

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
        sizes = (*pipeline.sizes, *step_sizes(blocks.names))
        return replace(pipeline, context=context, stages=stages, sizes=sizes)
