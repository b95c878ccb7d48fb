"""The schedules of what runs in sections: each with the steps around it, and the sizes that it sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.decide.figures import Figures
from polymat.decide.followprices import costs_together
from polymat.graph.stepwise import Steps, Stepwise, Together
from polymat.machine.model import Machine
from polymat.model.assumed import assumed_sizes
from polymat.plan.schedule import Schedule


@dataclass(frozen=True, slots=True, eq=False)
class PlacedSection:
    """A schedule in its turn.

    section: the number, from 0, of the outermost section that it is in.  steps: around it, outermost first.
    times: how often they run.  sizes: that it sees; one that depends on a step is as in the middle of them.
    together: how several of its innermost steps run together, of `count`.
    """

    schedule: Schedule
    section: int
    steps: tuple[Steps, ...]
    times: int
    sizes: Mapping[str, int]
    together: Together | None = None
    count: int = 1

    def figures(self, machine: Machine, threads: int) -> Figures:
        """Answers for its groups, of one time that it runs."""
        pipeline = self.schedule.grouping.pipeline
        known = {size.name: self.sizes[size.name] for size in pipeline.sizes if size.name in self.sizes}
        alone = Figures.at(pipeline, machine, assumed_sizes(pipeline, known), threads)
        found = costs_together(self.together, self.schedule, machine, self.sizes, self.count, threads)
        if found is None:
            return alone
        groups = (plan.group.stages for plan in self.schedule.plans)
        return replace(alone, together=found, costs=dict(zip(groups, found.costs, strict=True)))


def placed_sections(stepwise: Stepwise[Schedule], sizes: Mapping[str, int]) -> Iterator[PlacedSection]:
    """Every schedule in its turn, those of sections within sections too."""
    for number in range(len(stepwise.sections)):
        yield from _placed(stepwise, number, number, (), 1, sizes)


def _placed(
    stepwise: Stepwise[Schedule],
    inside: int,
    section: int,
    around: tuple[Steps, ...],
    turns: int,
    sizes: Mapping[str, int],
) -> Iterator[PlacedSection]:
    """Those of one section; around, turns: the steps around all of it, and how often these run."""
    placed = stepwise.sections[inside]
    steps, times, seen = around, turns, dict(sizes)
    if placed.steps is not None:
        numbers = placed.steps.numbers(sizes)
        steps, times = (*steps, placed.steps), times * len(numbers)
        seen |= placed.steps.at((numbers.start + numbers.stop - 1) // 2, sizes)
    if isinstance(placed.level, Stepwise):
        for number in range(len(placed.level.sections)):
            yield from _placed(placed.level, number, section, steps, times, seen)
    else:
        count = 1 if placed.steps is None else max(len(placed.steps.numbers(sizes)), 1)
        yield PlacedSection(placed.level, section, steps, times, seen, placed.together, count)
