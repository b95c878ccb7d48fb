"""One audit of a task, and how it is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polymat.audit.audited import Audited, TimedPlan
from polymat.errors import counted

CLOCK_SECONDS = 3e-7  # groups that take less: a tenth of it is the clock's


@dataclass(frozen=True, slots=True)
class Line:
    """What an audit found of a task.

    lying: how arrays lie in memory.  failed: why there are no groups, in words.
    """

    name: str
    threads: int
    lying: str
    groups: tuple[Audited, ...]
    failed: str = ""

    @property
    def key(self) -> tuple[str, int, str]:
        """What was audited."""
        return self.name, self.threads, self.lying

    @property
    def conditions(self) -> str:
        """Threads and arrays in words."""
        return f"{counted(self.threads, 'thread')}, arrays {self.lying}"

    @property
    def is_bad(self) -> bool:
        """Whether something is wrong, whatever it takes."""
        return bool(self.failed) or any(group.wrong for group in self.groups)

    @property
    def measured(self) -> Iterator[Audited]:
        """The groups that take long enough for the clock."""
        return (group for group in self.groups if group.choice.measured >= CLOCK_SECONDS)


def long_enough(lines: Sequence[Line]) -> list[Audited]:
    """The groups of all audits that take long enough for the clock."""
    return [group for line in lines for group in line.measured]


def as_json(line: Line) -> dict[str, Any]:
    """An audit for programs that read figures: predicted and measured seconds of each plan."""
    groups = [
        {"stages": group.stages, "plans": [_plan(plan) for plan in (group.choice, *group.others)]}
        for group in line.groups
    ]
    found = {"name": line.name, "threads": line.threads, "lying": line.lying, "groups": groups}
    return {**found, "failed": line.failed} if line.failed else found


def _plan(plan: TimedPlan) -> list[Any]:
    """Its summary, predicted and measured seconds; or what is wrong with it in place of these."""
    return [plan.summary, _rounded(plan.predicted), plan.wrong or _rounded(plan.measured)]


def _rounded(seconds: float) -> float:
    return float(f"{seconds:.4g}")


def from_json(found: Mapping[str, Any]) -> Line:
    """The audit that `as_json` wrote."""
    groups = tuple(_group(group) for group in found["groups"])
    return Line(found["name"], found["threads"], found["lying"], groups, found.get("failed", ""))


def _group(found: Mapping[str, Any]) -> Audited:
    choice, *others = (
        TimedPlan(summary, predicted, measured)
        if isinstance(measured, float)
        else TimedPlan(summary, predicted, float("inf"), measured)
        for summary, predicted, measured in found["plans"]
    )
    return Audited(tuple(found["stages"]), choice, tuple(others))
