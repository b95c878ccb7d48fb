"""The decisions of a compilation as data: one plan a group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from polymat.dataclass import dataclass
from polymat.graph.group import Grouping
from polymat.graph.orders import Work
from polymat.model.looporder import Innermost
from polymat.model.movement import Movement
from polymat.model.team import UNKNOWN, TeamCost
from polymat.model.workingset import HeldReuse
from polymat.plan.printedplan import value_lines
from polymat.plan.strips import JoinedStrips
from polymat.plan.tile import Plan
from polymat.poly.lifespan import Folds


@dataclass(frozen=True, slots=True)
class Considered:
    """A group that was looked at: its cost (infinite: not allowed) and the terms of it, or why not.

    others: its plans that were predicted to be slower, and their seconds.
    """

    stages: tuple[str, ...]
    cost: float
    terms: str
    others: tuple[tuple[float, Plan], ...] = ()

    def __str__(self) -> str:
        return f"{' + '.join(self.stages)}: {self.terms}"


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """One group: how its plan was priced, and what the models say of it.

    terms: the cost that it was chosen by.  seconds: predicted.  movement: bytes and seconds a level of
    memory, with caches that are empty at first.  scores: Algorithm 5's for the loops of each stage.
    reuses: the working sets of its loops, where these run as the definition says.
    """

    terms: str
    seconds: float
    movement: Movement
    scores: Mapping[str, Innermost] = field(default_factory=dict)
    reuses: tuple[HeldReuse, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """A plan for every group; team: what a parallel region costs.

    kept: stages that are the same in every call, so that the first one computes them.
    telling: gives what speaks for each plan, which `explain()` and logs alone ask for.
    considered: all groups that were looked at.
    notes: why sums are no library calls, in words.
    others: schedules of the same with products in other orders, and what these cost at some sizes.
    folds: of stages that keep few of their elements at a time, how many places there are along each dimension
    (None: one for each element).
    joined: of slices that wait, the stages whose strips are one pass.
    in_outputs: of recurrences whose last step is an output, that output, in whose array they are computed and
    which is in no group.
    short: of sizes that may be small, the values for which loops that run to them have versions.
    """

    grouping: Grouping
    plans: tuple[Plan, ...]
    team: TeamCost = UNKNOWN
    telling: Callable[[], tuple[Decision, ...]] = tuple
    considered: tuple[Considered, ...] = ()
    kept: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    others: tuple[tuple[Work, Schedule], ...] = ()
    folds: Mapping[str, Folds] = field(default_factory=dict)
    joined: tuple[JoinedStrips, ...] = ()
    in_outputs: Mapping[str, str] = field(default_factory=dict)
    short: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The reasons for each plan, in their order; none where nobody knows them."""
        return self.telling()

    @property
    def summary(self) -> str:
        """The plans on one line."""
        return " | ".join(map(str, self.plans))

    def __str__(self) -> str:
        """Every plan with every number it holds; the groups that were looked at are in the log alone."""
        lines, decisions = [self.summary, ""], self.decisions
        for number, plan in enumerate(self.plans, 1):
            lines += [f"group {number}: {plan}", *value_lines("plan", plan)]
            if decisions:
                lines += value_lines("decision", decisions[number - 1])
            lines.append("")
        lines += value_lines("team", self.team)
        lines += value_lines("kept", tuple(sorted(self.kept)))
        lines += value_lines("folds", self.folds)
        lines += [f"joined: {each}" for each in self.joined]
        lines += [f"in outputs: {name} lies in {output}" for name, output in self.in_outputs.items()]
        lines += value_lines("short", self.short)
        lines += [f"note: {note}" for note in self.notes]
        for work, other in self.others:
            lines += ["", "in another order:", *value_lines("work", work), str(other)]
        return "\n".join(lines)
