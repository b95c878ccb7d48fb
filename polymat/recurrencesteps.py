"""The steps of a compilation that are about recurrences: how the steps of these run, and what they keep."""

from __future__ import annotations

from functools import partial

from polymat.codegen.planes import planes_in_place
from polymat.decide.lanedrows import with_laned_rows
from polymat.decide.opensteps import StepsAsked
from polymat.decide.pointwisesteps import with_lone_points
from polymat.decide.segmentedsteps import with_segmented_steps
from polymat.decide.skewedsteps import keep_apart, with_skewed_steps
from polymat.decide.waitingsteps import Waits
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import Stepwise
from polymat.model.assumed import assumed_sizes
from polymat.plan.schedule import Schedule
from polymat.rewrite.sliced import in_slices
from polymat.rewrite.stepproducts import StepProducts
from polymat.rewrite.stepways import StepWays
from polymat.rewrite.sumblocks import SumBlocks
from polymat.steps import Job
from polymat.steptimes import StepTimes
from polymat.tilesize.namedgroups import alternatives, schemes_among


def take_bands(pipeline: Pipeline, job: Job) -> Pipeline:
    """Recurrences over time in bands of steps where that pays."""
    times, skipped = StepTimes(job), job.request.options.skip
    ways = StepWays(
        times.as_it_is,
        None if "skews" in skipped else times.following,
        times.one_by_one,
        _looped(job),
        None if "points" in skipped else times.by_points,
        job.request.options.bands,
    )
    return ways.decided(pipeline)


def _looped(job: Job) -> dict[str, frozenset[str]]:
    """The dimensions that all schemes of a stage by the user name."""
    texts = ((name, alternatives(text)) for name, text in job.request.options.schemes.items())
    given = {name: [scheme.dims for scheme in schemes_among(each)] for name, each in texts}
    return {name: frozenset.intersection(*each) for name, each in given.items() if each}


def take_slices(pipeline: Pipeline, job: Job) -> Pipeline:
    """Recurrences slice by slice where that pays."""
    asked = job.request
    sizes, points = assumed_sizes(pipeline, asked.estimates), "points" not in asked.options.skip
    return in_slices(pipeline, StepTimes(job).prices, sizes, looped=_looped(job), points=points)


def block_sums(level: Pipeline | Stepwise[Pipeline], job: Job) -> Pipeline | Stepwise[Pipeline]:
    """Circles in blocks of their steps where sums over finished blocks pay."""
    if not isinstance(level, Stepwise):
        return level
    asked = job.request
    untouched, lanes = frozenset(asked.options.schemes), "lanes" not in asked.options.skip
    blocks = SumBlocks(asked.machine, asked.estimates, asked.options.reassociate, untouched, lanes)
    return blocks.decided(level)


def multiply_steps(level: Pipeline | Stepwise[Pipeline], job: Job) -> Pipeline | Stepwise[Pipeline]:
    """Linear steps in blocks, each of which is a product, where that pays."""
    asked = job.request
    if not isinstance(level, Stepwise) or not asked.options.reassociate:
        return level
    times = StepTimes(job)
    both, alone = (partial(times.of_sections, each) for each in (times.prices.predict, times.prices.alone))
    return StepProducts(both, alone, frozenset(asked.options.schemes)).decided(level)


def set_apart(level: Pipeline | Stepwise[Pipeline], job: Job) -> Pipeline | Stepwise[Pipeline]:
    """Stages of steps that are to follow each other apart, and slices that wait where that pays."""
    kept = keep_apart(level) if isinstance(level, Stepwise) else level
    if not isinstance(kept, Stepwise):
        return kept
    asked = job.request
    free = job.without_schemes()
    waits = Waits(
        asked.machine,
        asked.estimates,
        job.threads,
        lambda pipeline, stage: free.decider(pipeline).ways((stage,)),
        lambda pipeline: free.decider(pipeline).predicted(),
        asked.options.schemes,
    )
    return waits.decided(kept)


def keep_all_apart(level: Pipeline | Stepwise[Pipeline], _: Job) -> Pipeline | Stepwise[Pipeline]:
    """Stages of steps that are to follow each other apart, where no slices wait."""
    return keep_apart(level) if isinstance(level, Stepwise) else level


def one_plane(schedule: Schedule | Stepwise[Schedule], _: Job) -> Schedule | Stepwise[Schedule]:
    """The schedule with one plane of states that each step may write over those of the step before."""
    return planes_in_place(schedule) if isinstance(schedule, Stepwise) else schedule


def lone_points(schedule: Schedule | Stepwise[Schedule], job: Job) -> Schedule | Stepwise[Schedule]:
    """The schedule with points that take all steps before others do, where they need no others."""
    return with_lone_points(schedule, _asked(job)) if isinstance(schedule, Stepwise) else schedule


def skew(schedule: Schedule | Stepwise[Schedule], job: Job) -> Schedule | Stepwise[Schedule]:
    """The schedule with steps that follow each other over their rows."""
    return with_skewed_steps(schedule, _asked(job)) if isinstance(schedule, Stepwise) else schedule


def segment(schedule: Schedule | Stepwise[Schedule], job: Job) -> Schedule | Stepwise[Schedule]:
    """The schedule with several steps in one pass over segments of the arrays."""
    return with_segmented_steps(schedule, _asked(job)) if isinstance(schedule, Stepwise) else schedule


def lane(schedule: Schedule | Stepwise[Schedule], job: Job) -> Schedule | Stepwise[Schedule]:
    """The schedule with rows that are the lanes of vectors, where sums may be added up in another order."""
    if not isinstance(schedule, Stepwise) or not job.request.options.reassociate:
        return schedule
    return with_laned_rows(schedule, _asked(job))


def _asked(job: Job) -> StepsAsked:
    asked, free = job.request, job.without_schemes()
    return StepsAsked(
        asked.machine,
        asked.estimates,
        job.threads,
        asked.options.schemes,
        lambda pipeline, stages: free.decider(pipeline).settled(stages),
    )
