"""Recurrences in blocks of steps as plans: where that is right and there is enough to do, and its price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polymat.graph.elimination import Elimination, find_elimination, goes_by_rows
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.graph.recurrence import copies, later_reads, leaves_steps_out, recurrence_statements
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.machine.model import Machine
from polymat.options import Options
from polymat.plan.blockedsteps import WITHIN, EliminationPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.tile import Plan
from polymat.poly.lifespan import Folds, folds, lifespans
from polymat.product.blocks import blocks_of, whole_units
from polymat.tilesize.stagework import VECTOR_SHARE, stage_operations

LEAST_STEPS = 8  # that loops compute one after the other
MOST_STEPS = 256  # whose products are added to all later results at once
LEAST_RESULTS = 32  # rows and columns beyond the first steps: with fewer, loops compute most of it
LEAST_OF_A_TRIANGLE = 88  # the same of a triangle, of which there is half as much to do in products
SHARE = 0.8  # of the peak that products of a block's depth reach
BAND_SHARE = 0.5  # of the second-level cache that a band has in the columns of a block
SAMPLES = 64  # steps of which results are counted


class EliminationPlanner:
    """Plans of recurrences of one pipeline in blocks of steps."""

    def __init__(
        self, pipeline: Pipeline, machine: Machine, options: Options, sizes: Mapping[str, int], threads: int
    ) -> None:
        self.pipeline, self.machine, self.options = pipeline, machine, options
        self.sizes, self.threads = sizes, threads

    def plan(self, stages: Sequence[str], others: Sequence[Plan]) -> EliminationPlan | None:
        """The plan of a group that is one such recurrence; others: its plans, among them the loops."""
        loops = next((plan for plan in others if isinstance(plan, LoopPlan)), None)
        if len(stages) != 1 or loops is None or loops.recurrence is None or not self._is_wanted():
            return None
        stage = self.pipeline.stage(stages[0])
        if not loops.recurrence.independent or not leaves_steps_out(self.pipeline, stage):
            return None
        found = find_elimination(stage, self.pipeline)
        if found is None or not self._is_worth(found):
            return None
        places = _places(self.pipeline, stage, loops)
        return None if places is None else self._planned(found, loops, places)

    def _is_wanted(self) -> bool:
        options = self.options
        kept = "folds" in options.skip
        return options.kernels and options.reassociate and options.steps and not kept

    def _is_worth(self, found: Elimination) -> bool:
        least = LEAST_RESULTS if found.trailing.triangle is None else LEAST_OF_A_TRIANGLE
        return min(self._sides(found, found.first + LEAST_STEPS)) >= least

    def _sides(self, found: Elimination, end: int) -> tuple[float, float]:
        """Rows and columns of what waits for the steps before `end`."""
        lows = found.begins(Affine((), end))
        row, column = (
            max(0.0, float((high + 1 - low).evaluate(self.sizes)))
            for low, (_, high) in zip(lows, found.stage.box[1:], strict=True)
        )
        return row, column

    def _samples(self, found: Elimination) -> Iterator[tuple[float, float, float]]:
        """Some steps, each with how many it stands for, and the rows and columns beyond it."""
        count = max(0, int((found.stage.box[0][1] + 1 - found.first).evaluate(self.sizes)))
        taken = min(SAMPLES, count)
        for number in range(taken):
            end = found.first + 1 + int((number + 0.5) * count / taken)
            yield (count / taken, *self._sides(found, end))

    def _planned(self, found: Elimination, loops: LoopPlan, places: Folds) -> EliminationPlan:
        stage = found.stage
        half = 0.5 if found.trailing.triangle is not None else 1.0
        products = within = rows_moved = 0.0
        for steps, rows, columns in self._samples(found):
            products += 2 * half * steps * rows * columns
            cut = [begin is not None for begin in found.trailing.begins]
            within += steps * LEAST_STEPS * (rows * cut[1] * WITHIN + columns * cut[0] * (half == 1.0))
            rows_moved += 2 * half * steps * rows * columns * stage.dtype.size / MOST_STEPS
        box = [float((high - low + 1).evaluate(self.sizes)) for low, high in stage.box[1:]]
        operations = max(1.0, stage_operations(stage, self.sizes))
        shared = products * VECTOR_SHARE / SHARE
        blocks = blocks_of(self.machine, stage.dtype.size)
        by_rows = loops.recurrence is not None and goes_by_rows(found, loops.recurrence, self.pipeline)
        by_all = within if by_rows else within * self.threads
        return EliminationPlan(
            group=Group((stage.name,)),
            kind="blocked steps",
            order=(),
            parallel=found.dims[1],
            vector=found.dims[2],
            reason=_reason(found),
            elimination=found,
            loops=loops,
            blocks=blocks,
            least=LEAST_STEPS,
            most=MOST_STEPS,
            places=places,
            by_rows=by_rows,
            band=whole_units(BAND_SHARE * blocks.small / MOST_STEPS, blocks.lanes),
            relative=(shared + by_all) / operations,
            alone=(shared + within) / operations,
            bytes=rows_moved + 2 * box[0] * box[1] * stage.dtype.size,
        )


def _places(pipeline: Pipeline, stage: Stage, loops: LoopPlan) -> Folds | None:
    """One place for all steps of a result, if that is enough in the order of the loops."""
    if loops.recurrence is None:
        return None
    statements = recurrence_statements(stage, pipeline.context)
    spans = lifespans(statements, loops.recurrence, shared=None, later=[*later_reads(pipeline, stage)])
    found = folds(spans, [1, 0, 0], [*copies(stage)])
    return found if found == (1, None, None) else None


def _reason(found: Elimination) -> str:
    """How it is computed, in words."""
    step, row, column = found.dims
    return (
        f"blocks of {MOST_STEPS} steps along {step}, in halves down to {LEAST_STEPS}: these in loops, "
        "and what they add to later results as a product of "
        f"{found.left} and {found.right} along {row} and {column}"
    )
