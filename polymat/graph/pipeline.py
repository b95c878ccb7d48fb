"""The pipeline: a checked, immutable DAG of stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from math import prod

from polymat.dataclass import dataclass
from polymat.graph.orders import NO_WORK, Work
from polymat.graph.pipelinetext import pipeline_lines
from polymat.graph.positionpair import PositionPair
from polymat.graph.stage import InputArray, ScalarInput, Stage
from polymat.graph.waited import Slices
from polymat.lang.affine import Affine
from polymat.poly.domain import Domain


@dataclass(frozen=True, eq=False)
class Pipeline:
    """Stages in an order in which they can run, and what they are called with.

    sizes: the integers that domains depend on; scalars: the other run-time parameters.
    order: the positional arguments by name.  context: what is known of the sizes.
    constraints: forms over the sizes that must be >= 0, each with what it requires in words, N >= 3 say.
    trim: outputs hold lo..hi of each dimension instead of 0..hi.
    notes: what rewriting decided, in words, for `explain()`.
    formulas: what the user wrote for stages that were given no name, by the name that they have here.
    work: what its order of products costs at some sizes.  others: the same with the products in other orders,
    which cost less at other sizes, as it was when these were found.
    channels: of arrays whose last dimension counts several of the caller's as one, the extents of these but
    for the first.
    states: of a step, the inputs that outputs were a step before, where no later step reads these, by the
    names of the outputs.
    newest: of a step, the inputs of one dimension of which it makes an element, each with the index of the
    one that the step before made.  coming: the inputs that no step changes, each with the name of the step.
    followed: the functions whose steps are to follow each other over their rows.
    apart: whether each stage has loops of its own.
    waiting: the slices of a step that wait for others; None where there are none.
    sliced: groups of stages that run slice by slice, each with the dimension that tells its slices apart.
    alone: whether it computes a part of what threads share, on one of them.
    positions: the stages that say where the extremes are that others find.
    """

    inputs: tuple[InputArray, ...]
    sizes: tuple[ScalarInput, ...]
    scalars: tuple[ScalarInput, ...]
    stages: tuple[Stage, ...]
    outputs: tuple[str, ...]
    order: tuple[str, ...]
    context: Domain
    constraints: tuple[tuple[Affine, str], ...] = ()
    trim: bool = False
    notes: tuple[str, ...] = ()
    formulas: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    work: Work = NO_WORK
    others: tuple[tuple[Work, Pipeline], ...] = ()
    states: Mapping[str, str] = field(default_factory=dict)
    newest: Mapping[str, Affine] = field(default_factory=dict)
    coming: Mapping[str, str] | None = None
    followed: tuple[str, ...] = ()
    apart: bool = False
    waiting: Slices | None = None
    sliced: tuple[tuple[tuple[str, int], ...], ...] = ()
    alone: bool = False
    positions: tuple[PositionPair, ...] = ()

    def stage(self, name: str) -> Stage:
        """The stage of that name."""
        return self._by_name[name]

    def called(self, name: str) -> str:
        """A stage or an input in a message: its name, or the formula where the user gave it none."""
        return self.formulas.get(name, name)

    def located(self, stage: Stage) -> str:
        """A stage in a message that is no error: what it is called, and where the user wrote it."""
        place = "" if stage.at is None else f" ({stage.at})"
        return f"{self.called(stage.name)}{place}"

    @cached_property
    def _by_name(self) -> Mapping[str, Stage]:
        return {stage.name: stage for stage in self.stages}

    @cached_property
    def extents(self) -> Mapping[str, tuple[Affine, ...]]:
        """The extents of every array, by name."""
        arrays = {array.name: array.extents for array in self.inputs}
        return arrays | {stage.name: stage.extents for stage in self.stages}

    def as_called(self, name: str, forms: tuple[Affine, ...], fill: bool = True) -> tuple[Affine, ...]:
        """Extents of an array, or of a corner of it, by the dimensions that the caller knows.

        before:  [H, 3*W]
        after:   [H, W, 3]; for a corner [H, W, 0]
        """
        last = self.channels.get(name, ())
        if not last or not forms:
            return forms
        rest = tuple(Affine((), extent if fill else 0) for extent in last)
        return (*forms[:-1], forms[-1].floordiv(prod(last)), *rest)

    def with_stages(self, stages: tuple[Stage, ...]) -> Pipeline:
        """A pipeline like this one with other stages, or this one when they are the same."""
        same = len(stages) == len(self.stages) and all(
            new is old for new, old in zip(stages, self.stages, strict=True)
        )
        return self if same else replace(self, stages=stages)

    def __str__(self) -> str:
        return "\n".join(pipeline_lines(self))
