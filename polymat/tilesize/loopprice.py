"""The time of a stage's loops, by what its points demand and what a core does in a second."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from math import ceil

from polymat.dataclass import dataclass
from polymat.graph.aligned import Member
from polymat.graph.operations import VECTOR_BYTES
from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.memo import remembered
from polymat.model.estimates import once_a_stage
from polymat.plan.loops import LoopPlan
from polymat.plan.tile import Plan, TilePlan
from polymat.plan.tileloops import RowLoop
from polymat.poly.staggered import ROWS
from polymat.tilesize.farresults import passes
from polymat.tilesize.pointdemand import PointDemand, point_demands
from polymat.tilesize.rowends import RowEnds, rows_of
from polymat.tilesize.shortloops import (
    computed_bytes,
    loop_lengths,
    row_terms,
    short_rows_slowdown,
    starting_operations,
)
from polymat.tilesize.stagework import VECTOR_SHARE, part_points, points, sum_operations
from polymat.tilesize.traffic import array_bytes

OVERLAP_LOSS = 0.3  # of the shorter one of arithmetic and data movement that the longer one does not hide
DIVISION = 10.0  # instructions that a division is worth, as inside of functions (`graph/operations.py`)
PICKED, GATHERED = 2.0, 3.0  # instructions on an element that goes into a vector: its index, load and insert
# Instructions that make unsigned numbers of 32 bits of floating-point ones: a comparison with 2**31, what is
# taken off above it and put back, and the conversion, which vectors of less than 512 bits have for int alone.
TO_UNSIGNED = 6.0
LEAST_BYTES = 4  # of the numbers that shorter ones are computed as, which C's are


@dataclass(frozen=True, slots=True)
class Rates:
    """Seconds of a core for what loops are made of.

    instruction: of arithmetic, of a vector or of one number.  unsigned: more than that, of one that makes
    unsigned numbers of floating-point ones.  division, shuffle: of a vector.  picked,
    gathered: of an element that goes into one, from every few-th place or from one that another element says.
    load: of a vector, or of one number.  byte: of neighbours that are loaded or stored by vectors, most of
    which cross a line of the cache where they are as long as one.  latency: until a multiply-add can be used.
    lanes, vector_bytes: of vectors.
    """

    instruction: float
    unsigned: float
    division: float
    shuffle: float
    picked: float
    gathered: float
    load: float
    byte: float
    latency: float
    lanes: int
    vector_bytes: int

    @staticmethod
    @remembered
    def of(machine: Machine, element_bytes: int) -> Rates:
        """Those of vectors of such elements, as measured, or else counted in instructions."""
        size = max(element_bytes, LEAST_BYTES)
        lanes, vector = machine.lanes(size), machine.vector_bits // 8
        load = vector / machine.bandwidth(1)
        instruction = 2.0 * lanes / machine.peak_flops(size)
        wide = max(1.0, vector / VECTOR_BYTES)
        beside = (DIVISION * instruction * wide, instruction, PICKED * instruction, GATHERED * instruction)
        measured = machine.vector_seconds(size)
        if measured is not None:
            beside = (measured.division, measured.shuffle, measured.picked, measured.gathered)
        across = machine.across_lines() or machine.bandwidth(1) / (1.0 + vector / machine.line_bytes)
        latency = machine.fma_latency / machine.hertz
        unsigned = 0.0 if machine.vector_bits >= 512 else (TO_UNSIGNED - 1.0) * instruction
        return Rates(instruction, unsigned, *beside, load, 1.0 / across, latency, lanes, vector)

    def by_vectors(self, point: PointDemand) -> float:
        """Of a point that is independent of others."""
        if point.backwards:
            return self.by_itself(point)
        computing = (self._arithmetic(point) + point.shuffles * self.shuffle) / self.lanes
        computing += point.picked * self.picked + point.gathered * self.gathered
        computing = max(computing, point.divisions * self.division / self.lanes)
        moving = point.bytes * self.byte + (point.picked + point.gathered) * self.load
        return max(computing, moving) + OVERLAP_LOSS * min(computing, moving)

    def by_itself(self, point: PointDemand) -> float:
        """Of a point that is independent of others, by single numbers."""
        computing, moving = self._arithmetic(point), point.accesses * self.load
        computing = max(computing, point.divisions * DIVISION * self.instruction)
        return max(computing, moving) + OVERLAP_LOSS * min(computing, moving)

    def of_rows(self, point: PointDemand, count: float, rows: RowEnds | None) -> float:
        """Of so many points in such rows, whose ends are half vectors and points by themselves.

        None: of rows without such ends.
        """
        if rows is None or point.backwards:
            return count * self.by_vectors(point)
        lanes = max(1, self.vector_bytes // point.smallest)
        vectors, points = rows.vectors_and_points(lanes)
        row = vectors * lanes * self.by_vectors(point) + points * self.by_itself(point)
        return count / rows.length * row

    def _arithmetic(self, point: PointDemand) -> float:
        return point.instructions * self.instruction + point.unsigned * self.unsigned

    def in_order(self, point: PointDemand, rows: int) -> float:
        """Of a point by single numbers that waits for the one before; those of so many rows take turns."""
        computing, moving = self._arithmetic(point), point.accesses * self.load
        dividing = point.divisions * DIVISION * self.instruction
        return max(computing, moving, dividing, point.chain * self.latency / rows)


def loop_operations(
    plan: Plan,
    stage: Stage,
    loops: LoopPlan,
    machine: Machine,
    estimates: Mapping[str, int],
    widest: int,
    unchanged: Collection[int] = (),
    *,
    ends: bool = False,
) -> float:
    """Operations, at the rate of loops on elements of `widest` bytes, that a stage's loops are worth.

    unchanged: the parts, by number, that nobody computes.  ends: whether loops end with each row.  Stages in
    one loop over rows have what they load in registers.  Rows of sums of a few terms, which are written out,
    count by what they load, and sums of what gcc makes no vectors of by points; other sums by their
    operations, each in the innermost loop that changes it: which of their loops is best is what register
    blocks and libraries are compared with, and nothing measured says how near to the peak they come.
    """
    starting = starting_operations(stage, estimates, loops, machine.lanes(stage.dtype.size))
    rates, along = Rates.of(machine, computed_bytes(stage)), _together(plan, stage, loops)
    terms = row_terms(stage, loops)
    if terms is not None:
        seconds = _rows_seconds(stage, estimates, loops, along, terms, rates)
        return seconds * machine.peak_flops(widest) * VECTOR_SHARE + starting
    demands = point_demands(stage, loops, along, loops.unroll)
    backwards = loops.adds_up and any(each.backwards for each in demands)
    if (loops.adds_up and not backwards) or loops.kind == "scatter":
        waiting = rates.latency * machine.peak_flops(widest) * VECTOR_SHARE / max(loops.unroll, 1)
        return sum_operations(stage, estimates, loops.order, loops.slowdown(1), waiting) + starting
    rows, registers, beside = loops.unroll, None, 1.0
    if plan.row_loop is not None:
        rows, registers = plan.row_loop.rows, frozenset(plan.scratch)
        starting, beside = 0.0, _computed_beside(plan, plan.row_loop, stage, estimates)
    given = (along, rows, rates, frozenset(unchanged), registers, ends)
    seconds = _seconds(stage, estimates, loops, *given) * beside
    seconds += _pairing_seconds(plan, stage, loops, machine, estimates)
    return seconds * machine.peak_flops(widest) * VECTOR_SHARE + starting


def _computed_beside(plan: Plan, loop: RowLoop, stage: Stage, estimates: Mapping[str, int]) -> float:
    """How many times the columns of a tile one loop over rows computes."""
    *_, last = plan.tile_sizes.values()
    width = min(last, loop_lengths(stage, estimates)[stage.dims[-1]])
    return computed_columns(loop, width) / max(1.0, width)


def stores_free(member: Member | None, *, rolls: bool) -> bool:
    """Whether two rows of results are stored side by side as quickly as one after the other.

    So it is taken to be in scratchpads and private copies, also where the first level holds them in part, and
    in tiles that roll, which ask for their lines before; not in an array (None: of a stage by itself).
    """
    return rolls or (member is not None and (member.private or member.scratch or member.copied))


def is_near(stage: Stage, machine: Machine, estimates: Mapping[str, int]) -> bool:
    """Whether the first level holds a stage's values beside as much that it reads."""
    return 2 * array_bytes(stage, estimates) <= machine.l1_bytes


def pairing_gain(stage: Stage, loops: LoopPlan, along: str | None, machine: Machine) -> float:
    """Seconds that a vector of results gains beside another row's, beyond the first level.

    What both load once, less what it costs to store two rows side by side.
    """
    rates = Rates.of(machine, computed_bytes(stage))
    one, two = (
        sum(map(rates.by_vectors, point_demands(stage, loops, along, rows))) for rows in (1, loops.unroll)
    )
    return (one - two) * rates.lanes - machine.pair_seconds()


def _pairing_seconds(
    plan: Plan, stage: Stage, loops: LoopPlan, machine: Machine, estimates: Mapping[str, int]
) -> float:
    """What it takes longer to store rows of results side by side."""
    rolls = isinstance(plan, TilePlan) and plan.rolling
    if loops.kind != "map" or loops.lanes == 1 or loops.unroll == 1:
        return 0.0
    if stores_free(plan.member(stage.name), rolls=rolls) or is_near(stage, machine, estimates):
        return 0.0
    return array_bytes(stage, estimates) / (machine.vector_bits / 8) * machine.pair_seconds()


def computed_columns(loop: RowLoop, width: float) -> float:
    """Columns that one loop over rows computes for a tile that is so wide: whole vectors, also beside it."""
    return loop.lanes * max(1.0, ceil((width + loop.trail - loop.lead) / loop.lanes))


def _together(plan: Plan, stage: Stage, loops: LoopPlan) -> str | None:
    """The dimension of which several points of a stage run together."""
    member = plan.member(stage.name)
    return loops.parallel if member is None else member.dims[loops.block]


@once_a_stage
def _rows_seconds(
    stage: Stage,
    estimates: Mapping[str, int],
    loops: LoopPlan,
    along: str | None,
    terms: tuple[int, ...],
    rates: Rates,
) -> float:
    """Of rows of sums of a few terms: what these load, and the result once more for each pass over it.

    before:  for k in 0..3: row += a(k) * rows(k)
    after:   row += a(0) * rows(0) + a(1) * rows(1) + a(2) * rows(2) + a(3) * rows(3), one pass
    """
    first = len(stage.parts)
    demands = point_demands(stage, loops, along, loops.unroll)
    seconds = sum(
        part_points(stage, part, estimates) * rates.by_vectors(each)
        for part, each in zip(stage.parts, demands[:first], strict=True)
    )
    for item, each, count in zip(stage.accumulations, demands[first:], terms, strict=True):
        moved = each.bytes + 2.0 * stage.dtype.size * passes(count, loops.addends) / count
        seconds += points(item.box, estimates) * rates.by_vectors(replace(each, bytes=moved))
    return seconds


@once_a_stage
def _seconds(
    stage: Stage,
    estimates: Mapping[str, int],
    loops: LoopPlan,
    along: str | None,
    rows: int,
    rates: Rates,
    unchanged: frozenset[int],
    registers: frozenset[str] | None,
    ends: bool,
) -> float:
    """Of a stage's loops, found once for all groups in which it has these."""
    counts = [
        0.0 if number in unchanged else part_points(stage, part, estimates)
        for number, part in enumerate(stage.parts)
    ]
    counts += [points(item.box, estimates) for item in stage.accumulations]
    pairs = [*zip(counts, point_demands(stage, loops, along, rows, registers), strict=True)]
    order = loops.recurrence
    if order is not None and order.loops and order.runs_alone:
        taking_turns = 1 if order.turns is None else ROWS
        return sum(count * rates.in_order(each, taking_turns) for count, each in pairs)
    slow = short_rows_slowdown(stage, loops, rates.lanes, VECTOR_SHARE)
    rows_apart = [rows_of(stage, estimates, number) if ends else None for number in range(len(stage.parts))]
    rows_apart += [None] * len(stage.accumulations)
    return slow * sum(
        rates.of_rows(each, count, found) for (count, each), found in zip(pairs, rows_apart, strict=True)
    )
