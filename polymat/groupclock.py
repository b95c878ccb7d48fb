"""A program with a clock in it: the seconds of each group or section of a call, and `Compiled.profile()`."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from ctypes import CDLL, c_double
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from polymat.codegen.profile import GroupProfile, Profile
from polymat.dataclass import dataclass
from polymat.decide.figures import Figures
from polymat.decide.placedsections import PlacedSection, placed_sections
from polymat.errors import PolymatError
from polymat.graph.stepwise import Stepwise
from polymat.loading import loaded
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.passes import PASSES, position
from polymat.plan.schedule import Schedule
from polymat.plan.tile import Plan
from polymat.runtime.compiled import Compiled
from polymat.runtime.libraryfile import Built
from polymat.steps import Job, lower_schedule

Arrays = tuple[npt.NDArray[Any], ...]
MOST_GROUPS = 1023  # that the clock, in groupclock.h, has room for
LEAST_SECONDS = 1e-9  # of a group: what is shorter than a reading of the clock is not told apart
PROFILED, TURN = 0.3, 0.02  # seconds of a profile, and of the calls that one mean is of
LEAST_TURNS, MOST_CALLS = 2, 200  # of a profile; of a turn


@dataclass(frozen=True, slots=True, eq=False)
class Clocked:
    """A compiled schedule, or those of all sections, and what its clock shows.

    source: the C text.  groups: of those that every call computes, by their numbers from 0, what these are on
    the clock; sections, where it runs in these, are groups here.
    ends: when each ended in the latest call, at its number on the clock and one; at 0 when the first began.
    reading: the seconds that reading the clock adds to each.  least: seconds of each without that, so far.
    """

    compiled: Compiled
    source: str
    groups: Mapping[int, int]
    ends: Any
    reading: float = 0.0
    least: dict[int, float] = field(default_factory=dict)

    def results(self, arguments: Mapping[str, Any]) -> Arrays:
        """Call it; new arrays."""
        found = self.compiled(**arguments)
        return found if isinstance(found, tuple) else (found,)

    def run(self, arguments: Mapping[str, Any], out: Arrays, calls: int, *, warm: bool) -> None:
        """Call it so often, into arrays that are there, and keep the least mean seconds of each group.

        warm: call it once before, for what other programs have driven out of the caches.
        """
        given = out if len(out) > 1 else out[0]
        if warm:
            self.compiled(**arguments, out=given)
        total = dict.fromkeys(self.groups, 0.0)
        for _ in range(calls):
            self.compiled(**arguments, out=given)
            begin = self.ends[0]
            for group, number in self.groups.items():
                end = self.ends[number + 1]
                total[group] += end - begin
                begin = end
        for group, seconds in total.items():
            alone = max(seconds / calls - self.reading, LEAST_SECONDS)
            self.least[group] = min(self.least.get(group, np.inf), alone)


def clocked(schedule: Schedule, job: Job) -> Clocked:
    """Compile a schedule with a clock; of products in several orders the first.

    An output that something else is computed in is a group of the schedule, and none on the clock.
    """
    folded = PASSES[position("folds")].apply(schedule, job)
    numbers = {plan.group.stages: number for number, plan in enumerate(folded.plans)}
    computed = {
        k: numbers[plan.group.stages]
        for k, plan in enumerate(schedule.plans)
        if plan.group.stages in numbers and schedule.kept.isdisjoint(plan.group.stages)
    }
    return _clocked(folded, job, computed)


def clocked_sections(stepwise: Stepwise[Schedule], job: Job) -> Clocked:
    """Compile what runs in sections, as it is when it becomes code, with a clock between them."""
    return _clocked(stepwise, job, {k: k for k in range(len(stepwise.sections))})


def _clocked(level: Schedule | Stepwise[Schedule], job: Job, computed: Mapping[int, int]) -> Clocked:
    """A program of groups or sections, of which every call computes some."""
    count = len(level.sections) if isinstance(level, Stepwise) else len(level.plans)
    if count > MOST_GROUPS:
        raise PolymatError(f"{job.request.name} has {count} groups, too many for its clock")
    program = lower_schedule(level, job, clocked=True)
    source = PASSES[position("source")].apply(program, job)
    library: Built = PASSES[position("runtime")].apply(source, job)
    image = CDLL(str(library.path))  # while the file is there
    ends = (c_double * (MOST_GROUPS + 1)).in_dll(image, "_pm_group_ends")
    image._pm_reading_seconds.restype = c_double
    reading = float(image._pm_reading_seconds())
    return Clocked(loaded(job.request, program, source.text, library), source.text, computed, ends, reading)


def profile(
    schedule: Schedule, job: Job, arguments: Mapping[str, Any], sizes: Mapping[str, int], threads: int
) -> Profile:
    """Call a program with a clock, and put what it shows beside what is predicted for these sizes."""
    program = clocked(schedule, job)
    calls = _measured(program, arguments)
    pipeline = schedule.grouping.pipeline
    figures = Figures.at(pipeline, job.request.machine, assumed_sizes(pipeline, sizes), threads)
    groups = tuple(_profiled(program, figures, k, plan) for k, plan in enumerate(schedule.plans))
    return Profile(job.request.name, groups, dict(sizes), threads, calls)


def profile_sections(
    stepwise: Stepwise[Schedule],
    last: Stepwise[Schedule],
    job: Job,
    arguments: Mapping[str, Any],
    sizes: Mapping[str, int],
    threads: int,
) -> Profile:
    """Measure what runs in sections, each with all of its steps.

    stepwise: what is told of it.  last: what becomes code.
    """
    program = clocked_sections(last, job)
    calls = _measured(program, arguments)
    placed = [*placed_sections(stepwise, assumed_sizes(stepwise.whole, sizes))]
    machine = job.request.machine
    groups = tuple(
        _section_profiled([p for p in placed if p.section == k], program.least[k], machine, threads)
        for k in program.groups
    )
    return Profile(job.request.name, groups, dict(sizes), threads, calls)


def _measured(program: Clocked, arguments: Mapping[str, Any]) -> int:
    """Call it for some time; how often it was called."""
    out = program.results(arguments)
    start = time.perf_counter()
    program.run(arguments, out, 1, warm=False)
    once = max(time.perf_counter() - start, 1e-9)
    calls, turns = min(max(math.ceil(TURN / once), 1), MOST_CALLS), 0
    program.least.clear()
    while turns < LEAST_TURNS or time.perf_counter() - start < PROFILED:
        program.run(arguments, out, calls, warm=False)
        turns += 1
    return calls * turns


def _profiled(program: Clocked, figures: Figures, number: int, plan: Plan) -> GroupProfile:
    found, kept = figures.of(plan), number not in program.groups
    seconds = 0.0 if kept else program.least[number]
    return GroupProfile(plan.group.stages, seconds, found.cost.seconds, found.cost.bytes, found.flops, kept)


def _section_profiled(
    parts: Sequence[PlacedSection], seconds: float, machine: Machine, threads: int
) -> GroupProfile:
    """A section, whose parts run as often as they do; seconds: measured."""
    stages: list[str] = []
    predicted, moved, flops = 0.0, 0.0, list[float | None]()
    for part in parts:
        figures = part.figures(machine, threads)
        for plan in part.schedule.plans:
            found = figures.of(plan)
            stages += plan.group.stages
            predicted += part.times * found.cost.seconds
            moved += part.times * found.cost.bytes
            flops.append(None if found.flops is None else part.times * found.flops)
    known = [each for each in flops if each is not None]
    return GroupProfile(
        tuple(stages), seconds, predicted, moved, sum(known) if len(known) == len(flops) else None
    )
