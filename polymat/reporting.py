"""What a compiled pipeline tells of itself when it is asked: `explain()`, its page, `profile()`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from polymat.codegen.explain import make_report
from polymat.codegen.explainsteps import make_stepwise_report
from polymat.codegen.productreport import Products
from polymat.codegen.profile import Profile
from polymat.codegen.program import Program
from polymat.codegen.report import Report
from polymat.decide.figures import Figures
from polymat.decide.placedsections import placed_sections
from polymat.graph.pipeline import Pipeline
from polymat.graph.pointsteps import PointSteps
from polymat.graph.skewed import SkewedSteps
from polymat.graph.stepwise import Stepwise
from polymat.model.assumed import assumed_sizes
from polymat.page.subject import StepwiseSubject, Subject
from polymat.plan.schedule import Schedule
from polymat.request import Request
from polymat.runtime.logs import log_schedule
from polymat.steps import Job, Level

T = TypeVar("T")


def told(scheduled: Level, last: Level) -> Level:
    """Plans as a report tells of them: with where states lie and how steps follow each other."""
    if isinstance(scheduled, Stepwise) and isinstance(last, Stepwise):
        pairs = zip(scheduled.sections, last.sections, strict=True)
        told_anew = (SkewedSteps, PointSteps)
        return last.with_levels(
            [
                new.level if isinstance(new.together, told_anew) else _told_of(old.level, new.level)
                for old, new in pairs
            ]
        )
    return _told_of(scheduled, last)


def _told_of(scheduled: T, last: Level) -> T | Schedule:
    """The schedule as it was decided, or without the outputs that something else is computed in."""
    return last if isinstance(last, Schedule) and last.in_outputs else scheduled


def reporter(
    request: Request, built: Pipeline, scheduled: Level, program: Program, seconds: Mapping[str, float]
) -> Callable[[], Report]:
    """Who makes the report when it is asked for; what was decided is told to the loggers now."""
    signature, buffers, estimates = program.signature, program.buffers, request.estimates
    if isinstance(scheduled, Stepwise):
        for part in scheduled.flat():
            log_schedule(request.name, part)
        subject = StepwiseSubject(built, scheduled, program, request)
        page = partial(_stepwise_page, subject)
        made = partial(make_stepwise_report, built, scheduled, signature, estimates, seconds, page)
        return partial(_with_threads, made, scheduled, built, request)
    assert isinstance(scheduled, Schedule)
    log_schedule(request.name, scheduled)
    pipeline = scheduled.grouping.pipeline
    products = Products(pipeline, scheduled, request.machine, request.options, estimates)
    page = partial(_page, Subject(built, scheduled, program, request))
    made = partial(make_report, built, scheduled, signature, buffers, estimates, seconds, products, page)
    return partial(_with_threads, made, scheduled, built, request)


def _with_threads(made: Callable[[], Report], scheduled: Level, built: Pipeline, request: Request) -> Report:
    """The report with the threads that it is for, and who prices its plans on others."""
    threads = request.machine.team(request.options.threads)
    return replace(made(), threads=threads, priced=partial(seconds_on, scheduled, built, request))


def seconds_on(scheduled: Level, built: Pipeline, request: Request, threads: int) -> float:
    """Predicted seconds of a call that so many threads share, at the sizes that predictions hold for."""
    if isinstance(scheduled, Stepwise):
        placed = placed_sections(scheduled, assumed_sizes(built, request.estimates))
        parts = [(each.times, each.schedule, each.figures(request.machine, threads)) for each in placed]
    else:
        assert isinstance(scheduled, Schedule)
        pipeline = scheduled.grouping.pipeline
        sizes = assumed_sizes(pipeline, request.estimates)
        parts = [(1, scheduled, Figures.at(pipeline, request.machine, sizes, threads))]
    return sum(
        times * figures.chosen(plan).seconds
        for times, schedule, figures in parts
        for plan in schedule.plans
        if schedule.kept.isdisjoint(plan.group.stages)
    )


def profile_of(scheduled: Level, last: Level, request: Request, *asked: Any) -> Profile:
    """The time of a call, group by group, or section by section; last: what becomes code."""
    from polymat.groupclock import profile, profile_sections  # imported where a profile is asked for

    if isinstance(scheduled, Stepwise) and isinstance(last, Stepwise):
        return profile_sections(scheduled, last, Job(request), *asked)
    assert isinstance(scheduled, Schedule)
    return profile(scheduled, Job(request), *asked)


def _page(subject: Subject, report: Report) -> str:
    """The page of a report."""
    from polymat.page.document import document  # imported where somebody looks at a page

    return document(subject, report)


def _stepwise_page(subject: StepwiseSubject, report: Report) -> str:
    """The page of what runs in sections."""
    from polymat.page.turns import stepwise_document  # imported where somebody looks at a page

    return stepwise_document(subject, report)
