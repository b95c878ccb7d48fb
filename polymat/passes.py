"""The table of contents of the compiler: every step from the user's outputs to a library, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import polymat.recurrencesteps as recurring
from polymat.codegen.program import CSource, Program
from polymat.compilerpass import Pass
from polymat.graph.borders import split_borders
from polymat.graph.distinct import separate_names
from polymat.graph.fewextremes import write_out_extremes
from polymat.graph.group import Grouping, separate
from polymat.graph.guards import leave_out_terms
from polymat.graph.inlinedplanes import inline_planes
from polymat.graph.inlinedturns import inline_turns
from polymat.graph.interiors import split_interiors
from polymat.graph.pipeline import Pipeline
from polymat.graph.placesofextremes import find_positions
from polymat.graph.sampled import compute_kept_samples
from polymat.graph.sections import in_sections
from polymat.graph.simplify import share_common_stages
from polymat.graph.unreadborders import leave_out_borders
from polymat.memo import with_memo
from polymat.options import Options
from polymat.plan.schedule import Schedule
from polymat.request import Request
from polymat.rewrite.conversions import convert_once
from polymat.rewrite.saturated import narrow_tables
from polymat.runtime.libraryfile import Built
from polymat.steps import (
    Job,
    Level,
    alone,
    build_stages,
    compile_source,
    filter_blocks,
    fold,
    fuse,
    inline,
    join,
    join_filters,
    lower_schedule,
    merge_products,
    order,
    pitch,
    plan,
    render_program,
    replace_waves,
    same_stages,
    share_parts,
    split_phases,
    turn,
)


def _tiled(options: Options) -> bool:
    return options.fuse and options.tile and options.cost == "time"


def _inlining(options: Options) -> bool:
    return options.inline


def _in_vectors(options: Options) -> bool:
    return options.unroll and options.vector and not options.scheme


def _inlined(options: Options) -> bool:
    return options.inline and options.unroll and options.vector and _tiled(options)


def _abreast(options: Options) -> bool:
    asked = options.siblings and options.kernels and options.inline and "inline" not in options.skip
    return asked and options.blas != "always" and _tiled(options)


def _other_orders(schedule: Schedule, job: Job) -> Schedule:
    """The schedule with those of other orders of its products, unless the first call keeps results."""
    if schedule.kept:
        return schedule
    job = Job(replace(job.request, found=None))  # what was measured is of this order alone
    first = schedule.grouping.pipeline
    found = [(work, _scheduled(other, job, first)) for work, other in first.others]
    others = tuple((work, other) for work, other in found if not other.kept)
    return replace(schedule, others=others) if others else schedule


def _scheduled(pipeline: Pipeline, job: Job, first: Pipeline) -> Schedule:
    """What the passes between the order of products and this one make of a pipeline in another order.

    Schemes are for the first one: those of stages that are the same in this one count here as well.
    """
    found = _by_passes(pipeline, job.without_schemes())
    kept = job.without_schemes(same_stages(found.grouping.pipeline, first))
    return _by_passes(pipeline, kept) if kept.request.options.scheme else found


def _by_passes(pipeline: Pipeline, job: Job) -> Schedule:
    level: Any = pipeline
    for each in PASSES[position("products") + 1 : position("orders")]:
        level = each.apply(level, job)
    assert isinstance(level, Schedule)
    return level


def _rewrite(name: str, why: str, *run: Any, joins: bool = False, of_steps: bool = False) -> Pass:
    """A pass from one pipeline to another one; run: as in `Pass`, with what follows there."""
    made = Pass(name, "graph", Pipeline, Pipeline, why, *run)
    return replace(made, joins=joins, of_steps=of_steps)


PASSES: tuple[Pass, ...] = (
    Pass("built", "built", Request, Pipeline, "frozen stages with exact domains, checked", build_stages),
    _rewrite("turn", "inputs by columns are their transposes by rows", turn),
    _rewrite("pitch", "inputs with rows apart are parts of larger arrays", pitch),
    _rewrite(
        "bands",
        "recurrences over time take several steps at a time, in bands or one behind another, where it pays",
        *(recurring.take_bands, _tiled),
        of_steps=True,
    ),
    _rewrite(
        "slices",
        "recurrences take all steps of one slice before the next one, where it pays",
        *(recurring.take_slices, _tiled),
        of_steps=True,
    ),
    _rewrite(
        "sections",
        "functions that need each other run step by step, in a pipeline of their own",
        alone(in_sections),
    ),
    _rewrite(
        "sums",
        "sums in circles add up at once what finished blocks have, where it pays",
        *(recurring.block_sums, _tiled),
        joins=True,
        of_steps=True,
    ),
    _rewrite(
        "linear",
        "steps that exchange rows and add multiples of one are a product for columns behind, where it pays",
        *(recurring.multiply_steps, _tiled),
        joins=True,
        of_steps=True,
    ),
    _rewrite(
        "names", "a reduced dimension has a name that no dimension of the result has", alone(separate_names)
    ),
    _rewrite("terms", "sums run over the points alone whose terms a Select keeps", alone(leave_out_terms)),
    _rewrite(
        "share",
        "stages with the same definition are computed once",
        *(alone(share_common_stages), lambda options: options.share),
    ),
    _rewrite(
        "extremes",
        "minima and maxima of a few terms of a known number are written out",
        *(alone(write_out_extremes), _in_vectors),
    ),
    _rewrite(
        "samples",
        "of sums of which a few results are kept only those are computed",
        *(alone(compute_kept_samples), _inlining),
    ),
    _rewrite(
        "products",
        "products of several arrays run in the quickest order, common factors taken out",
        *(order, lambda options: options.reassociate),
    ),
    _rewrite("cascades", "filters in a row become one where that pays", join_filters),
    _rewrite("blocks", "long filters run by transforms of blocks", filter_blocks),
    _rewrite("phases", "interpolation by known taps runs phase by phase", split_phases),
    _rewrite(
        "transforms",
        "sums of waves become transforms that a library has, and a pass behind them",
        replace_waves,
    ),
    _rewrite("inline", "point-wise stages are put into the stages that read them", inline, _inlining),
    _rewrite("inlined_terms", "terms, of what was put into sums", alone(leave_out_terms), _inlining),
    _rewrite("tables", "tables are kept up to where they stay the same", alone(narrow_tables), _inlining),
    _rewrite(
        "abreast", "products of one large operand with several small ones are one", merge_products, _abreast
    ),
    _rewrite(
        "join",
        "a short last dimension, channels say, is one with the dimension before it",
        *(join, lambda options: options.join),
    ),
    _rewrite(
        "convert", "stencils over small integers read floating-point copies", alone(convert_once), _tiled
    ),
    _rewrite(
        "parts",
        "what several sums, or look-ups of a row, compute again and again is a stage where that pays",
        *(share_parts, lambda options: options.share and _tiled(options)),
    ),
    _rewrite(
        "borders",
        "borders that a Select tells from the interior are parts of their own, those that nobody reads none",
        alone(lambda pipeline: leave_out_borders(split_interiors(split_borders(pipeline)))),
    ),
    _rewrite(
        "positions", "extremes and their first places are found together", alone(find_positions), _tiled
    ),
    _rewrite(
        "inlined_turns",
        "even and odd points that one reader takes are computed there",
        alone(inline_turns),
        _inlined,
    ),
    _rewrite(
        "inlined_planes",
        "a stage that one reader takes at all planes of a point is computed there",
        alone(inline_planes),
        _inlined,
    ),
    _rewrite(
        "waits",
        "slices wait for blocks of steps where it pays; steps that are to follow each other have loops apart",
        *(recurring.set_apart, _tiled, recurring.keep_all_apart),
        joins=True,
        of_steps=True,
    ),
    Pass(
        *("fusion", "fusion", Pipeline, Grouping),
        "stages that share data are groups, by least predicted cost",
        fuse,
        instead=lambda pipeline, _: separate(pipeline),
    ),
    Pass("tilesize", "tilesize", Grouping, Schedule, "every group has its quickest plan", plan),
    Pass(
        "folds", "codegen", Schedule, Schedule, "recurrences keep the steps alone that are read again", fold
    ),
    Pass(
        *("orders", "codegen", Schedule, Schedule),
        *("where no sizes are known, other orders of products stand beside it", _other_orders),
    ),
    Pass(
        *("planes", "codegen", Schedule, Schedule),
        *("states that a step may change in place keep one plane", recurring.one_plane),
        lambda options: "folds" not in options.skip,
        joins=True,
        of_steps=True,
    ),
    Pass(
        *("points", "codegen", Schedule, Schedule),
        *("points that need no others take all steps before the next ones", recurring.lone_points, _tiled),
        joins=True,
        of_steps=True,
    ),
    Pass(
        *("skews", "codegen", Schedule, Schedule),
        *("steps follow each other over rows that stay in a cache", recurring.skew, _tiled),
        joins=True,
        of_steps=True,
    ),
    Pass(
        *("segments", "codegen", Schedule, Schedule),
        *("several steps along a line go in one pass, its vectors unshifted", recurring.segment, _tiled),
        joins=True,
        of_steps=True,
    ),
    Pass(
        *("lanes", "codegen", Schedule, Schedule),
        *("rows of sums that need finished rows are the lanes of vectors", recurring.lane, _tiled),
        joins=True,
        of_steps=True,
    ),
    Pass(
        *("codegen", "codegen", Schedule, Program),
        *("a C function for every nest, and those exported", lower_schedule),
        joins=True,
    ),
    Pass("source", "source", Program, CSource, "C text with what it needs of the library", render_program),
    Pass("runtime", "runtime", CSource, Built, "a library, from the cache or the C compiler", compile_source),
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
