"""A pipeline with circles as several without: what is before each, its steps one by one, what is behind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property

from polymat.dataclass import dataclass
from polymat.errors import InternalError, LangError
from polymat.graph.circlesteps import CircleSteps, circle_steps, marked, slice_steps, takes_steps
from polymat.graph.followers import needed_by, with_followers
from polymat.graph.heldarrays import held_member, held_stage
from polymat.graph.onestep import Relink, at_step
from polymat.graph.peeled import pieces
from polymat.graph.pipeline import Pipeline
from polymat.graph.sectioninputs import SectionInputs
from polymat.graph.simplify import map_expressions
from polymat.graph.splice import free_name, names_taken, without_unread
from polymat.graph.stage import InputArray, Part, ScalarInput, Stage
from polymat.graph.stepwise import ArrayView, HeldArray, Steps, StepSection, Stepwise
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load
from polymat.lang.traverse import rebuild
from polymat.lang.types import Long
from polymat.memo import remembered
from polymat.poly.domain import Domain


def in_sections(pipeline: Pipeline) -> Pipeline | Stepwise[Pipeline]:
    """Split a pipeline at its circles; the pipeline itself where it has none.

    before:  a reads x; b and c read a, and each other at t - 1; d reads b at t = T
    after:   a, once; b and c at one t, for every t; d, once
    """
    sliced = {name: tuple(each for each, _ in group) for group in pipeline.sliced for name, _ in group}
    found_in = (sliced.get(stage.name) or _circle(pipeline, stage) for stage in pipeline.stages)
    circles = _in_order(pipeline, list(dict.fromkeys(names for names in found_in if names)))
    if not circles:
        return pipeline
    found = _sections_of(pipeline.stages, circles=tuple(circles), of=_Noteless(pipeline))
    return found if found.whole is pipeline else replace(found, whole=pipeline)


def sections_if_any(pipeline: Pipeline) -> Stepwise[Pipeline] | None:
    """The sections of a pipeline; None where it has none, or where it cannot run in any.

    A function that is no circle by itself may be such a one, and runs as loops then.
    """
    try:
        found = in_sections(pipeline)
    except LangError:
        return None
    return found if isinstance(found, Stepwise) else None


@dataclass(frozen=True, eq=False)
class _Noteless:
    """A pipeline that is told apart from others by all but its notes, which change no sections."""

    pipeline: Pipeline

    @cached_property
    def _parts(self) -> tuple[int, ...]:
        names = (each.name for each in fields(self.pipeline) if each.name != "notes")
        return tuple(id(getattr(self.pipeline, name)) for name in names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Noteless) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)


@remembered
def _sections_of(
    _: tuple[Stage, ...], *, circles: tuple[tuple[str, ...], ...], of: _Noteless
) -> Stepwise[Pipeline]:
    """The sections of a pipeline with circles, found once whatever its notes are."""
    pipeline = of.pipeline
    sliced = {tuple(name for name, _ in group): group for group in pipeline.sliced}
    found = [
        slice_steps(pipeline, sliced[names]) if names in sliced else circle_steps(pipeline, names)
        for names in circles
    ]
    known = [steps for steps in found if steps is not None]
    if len(known) < len(found):
        raise InternalError(
            f"bug in polymat: one of the circles of {', '.join(pipeline.outputs)} has no steps"
        )
    return _Split(pipeline, with_followers(pipeline, known)).run()


def _circle(pipeline: Pipeline, stage: Stage) -> tuple[str, ...]:
    """The stages that take steps together with one; none where it takes none."""
    return stage.circle or ((stage.name,) if takes_steps(pipeline, stage) else ())


def _in_order(pipeline: Pipeline, circles: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Circles, those behind others that need something of these."""
    if not pipeline.sliced:  # members of circles stand together
        return circles
    left, found = list(circles), []
    while left:
        first = next(one for one in left if not any(_needs(pipeline, one, {*o}) for o in left if o != one))
        left.remove(first)
        found.append(first)
    return found


def _needs(pipeline: Pipeline, names: tuple[str, ...], others: set[str]) -> bool:
    return bool(needed_by(pipeline, {*names}) & others)


class _Split:
    """The work of splitting a pipeline.

    held: where stages are, by name, that are needed in other sections.  outputs: arrays that the last section
    writes.  taken: names of arrays and sizes so far.  done: stages of the sections so far.
    """

    def __init__(self, pipeline: Pipeline, circles: Sequence[CircleSteps]) -> None:
        self.pipeline = pipeline
        self.circles = circles
        self.held: dict[str, HeldArray] = {}
        self.outputs: list[HeldArray] = []
        self.taken = names_taken(pipeline) | {steps.name for steps in circles}
        self.inputs = SectionInputs(pipeline, circles, self.held, self.taken)
        self.done: set[str] = set()

    def run(self) -> Stepwise[Pipeline]:
        """Every section in order."""
        for steps in self.circles:
            for member in steps.members:
                held = held_member(self.pipeline, steps, member)
                if held is not None:
                    self._hold(member, held)
        sections = tuple(self._sections())
        held_arrays = {held.name: held for held in (*self.held.values(), *self.outputs)}
        return Stepwise(self.pipeline, tuple(held_arrays.values()), sections)

    def _hold(self, stage: Stage, held: HeldArray) -> None:
        """Remember where a stage is; an output that lies elsewhere at first has another name there."""
        if stage.name in self.pipeline.outputs and held.place != "output":
            held = replace(held, name=free_name(f"{stage.name}_made", self.taken))
            self.taken.add(held.name)
        self.held[stage.name] = held

    def _sections(self) -> Iterator[StepSection[Pipeline]]:
        for steps in self.circles:
            members = {member.name for member in steps.members}
            needed = needed_by(self.pipeline, members) - members - self.done
            yield from self._before([stage for stage in self.pipeline.stages if stage.name in needed])
            yield from self._circle(steps)
            self.done |= members
        yield from self._behind()

    def _before(self, stages: Sequence[Stage]) -> Iterator[StepSection[Pipeline]]:
        """Stages of no circle that a circle needs."""
        names = {stage.name for stage in stages}
        others = (stage for stage in self.pipeline.stages if stage.name not in names)
        read = {load.source.name for stage in others for load in stage.loads()}
        outputs = [stage for stage in stages if stage.name in read or stage.name in self.pipeline.outputs]
        for stage in outputs:
            self._hold(stage, held_stage(self.pipeline, stage))
        views = tuple(ArrayView(self.held[stage.name].name) for stage in outputs)
        yield from self._once(stages, [stage.name for stage in outputs], views, trim=False)
        self.done |= names

    def _behind(self) -> Iterator[StepSection[Pipeline]]:
        """All other stages, and outputs that lie elsewhere than in the callers' arrays."""
        rest = [stage for stage in self.pipeline.stages if stage.name not in self.done]
        moved = {name for name, held in self.held.items() if held.name != name}
        left = [
            self.pipeline.stage(name)
            for name in self.pipeline.outputs
            if name in moved or name not in self.done
        ]
        self.outputs += [HeldArray(stage.name, stage.dtype, "output", stage.extents) for stage in left]
        copies = [self._copy(stage) for stage in left if stage.name in moved]
        names = [stage.name for stage in left]
        views = tuple(map(ArrayView, names))
        yield from self._once([*rest, *copies], names, views, trim=self.pipeline.trim)

    def _copy(self, stage: Stage) -> Stage:
        """An output of the elements of an array between sections."""
        indices = tuple(map(Affine.name, stage.dims))
        value = Load(stage.ref, indices, stage.dtype, stage.at)
        part = Part(stage.domain, None, self.inputs.outside(value, indices), stage.at)
        return replace(stage, parts=(part,), op=None, accumulations=(), circle=())

    def _once(
        self, stages: Sequence[Stage], outputs: Sequence[str], views: tuple[ArrayView, ...], *, trim: bool
    ) -> Iterator[StepSection[Pipeline]]:
        made = {stage.name for stage in stages if stage.name not in self.done}

        def relink(load: Load, indices: tuple[Affine, ...]) -> Load:
            return load if load.source.name in made else self.inputs.outside(load, indices)

        relinked = [_relinked(stage, relink) if stage.name in made else stage for stage in stages]
        if outputs:
            yield self._section(relinked, outputs, views, None, self.pipeline.context, trim)

    def _circle(self, steps: CircleSteps) -> Iterator[StepSection[Pipeline]]:
        """The steps of a circle: those that are like no others, and all others."""
        for when, context in pieces(steps):
            relink = self.inputs.inside(steps)
            found = [
                at_step(member, steps.axes[member.name], steps.step, context, relink)
                for member in steps.members
            ]
            stages = [stage for stage in found if stage is not None]
            outputs = [stage.name for stage in stages if stage.name in self.held]
            views = tuple(ArrayView(self.held[name].name, steps.step) for name in outputs)
            if outputs:
                section = self._section(stages, outputs, views, when, context, False, steps.independent)
                yield replace(section, independent=steps.independent)

    def _section(
        self,
        stages: Sequence[Stage],
        outputs: Sequence[str],
        views: tuple[ArrayView, ...],
        steps: Steps | None,
        context: Domain,
        trim: bool,
        alone: bool = False,
    ) -> StepSection[Pipeline]:
        own = (ScalarInput(steps.name, Long),) if steps is not None else ()
        pipeline = Pipeline(
            inputs=(),
            sizes=(*self.pipeline.sizes, *own),
            scalars=self.pipeline.scalars,
            stages=marked(stages),
            outputs=tuple(outputs),
            order=(),
            context=context,
            trim=trim,
            formulas=self.pipeline.formulas,
            alone=alone or self.pipeline.alone,
        )
        pipeline = without_unread(pipeline)
        arrays, given = self.inputs.of(pipeline)
        read = [*zip(arrays, given, strict=True)]
        level = replace(
            pipeline,
            inputs=arrays,
            states=self._states(dict(zip(outputs, views, strict=True)), read),
            newest=self._newest(views, read),
            coming=None if steps is None else dict.fromkeys(self._unchanged(read), steps.name),
        )
        return StepSection(in_sections(level), given, views, steps)

    def _states(
        self, written: Mapping[str, ArrayView], read: Sequence[tuple[InputArray, ArrayView]]
    ) -> dict[str, str]:
        """The inputs that outputs were a step before, of arrays with two planes."""
        two = {held.name for held in self.held.values() if held.is_folded and held.planes == Affine((), 2)}
        before = {view: array.name for array, view in read if view.array in two}
        found: dict[str, str] = {}
        for name, view in written.items():
            old = None if view.step is None else before.get(ArrayView(view.array, view.step - 1))
            if old is not None:
                found[name] = old
        return found

    def _newest(
        self, written: Sequence[ArrayView], read: Sequence[tuple[InputArray, ArrayView]]
    ) -> dict[str, Affine]:
        """The inputs that a step makes an element of, with the index of the one that was made before it."""
        last: dict[str, Affine] = {}
        held = {each.name: each for each in self.held.values()}
        for view in written:
            array = held.get(view.array)
            if view.step is not None and array is not None and not array.extents and not array.is_folded:
                last[view.array] = array.plane(view.step) - array.sign
        return {
            array.name: last[view.array] for array, view in read if view.step is None and view.array in last
        }

    def _unchanged(self, read: Sequence[tuple[InputArray, ArrayView]]) -> Iterator[str]:
        """The inputs that were there before all steps: not what these make, nor steps around them."""
        given = {array.name for array in self.pipeline.inputs}
        if self.pipeline.coming is not None:
            given &= self.pipeline.coming.keys()
        made = (held for name, held in self.held.items() if name not in self.inputs.owners)
        given |= {held.name for held in made if held.place != "input"}
        return (array.name for array, view in read if view.step is None and view.array in given)


def _relinked(stage: Stage, relink: Relink) -> Stage:
    def leaf(node: Expr) -> Expr:
        return relink(node, node.indices) if isinstance(node, Load) else node

    return map_expressions(stage, lambda expr: rebuild(expr, leaf))
