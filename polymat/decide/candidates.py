"""The plans that a group can be carried out by: loops, tiles, register blocks and library calls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from polymat.decide.callplans import CallPlanner
from polymat.decide.eliminationplans import EliminationPlanner
from polymat.decide.filterplans import FilterPlanner
from polymat.decide.positionplans import PositionPlanner
from polymat.decide.recursiveplans import RecursivePlanner
from polymat.decide.schemeplans import SchemePlanner
from polymat.fusion.alignment import align
from polymat.fusion.dag import Dag
from polymat.fusion.legality import choices_of, live_outs
from polymat.fusion.reads import Reads
from polymat.graph.aligned import Fusable, Refused
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.idiom.librarymodel import Libraries
from polymat.idiom.profit import is_mapped
from polymat.machine.model import Machine
from polymat.model.papercost import PaperCost
from polymat.options import Options
from polymat.plan.epilogue import EpiloguePlan
from polymat.plan.kernel import KernelPlan
from polymat.plan.library import CallPlan, TransformPlan
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import NestPlan
from polymat.plan.tile import Plan, TilePlan
from polymat.tilesize.copied import can_be_private, is_small
from polymat.tilesize.kernelplanner import described, is_worth, plan_kernel, upright
from polymat.tilesize.levels import overflows, plans_by_level
from polymat.tilesize.loopprice import is_near
from polymat.tilesize.paperplan import PaperPlan, PaperPlanner, aligned_nest
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.planner import (
    NO_CALLS,
    plan_alone,
    plan_row_blocks,
    plan_tiles,
)
from polymat.tilesize.pointreaders import plan_epilogue
from polymat.tilesize.register import unrolled
from polymat.tilesize.rowblocks import in_rows_of_tiles, is_chain
from polymat.tilesize.scatterorder import apart_innermost
from polymat.tilesize.streamed import past_caches, product_past_caches, tiles_past_caches
from polymat.tilesize.switches import switched
from polymat.tilesize.tilesforthreads import shared_out
from polymat.tilesize.transposed import plan_transposed

MOST_SIZED = 12  # stages of a group whose tiles are made to fit while groups are compared; of more, few do


class Candidates:
    """Finds the plans of groups of one pipeline, as far as `Options` leaves them.

    estimates: sizes that the user gave.  assumed: these, and a guess for every other size.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        reads: Reads,
        dag: Dag,
        machine: Machine,
        estimates: Mapping[str, int],
        assumed: Mapping[str, int],
        options: Options,
        threads: int,
        libraries: Libraries,
    ) -> None:
        self.pipeline, self.reads, self.dag = pipeline, reads, dag
        self.machine = machine
        self.given = estimates
        self.assumed = assumed
        self.options = options
        self.threads = threads
        self.calls = CallPlanner(pipeline, machine, assumed, options, threads, libraries, estimates)
        self.filters = FilterPlanner(self.calls)
        self.recursive = RecursivePlanner(pipeline, machine, options, assumed)
        self.positions = PositionPlanner(pipeline, machine, assumed)
        self.eliminations = EliminationPlanner(pipeline, machine, options, assumed, threads)
        self._wanted: dict[tuple[str, ...], CallPlan | TransformPlan | None] = {}
        self._blocks: dict[Stage, KernelPlan | None] = {}
        self.schemes = options.schemes
        self.planner = SchemePlanner(pipeline, machine, assumed, estimates, options, threads)
        self.papers = PaperPlanner(pipeline, machine, assumed, thesis=options.cost == "paper")

    def of(self, stages: tuple[str, ...]) -> list[Plan] | Refused:
        """Every plan of a group; at least one, or why there is none."""
        found_once = cache(lambda: self._every(stages))
        found = self.planner.plans(stages, found_once, self.by_level, self._usual)
        if found is not None or isinstance(every := found_once(), Refused):
            return every if found is None else found
        return self.planner.heeding(map(self._switched, every)) or every

    def _every(self, stages: tuple[str, ...]) -> list[Plan] | Refused:
        """Every plan of a group before `Options` change it."""
        loops = self._alone(stages) if len(stages) == 1 else self._together(stages)
        call = self.calls.plan(stages)
        found: list[Plan] = [] if isinstance(loops, Refused) else loops
        if call is not None:
            found = [call] if self._is_forced(call) else [*found, call]
        if self.options.blas != "always":
            blocks = (self.calls.merged(stages), self._epilogue(stages))
            found = [*found, *(plan for plan in blocks if plan is not None)]
        filtered, steps = self.filters.plan(stages), self.recursive.plan(stages)
        direct = (filtered, steps, self.eliminations.plan(stages, found), self.positions.plan(stages))
        found = [*found, *(plan for plan in direct if plan is not None)]
        return found or (loops if isinstance(loops, Refused) else Refused("no code for all in one loop"))

    def wanted(self, stages: tuple[str, ...]) -> CallPlan | TransformPlan | None:
        """The library calls of a group, where the user wants them in any case; found once."""
        if "always" not in (self.options.blas, self.options.fft):
            return None
        if stages not in self._wanted:
            call = self.calls.plan(stages)
            self._wanted[stages] = call if call is not None and self._is_forced(call) else None
        return self._wanted[stages]

    def _is_forced(self, call: CallPlan | TransformPlan) -> bool:
        return (self.options.blas if call.library == "blas" else self.options.fft) == "always"

    def mapped(self, stages: tuple[str, ...]) -> CallPlan | TransformPlan | None:
        """The library calls that a group is mapped to: by the thesis, or because the user wants them."""
        wanted = self.wanted(stages)
        if wanted is not None or self.options.cost != "paper":
            return wanted
        call = self.calls.plan(stages)
        return call if isinstance(call, CallPlan) and is_mapped(call.idiom, self.assumed) else None

    def of_papers(self, stages: tuple[str, ...]) -> PaperPlan:
        """The one plan that the papers' algorithms choose."""
        found = self._of_papers(stages)
        return found if found.plan is None else PaperPlan(found.cost, self._switched(found.plan))

    def _of_papers(self, stages: tuple[str, ...]) -> PaperPlan:
        called = next((name for name in stages if len(stages) > 1 and self.wanted((name,))), None)
        if called is not None:
            return PaperPlan(PaperCost(math.inf, reason=f"{called} is to be a library call"), None)
        choices = choices_of(self.reads, self.dag, stages)
        if isinstance(choices, Refused) or not self.options.tile:
            if len(stages) == 1:
                return self.papers.untiled(stages[0])
            reason = choices.reason if isinstance(choices, Refused) else "nothing is tiled"
            return PaperPlan(PaperCost(math.inf, reason=reason), None)
        usable = [choice for choice in choices.all() if self._is_usable(choice)]
        return self.papers.tiled(stages, choices.alignment, choices.live_outs, usable)

    def _switched(self, plan: Plan) -> Plan:
        return switched(plan, self.pipeline, self.given, self.options)

    def _alone(self, stages: tuple[str, ...]) -> list[Plan]:
        group, stage = Group(stages), self.pipeline.stage(stages[0])
        shared = not self.pipeline.alone
        free = is_near(stage, self.machine, self.assumed)
        plan = plan_alone(
            group, stage, self.pipeline.context, self.machine, shared=shared, given=self.given, free=free
        )
        if plan.members and not (self.options.tile and self.options.private):
            loops = plan_stage(group, stage, self.pipeline.context, self.machine.vector_bits, self.given)
            plan = unrolled(stage, loops)
        if plan.members and not all(item.is_aligned for item in stage.accumulations):
            # How many points there are the call knows, and threads cost nothing where few make no team.
            whole = plan_stage(group, stage, self.pipeline.context)
            return [plan] if is_small(stage, self.machine) else [plan, whole]
        if self.options.tile:
            if isinstance(plan, LoopPlan) and self.options.unroll:
                plan = apart_innermost(stage, plan, self.pipeline.context, self.machine, self.assumed)
            plan = plan_transposed(self.pipeline, group, stage, self.machine, self.assumed) or plan
        if isinstance(plan, LoopPlan) and self.options.vector:
            plan = past_caches(self.pipeline, stage, plan, self.machine)
        kernel = self._kernel(group, stage) if self.options.kernels else None
        return [plan] if kernel is None else [plan, self._past_caches(stage, kernel)]

    def has_scheme(self, stages: Sequence[str]) -> bool:
        """Whether loops of one of them are those of a scheme."""
        return self.planner.leads(stages)

    def _usual(self, stage: Stage) -> KernelPlan | None:
        """The plan around register blocks of a stage for which a scheme is given."""
        usual = self._register_blocks(Group((stage.name,)), stage)
        return None if usual is None else self._past_caches(stage, usual)

    def _kernel(self, group: Group, stage: Stage) -> KernelPlan | None:
        """A contraction around register blocks, where there is enough to do."""
        plan = self._register_blocks(group, stage)
        return plan if plan is not None and is_worth(plan, self.assumed) else None

    def _register_blocks(self, group: Group, stage: Stage) -> KernelPlan | None:
        """The plan of a contraction, found once: many groups have the same stage in them."""
        if stage not in self._blocks:
            product = (group, stage, self.pipeline.context, self.machine, self.assumed)
            self._blocks[stage] = plan_kernel(*product, policy=self.options.blocks, threads=self.threads)
        plan = self._blocks[stage]
        return plan if plan is None or plan.group == group else replace(plan, group=group)

    def _past_caches(self, stage: Stage, kernel: KernelPlan) -> KernelPlan:
        return product_past_caches(self.pipeline, stage, kernel, self.machine, self.assumed)

    def _epilogue(self, stages: tuple[str, ...]) -> EpiloguePlan | None:
        """A contraction around register blocks, and its readers on every complete part of the result."""
        if len(stages) < 2 or not self.options.kernels or not self.dag.is_convex(self.dag.mask(stages)):
            return None
        kernel = self._kernel(Group(stages), self.pipeline.stage(stages[0]))
        kernel = None if kernel is None else upright(kernel, self.assumed)
        live = live_outs(self.reads, stages)
        found = None if kernel is None else plan_epilogue(self.pipeline, kernel, live)
        if kernel is None or found is None:
            return found
        if not found.in_registers:
            kernel = described(replace(kernel, handed=True), self.assumed)
            return plan_epilogue(self.pipeline, kernel, live)
        last, kernel = self.pipeline.stage(stages[-1]), described(replace(kernel, ended=True), self.assumed)
        kernel = self._past_caches(last, kernel)
        return plan_epilogue(self.pipeline, kernel, live)

    def _together(self, stages: tuple[str, ...]) -> list[Plan] | Refused:
        calls = ((name, self.wanted((name,))) for name in stages)
        called = next((name for name, call in calls if call is not None and call.library == "blas"), None)
        if called is not None:
            return Refused(f"{called} is to be a library call")
        choices = choices_of(self.reads, self.dag, stages)
        if isinstance(choices, Refused):
            return choices
        any_order = self.planner.reorders(stages)
        usable = [choice for choice in choices.all(in_any_order=any_order) if self._is_allowed(choice)]
        found = [plan for choice in usable for plan in self._tiled(stages, choice)]
        widest = max(found, key=lambda plan: len(plan.dims), default=None)
        if widest is None or len(stages) > MOST_SIZED:
            return [*found]
        large = all(overflows(self.pipeline, each, self.machine, self.assumed) for each in found[::-1])
        return [*found, *self.by_level(widest)] if large else [*found]

    def by_level(self, plan: TilePlan) -> tuple[TilePlan, ...]:
        """The plan with tiles for every level of the caches, by the reuse equation; for loops alone."""
        names = plan.group.stages
        if plan.forced or plan.crossing is not None or not plan.of_loops_alone:
            return ()
        stages = [self.pipeline.stage(name) for name in names]
        nest = aligned_nest(stages, align(self.reads, names), live_outs(self.reads, names), self.assumed)
        return plans_by_level(self.pipeline, plan, nest, self.machine, self.assumed, self.threads)

    def _is_usable(self, choice: Fusable) -> bool:
        """Whether code can be generated for a choice, and `Options` does not switch it off."""
        if not self.options.overlap and any(margin != (0, 0) for margin in choice.margins):
            return False
        privates: Sequence[str] = choice.privates
        return all(can_be_private(self.pipeline.stage(name)) for name in privates)

    def _is_allowed(self, choice: Fusable) -> bool:
        return self._is_usable(choice) and (self.options.private or not choice.privates)

    def _tiled(self, stages: tuple[str, ...], choice: Fusable) -> list[TilePlan]:
        """The tiles of a choice in loops, and with the transforms among its stages by a library."""
        calls = self.calls.transforms_in(choice)
        loops = [] if calls and self.options.fft == "always" else [self._tiles(stages, choice, NO_CALLS)]
        products = {} if calls else self._products(choice)
        if loops and loops[0].rolling and self.planner.asked(stages):
            loops.append(self._tiles(stages, choice, NO_CALLS, roll=False))
        found = [*loops, self._tiles(stages, choice, calls)] if calls else loops
        if products:
            tile = (choice.dims, choice.members, self.machine, self.assumed)
            found = [*found, plan_row_blocks(self.pipeline, Group(stages), *tile, products)]
        smaller = [shared_out(self.pipeline, plan, self.assumed, self.threads) for plan in found]
        return [*found, *(plan for plan in smaller if plan is not None)]

    def _products(self, choice: Fusable) -> dict[str, KernelPlan]:
        """The stages that register blocks compute for the rows of a tile, where that is a gain."""
        if not self.options.kernels or self.options.blas == "always":
            return {}
        names = [member.stage for member in choice.members]
        found: dict[str, KernelPlan] = {}
        for member in choice.members:
            plan = self._register_blocks(Group((member.stage,)), self.pipeline.stage(member.stage))
            plan = None if plan is None else in_rows_of_tiles(plan, member, names, self.machine)
            if plan is not None:
                found[member.stage] = plan
        return found if is_chain(choice.members, found, self.pipeline) else {}

    def _tiles(
        self, stages: tuple[str, ...], choice: Fusable, calls: Mapping[str, NestPlan], *, roll: bool = True
    ) -> TilePlan:
        plan = plan_tiles(
            self.pipeline,
            Group(stages),
            choice.dims,
            choice.members,
            self.machine,
            self.assumed,
            roll=roll and self.options.rolling,
            calls=calls,
        )
        return tiles_past_caches(self.pipeline, plan, self.machine) if self.options.vector else plan
