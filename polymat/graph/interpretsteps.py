"""Run what is computed in sections with plain NumPy, section by section and step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polymat.graph.evaluate import Values
from polymat.graph.interpret import Inside, interpret
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import ArrayView, StepSection, Stepwise


def interpret_stepwise(
    stepwise: Stepwise[Pipeline],
    arrays: Mapping[str, Values],
    params: Mapping[str, Any],
    inside: Inside | None = None,
) -> dict[str, Values]:
    """The outputs by name, of input arrays and all parameters, as `interpret` has them."""
    run = _Run(stepwise, arrays, params, inside)
    for section in stepwise.sections:
        run.section(section)
    return {name: run.arrays[name] for name in stepwise.whole.outputs}


class _Run:
    """The arrays between sections while these run."""

    def __init__(
        self,
        stepwise: Stepwise[Pipeline],
        arrays: Mapping[str, Values],
        params: Mapping[str, Any],
        inside: Inside | None,
    ) -> None:
        self.params = params
        self.inside = inside
        self.held = {held.name: held for held in stepwise.held}
        self.arrays = dict(arrays)
        for held in stepwise.held:
            if held.place == "input":
                continue
            planes = () if held.origin is None else (held.planes,)
            shape = [max(int(form.evaluate(params)), 0) for form in (*planes, *held.extents)]
            self.arrays[held.name] = np.zeros(shape, held.dtype.dtype)

    def section(self, section: StepSection[Pipeline]) -> None:
        """Run a section, at all of its steps."""
        if section.steps is None:
            self._once(section, self.params)
            return
        for step in section.steps.numbers(self.params):
            self._once(section, {**self.params, **section.steps.at(step, self.params)})

    def _once(self, section: StepSection[Pipeline], params: Mapping[str, Any]) -> None:
        level = section.level
        pipeline = level.whole if isinstance(level, Stepwise) else level
        given = {
            array.name: self._at(view, params)
            for array, view in zip(pipeline.inputs, section.inputs, strict=True)
        }
        if isinstance(level, Stepwise):
            found = interpret_stepwise(level, given, params, self.inside)
        else:
            found = interpret(level, given, params, self.inside)
        for name, view in zip(pipeline.outputs, section.outputs, strict=True):
            self._at(view, params)[...] = found[name]

    def _at(self, view: ArrayView, params: Mapping[str, Any]) -> Values:
        """An array, or its plane of a step."""
        array = self.arrays[view.array]
        if view.step is None:
            return array
        held = self.held[view.array]
        number = int(held.plane(view.step).evaluate(params))
        plane: Values = array[number % int(held.planes.evaluate(params)), ...]
        return plane
