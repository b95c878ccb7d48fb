"""In which direction groups run: back and forth over an array that several of them, or all steps, read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, loads_of
from polymat.machine.model import Machine
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import NestPlan
from polymat.plan.tile import Plan, TilePlan
from polymat.tilesize.plain import own_names
from polymat.tilesize.shortloops import level_lengths
from polymat.tilesize.tilesforthreads import IDLE_ROUNDS
from polymat.tilesize.traffic import input_bytes

ROWS_PASSED = 4  # at a time of an array that does not stay in the cache
REQUEST_BYTES = 1024  # ahead, in each of these rows
LONGEST = 128  # rows of a tile whose rows nothing reads again: what is made of each is long vectors


def back_and_forth(
    pipeline: Pipeline,
    plans: Sequence[Plan],
    seconds: Callable[[Plan], float],
    fixed: frozenset[str] = frozenset(),
) -> tuple[Plan, ...]:
    """The plans, those of tiles backwards where the group before went forwards over the same array.

    What it touched last is then found in the cache; in the same direction it would just have been replaced.
    Tiles run in any order, but for those of rolling plans.  fixed: stages whose tiles stay as they are.
    seconds: of a plan, by prediction: threads share tiles that run backwards along one dimension alone, so
    that these stay forwards where fewer threads would find some.
    """
    last: dict[str, bool] = {}
    found: list[Plan] = []
    for plan in plans:
        touched = _touched(pipeline, plan)
        known = [last[name] for name in touched if name in last]
        backwards = isinstance(plan, TilePlan) and plan.backwards
        is_fixed = not fixed.isdisjoint(plan.group.stages)
        may_turn = not is_fixed and known and not known[0]
        if (
            isinstance(plan, TilePlan)
            and not plan.rolling
            and may_turn
            and seconds(back := turned(plan)) <= seconds(plan)
        ):
            backwards, plan = True, back
        found.append(plan)
        last |= dict.fromkeys(touched, backwards)
    return tuple(found)


def turned(plan: TilePlan) -> TilePlan:
    """The plan with its tiles from the last to the first."""
    return replace(plan, backwards=True, reason=f"{plan.reason}; backwards over what is still cached")


def _touched(pipeline: Pipeline, plan: Plan) -> list[str]:
    """Arrays of two dimensions or more that a group reads or writes, in order, without its scratchpads."""
    names: dict[str, None] = {}
    for stage in map(pipeline.stage, plan.group.stages):
        names |= {load.source.name: None for load in stage.loads() if len(load.indices) > 1}
        names |= {stage.name: None} if len(stage.dims) > 1 else {}
    return [name for name in names if name not in plan.scratch]


def to_and_fro(
    pipeline: Pipeline,
    plans: Sequence[Plan],
    machine: Machine,
    estimates: Mapping[str, int],
    fixed: frozenset[str] = frozenset(),
    *,
    threads: int = 1,
) -> tuple[Plan, ...]:
    """The plans of a step, those over a large array that all steps read alike backwards at every other step.

    What one step read last is then found in a nearer cache by the next one; an array that is a little larger
    than the cache would just have been replaced there.  Fewer rows at a time ask for what comes next, since
    the processor notices neither where many rows go on together nor which way the next ones lie.
    Blocks and tiles are meant that run in any order, but for that of what they add.
    fixed: stages whose loops are as somebody said, who has not said which way they go, and for whom no number
    of rows changes.  threads: that share tiles.
    """
    sizes = {each.name: input_bytes(each, estimates) for each in pipeline.inputs}
    coming = {name: step for name, step in (pipeline.coming or {}).items() if sizes[name] > machine.l1_bytes}
    if not coming:
        return tuple(plans)
    walks = _Walks(pipeline, coming, fixed, threads, estimates)
    return tuple(map(walks.turned, plans))


@dataclass(frozen=True, slots=True)
class _Walks:
    """The arrays that steps walk over, each with the name of the step.

    fixed, threads: as in `to_and_fro`.
    """

    pipeline: Pipeline
    coming: Mapping[str, str]
    fixed: frozenset[str]
    threads: int
    estimates: Mapping[str, int]

    def turned(self, plan: Plan) -> Plan:
        """The plan with the step by which it turns, if it walks over one of them."""
        match plan:
            case LoopPlan():
                given = not self.fixed.isdisjoint(plan.group.stages)
                return self._turned_loops(plan, plan.parallel, given=given)
            case TilePlan(rolling=False, backwards=False, crossing=None):
                loops = {name: self._in_tile(plan, name) for name in plan.loops}
                found = (self._walked(member.stage, member.dims) for member in plan.members)
                step = next((step for step in found if step), "")
                if not step:
                    return plan
                reason = f"{plan.reason}; {_words(step)}"
                return self._in_longer_tiles(replace(plan, turning=step, loops=loops, reason=reason))
            case _:
                return plan

    def _in_longer_tiles(self, plan: TilePlan) -> TilePlan:
        """The plan with longer tiles, where none reads a row twice and threads still have many of them.

        Short tiles keep rows for who reads them next.  Where nobody does, what is made of the sums waits for
        each of them, in less than vectors.
        """
        is_said = plan.forced or plan.nest or not self.fixed.isdisjoint(plan.group.stages)
        if len(plan.sizes) > 1 or is_said or self._reads_rows_again(plan):
            return plan
        stages = {member.stage: self.pipeline.stage(member.stage) for member in plan.members}
        (length,) = level_lengths(stages, plan.members, self.estimates)
        most = min(LONGEST, length / (IDLE_ROUNDS * self.threads))
        size = plan.sizes[0]
        while 2 * size <= most:
            size *= 2
        if size == plan.sizes[0]:
            return plan
        reason = f"{plan.reason}; longer tiles, for no row is read twice"
        return replace(plan, sizes=(size,), solved=None, reason=reason)

    def _reads_rows_again(self, plan: TilePlan) -> bool:
        """Whether stages of a tile read, or make, rows of the same array, or each tile adds to all of one."""
        found: set[str] = set()
        for member in plan.members:
            stage = self.pipeline.stage(member.stage)
            rows = {load.source.name for load in stage.loads() if len(load.indices) > 1}
            rows |= {stage.name} if len(stage.dims) > 1 else set()
            if member.dims[0] is None or member.private or found & rows:
                return True
            found |= rows
        return False

    def _in_tile(self, plan: TilePlan, stage: str) -> NestPlan:
        loops = plan.loops[stage]
        if not isinstance(loops, LoopPlan):
            return loops
        dim = plan.member(stage).dims[loops.block]
        return self._turned_loops(loops, dim, given=stage in plan.given)

    def _turned_loops(self, plan: LoopPlan, dim: str | None, *, given: bool) -> LoopPlan:
        """Loops around blocks of sums, or of what is added to a row; dim: along which these run.

        given: the user has said how many rows a block has; more than few ask for nothing.
        """
        if plan.kind not in ("reduce", "row") or plan.unroll <= 1 or dim != plan.order[0]:
            return plan
        step = self._walked(plan.group.stages[0], (dim,))
        if not step:
            return plan
        rows = plan.unroll if given else min(plan.unroll, ROWS_PASSED)
        requests, reason = REQUEST_BYTES if rows <= ROWS_PASSED else 0, f"{plan.reason}; {_words(step)}"
        return replace(plan, turning=step, unroll=rows, requests=requests, reason=reason)

    def _walked(self, name: str, dims: Sequence[str | None]) -> str:
        """The step, where a stage reads other parts of an array along some dimensions, whatever that is."""
        stage = self.pipeline.stage(name)
        for item in stage.definitions():
            own = own_names(stage, item) if isinstance(item, Accumulation) and item.is_aligned else {}
            names = {own.get(dim, dim) for dim in dims if dim is not None}
            for load in loads_of(item):
                step = self.coming.get(load.source.name, "")
                used = {name for form in load.indices for name in form.names()}
                if len(load.indices) > 1 and step and step not in used and not used.isdisjoint(names):
                    return step
        return ""


def _words(step: str) -> str:
    return f"backwards where {step} is odd, over what is still cached"
