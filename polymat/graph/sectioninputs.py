"""What the sections of a pipeline read of each other's arrays: whole ones, or planes of a step."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.graph.circlesteps import CircleSteps
from polymat.graph.heldarrays import is_fixed
from polymat.graph.onestep import Relink
from polymat.graph.pipeline import Pipeline
from polymat.graph.splice import free_name
from polymat.graph.stage import InputArray, Ref
from polymat.graph.stepwise import ArrayView, HeldArray
from polymat.lang.affine import Affine
from polymat.lang.expr import Load


class SectionInputs:
    """Gives what sections read names and extents, each the same ones in all of them.

    held: the arrays between sections, by name, as far as they are known.  taken: names that others have.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        circles: Sequence[CircleSteps],
        held: dict[str, HeldArray],
        taken: set[str],
    ) -> None:
        self.pipeline = pipeline
        self.owners = {member.name: steps for steps in circles for member in steps.members}
        self.held = held
        self.taken = taken
        self.names: dict[ArrayView, str] = {}
        self.known: dict[str, tuple[ArrayView, InputArray]] = {
            array.name: (ArrayView(array.name), _checked(array)) for array in pipeline.inputs
        }

    def outside(self, load: Load, indices: tuple[Affine, ...]) -> Load:
        """A load in a section of what the caller gives, or of what an earlier section made."""
        name = load.source.name
        if load.source.is_input:
            return Load(load.source, indices, load.dtype, load.at)
        if name not in self.owners:
            return self._load(load, name, None, self.held[name].name, indices)
        index, rest = self.owners[name].axes[name].split(indices)
        step = self.owners[name].axes[name].step(index)
        if is_fixed(step, self.pipeline.context.params):
            return self._load(load, name, step, f"{name}_at", rest)
        return self._whole(load, step, rest)

    def inside(self, steps: CircleSteps) -> Relink:
        """Say what loads of the stages of a circle become at one of its steps."""

        def relink(load: Load, indices: tuple[Affine, ...]) -> Load:
            name = load.source.name
            if steps.independent and load.source.is_input and _is_beside_slice(indices, steps):
                return self._load(load, self._given(name), indices[0], f"{name}_at", indices[1:])
            if load.source.is_input or name not in steps.axes:
                return self.outside(load, indices)
            index, rest = steps.axes[name].split(indices)
            step = steps.axes[name].step(index)
            apart = steps.step - step
            if not apart.is_constant:
                return self._whole(load, step, rest)
            if apart.const == 0:
                return Load(load.source, rest, load.dtype, load.at)
            return self._load(load, name, step, f"{name}_{apart.const}", rest)

        return relink

    def of(self, pipeline: Pipeline) -> tuple[tuple[InputArray, ...], tuple[ArrayView, ...]]:
        """The inputs of a section's pipeline, in order of first use, and where they lie."""
        made = {stage.name for stage in pipeline.stages}
        loads = (load for stage in pipeline.stages for load in stage.loads())
        names = dict.fromkeys(load.source.name for load in loads if load.source.is_input)
        found = [self.known[name] for name in names if name not in made]
        return tuple(array for _, array in found), tuple(view for view, _ in found)

    def _given(self, name: str) -> str:
        """The name of an array of the caller's, whose planes are those that slices read."""
        array = self.known[name][1]
        if name not in self.held:
            planes, *extents = array.extents
            whole = HeldArray(name, array.dtype, "input", tuple(extents), Affine(), planes, planes)
            self.held[name] = whole
        return name

    def _whole(self, load: Load, step: Affine, rest: tuple[Affine, ...]) -> Load:
        """A load of all planes, whose first index counts them."""
        held = self.held[load.source.name]
        name = load.source.name
        return self._load(load, name, None, f"{name}_all", (held.plane(step), *rest))

    def _load(
        self, load: Load, stage: str, step: Affine | None, name: str, indices: tuple[Affine, ...]
    ) -> Load:
        """A load of an array between sections, or of its plane of a step, as an input of a name like this."""
        held = self.held[stage]
        view = ArrayView(held.name, step)
        if view not in self.names:
            whole = step is None and held.origin is not None
            extents = (held.count, *held.extents) if whole else held.extents
            self.names[view] = name if name == held.name else free_name(name, self.taken)
            self.taken.add(self.names[view])
            values = self.known[held.name][1].values if held.place == "input" else None
            array = InputArray(self.names[view], held.dtype, extents, values=values, checked=True)
            self.known[array.name] = (view, array)
        return Load(Ref(self.names[view], load.dtype, is_input=True), indices, load.dtype, load.at)


def _is_beside_slice(indices: tuple[Affine, ...], steps: CircleSteps) -> bool:
    """Whether an array of the caller's is read in a plane as far from each slice."""
    return len(indices) > 1 and (indices[0] - steps.step).is_constant


def _checked(array: InputArray) -> InputArray:
    """What a section reads of the caller's array, whose elements the call has looked at."""
    values, is_sorted = array.values, array.sorted
    return InputArray(
        array.name, array.dtype, array.extents, array.at, values=values, sorted=is_sorted, checked=True
    )
