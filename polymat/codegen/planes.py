"""States of which a step makes the next one in place: they keep one plane."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from polymat.codegen.inplace import inplace_in_sections, inplace_pairs
from polymat.graph.stepwise import ONE, HeldArray, StepSection, Stepwise
from polymat.lang.affine import Affine
from polymat.plan.schedule import Schedule


def planes_in_place(stepwise: Stepwise[Schedule]) -> Stepwise[Schedule]:
    """Keep one plane of arrays that every step may write over what the step before made.

    before:  ex(t, i, j) = ex(t - 1, i, j) - hz(t - 1, i, j) ... is written to the other one of two planes
    after:   it is written to where ex(t - 1, i, j) was
    """
    levels = [
        planes_in_place(section.level) if isinstance(section.level, Stepwise) else section.level
        for section in stepwise.sections
    ]
    within = stepwise.with_levels(levels)
    held = tuple(replace(each, planes=ONE) if _is_in_place(each, within) else each for each in stepwise.held)
    return within if held == stepwise.held else replace(within, held=held)


def _is_in_place(held: HeldArray, stepwise: Stepwise[Schedule]) -> bool:
    """Whether an array with planes of two steps needs one of them alone."""
    if held.planes != Affine((), 2) or not held.is_folded or held.origin is None:
        return False
    return all(_allows(held, section) for section in stepwise.sections)


def _allows(held: HeldArray, section: StepSection[Schedule]) -> bool:
    """Whether a section reads the last plane, or writes the next one over that which it reads."""
    reads = [k for k, view in enumerate(section.inputs) if view.array == held.name]
    writes = [k for k, view in enumerate(section.outputs) if view.array == held.name]
    if not writes:
        return all(section.inputs[k].step == held.last_step for k in reads)
    if len(writes) > 1:
        return False
    written = writes[0]
    step = section.outputs[written].step
    pairs = _pairs(section.level)
    before = [section.inputs[k].step for k in reads]
    alike = all(each is not None and step is not None and step - each == ONE for each in before)
    return alike and all((k, written) in pairs for k in reads)


def _pairs(level: Any) -> set[tuple[int, int]]:
    """Inputs and outputs of a section that may be one array, in all orders of its products."""
    if isinstance(level, Stepwise):
        return {*inplace_in_sections(level)}
    assert isinstance(level, Schedule)
    found = {*inplace_pairs(level.grouping.pipeline, level)}
    for _, other in level.others:
        found &= {*inplace_pairs(other.grouping.pipeline, other)}
    return found
