"""Every group of a program beside the plans that it might have had: predicted and measured seconds."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from polymat.audit.audited import Audited, TimedPlan
from polymat.audit.yardstick import YARDSTICK
from polymat.bisect import first_difference
from polymat.checked import check
from polymat.dataclass import dataclass
from polymat.decide.chosen import AT_ALL_SIZES
from polymat.decide.figures import Figures
from polymat.errors import LangError
from polymat.graph.stepwise import Stepwise
from polymat.groupclock import Arrays, Clocked, clocked
from polymat.model.assumed import assumed_sizes
from polymat.model.confidence import worth_measuring
from polymat.passes import levels_of
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan
from polymat.request import Request
from polymat.runtime.diagnose import bind
from polymat.steps import Job

SECONDS = 1.0  # that all programs together are called by turns, while nothing else computes on the core
PATIENCE = 4.0  # times as long at most, where something does
MOST = 6  # other plans of a group
ROUNDS, MOST_CALLS = 3, 200  # at least; at most of one turn
TURN, LONG = 1e-3, 2e-2  # seconds of a turn, and of a call that begins with cold caches in any case
Array = npt.NDArray[Any]
_log = logging.getLogger("polymat.audit")


@dataclass(frozen=True, slots=True, eq=False)
class _Other:
    """A plan that was not taken: the number of its group, what it is, and the program with it.

    wrong: what is wrong with its results, or why there is no program.
    """

    group: int
    summary: str
    predicted: float
    program: Clocked | None
    wrong: str = ""

    @property
    def timed(self) -> TimedPlan:
        """What was found of it."""
        program = self.runs
        least = math.inf if program is None else program.least[self.group]
        return TimedPlan(self.summary, self.predicted, least, self.wrong)

    @property
    def runs(self) -> Clocked | None:
        """The program where it is right."""
        return None if self.wrong else self.program


def _near(figures: Figures, choice: Plan, plans: Sequence[Plan]) -> list[tuple[float, Plan]]:
    """The plans beside the choice that are predicted to be not much slower than the best."""
    priced = [(figures.price(plan).seconds, plan) for plan in plans]
    best = min([figures.price(choice).seconds, *(seconds for seconds, _ in priced)])
    limits = [worth_measuring(same_calls=plan.library == choice.library) for plan in plans]
    near = [each for each, limit in zip(priced, limits, strict=True) if each[0] <= limit * best]
    return sorted(near, key=lambda each: each[0])[:MOST]


def audit(
    request: Request,
    arguments: Mapping[str, Any],
    *,
    threads: int = 1,
    seconds: float | None = None,
    copied: Callable[[Array], Array] = np.copy,
) -> tuple[Audited, ...]:
    """Measure each group of a program, and its other plans in the place of the one that was chosen.

    arguments: of a call, by name; predictions are for its sizes.  seconds: of measuring, or a few calls.
    copied: makes the arrays that results are written to, which may matter where these lie in memory.
    What is tried next is told to the logger polymat.audit, for the case that it ends the process.
    """
    request = replace(request, options=replace(request.options, threads=threads))
    asked = _Audit.of(Job(request), arguments)
    out = tuple(copied(array) for array in asked.expected)
    return asked.found(out, SECONDS if seconds is None else seconds)


@dataclass(frozen=True, slots=True, eq=False)
class _Audit:
    """A program, what it computes from its arguments, and what is asked about its groups."""

    job: Job
    schedule: Schedule
    choice: Clocked
    figures: Figures
    arguments: Mapping[str, Any]
    expected: Arrays

    @staticmethod
    def of(job: Job, arguments: Mapping[str, Any]) -> _Audit:
        """Compile the program as it is, and call it."""
        schedule = _one_schedule(job)
        choice, pipeline = clocked(schedule, job), schedule.grouping.pipeline
        bound = bind(choice.compiled.signature, (), arguments)
        options, machine = job.request.options, job.request.machine
        sizes = assumed_sizes(pipeline, bound.sizes)
        figures = Figures.at(pipeline, machine, sizes, machine.team(options.threads))
        return _Audit(job, schedule, choice, figures, arguments, choice.results(arguments))

    def found(self, out: Arrays, seconds: float) -> tuple[Audited, ...]:
        """Measure all ways of all groups, with results in `out`."""
        others = {group: [*self._others(group)] for group in self.choice.groups}
        right = [other.runs for each in others.values() for other in each if other.runs is not None]
        self._by_turns([self.choice, *right], out, seconds)
        return tuple(self._audited(group, others[group]) for group in self.choice.groups)

    def _others(self, group: int) -> Iterator[_Other]:
        """The programs with other plans of a group, each C text once."""
        choice, known = self.schedule.plans[group], {self.choice.source}
        pipeline, stages = self.figures.pipeline, choice.group.stages
        asked = self.job.ways(pipeline)
        ways = {plan: plan.summary for plan in asked.decider.ways(stages) if plan is not choice}
        called = asked.always.ways(stages)
        ways |= {plan: f"{plan.summary} {AT_ALL_SIZES}" for plan in called if plan.library}
        for predicted, plan in _near(self.figures, choice, [*ways]):
            _log.info("%s: %s as %s", self.job.request.name, "+".join(stages), ways[plan])
            try:
                schedule = self._with(group, plan)
                check("tilesize", schedule)
                program = clocked(schedule, self.job)
                wrong = "" if program.source in known else self._fault(program)
            except Exception as error:  # whatever it is: with the choice it is not
                fault = f"it fails with {type(error).__name__}: {error}"
                yield _Other(group, ways[plan], predicted, None, fault)
                continue
            if program.source not in known:
                known.add(program.source)
                yield _Other(group, ways[plan], predicted, program, wrong)

    def _with(self, group: int, plan: Plan) -> Schedule:
        """The schedule with another plan of a group."""
        plans = (*self.schedule.plans[:group], plan, *self.schedule.plans[group + 1 :])
        return replace(self.schedule, plans=plans, telling=tuple)

    def _fault(self, program: Clocked) -> str:
        """The first element that differs from what the program as it is computes."""
        names = [array.name for array in program.compiled.signature.outputs]
        found, expected = (
            dict(zip(names, each, strict=True)) for each in (program.results(self.arguments), self.expected)
        )
        return first_difference(found, expected)

    def _by_turns(self, programs: Sequence[Clocked], out: Arrays, seconds: float) -> None:
        """Call one program after the other, again and again; time counts of rounds that nothing disturbs."""
        self.choice.run(self.arguments, out, 1, warm=False)
        begin = time.perf_counter()
        self.choice.run(self.arguments, out, 1, warm=False)
        once = time.perf_counter() - begin
        calls, rounds, calm = min(max(math.ceil(TURN / once), 2), MOST_CALLS), 0, 0.0
        began, before = time.perf_counter(), YARDSTICK.is_calm()
        end = began + PATIENCE * seconds
        while rounds < ROUNDS or (calm < seconds and began < end):
            for program in programs:
                program.run(self.arguments, out, calls, warm=once < LONG)
            now, after = time.perf_counter(), YARDSTICK.is_calm()
            calm += now - began if before and after else 0.0
            began, before, rounds = now, after, rounds + 1

    def _audited(self, group: int, others: Sequence[_Other]) -> Audited:
        plan = self.schedule.plans[group]
        choice = TimedPlan(plan.summary, self.figures.price(plan).seconds, self.choice.least[group])
        return Audited(plan.group.stages, choice, tuple(other.timed for other in others))


def _one_schedule(job: Job) -> Schedule:
    """The first schedule of a compilation, for who measures its groups one by one."""
    for _, level in levels_of(job):
        if isinstance(level, Schedule):
            return level
        if isinstance(level, Stepwise):
            break
    raise LangError(
        f"{job.request.name} runs step by step, and its groups are not measured one by one",
        at=job.request.outputs[0].at,
        hint="audit one step, as a pipeline of its own; profile() measures all of them together",
    )
