"""Elements that the innermost pipelines of steps read and write of the arrays that all of these share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import InputArray
from polymat.graph.stepwise import ArrayView, HeldArray, StepSection, Stepwise
from polymat.lang.affine import Affine
from polymat.lang.expr import Load


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array by the indices of all of it; made: the steps that make it, outermost first.

    made is empty where no step of the section writes the array.
    """

    array: str
    indices: tuple[Affine, ...]
    made: tuple[Affine, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SharedArrays:
    """The arrays of a section of one or two dimensions of steps.

    held: the arrays around the section, by name.  inner: the sections of a step; None where it has none.
    """

    section: StepSection[Pipeline]
    held: Mapping[str, HeldArray]
    inner: Stepwise[Pipeline] | None

    @property
    def whole(self) -> Pipeline:
        """The pipeline of a step of the section."""
        level = self.section.level
        return level.whole if isinstance(level, Stepwise) else level

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of the steps, outermost first."""
        around = self.section.steps
        assert around is not None
        if self.inner is None:
            return (around.name,)
        inside = self.inner.sections[0].steps
        assert inside is not None
        return around.name, inside.name

    def innermost(self) -> Iterator[tuple[Pipeline, tuple[ArrayView, ...]]]:
        """The pipelines of single steps, with what their inputs are of the sections that they are in."""
        if self.inner is None:
            assert isinstance(self.section.level, Pipeline)
            yield self.section.level, self.section.inputs
            return
        for each in self.inner.sections:
            assert isinstance(each.level, Pipeline)
            yield each.level, each.inputs

    def arrays(self) -> tuple[InputArray, ...]:
        """All that the section reads and writes, as whole arrays."""
        views = (*self.section.inputs, *self.section.outputs)
        return tuple(self._array(name) for name in dict.fromkeys(view.array for view in views))

    def written(self) -> tuple[str, ...]:
        """The names of what it writes."""
        return tuple(dict.fromkeys(view.array for view in self.section.outputs))

    def _array(self, name: str) -> InputArray:
        held = self.held.get(name)
        if held is not None:
            planes = () if held.origin is None else (held.count,)
            return InputArray(name, held.dtype, (*planes, *held.extents), checked=True)
        pairs = zip(self.whole.inputs, self.section.inputs, strict=True)
        array = next(array for array, view in pairs if view.array == name)
        return InputArray(name, array.dtype, array.extents, checked=True)

    def element(self, views: Mapping[str, ArrayView], load: Load) -> Element | None:
        """The element that a load of an innermost pipeline reads; None of what is made at its step, or open.

        views: of the inputs of that pipeline, by name.
        """
        if not load.source.is_input:
            return None
        view, indices = views[load.source.name], load.indices
        inside: tuple[Affine, ...] = ()
        if self.inner is not None:
            found = self._of_step(view, indices)
            if found is None:
                return None
            view, indices, inside = found
        held = self.held.get(view.array)
        if view.step is not None:
            if held is None:
                return None
            indices = (held.plane(view.step), *indices)
        if view.array not in self.written():
            return Element(view.array, indices)
        assert held is not None
        return Element(view.array, indices, (_step(held, indices[0]), *inside))

    def _of_step(
        self, view: ArrayView, indices: tuple[Affine, ...]
    ) -> tuple[ArrayView, tuple[Affine, ...], tuple[Affine, ...]] | None:
        """A view of the section, with indices and the inner steps, of a view of the sections of a step."""
        assert self.inner is not None
        own = {each.name: each for each in self.inner.held}
        outputs = dict(zip(self.whole.outputs, self.section.outputs, strict=True))
        inputs = {a.name: v for a, v in zip(self.whole.inputs, self.section.inputs, strict=True)}
        if view.array in outputs:
            held = own[view.array]
            if view.step is not None:
                indices = (held.plane(view.step), *indices)
            return outputs[view.array], indices, (_step(held, indices[0]),)
        if view.step is not None:
            return None
        around = inputs[view.array]
        made = {out.array: own[name] for name, out in outputs.items()}.get(around.array)
        at = 0 if around.step is not None else 1
        return around, indices, () if made is None else (_step(made, indices[at]),)


def _step(held: HeldArray, plane: Affine) -> Affine:
    """The step that makes a plane."""
    assert held.origin is not None
    return (plane + held.origin).scale(held.sign)


def shared_arrays(section: StepSection[Any], held: Mapping[str, HeldArray]) -> SharedArrays | None:
    """The arrays of a section; None where what its steps tell each other is not all in whole arrays.

    Each step then leaves all planes of all steps before it as they were, so that steps may run in any order
    in which those that are read come first.
    """
    level = section.level
    if section.steps is None or section.independent or section.steps.end:
        return None
    made = [held[view.array] for view in section.outputs]
    if any(each.is_folded or each.origin is None or each.place == "input" for each in made):
        return None
    inner = level if isinstance(level, Stepwise) else None
    whole = level.whole if isinstance(level, Stepwise) else level
    if any(array.values is not None or array.pitches for array in whole.inputs):
        return None
    folded = [held[view.array].is_folded for view in section.inputs if view.array in held]
    if any(folded) or (inner is not None and not _is_plain(inner)):
        return None
    return SharedArrays(section, held, inner)


def _is_plain(inner: Stepwise[Any]) -> bool:
    """Whether the sections of a step are steps of one dimension, and write nothing but what it gives."""
    names = {None if each.steps is None else each.steps.name for each in inner.sections}
    single = len(names) == 1 and None not in names and not any(each.independent for each in inner.sections)
    kept = all(
        each.name in inner.whole.outputs and not each.is_folded and each.origin is not None
        for each in inner.held
    )
    return single and kept and all(isinstance(each.level, Pipeline) for each in inner.sections)
