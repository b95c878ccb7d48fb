"""The steps of a compilation that are about recurrences: how the steps of these run, and what they keep."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf

from polymat.codegen.planes import planes_in_place
from polymat.decide.opensteps import StepsAsked
from polymat.decide.pointwisesteps import seconds_by_points, with_lone_points
from polymat.decide.segmentedsteps import with_segmented_steps
from polymat.decide.skewedsteps import followed, keep_apart, with_skewed_steps
from polymat.decide.waitingsteps import Waits
from polymat.fusion.separate import separate
from polymat.graph.lonepoints import point_steps
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import StepSection, Stepwise
from polymat.model.assumed import assumed_sizes
from polymat.model.stepcalls import STEP_SECONDS
from polymat.plan.schedule import Schedule
from polymat.rewrite.sliced import Predict, Prices, in_slices
from polymat.rewrite.stepproducts import StepProducts
from polymat.rewrite.stepways import Followed, StepWays
from polymat.rewrite.sumblocks import SumBlocks
from polymat.steps import Job, inline
from polymat.tilesize.namedgroups import alternatives, schemes_among


def take_bands(pipeline: Pipeline, job: Job) -> Pipeline:
    """Recurrences over time in bands of steps where that pays."""
    asked, free = job.request, job.without_schemes()

    def following(section: StepSection[Pipeline], stepwise: Stepwise[Pipeline]) -> Followed | None:
        found = followed(
            *(section, stepwise, asked.machine, asked.estimates, job.threads),
            lambda kept: job.decider(kept).schedule(separate(kept)),
        )
        return None if found is None else Followed(found.steps, found.seconds)

    def predict(other: Pipeline) -> float:
        return free.decider(other).prediction()[0]

    def whole(stepwise: Stepwise[Pipeline]) -> float:
        sizes, seconds = assumed_sizes(stepwise.whole, asked.estimates), 0.0
        for section in stepwise.sections:
            once = predict(section.level) if isinstance(section.level, Pipeline) else inf
            steps = section.steps
            seconds += once if steps is None else len(steps.numbers(sizes)) * (once + STEP_SECONDS)
        return seconds

    skipped, follow = asked.options.skip, None if "skews" in asked.options.skip else following
    points = None if "points" in skipped else partial(_by_points, job=free)
    return StepWays(predict, follow, whole, _looped(job), points).decided(pipeline)


def _by_points(level: Pipeline | Stepwise[Pipeline], job: Job) -> float:
    """Predicted seconds of a pipeline or of sections, whose points take steps by themselves if they may."""
    if isinstance(level, Pipeline):
        return _seconds_of(job, level)
    asked, seconds = job.request, 0.0
    sizes = assumed_sizes(level.whole, asked.estimates)
    for section in level.sections:
        steps, part = section.steps, section.level
        count = 1 if steps is None else len(steps.numbers(sizes))
        kept = inline(part, job) if isinstance(part, Pipeline) else part
        if steps is None or isinstance(kept, Stepwise) or point_steps(section, kept, level) is None:
            seconds += count * (STEP_SECONDS + _by_points(kept, job))
            continue
        here = {**sizes, steps.name: 0}
        schedule = job.decider(kept).schedule(separate(kept))
        together = seconds_by_points(schedule, asked.machine, here, max(count, 1), job.threads)
        seconds += STEP_SECONDS + together
    return seconds


def _looped(job: Job) -> dict[str, frozenset[str]]:
    """The dimensions that all schemes of a stage by the user name."""
    texts = ((name, alternatives(text)) for name, text in job.request.options.schemes.items())
    given = {name: [scheme.dims for scheme in schemes_among(each)] for name, each in texts}
    return {name: frozenset.intersection(*each) for name, each in given.items() if each}


def take_slices(pipeline: Pipeline, job: Job) -> Pipeline:
    """Recurrences slice by slice where that pays."""
    asked = job.request
    sizes, points = assumed_sizes(pipeline, asked.estimates), "points" not in asked.options.skip
    return in_slices(pipeline, _prices(job), sizes, looped=_looped(job), points=points)


def _prices(job: Job) -> Prices:
    asked = job.request
    single = Job(replace(asked, options=replace(asked.options, threads=1)))
    predict, alone = (partial(_seconds_of, each) for each in (job, single))
    return Prices(predict, asked.machine, asked.options, alone)


def _seconds_of(job: Job, pipeline: Pipeline) -> float:
    return job.decider(inline(pipeline, job)).prediction()[0]


def block_sums(level: Pipeline | Stepwise[Pipeline], job: Job) -> Pipeline | Stepwise[Pipeline]:
    """Circles in blocks of their steps where sums over finished blocks pay."""
    if not isinstance(level, Stepwise):
        return level
    asked = job.request
    blocks = SumBlocks(
        asked.machine, asked.estimates, asked.options.reassociate, frozenset(asked.options.schemes)
    )
    return blocks.decided(level)


def multiply_steps(level: Pipeline | Stepwise[Pipeline], job: Job) -> Pipeline | Stepwise[Pipeline]:
    """Linear steps in blocks, each of which is a product, where that pays."""
    asked = job.request
    if not isinstance(level, Stepwise) or not asked.options.reassociate:
        return level
    prices = _prices(job)

    def seconds(predict: Predict, sections: Stepwise[Pipeline]) -> float:
        return prices.of(sections, assumed_sizes(sections.whole, asked.estimates), predict)

    both, alone = (partial(seconds, each) for each in (prices.predict, prices.alone))
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
        lambda pipeline: free.decider(pipeline).prediction()[0],
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


def _asked(job: Job) -> StepsAsked:
    asked, free = job.request, job.without_schemes()
    return StepsAsked(
        asked.machine,
        asked.estimates,
        job.threads,
        asked.options.schemes,
        lambda pipeline, stages: free.decider(pipeline).settled(stages),
    )
