"""Sections that are rewritten one by one: what comes in place of each, with arrays and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import HeldArray, StepSection, Stepwise

Held = Mapping[str, HeldArray]
"""The arrays between sections, by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Instead:
    """Sections that come in place of one.

    held: arrays between sections that are new, or others under the name that they had.  note: why, in words,
    for `explain()`.
    """

    sections: tuple[StepSection[Pipeline], ...]
    held: Held = field(default_factory=dict)
    note: str = ""


Change = Callable[[StepSection[Pipeline], Held], Instead | None]
"""What comes in place of a section, beside so many arrays; None where it stays."""


def rewritten(stepwise: Stepwise[Pipeline], change: Change) -> Stepwise[Pipeline]:
    """The sections with what comes in place of each, in order; these where all of them stay.

    Arrays that one of them changes are known to those behind it.
    """
    held = {each.name: each for each in stepwise.held}
    found, sections, notes = False, list[StepSection[Pipeline]](), list[str]()
    for section in stepwise.sections:
        instead = change(section, held)
        if instead is None:
            sections.append(section)
            continue
        found, held = True, {**held, **instead.held}
        sections += instead.sections
        notes += [instead.note] if instead.note else []
    if not found:
        return stepwise
    whole = replace(stepwise.whole, notes=(*stepwise.whole.notes, *notes)) if notes else stepwise.whole
    return Stepwise(whole, tuple(held.values()), tuple(sections))


def within(
    section: StepSection[Pipeline], decided: Callable[[Stepwise[Pipeline]], Stepwise[Pipeline]]
) -> Instead | None:
    """A section that is sections itself with others in place of these; None where they stay."""
    assert isinstance(section.level, Stepwise)
    inner = decided(section.level)
    return None if inner is section.level else Instead((replace(section, level=inner),))
