"""Circles in blocks of their steps, where a part of each sum over finished blocks is quicker at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from math import ceil, prod, sqrt

from polymat.dataclass import dataclass
from polymat.graph.blockedsections import in_blocks
from polymat.graph.blockedsums import EarlySum, find_blocks
from polymat.graph.earlysums import early_names
from polymat.graph.lanerows import row_circle
from polymat.graph.operations import expression_operations
from polymat.graph.pipeline import Pipeline
from polymat.graph.placedreads import SharedArrays, shared_arrays
from polymat.graph.sectionchanges import Held, Instead, rewritten
from polymat.graph.splice import names_taken
from polymat.graph.stage import Stage
from polymat.graph.stepblocks import StepBlocks
from polymat.graph.stepwise import StepSection, Stepwise
from polymat.lang.affine import Affine
from polymat.lang.reduction import EXTREMES, Op
from polymat.machine.model import MEMORY, Machine
from polymat.model.assumed import assumed_sizes
from polymat.plan.loops import NO_BLOCK
from polymat.poly.finished import counts_at
from polymat.tilesize.stagework import VECTOR_SHARE

STEPS = 32  # of a block, where steps have one dimension
SIDE = 64  # of a block of rows and columns
PRODUCT_SHARE = 0.8  # of the peak that products of a block reach
FEWEST = 5  # blocks of outer steps, with fewer of which steps run one by one
POINT_SECONDS = 2e-8  # of a point more in blocks, where steps have two dimensions: one sum is several parts
BLOCK_SECONDS = 1e-6  # of a block: to say where its arrays are, to take memory, to choose loops
WORD = 8  # bytes of an element that is loaded by itself: shorter ones take as long
SAMPLES = 6  # steps of each dimension at which terms are counted
CLEARLY = 0.8  # of the time of steps one by one: blocks have to be so much quicker, by prediction
ROWS_CLEARLY = 0.9  # the same of rows from memory, of which both ways read the same bytes at measured rates


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """Blocks of so many steps: predicted seconds, those step by step, and from how many steps on they pay.

    clearly: of the time step by step that they may take.
    """

    every: int
    seconds: float
    alone: float
    least: int
    clearly: float

    @property
    def pays(self) -> bool:
        """Whether blocks are predicted to be clearly quicker."""
        return self.seconds < self.clearly * self.alone


@dataclass(frozen=True, slots=True, eq=False)
class SumBlocks:
    """Decides about the sums in circles of a program.

    reassociates: sums of floating-point values may be added up in another order.  untouched: stages that
    stay as they are, since the user has said what loops they have; but for circles of which they name a sum
    over finished blocks, which asks for blocks.  lanes: rows of single steps may be the lanes of vectors.
    """

    machine: Machine
    estimates: Mapping[str, int]
    reassociates: bool
    untouched: Set[str] = frozenset()
    lanes: bool = False

    def decided(self, stepwise: Stepwise[Pipeline]) -> Stepwise[Pipeline]:
        """Take the steps of circles in blocks where that is predicted to take clearly less.

        before:  for each i: for each j: t(i, j), a minimum over all k
        after:   for each block of i and j: minima over what finished blocks have; then each t(i, j) with the
                 rest
        """
        around = names_taken(stepwise.whole) | {each.name for each in stepwise.held}
        sizes = assumed_sizes(stepwise.whole, self.estimates)

        def blocked(section: StepSection[Pipeline], held: Held) -> Instead | None:
            shared = shared_arrays(section, held)
            return None if shared is None else self._blocked(shared, around, sizes)

        return rewritten(stepwise, blocked)

    def _blocked(self, shared: SharedArrays, around: Set[str], sizes: Mapping[str, int]) -> Instead | None:
        """A section in blocks and one by one; None where it stays."""
        pipelines = [pipeline for pipeline, _ in shared.innermost()]
        stages = [stage for pipeline in pipelines for stage in pipeline.stages]
        if not any(map(self._may_split, stages)):
            return None
        inside = (name for pipeline in (shared.whole, *pipelines) for name in names_taken(pipeline))
        taken = {*around, *shared.steps, *inside}
        found = find_blocks(shared, taken)
        if found is None or not all(self._may_split(each.stage) for each in found[1]):
            return None
        blocks = found[0]
        sums = tuple(each for each in found[1] if each.is_shared) or found[1]
        asked = not self.untouched.isdisjoint(early_names(sums, taken).values())
        if not asked and self.untouched & {stage.name for stage in stages}:
            return None
        by_rows = not sums[0].is_shared
        way = self._rows(shared, sums, sizes) if by_rows else self._terms(shared, blocks, sums, sizes)
        if way.pays and not by_rows and self.lanes and row_circle(shared) is not None:
            way = self._terms(shared, blocks, sums, sizes, laned=True)
        if not way.pays and not asked:
            return None
        names = ", ".join(dict.fromkeys(each.stage.name for each in sums))
        by = f"{way.every} x {way.every}" if blocks.columns else str(way.every)
        note = f"{names} in blocks of {by} steps: {way.seconds:.3g} s, {way.alone:.3g} s step by step"
        blocked = in_blocks(shared, blocks, sums, way.every, taken)
        return Instead(_by_number(shared.section, blocked, way.least), note=note)

    def _may_split(self, stage: Stage) -> bool:
        """Whether a stage is a sum whose terms may be joined in another order."""
        if stage.op is None:
            return False
        return stage.op in EXTREMES or stage.dtype.kind in "iu" or self.reassociates

    def _rows(self, shared: SharedArrays, sums: Sequence[EarlySum], sizes: Mapping[str, int]) -> _Blocks:
        """Of sums along rows that each step has for itself: memory gives several quicker than one."""
        machine, every = self.machine, SIDE
        rows = late = count = 0.0
        for each in sums:
            size = sum(load.dtype.size for load in each.streamed)
            for steps, inside in _samples(shared, each, sizes):
                terms = counts_at(each.item.domain, inside)[-1]
                rows, late = rows + size * steps * terms, late + size * steps * min(terms, every / 2)
                count += steps / len(sums)
        far, level = rows > machine.l3_bytes, MEMORY if rows > machine.l3_bytes else 3
        one = machine.bandwidth(level)
        several = machine.rows_bandwidth() if far else one
        seconds = (rows - late) / several + late / one + BLOCK_SECONDS * count / every
        least = ceil(count * sqrt(machine.l3_bytes / rows)) if far else 0
        return _Blocks(every, seconds, rows / one, max(least, FEWEST * every), ROWS_CLEARLY)

    def _terms(
        self,
        shared: SharedArrays,
        blocks: StepBlocks,
        sums: Sequence[EarlySum],
        sizes: Mapping[str, int],
        *,
        laned: bool = False,
    ) -> _Blocks:
        """Of sums whose operands go into several results, both ways on one thread.

        laned: rows of single steps are the lanes of vectors, wherever elements of a sum lie.
        """
        every, blocked, alone = SIDE if blocks.columns else STEPS, 0.0, 0.0
        for each in sums:
            for steps, inside in _samples(shared, each, sizes) if each.blocks is blocks else ():
                *others, terms = counts_at(each.item.domain, inside)
                results, late = steps * prod(others), min(terms, every / 2)
                early_term, late_term = self._term(each, terms)
                one_by_one = early_term * PRODUCT_SHARE / VECTOR_SHARE if laned else late_term
                alone += results * terms * one_by_one
                blocked += results * (late * late_term + (terms - late) * early_term)
                blocked += POINT_SECONDS * results if blocks.columns else 0.0
                blocked += BLOCK_SECONDS * steps / every ** len(blocks.steps)
        return _Blocks(every, blocked, alone, FEWEST * every, CLEARLY)

    def _term(self, each: EarlySum, terms: int) -> tuple[float, float]:
        """Seconds of a term of a block, and of one of so many that are summed up by themselves."""
        operations, size = 1 + expression_operations(each.item.expr), each.stage.dtype.size
        machine = self.machine
        one = operations / machine.peak_flops(size)
        is_product = each.stage.op is Op.Sum and each.stage.dtype.kind == "f"
        early = one / (PRODUCT_SHARE if is_product else VECTOR_SHARE)
        if each.item.dims[:-1] or not any(_is_apart(load.indices, each.reduced) for load in each.operands):
            return early, one / VECTOR_SHARE
        computing = NO_BLOCK * operations / machine.peak_flops(max(size, WORD)) / VECTOR_SHARE
        lines = terms * machine.line_bytes
        level = next((level for level in (1, 2, 3) if lines <= machine.capacity(level)), MEMORY)
        moving = 0.0 if level == 1 else machine.line_bytes / machine.bandwidth(level)
        return early, max(computing, moving)


def _by_number(
    section: StepSection[Pipeline], blocked: StepSection[Pipeline], least: int
) -> tuple[StepSection[Pipeline], StepSection[Pipeline]]:
    """Steps one by one where they are few, and else in blocks."""
    assert section.steps is not None
    assert blocked.steps is not None
    few, many = replace(section.steps, below=least), replace(blocked.steps, least=least)
    return replace(section, steps=few), replace(blocked, steps=many)


def _is_apart(indices: Sequence[Affine], reduced: str) -> bool:
    """Whether elements that follow each other in a sum do not lie beside each other."""
    return any(reduced in form.names() for form in indices[:-1])


def _samples(
    shared: SharedArrays, each: EarlySum, sizes: Mapping[str, int]
) -> Iterator[tuple[float, Mapping[str, int]]]:
    """Some steps, each with how many it stands for, and the sizes there."""
    around = shared.section.steps
    assert around is not None
    for rows, row in _some(around.numbers(sizes)):
        here = {**sizes, around.name: row}
        if shared.inner is None:
            yield rows, here
            continue
        inner = shared.inner.sections[each.number].steps
        assert inner is not None
        for columns, column in _some(inner.numbers(here)):
            yield rows * columns, {**here, inner.name: column}


def _some(numbers: range) -> Iterator[tuple[float, int]]:
    count = min(SAMPLES, len(numbers))
    for number in range(count):
        yield len(numbers) / count, numbers[int((number + 0.5) * len(numbers) / count)]
