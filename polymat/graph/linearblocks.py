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
from polymat.graph.linearbehind import gathered_rows, slices_behind, state_behind
from polymat.graph.linearframe import BlockFrame
from polymat.graph.linearmultiples import stages_of_multiples
from polymat.graph.linearrows import LinearStep
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.graph.stepwise import ArrayView, Steps, StepSection, Stepwise
from polymat.lang.affine import Affine
from polymat.lang.expr import CastExpr, Expr, Load, Variable
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
        sections = (self._begun(), self._stepped(), gathered_rows(self), slices_behind(self))
        whole = replace(
            self.level,
            sizes=self.sizes(within=False),
            stages=(state_behind(self, ()),),
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
