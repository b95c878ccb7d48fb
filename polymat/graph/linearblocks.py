"""Linear steps in blocks: in the slices that the block is about step by step, in all others as one product.

before:  for each step: all slices
after:   for each block of steps: the steps in its own slices, and beside these what they make of each row:
         source, the row from before the block that it goes on with, if any, and of the crossing rows the
         multiples that are added to that;  then those rows, gathered, and for all slices behind the block
         after(i, j) = before(source(i), j) + sum over m of multiples(i, m) * gathered(m, j)

A crossing row becomes one of the gathered ones at its step, with a multiple of one in itself; from then on
multiples are changed by the steps as any slice is.
"""

from __future__ import annotations

from dataclasses import replace

from polymat.graph.latesums import over
from polymat.graph.linearframe import ZERO, BlockFrame
from polymat.graph.linearmultiples import stages_of_multiples
from polymat.graph.linearsteps import LinearStep
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, Stage
from polymat.graph.stepwise import ArrayView, Steps, StepSection, Stepwise
from polymat.lang import later
from polymat.lang.affine import Affine, Limits
from polymat.lang.condition import Condition
from polymat.lang.expr import CastExpr, Const, Expr, Load, SelectExpr, Variable, binary
from polymat.lang.neutral import neutral
from polymat.lang.reduction import Op
from polymat.lang.traverse import rebuild, rebuild_indices
from polymat.lang.types import Int, Long
from polymat.poly.domain import Domain
from polymat.poly.finished import in_coordinates


def in_linear_blocks(
    section: StepSection[Pipeline], found: LinearStep, every: int, taken: set[str]
) -> list[StepSection[Pipeline]]:
    """A section whose steps run in blocks of so many, an odd number, and the steps that are left.

    Of the two planes of the state a block reads one and writes the other, as a step does.  taken: names of
    everything around.
    """
    work = _LinearBlocks(section, found, every, taken)
    return [work.blocks(), work.rest()]


class _LinearBlocks(BlockFrame):
    """The sections of a block: its steps, and what they make of the slices behind it."""

    # ---- the sections around ----

    def _whole(self) -> Affine:
        (first,), (last,) = {*self.steps.first}, {*self.steps.last}
        return (last - first + 1).floordiv(self.every).scale(self.every)

    def blocks(self) -> StepSection[Pipeline]:
        """All whole blocks."""
        (first,) = {*self.steps.first}
        steps = Steps(self.begin, (first,), (first + self._whole() - 1,), self.end, self.every)
        views = tuple(
            replace(view, step=self.first - 1) if array.name == self.found.before else view
            for array, view in zip(self.level.inputs, self.old.inputs, strict=True)
        )
        (out,) = self.old.outputs
        return StepSection(self._block(), views, (replace(out, step=self.stop),), steps)

    def rest(self) -> StepSection[Pipeline]:
        """The steps behind them, one by one."""
        (first,) = {*self.steps.first}
        return replace(self.old, steps=replace(self.steps, first=(first, first + self._whole())))

    def _block(self) -> Stepwise[Pipeline]:
        sections = (self._begun(), self._stepped(), self._gather(), self._behind())
        whole = replace(
            self.level,
            sizes=self.sizes(within=False),
            stages=(self._after(),),
            context=self.around,
            states={},
            newest={},
            notes=(),
        )
        return Stepwise(whole, tuple(self.held.values()), sections)

    # ---- the steps of a block ----

    def _begun(self) -> StepSection[Pipeline]:
        """The slices of the block, and each row as its own source."""
        row, column = self.found.dims
        rows, bounds = self.found.state.bounds[0], self.rows_and_places()
        params = self.around.params
        here = Domain.box(params, (row, column), bounds)
        i, j = Affine.name(row), Affine.name(column)
        slices = self.stage(
            *(self.panel, (row, column), bounds),
            [(here, self.load(self.found.before, (i, j + self.shift)))],
        )
        number = CastExpr(Variable(Int, row), Long)
        whole = Domain.box(params, (row,), [rows])
        own = [self.stage(each, (row,), (rows,), [(whole, number)], Long) for each in self.of_rows]
        outputs = [(each.name, ArrayView(each.name, self.first - 1)) for each in (slices, *own)]
        return self.section((slices, *own), outputs)

    def _stepped(self) -> StepSection[Pipeline]:
        """The steps in the slices of the block, with sources and multiples."""
        helpers = {each.name for each in self.found.helpers}
        stages = [
            self._placed(stage) if stage.name in helpers or stage is self.found.state else self._beside(stage)
            for stage in self.level.stages
        ]
        stages += stages_of_multiples(self)
        made = (self.panel, self.multiples, *self.of_rows)
        states = {each: self.arrays[f"{each} before"][0].name for each in made}
        step = Affine.name(self.step)
        outputs = [(each, ArrayView(each, step)) for each in (*made, self.crossing)]
        steps = Steps(self.step, (self.first,), (self.stop,))
        return self.section(stages, outputs, steps, states)

    def _beside(self, stage: Stage) -> Stage:
        """A stage without slices, of the slices of the block."""
        parts = tuple(replace(part, expr=self.mapped(part.expr)) for part in stage.parts)
        sums = tuple(
            replace(
                item,
                expr=self.mapped(item.expr),
                target=rebuild_indices(item.target, self.mapped),
            )
            for item in stage.accumulations
        )
        return replace(stage, parts=parts, accumulations=sums)

    def _placed(self, stage: Stage) -> Stage:
        """A stage with slices, of those of the block, by their places in it."""
        column = stage.dims[-1]
        place = Affine.name(column)
        bounds = (*stage.bounds[:-1], self.rows_and_places()[1])
        forms = [*map(Affine.name, stage.dims[:-1]), place - self.shift]

        def leaf(node: Expr) -> Expr:
            if isinstance(node, Load) and self.found.is_own(node):
                if node.source.name == self.found.before:
                    return self.load(f"{self.panel} before", (node.indices[0], place))
                return node
            return self.in_panel(node)

        whole = Domain.box(self.known.params, stage.dims, bounds)
        pieces = []
        for part in stage.parts:
            here = over(part.domain.assume(self.level.context), self.known.params)
            inside = in_coordinates(here, stage.dims, forms).intersect(whole).assume(self.known)
            pieces.append((inside, rebuild(part.expr, leaf)))
        name = self.panel if stage is self.found.state else stage.name
        return self.stage(name, stage.dims, bounds, pieces, stage.dtype)

    # ---- behind a block ----

    def _gather(self) -> StepSection[Pipeline]:
        """The rows from before the block that were crossing ones."""
        row, column = self.found.dims
        bounds = (self.places(), self.later())
        i, j = Affine.name(row), Affine.name(column)
        source = self.load(f"{self.crossing} all", (i,))
        value = self.load(self.found.before, (self._row(source), j))
        where = Domain.box(self.around.params, (row, column), bounds)
        stage = self.stage(self.gathered, (row, column), bounds, [(where, value)])
        return self.section((stage,), [(self.gathered, ArrayView(self.gathered))])

    def _row(self, source: Expr) -> Affine:
        """A row by its number, or the first one in place of none."""
        value, (_, high) = binary("max", source, Const(0, Long)), self.found.state.bounds[0]
        return Affine(((later.computed(value, 0, (Limits((ZERO,), (high,)),)), 1),))

    def _behind(self) -> StepSection[Pipeline]:
        """All slices behind the block, and its own."""
        name, added = self.found.state.name, self._sum()
        return self.section((added, self._after(added)), [(name, ArrayView(name))])

    def _sum(self) -> Stage:
        """The multiples of gathered rows, added up."""
        (row, column), state = self.found.dims, self.found.state
        name, depth = self.free(f"{state.name}_added"), self.free(f"{self.step}_in")
        i, j, m = map(Affine.name, (row, column, depth))
        bounds = (state.bounds[0], self.later())
        start = [(Domain.box(self.around.params, (row, column), bounds), neutral(Op.Sum, state.dtype))]
        made = self.stage(name, (row, column), bounds, start)
        dims, wide = (row, column, depth), (*bounds, self.places())
        factors = self.load(f"{self.multiples} last", (i, m)), self.load(f"{self.gathered} all", (m, j))
        item = Accumulation(
            dims=dims,
            bounds=wide,
            domain=Domain.box(self.around.params, dims, wide),
            condition=None,
            target=(i, j),
            expr=binary("*", *factors),
            at=state.at,
        )
        return replace(made, op=Op.Sum, accumulations=(item,))

    def _after(self, added: Stage | None = None) -> Stage:
        """The state behind a block; without what is added the state before it."""
        (row, column), state, params = self.found.dims, self.found.state, self.around.params
        i, j = here = Affine.name(row), Affine.name(column)
        old = self.load(self.found.before, here)
        whole = Domain.box(params, (row, column), state.bounds)
        if added is None:
            return self.stage(state.name, (row, column), state.bounds, [(whole, old)])
        source = self.load(f"{self.source} last", (i,))
        kept = self.load(self.found.before, (self._row(source), j))
        if self.found.finished:
            old = self.load(self.found.before, (self._row(self.load(f"{self.moved} last", (i,))), j))
        zero = neutral(Op.Sum, state.dtype)
        base = SelectExpr(Condition(source, ">=", 0), kept, zero, state.dtype)
        more = Load(added.ref, here, state.dtype, state.at)
        first, _ = self.later()
        pieces = [
            (whole.at_least_zero([self.shift - 1 - j]), old),
            (
                whole.at_least_zero([j - self.shift, first - 1 - j]),
                self.load(f"{self.panel} last", (i, j - self.shift)),
            ),
            (whole.at_least_zero([j - first]), binary("+", base, more)),
        ]
        return self.stage(state.name, (row, column), state.bounds, pieces)
