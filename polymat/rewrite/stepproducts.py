"""Linear steps in blocks (`polymat.graph.linearsteps`), where one product for all of them is quicker."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.linearblocks import in_linear_blocks
from polymat.graph.linearsteps import linear_step
from polymat.graph.pipeline import Pipeline
from polymat.graph.sectionchanges import Held, Instead, rewritten, within
from polymat.graph.splice import names_taken
from polymat.graph.stepwise import StepSection, Stepwise

EVERY = 31  # steps of a block: an odd number, so that of two planes a block reads one and writes the other
CLEARLY = 0.8  # of the time of steps one by one: blocks have to be so much quicker, by prediction

Seconds = Callable[[Stepwise[Pipeline]], float]
"""The predicted seconds of sections."""


@dataclass(frozen=True, slots=True, eq=False)
class StepProducts:
    """Decides about the linear steps of a program.

    seconds: of sections; alone: of those of a slice that threads share, on one of them.  untouched: stages
    that stay as they are, since the user has said what loops they have.
    """

    seconds: Seconds
    alone: Seconds
    untouched: Set[str] = frozenset()

    def decided(self, stepwise: Stepwise[Pipeline]) -> Stepwise[Pipeline]:
        """Take steps in blocks where that is predicted to take clearly less.

        before:  for each step: a row is exchanged, and multiples of it are subtracted from others
        after:   for each block of steps: that in its own columns; then one product for all others
        """

        def multiplied(section: StepSection[Pipeline], held: Held) -> Instead | None:
            if isinstance(section.level, Stepwise):
                alone = replace(self, seconds=self.alone) if section.independent else self
                return within(section, alone.decided)
            return self._blocked(section, stepwise, held)

        return rewritten(stepwise, multiplied)

    def _blocked(
        self, section: StepSection[Pipeline], stepwise: Stepwise[Pipeline], held: Held
    ) -> Instead | None:
        """A section in blocks; None where it stays."""
        found, level = linear_step(section, held), section.level
        if found is None or not isinstance(level, Pipeline):
            return None
        if self.untouched & {stage.name for stage in level.stages}:
            return None
        steps = section.steps
        assert steps is not None
        taken = {*names_taken(stepwise.whole), *held, *names_taken(level), steps.name}
        blocked = in_linear_blocks(section, found, EVERY, taken)
        seconds, alone = (
            self.seconds(replace(stepwise, sections=tuple(each))) for each in (blocked, [section])
        )
        if seconds >= CLEARLY * alone:
            return None
        note = f"{found.state.name} in blocks of {EVERY} steps: {seconds:.3g} s, {alone:.3g} s step by step"
        return Instead(tuple(blocked), note=note)
