"""One step of the compiler, and how options switch it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polymat.dataclass import dataclass
from polymat.graph.stepwise import Stepwise
from polymat.options import SKIPPABLE, Options
from polymat.steps import Job


@dataclass(frozen=True, slots=True)
class Pass:
    """One step: what it takes and gives, why there is one, and the function.

    level: the part of the compiler that it belongs to, which `levels` yields by that name after the last of
    its passes.  run: the step, of what it takes and the job.  wanted: whether the options switch it on.
    instead: the step where `Options.skip` names it; a rewrite of a pipeline leaves that as it is.
    joins: whether it takes what runs in sections as a whole; others are taken in each of these.
    of_steps: whether it decides how the steps of recurrences run.
    """

    name: str
    level: str
    takes: type
    gives: type
    why: str
    run: Callable[[Any, Job], Any]
    wanted: Callable[[Options], bool] = lambda _: True
    instead: Callable[[Any, Job], Any] = lambda level, _: level
    joins: bool = False
    of_steps: bool = False

    @property
    def is_skippable(self) -> bool:
        """Whether `Options.skip` may name it."""
        return self.name in SKIPPABLE

    def apply(self, level: Any, job: Job) -> Any:
        """Take the step from a level; the level itself where the pass is switched off."""
        options = job.request.options
        if not self.wanted(options):
            return level
        if isinstance(level, Stepwise) and not self.joins:
            return level.map(lambda part: self.apply(part, job))
        return self.instead(level, job) if self.name in options.skip else self.run(level, job)
