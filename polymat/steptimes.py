"""What the steps of recurrences are predicted to take, in each of the ways in which they may run."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from math import inf

from polymat.decide.pointwisesteps import seconds_by_points
from polymat.decide.skewedsteps import followed
from polymat.graph.group import separate
from polymat.graph.lonepoints import point_steps
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import StepSection, Stepwise
from polymat.model.assumed import assumed_sizes
from polymat.model.stepcalls import STEP_SECONDS
from polymat.rewrite.sliced import Predict, Prices
from polymat.rewrite.stepways import Followed
from polymat.steps import Job, inline


class StepTimes:
    """Predicted seconds of a compilation's pipelines, and of their sections in each way.

    Of steps one by one, and of points that take them by themselves, as if nobody said what loops stages have.
    """

    def __init__(self, job: Job) -> None:
        self.job, self.free, self.asked = job, job.without_schemes(), job.request

    def as_it_is(self, pipeline: Pipeline) -> float:
        """Seconds of a pipeline whose stages are not put into their readers."""
        return self.free.decider(pipeline).predicted()

    def one_by_one(self, stepwise: Stepwise[Pipeline]) -> float:
        """Seconds of all sections, step after step; infinite where a step has sections itself."""
        sizes, seconds = assumed_sizes(stepwise.whole, self.asked.estimates), 0.0
        for section in stepwise.sections:
            steps = section.steps
            once = self.as_it_is(section.level) if isinstance(section.level, Pipeline) else inf
            seconds += once if steps is None else len(steps.numbers(sizes)) * (once + STEP_SECONDS)
        return seconds

    def following(self, section: StepSection[Pipeline], stepwise: Stepwise[Pipeline]) -> Followed | None:
        """Seconds of steps that follow each other over rows; None where they may not."""
        job = self.job
        found = followed(
            *(section, stepwise, self.asked.machine, self.asked.estimates, job.threads),
            lambda kept: job.decider(kept).schedule(separate(kept)),
        )
        return None if found is None else Followed(found.steps, found.seconds)

    def by_points(self, level: Pipeline | Stepwise[Pipeline]) -> float:
        """Seconds of a pipeline or of sections, whose points take steps by themselves if they may."""
        if isinstance(level, Pipeline):
            return _inlined(self.free, level)
        seconds, sizes = 0.0, assumed_sizes(level.whole, self.asked.estimates)
        for section in level.sections:
            steps, part = section.steps, section.level
            count = 1 if steps is None else len(steps.numbers(sizes))
            kept = inline(part, self.free) if isinstance(part, Pipeline) else part
            if steps is None or isinstance(kept, Stepwise) or point_steps(section, kept, level) is None:
                seconds += count * (STEP_SECONDS + self.by_points(kept))
                continue
            here = {**sizes, steps.name: 0}
            schedule = self.free.decider(kept).schedule(separate(kept))
            machine, threads = self.asked.machine, self.free.threads
            together = seconds_by_points(schedule, machine, here, max(count, 1), threads)
            seconds += STEP_SECONDS + together
        return seconds

    @cached_property
    def prices(self) -> Prices:
        """Prices of sections whose slices threads may share."""
        asked = self.asked
        single = Job(replace(asked, options=replace(asked.options, threads=1)))
        predict, alone = (partial(_inlined, each) for each in (self.job, single))
        return Prices(predict, asked.machine, asked.options, alone)

    def of_sections(self, predict: Predict, sections: Stepwise[Pipeline]) -> float:
        """Seconds of sections by a prediction of each, of which threads may share slices."""
        return self.prices.of(sections, assumed_sizes(sections.whole, self.asked.estimates), predict)


def _inlined(job: Job, pipeline: Pipeline) -> float:
    """Seconds of a pipeline whose stages are put into their readers."""
    return job.decider(inline(pipeline, job)).predicted()
