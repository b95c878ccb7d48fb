"""A program with a clock in it: the seconds of each group of a call."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import CDLL, c_double
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from polymat.codegen.lower import lower
from polymat.driver import loaded
from polymat.errors import PolymatError
from polymat.passes import PASSES, position
from polymat.plan.schedule import Schedule
from polymat.runtime.compiled import Compiled
from polymat.runtime.libraryfile import Built
from polymat.steps import Job

Arrays = tuple[npt.NDArray[Any], ...]
MOST_GROUPS = 1023  # that the clock, in groupclock.h, has room for


@dataclass(frozen=True, slots=True, eq=False)
class Clocked:
    """A compiled schedule and what its clock shows.

    source: the C text.  groups: the numbers, from 0, of those that every call computes.
    ends: when each ended in the latest call, at its number and one; at 0 when the first began.
    least: seconds of each, so far.
    """

    compiled: Compiled
    source: str
    groups: tuple[int, ...]
    ends: Any
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
            for group in self.groups:
                end = self.ends[group + 1]
                total[group] += end - begin
                begin = end
        for group, seconds in total.items():
            self.least[group] = min(self.least.get(group, np.inf), seconds / calls)


def clocked(schedule: Schedule, job: Job) -> Clocked:
    """Compile a schedule with a clock; of products in several orders the first."""
    if len(schedule.plans) > MOST_GROUPS:
        raise PolymatError(f"{job.request.name} has {len(schedule.plans)} groups, too many for an audit")
    folded = PASSES[position("folds")].apply(schedule, job)
    program = lower(folded, job.request.name, job.request.options, clocked=True)
    source = PASSES[position("source")].apply(program, job)
    library: Built = PASSES[position("runtime")].apply(source, job)
    image = CDLL(str(library.path))  # while the file is there
    ends = (c_double * (MOST_GROUPS + 1)).in_dll(image, "_pm_group_ends")
    computed = [k for k, plan in enumerate(schedule.plans) if schedule.kept.isdisjoint(plan.group.stages)]
    return Clocked(loaded(job.request, program, source.text, library), source.text, tuple(computed), ends)
