"""The space of a search where groups are chosen one by one, and passes that do something are left out."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import inf

from polymat.errors import PolymatError
from polymat.graph.selection import Changes, Selection
from polymat.graph.stepwise import Stepwise
from polymat.model.confidence import worth_measuring
from polymat.search.optionspace import OptionSpace, decided
from polymat.search.space import Space
from polymat.steps import Job, Level


class LeftOut:
    """Choices for one program: of its groups, or passes without which the compiler chooses these by itself.

    acting: the passes that do something to the program.  The partition is chosen among groups.
    methods: values of other options that are tried as passes are.
    """

    def __init__(self, groups: Space, acting: Collection[str], methods: Changes = ()) -> None:
        passes: Changes = tuple(("skip", (name,)) for name in acting if name != "fusion")
        changes = (*passes, *methods)
        self.groups, self.request = groups, groups.request
        self.passes = OptionSpace(groups.request, acting, groups.seed, changes=changes)
        self._known: dict[Selection, tuple[float, frozenset[str]]] = {}
        self._first: tuple[Selection, ...] | None = None

    @property
    def default(self) -> Selection:
        """The choice of the compiler itself."""
        return self.groups.default

    def job(self, choice: Selection) -> Job:
        """The compilation of a choice."""
        return self.passes.job(choice) if choice.changes else self.groups.job(choice)

    def lowered(self, choice: Selection) -> Iterator[Level]:
        """Compile a choice up to the text of its program, level by level."""
        return self.passes.lowered(choice) if choice.changes else self.groups.lowered(choice)

    def price(self, choice: Selection) -> float:
        """Predicted seconds; none of a program that takes steps without a pass."""
        return self._decided(choice)[0] if choice.changes else self.groups.price(choice)

    def draw(self, number: int, best: Selection, known: Collection[Selection]) -> Selection | None:
        """The choice of a trial: first without each pass, then of groups.

        Where the best so far leaves passes out, every other trial leaves out others beside them; single ones
        were tried then, or are predicted to take long.
        """
        for choice in self.first:
            if choice not in known:
                return choice
        if best.changes and number % 2:
            further = self.passes.draw(number, best, {*known, *self.passes.first})
            if further is not None and self._is_near(further):
                return further
        return self.groups.draw(number, self.default if best.changes else best, known)

    @property
    def first(self) -> tuple[Selection, ...]:
        """Single passes without which the program is predicted to take no much longer, the best first."""
        if self._first is None:
            near = [choice for choice in self.passes.first if self._is_near(choice)]
            self._first = tuple(sorted(near, key=self.price))
        return self._first

    def _is_near(self, choice: Selection) -> bool:
        """Whether a choice is predicted to take little enough to be tried."""
        seconds, called = self._decided(choice)
        same = called == self.groups.called(self.default)
        return seconds <= worth_measuring(same_calls=same) * self.price(self.default)

    def _decided(self, choice: Selection) -> tuple[float, frozenset[str]]:
        """Seconds, and the stages that libraries compute, as the compiler decides without some passes."""
        if choice not in self._known:
            self._known[choice] = _predicted(self.passes.job(choice))
        return self._known[choice]


def _predicted(job: Job) -> tuple[float, frozenset[str]]:
    """Seconds, and the stages that libraries compute; 0 s of steps, which nothing predicts."""
    try:
        _, plans = decided(job)
    except PolymatError:
        return inf, frozenset()
    if isinstance(plans, Stepwise):
        return 0.0, frozenset()
    decider = job.decider(plans.grouping.pipeline)
    called = (plan.group.stages for plan in plans.plans if plan.routines)
    return sum(map(decider.seconds, plans.plans)), frozenset(name for names in called for name in names)
