"""Groups as the papers would have them: their cost, their tile sizes, their order of loops in a tile.

PolyMage matrix thesis, chapters 3 and 4: Algorithm 4 prices a group and takes its tile sizes from
Algorithm 3; before the thesis, Algorithm 1 with Algorithm 2.  Algorithm 5 chooses the innermost loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import inf

from polymat.dataclass import dataclass
from polymat.graph.aligned import Alignment, Fusable
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.machine.model import Machine
from polymat.model.describe import Placement, group_nest, stage_nest
from polymat.model.estimates import once_a_stage
from polymat.model.loopnest import LoopNest
from polymat.model.looporder import Innermost, innermost
from polymat.model.papercost import PaperCost, existing_cost, updated_cost
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import NestPlan
from polymat.plan.tile import Plan, TilePlan
from polymat.tilesize.copied import can_be_private
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.planner import plan_tiles


@dataclass(frozen=True, slots=True, eq=False)
class PaperPlan:
    """A plan and what the papers' algorithm says of its group; infinite cost and no plan where it refuses."""

    cost: PaperCost
    plan: Plan | None

    @property
    def value(self) -> float:
        """The cost that the partition adds up; finite for a single stage, which has to go somewhere."""
        if self.plan is None:
            return inf
        return self.cost.value if self.cost.value < inf else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class PaperPlanner:
    """Plans groups by Algorithms 3 to 5 of the thesis (`thesis`), or by Algorithms 1 and 2."""

    pipeline: Pipeline
    machine: Machine
    estimates: Mapping[str, int]
    thesis: bool

    def untiled(self, name: str) -> PaperPlan:
        """One stage in plain loops: a recurrence, say, whose points cannot be tiled."""
        stage = self.pipeline.stage(name)
        nest = stage_nest(stage, self.estimates)
        plan = plan_stage(Group((name,)), stage, self.pipeline.context, self.machine.vector_bits)
        return PaperPlan(self._cost(nest), self._ordered(stage, plan))

    def tiled(
        self, names: tuple[str, ...], alignment: Alignment, live: Sequence[str], choices: Iterable[Fusable]
    ) -> PaperPlan:
        """Stages in one loop over tiles along as many dimensions as one of the choices has.

        A single reduction is tiled along its summed dimensions too, as the thesis does with a matrix product;
        before the thesis single stages are not tiled.
        """
        stages = [self.pipeline.stage(name) for name in names]
        nest = aligned_nest(stages, alignment, live, self.estimates)
        cost = self._cost(nest)
        choice = _widest(stages, choices)
        if len(names) == 1 and (choice is None or cost.tiles is None or not self.thesis):
            return self.untiled(names[0])
        if choice is None:
            reason = "no dimension that all stages have can be tiled"
            return PaperPlan(PaperCost(inf, reason=reason), None)
        if cost.tiles is None:
            return PaperPlan(cost, None)
        sizes = tuple(cost.tiles.by_dim.get(dim, 1) for dim in choice.dims)
        plan = plan_tiles(
            self.pipeline,
            Group(names),
            choice.dims,
            choice.members,
            self.machine,
            self.estimates,
            sizes,
            roll=False,
        )
        return PaperPlan(cost, self._in_order(plan))

    def _cost(self, nest: LoopNest) -> PaperCost:
        return (updated_cost if self.thesis else existing_cost)(nest, self.machine)

    def _in_order(self, plan: TilePlan) -> TilePlan:
        loops = {name: self._ordered(self.pipeline.stage(name), inner) for name, inner in plan.loops.items()}
        return replace(plan, loops=loops)

    def _ordered(self, stage: Stage, plan: NestPlan) -> NestPlan:
        """The loops with Algorithm 5's dimension innermost, where a kind of loops has it there."""
        if not self.thesis or not isinstance(plan, LoopPlan) or not (plan.adds_up or plan.kind == "map"):
            return plan
        found = stage_scores(stage, self.estimates)
        if found.choice is None or found.choice == plan.order[-1]:
            return plan
        reason = f"Algorithm 5 has {found.choice} innermost"
        if plan.kind == "map":
            order = (*(dim for dim in plan.order if dim != found.choice), found.choice)
            return replace(plan, order=order, vector=found.choice, reason=reason)
        reduced = max((a.reduced_dims for a in stage.accumulations), key=len)
        if plan.kind == "reduce" and stage.dims and found.choice == stage.dims[-1]:
            order = (*stage.dims[:-1], *reduced, stage.dims[-1])
            return replace(plan, kind="row", order=order, vector=found.choice, reason=reason)
        if plan.kind == "row" and reduced and found.choice == reduced[-1]:
            return replace(
                plan, kind="reduce", order=(*stage.dims, *reduced), vector=found.choice, reason=reason
            )
        return plan


@once_a_stage
def stage_scores(stage: Stage, estimates: Mapping[str, int]) -> Innermost:
    """Algorithm 5's scores of a stage's loops."""
    return innermost(stage_nest(stage, estimates))


def aligned_nest(
    stages: Sequence[Stage], alignment: Alignment, live: Sequence[str], estimates: Mapping[str, int]
) -> LoopNest:
    """The nest of a group whose stages lie on common dimensions; live: those needed afterwards."""
    placed = {stage.name: _placement(alignment, stage.name) for stage in stages}
    return group_nest(stages, placed, estimates, live_out=live, dims=alignment.dims)


def _placement(alignment: Alignment, stage: str) -> Placement:
    """For each dimension of a stage the point of it that belongs to one of the group's dimension.

    The models see a coarse stage's points at each of the group's points that they take up.
    """
    along = zip(alignment.dims, alignment.along[stage], alignment.scales[stage], strict=True)
    return {
        own: _points(dim, scale.numerator, scale.denominator)
        for dim, own, scale in along
        if own is not None and scale.numerator > 0
    }


# A formula of names and numbers, of which nothing belongs to one pipeline.
# Of numbers and a name alone, of any pipeline.
@lru_cache(maxsize=4096)
def _points(dim: str, numerator: int, denominator: int) -> Affine:
    """The point of a stage that belongs to one of a dimension, at which its points lie so far apart."""
    return Affine.name(dim).scale(denominator).floordiv(numerator)


def _widest(stages: Sequence[Stage], choices: Iterable[Fusable]) -> Fusable | None:
    """The choice of most dimensions that all stages have.

    Sums are added up tile by tile only where one stage is by itself.
    """
    alone = stages[0] if len(stages) == 1 else None
    common = [choice for choice in choices if all(None not in member.dims for member in choice.members)]
    usable = [c for c in common if not c.privates or (alone is not None and _in_place(alone, c))]
    return max(usable, key=lambda choice: len(choice.dims), default=None)


def _in_place(stage: Stage, choice: Fusable) -> bool:
    """Whether threads add to different points: the outermost tiled dimension is one of the result."""
    return choice.members[0].dims[0] in stage.dims and can_be_private(stage)
