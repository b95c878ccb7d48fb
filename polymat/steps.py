"""The steps of a compilation, one a pass: each of the level before it and of what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import field, replace
from functools import partial
from typing import Any, TypeVar

from polymat.codegen.functionlimits import within_limits
from polymat.codegen.lanedwriter import with_laned_function
from polymat.codegen.lower import lower
from polymat.codegen.program import CSource, Program
from polymat.codegen.severalorders import joined_programs
from polymat.codegen.stepwiseprogram import lower_stepwise
from polymat.codegen.units import files, render
from polymat.dataclass import dataclass
from polymat.decide.changes import groups_found, noted
from polymat.decide.chosen import Ways
from polymat.decide.decider import Decider
from polymat.decide.folding import fold_storage
from polymat.decide.unused import check_effects
from polymat.decide.waitingsteps import loops_of_slices
from polymat.graph.build import build
from polymat.graph.columnmajor import turn_inputs
from polymat.graph.group import Grouping, separate
from polymat.graph.inline import inline_pointwise
from polymat.graph.laned import LanedRows
from polymat.graph.pipeline import Pipeline
from polymat.graph.pipelinetext import stage_lines
from polymat.graph.pitches import pitch_inputs
from polymat.graph.stage import Stage
from polymat.graph.stepwise import StepSection, Stepwise
from polymat.graph.verifypipeline import verify
from polymat.idiom.find import is_called
from polymat.idiom.recursiveends import kept_of_chains
from polymat.model.assumed import assumed_sizes
from polymat.options import LibraryUse
from polymat.plan.schedule import Schedule
from polymat.request import Request
from polymat.rewrite.abreast import multiply_abreast
from polymat.rewrite.cascades import join_cascades
from polymat.rewrite.channels import join_channels
from polymat.rewrite.interpolation import interpolate_by_phases
from polymat.rewrite.overlapsave import filter_by_blocks
from polymat.rewrite.plaintransforms import plain_transforms
from polymat.rewrite.productorder import order_products
from polymat.rewrite.sharedlookups import share_lookups
from polymat.rewrite.sharedparts import share_expressions
from polymat.runtime.libraryfile import Built
from polymat.runtime.libraryfile import build as build_library
from polymat.tilesize.namedgroups import fused_in

L = TypeVar("L")
Level = Pipeline | Grouping | Schedule | Stepwise[Any] | Program | CSource | Built


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One compilation: what was asked for, and who decides about each of its pipelines."""

    request: Request
    deciders: dict[Pipeline, Ways] = field(default_factory=dict)

    def decider(self, pipeline: Pipeline) -> Decider:
        """The decider of a pipeline, the same for fusion and for what follows."""
        return self.ways(pipeline).decider

    @property
    def threads(self) -> int:
        """The threads that a call may have at most."""
        return self.request.machine.team(self.request.options.threads)

    def without_schemes(self, but: Set[str] = frozenset()) -> Job:
        """This compilation where nobody says what loops stages have, but of some that name no others."""
        options = self.request.options
        if not options.schemes:
            return self
        kept = {name: text for name, text in options.schemes.items() if {name, *fused_in(text)} <= but}
        return Job(replace(self.request, options=replace(options, scheme=kept)))

    def ways(self, pipeline: Pipeline) -> Ways:
        """The ways of computing the groups of a pipeline, with register blocks as they were chosen."""
        if pipeline not in self.deciders:
            asked, found = self.request, groups_found(self.request)
            if found is not None:
                registers = found.choice.registers
                asked = replace(asked, machine=replace(asked.machine, registers=registers))
            options = asked.options
            always = replace(options, blas=_called(options.blas), fft=_called(options.fft))
            called = _decider(pipeline, replace(asked, options=always))
            self.deciders[pipeline] = Ways(_decider(pipeline, asked), called)
        return self.deciders[pipeline]


def _called(use: LibraryUse) -> LibraryUse:
    return "always" if use == "auto" else use


def _decider(pipeline: Pipeline, asked: Request) -> Decider:
    return Decider(pipeline, asked.machine, asked.estimates, asked.options, asked.libraries)


def build_stages(request: Request, _: Job) -> Pipeline:
    """The outputs as stages with exact domains, every access proved to be in bounds."""
    built = build(
        request.outputs,
        inputs=request.inputs,
        sizes=request.sizes,
        estimates=request.estimates,
        constraints=request.constraints,
        trim=request.trim,
    )
    return noted(verify(built), request)


def turn(pipeline: Pipeline, job: Job) -> Pipeline:
    """Inputs that calls give by columns as transposes of arrays by rows."""
    return turn_inputs(pipeline, job.request.fortran)


def pitch(pipeline: Pipeline, job: Job) -> Pipeline:
    """Inputs whose rows lie apart as rows of the larger arrays that they are parts of."""
    return pitch_inputs(pipeline, job.request.strided)


def alone(rewrite: Callable[[Pipeline], L]) -> Callable[[Pipeline, Job], L]:
    """A rewrite that needs to know the pipeline alone."""
    return lambda pipeline, _: rewrite(pipeline)


def order(pipeline: Pipeline, job: Job) -> Pipeline:
    """Products of several arrays in their quickest order, with the other orders where sizes are open."""
    asked = job.request
    ordered = order_products(pipeline, asked.options, asked.estimates, asked.machine)
    if not ordered.others:
        return ordered.pipeline
    return replace(ordered.pipeline, work=ordered.work, others=ordered.others)


def join_filters(pipeline: Pipeline, job: Job) -> Pipeline:
    """Filters in a row as one where that pays."""
    asked = job.request
    return join_cascades(pipeline, asked.options, asked.estimates, asked.machine, asked.libraries)


def filter_blocks(pipeline: Pipeline, job: Job) -> Pipeline:
    """Long filters by transforms of blocks where that pays."""
    asked = job.request
    return filter_by_blocks(pipeline, asked.options, asked.estimates, asked.machine, asked.libraries)


def split_phases(pipeline: Pipeline, job: Job) -> Pipeline:
    """Interpolation by known taps as a filter a phase."""
    asked = job.request
    return interpolate_by_phases(pipeline, asked.options, asked.machine, asked.libraries)


def replace_waves(pipeline: Pipeline, job: Job) -> Pipeline:
    """Sums of waves as transforms that a library has."""
    asked = job.request
    return plain_transforms(pipeline, asked.options, asked.estimates, asked.machine, asked.libraries)


def inline(pipeline: Pipeline, job: Job) -> Pipeline:
    """Point-wise stages put into those that read them, unless a library computes them."""
    options, sizes = job.request.options, assumed_sizes(pipeline, job.request.estimates)
    called = partial(is_called, extents=pipeline.extents, sizes=sizes, options=options)
    return inline_pointwise(pipeline, called, kept_of_chains(pipeline) if options.kernels else ())


def _is_called(stage: Stage, pipeline: Pipeline, asked: Request) -> bool:
    sizes = assumed_sizes(pipeline, asked.estimates)
    return is_called(stage, pipeline.context, pipeline.extents, sizes, asked.options)


def join(pipeline: Pipeline, job: Job) -> Pipeline:
    """A short last dimension as one with that before it."""
    return join_channels(pipeline, job.request.machine, partial(_is_called, asked=job.request))


def merge_products(pipeline: Pipeline, job: Job) -> Pipeline:
    """Products that share a large operand as one, where that pays."""
    asked = job.request
    named = frozenset(asked.options.schemes)

    def predict(other: Pipeline) -> float:
        return _decider(other if other is pipeline else inline(other, job), asked).predicted()

    changed = multiply_abreast(pipeline, predict, assumed_sizes(pipeline, asked.estimates), untouched=named)
    return pipeline if changed is pipeline else inline(changed, job)


def share_parts(pipeline: Pipeline, job: Job) -> Pipeline:
    """A stage of what several sums compute at the same points, or look-ups of a row, where that pays."""

    def predict(other: Pipeline) -> tuple[float, frozenset[str]]:
        decider = _decider(other, job.request)
        return decider.predicted(), decider.inside()

    pipeline = share_expressions(pipeline, predict, partial(_is_called, asked=job.request))
    sizes = assumed_sizes(pipeline, job.request.estimates)
    return share_lookups(pipeline, lambda other: predict(other)[1], sizes)


def same_stages(pipeline: Pipeline, other: Pipeline) -> frozenset[str]:
    """The stages that two pipelines define alike."""
    one, two = ({stage.name: [*stage_lines(stage)] for stage in each.stages} for each in (pipeline, other))
    return frozenset(name for name, lines in one.items() if two.get(name) == lines)


def fuse(pipeline: Pipeline, job: Job) -> Grouping:
    """The partition into groups that costs least, or that was found by measuring."""
    found = groups_found(job.request)
    if pipeline.apart:
        return separate(pipeline)
    return job.decider(pipeline).grouping() if found is None else job.ways(pipeline).grouping(found.choice)


def plan(grouping: Grouping, job: Job) -> Schedule:
    """The quickest plan of each group, by prediction or as it was found by measuring."""
    found = groups_found(job.request)
    if found is not None:
        return job.ways(grouping.pipeline).schedule(found.choice, found.told)
    free = job.without_schemes()  # slices wait in such loops alone, whoever else has said them
    waiting = loops_of_slices(grouping.pipeline, lambda each, stage: free.decider(each).ways((stage,)))
    return job.decider(grouping.pipeline).schedule(grouping, waiting or ())


def fold(schedule: Schedule, job: Job) -> Schedule:
    """The schedule with places for those elements of recurrences alone that are needed at a time."""
    return fold_storage(schedule, job.request.options.schemes)


def see_effects(schedule: Any, request: Request) -> None:
    """See that options which say how something is to be computed have an effect somewhere."""
    parts = [*schedule.flat()] if isinstance(schedule, Stepwise) else [schedule]
    check_effects(parts, request.options, request.estimates, request.machine, request.name)


def lower_schedule(
    schedule: Schedule | Stepwise[Schedule], job: Job, *, within: bool = False, clocked: bool = False
) -> Program:
    """The schedule as C functions, of all orders of its products, or of all sections.

    within: a call of it is a part of another one.  clocked: with a clock that notes when each section ends,
    or each group of what has none, of products in several orders the first.
    """
    program = _program(schedule, job, within, clocked)
    return program if within else within_limits(program)


def _program(schedule: Schedule | Stepwise[Schedule], job: Job, within: bool, clocked: bool) -> Program:
    name, options = job.request.name, job.request.options
    if isinstance(schedule, Stepwise):
        parts = [_lower_section(section, job) for section in schedule.sections]
        teams = [each.team for each in schedule.flat()]
        return lower_stepwise(
            schedule.with_levels(parts), name, options, teams, within=within, clocked=clocked
        )
    program = lower(schedule, name, options, within=within, clocked=clocked)
    if clocked or not schedule.others:
        return program
    others = [(work, lower(other, name, options, within=within)) for work, other in schedule.others]
    return joined_programs(schedule.grouping.pipeline.work, program, others)


def _lower_section(section: StepSection[Schedule], job: Job) -> Program:
    """The program of a section, with what computes some rows, points or steps where these go together."""
    together = section.together
    if isinstance(together, LanedRows):
        return with_laned_function(lower_schedule(section.level, job, within=True), together)
    if together is None or not isinstance(section.level, Schedule):
        return lower_schedule(section.level, job, within=True)
    asked = job.request
    return lower(section.level, asked.name, asked.options, within=True, together=together)


def render_program(program: Program, _: Job) -> CSource:
    """The C tree as text."""
    return CSource(render(program.file), partial(files, program.file), program.flags)


def compile_source(source: CSource, job: Job) -> Built:
    """The library of that text, from the cache or the C compiler."""
    return build_library(source.text, job.request.options, source.flags, source.files)
