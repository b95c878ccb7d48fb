"""The table of contents of the compiler: every step from the user's outputs to a library, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from polymat.codegen.lower import lower
from polymat.codegen.orders import joined_programs
from polymat.codegen.program import Program, Source
from polymat.codegen.units import files, render
from polymat.decide.decider import Decider
from polymat.fusion.separate import separate
from polymat.graph.build import build
from polymat.graph.distinct import separate_names
from polymat.graph.group import Grouping
from polymat.graph.guards import leave_out_terms
from polymat.graph.inline import inline_pointwise
from polymat.graph.pipeline import Pipeline
from polymat.graph.sampled import compute_kept_samples
from polymat.graph.simplify import share_common_stages
from polymat.graph.stage import Stage
from polymat.graph.turned import turn_inputs
from polymat.graph.verify import verify
from polymat.idiom.find import is_called
from polymat.idiom.recursiveends import kept_of_chains
from polymat.memo import with_memo
from polymat.model.assumed import assumed_sizes
from polymat.options import SKIPPABLE, Options
from polymat.plan.schedule import Schedule
from polymat.request import Request
from polymat.rewrite.cascades import join_cascades
from polymat.rewrite.channels import join_channels
from polymat.rewrite.conversions import convert_once
from polymat.rewrite.interpolation import interpolate_by_phases
from polymat.rewrite.overlapsave import filter_by_blocks
from polymat.rewrite.plaintransforms import plain_transforms
from polymat.rewrite.productorder import order_products
from polymat.rewrite.sharedparts import share_expressions
from polymat.runtime.build import Built
from polymat.runtime.build import build as build_library

Level = Pipeline | Grouping | Schedule | Program | Source | Built


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """One compilation: what was asked for, and who decides about each of its pipelines."""

    request: Request
    deciders: dict[Pipeline, Decider] = field(default_factory=dict)

    def decider(self, pipeline: Pipeline) -> Decider:
        """The decider of a pipeline, the same for fusion and for what follows."""
        if pipeline not in self.deciders:
            self.deciders[pipeline] = _decider(pipeline, self.request)
        return self.deciders[pipeline]


def _decider(pipeline: Pipeline, asked: Request) -> Decider:
    return Decider(pipeline, asked.machine, asked.estimates, asked.options, asked.libraries)


def _always(_: Options) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Pass:
    """One step: what it takes and gives, why there is one, and the function.

    level: the part of the compiler that it belongs to, which `levels` yields by that name after the last of
    its passes.  run: the step, of what it takes and the job.  wanted: whether the options switch it on.
    instead: the step where `Options.skip` names it; a rewrite of a pipeline leaves that as it is.
    """

    name: str
    level: str
    takes: type
    gives: type
    why: str
    run: Callable[[Any, Job], Any]
    wanted: Callable[[Options], bool] = _always
    instead: Callable[[Any, Job], Any] = lambda level, _: level

    @property
    def is_skippable(self) -> bool:
        """Whether `Options.skip` may name it."""
        return self.name in SKIPPABLE

    def apply(self, level: Any, job: Job) -> Any:
        """Take the step from a level; the level itself where the pass is switched off."""
        options = job.request.options
        if not self.wanted(options):
            return level
        return self.instead(level, job) if self.name in options.skip else self.run(level, job)


def _tiled(options: Options) -> bool:
    return options.fuse and options.tile and options.cost == "time"


def _build(request: Request, _: Job) -> Pipeline:
    return verify(
        build(
            request.outputs,
            inputs=request.inputs,
            sizes=request.sizes,
            estimates=request.estimates,
            constraints=request.constraints,
            trim=request.trim,
        )
    )


def _turn(pipeline: Pipeline, job: Job) -> Pipeline:
    return turn_inputs(pipeline, job.request.fortran)


def _alone(rewrite: Callable[[Pipeline], Pipeline]) -> Callable[[Pipeline, Job], Pipeline]:
    """A rewrite that needs to know the pipeline alone."""
    return lambda pipeline, _: rewrite(pipeline)


def _order(pipeline: Pipeline, job: Job) -> Pipeline:
    asked = job.request
    ordered = order_products(pipeline, asked.options, asked.estimates, asked.machine)
    if not ordered.others:
        return ordered.pipeline
    return replace(ordered.pipeline, work=ordered.work, others=ordered.others)


def _cascades(pipeline: Pipeline, job: Job) -> Pipeline:
    asked = job.request
    return join_cascades(pipeline, asked.options, asked.estimates, asked.machine, asked.libraries)


def _blocks(pipeline: Pipeline, job: Job) -> Pipeline:
    asked = job.request
    return filter_by_blocks(pipeline, asked.options, asked.estimates, asked.machine, asked.libraries)


def _phases(pipeline: Pipeline, job: Job) -> Pipeline:
    asked = job.request
    return interpolate_by_phases(pipeline, asked.options, asked.machine, asked.libraries)


def _transforms(pipeline: Pipeline, job: Job) -> Pipeline:
    asked = job.request
    return plain_transforms(pipeline, asked.options, asked.estimates, asked.machine, asked.libraries)


def _inline(pipeline: Pipeline, job: Job) -> Pipeline:
    options, sizes = job.request.options, assumed_sizes(pipeline, job.request.estimates)
    called = partial(is_called, extents=pipeline.extents, sizes=sizes, options=options)
    return inline_pointwise(pipeline, called, kept_of_chains(pipeline) if options.kernels else ())


def _is_called(stage: Stage, pipeline: Pipeline, asked: Request) -> bool:
    sizes = assumed_sizes(pipeline, asked.estimates)
    return is_called(stage, pipeline.context, pipeline.extents, sizes, asked.options)


def _join(pipeline: Pipeline, job: Job) -> Pipeline:
    called = partial(_is_called, asked=job.request)
    return join_channels(pipeline, job.request.machine, called)


def _share_parts(pipeline: Pipeline, job: Job) -> Pipeline:
    def predict(other: Pipeline) -> tuple[float, frozenset[str]]:
        return _decider(other, job.request).prediction()

    return share_expressions(pipeline, predict, partial(_is_called, asked=job.request))


def _fuse(pipeline: Pipeline, job: Job) -> Grouping:
    return job.decider(pipeline).grouping()


def _plan(grouping: Grouping, job: Job) -> Schedule:
    return job.decider(grouping.pipeline).schedule(grouping)


def _other_orders(schedule: Schedule, job: Job) -> Schedule:
    """The schedule with those of other orders of its products, unless the first call keeps results."""
    if schedule.kept:
        return schedule
    found = [(work, _scheduled(other, job)) for work, other in schedule.grouping.pipeline.others]
    others = tuple((work, other) for work, other in found if not other.kept)
    return replace(schedule, others=others) if others else schedule


def _scheduled(pipeline: Pipeline, job: Job) -> Schedule:
    """What the passes between the order of products and this one make of a pipeline in another order."""
    level: Any = pipeline
    for each in PASSES[position("products") + 1 : position("orders")]:
        level = each.apply(level, job)
    assert isinstance(level, Schedule)
    return level


def _lower(schedule: Schedule, job: Job) -> Program:
    name, options = job.request.name, job.request.options
    program = lower(schedule, name, options)
    if not schedule.others:
        return program
    others = [(work, lower(other, name, options)) for work, other in schedule.others]
    return joined_programs(schedule.grouping.pipeline.work, program, others)


def _render(program: Program, _: Job) -> Source:
    return Source(render(program.file), partial(files, program.file), program.flags)


def _compile(source: Source, job: Job) -> Built:
    return build_library(source.text, job.request.options, source.flags, source.files)


PASSES: tuple[Pass, ...] = (
    Pass("built", "built", Request, Pipeline, "frozen stages with exact domains, checked", _build),
    Pass("turn", "graph", Pipeline, Pipeline, "inputs by columns are their transposes by rows", _turn),
    Pass(
        *("names", "graph", Pipeline, Pipeline),
        "a reduced dimension has a name that no dimension of the result has",
        _alone(separate_names),
    ),
    Pass(
        *("terms", "graph", Pipeline, Pipeline),
        "sums run over the points alone whose terms a Select keeps",
        _alone(leave_out_terms),
    ),
    Pass(
        *("share", "graph", Pipeline, Pipeline),
        "stages with the same definition are computed once",
        _alone(share_common_stages),
        lambda options: options.share,
    ),
    Pass(
        *("samples", "graph", Pipeline, Pipeline),
        "of sums of which a few results are kept only those are computed",
        _alone(compute_kept_samples),
        lambda options: options.inline,
    ),
    Pass(
        *("products", "graph", Pipeline, Pipeline),
        "products of several arrays run in the quickest order, common factors taken out",
        _order,
        lambda options: options.reassociate,
    ),
    Pass("cascades", "graph", Pipeline, Pipeline, "filters in a row become one where that pays", _cascades),
    Pass("blocks", "graph", Pipeline, Pipeline, "long filters run by transforms of blocks", _blocks),
    Pass(
        *("phases", "graph", Pipeline, Pipeline),
        "interpolation by known taps runs phase by phase",
        _phases,
    ),
    Pass(
        *("transforms", "graph", Pipeline, Pipeline),
        "sums of waves become transforms that a library has, and a pass behind them",
        _transforms,
    ),
    Pass(
        *("inline", "graph", Pipeline, Pipeline),
        "point-wise stages are put into the stages that read them",
        _inline,
        lambda options: options.inline,
    ),
    Pass(
        *("inlined_terms", "graph", Pipeline, Pipeline),
        "the same as terms, for what was put into sums",
        _alone(leave_out_terms),
        lambda options: options.inline,
    ),
    Pass(
        *("join", "graph", Pipeline, Pipeline),
        "a short last dimension, channels say, is one with the dimension before it",
        _join,
        lambda options: options.join,
    ),
    Pass(
        *("convert", "graph", Pipeline, Pipeline),
        "stencils over small integers read floating-point copies",
        _alone(convert_once),
        _tiled,
    ),
    Pass(
        *("parts", "graph", Pipeline, Pipeline),
        "what several sums compute at the same points is a stage where that pays",
        _share_parts,
        lambda options: options.share and _tiled(options),
    ),
    Pass(
        *("fusion", "fusion", Pipeline, Grouping),
        "stages that share data are groups, by least predicted cost",
        _fuse,
        instead=lambda pipeline, _: separate(pipeline),
    ),
    Pass("tilesize", "tilesize", Grouping, Schedule, "every group has its quickest plan", _plan),
    Pass(
        *("orders", "codegen", Schedule, Schedule),
        "where no sizes are known, other orders of products stand beside it",
        _other_orders,
    ),
    Pass("codegen", "codegen", Schedule, Program, "a C function for every nest, and those exported", _lower),
    Pass("source", "source", Program, Source, "C text with what it needs of the library", _render),
    Pass("runtime", "runtime", Source, Built, "a library, from the cache or the C compiler", _compile),
)


def position(name: str) -> int:
    """The place of a pass in the list."""
    return [each.name for each in PASSES].index(name)


@with_memo
def levels_of(job: Job, passes: Sequence[Pass] = PASSES, level: Any = None) -> Iterator[tuple[Pass, Level]]:
    """Every pass in order with the level that follows from it.

    level: what the first pass takes; without one the request.
    """
    level = job.request if level is None else level
    for each in passes:
        level = each.apply(level, job)
        yield each, level
