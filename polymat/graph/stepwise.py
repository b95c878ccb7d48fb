"""A computation as several pipelines one after the other, some of them once a step: what circles become.

before:  ey(t, .) reads hz(t - 1, .), ex(t, .) too, and hz(t, .) reads both
after:   a pipeline of ey, ex and hz at one t, run for t = 1 .. T with the planes of hz that it needs
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from polymat.dataclass import dataclass
from polymat.graph.laned import LanedRows
from polymat.graph.pipeline import Pipeline
from polymat.graph.pointsteps import PointSteps
from polymat.graph.segmented import SegmentedSteps
from polymat.graph.skewed import SkewedSteps
from polymat.graph.waited import WaitingSlices
from polymat.lang.affine import Affine
from polymat.lang.types import ScalarType

L = TypeVar("L")
ONE = Affine((), 1)
WHOLE = 1 << 40  # steps of a block that has all there are
Together = WaitingSlices | PointSteps | SkewedSteps | SegmentedSteps | LanedRows
"""How several steps of a section run together, in the order in which the passes that find them ask."""


@dataclass(frozen=True, slots=True)
class HeldArray:
    """An array between the pipelines: one plane, or one a step of those that make it.

    place: "output" or "input" where it is the caller's, else "workspace".  extents: of a plane.
    origin: the step of the first plane, times `sign`; None where there is one plane alone.  planes: how many
    there are.  count: planes that would be there were none left out.  sign: -1 where later steps have planes
    further in front.
    """

    name: str
    dtype: ScalarType
    place: str
    extents: tuple[Affine, ...]
    origin: Affine | None = None
    planes: Affine = ONE
    count: Affine = ONE
    sign: int = 1

    def plane(self, step: Affine) -> Affine:
        """The number of the plane of a step, were none left out."""
        assert self.origin is not None  # it is made step by step
        return step.scale(self.sign) - self.origin

    @property
    def last_step(self) -> Affine:
        """The last step that makes a plane."""
        assert self.origin is not None  # it is made step by step
        return self.origin + self.count - 1 if self.sign > 0 else -self.origin

    @property
    def is_folded(self) -> bool:
        """Whether planes make room for later ones."""
        return bool(self.planes != self.count)


@dataclass(frozen=True, slots=True)
class ArrayView:
    """An argument of a pipeline: an array, or its plane of a step."""

    array: str
    step: Affine | None = None

    def __str__(self) -> str:
        return self.array if self.step is None else f"{self.array} at {self.step}"


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps at which a pipeline runs: from the largest of `first` to the smallest of `last`.

    end: of steps that it takes in blocks, the name of the last one of a block, whose first one has `name`;
    "" where it takes one at a time.  every: how many a block has; WHOLE where one block has all of them.
    least: how many steps there have to be, for any to run.  below: and how many not; 0 for any number.
    """

    name: str
    first: tuple[Affine, ...]
    last: tuple[Affine, ...]
    end: str = ""
    every: int = 1
    least: int = 0
    below: int = 0

    def numbers(self, sizes: Mapping[str, int]) -> range:
        """The steps at some sizes, and numbers of steps around them; of blocks the first ones."""
        first = max(int(form.evaluate(sizes)) for form in self.first)
        end = min(int(form.evaluate(sizes)) for form in self.last) + 1
        runs = end - first >= self.least and not 0 < self.below <= end - first
        return range(first, end if runs else first, self.every)

    def at(self, step: int, sizes: Mapping[str, int]) -> dict[str, int]:
        """The sizes that the pipeline has at a step beside others."""
        if not self.end:
            return {self.name: step}
        last = min(int(form.evaluate(sizes)) for form in self.last)
        return {self.name: step, self.end: max(min(step + self.every - 1, last), step)}

    def __str__(self) -> str:
        limits = f", if these are {self.least} or more" if self.least else ""
        limits += f", if these are fewer than {self.below}" if self.below else ""
        return self._range() + limits

    @property
    def is_whole(self) -> bool:
        """Whether one block has all steps, so that the pipeline runs once, if there are any."""
        return self.every == WHOLE

    def _range(self) -> str:
        low, high = (_one("max", self.first), _one("min", self.last))
        if self.is_whole:
            return f"{self.name} .. {self.end} = {low} .. {high}"
        if self.end:
            return f"{self.name} = {low} .. {high} by {self.every}, to {self.end}"
        others = [text for text in dict.fromkeys(map(str, self.last)) if text != low]
        if len(others) < len({*self.last}):  # the first step is also a last one
            return f"{self.name} = {low}" + (f", unless {' or '.join(others)} < {low}" if others else "")
        return f"{self.name} = {low} .. {high}"


def _one(word: str, forms: tuple[Affine, ...]) -> str:
    texts = list(dict.fromkeys(map(str, forms)))
    return texts[0] if len(texts) == 1 else f"{word}({', '.join(texts)})"


@dataclass(frozen=True, slots=True, eq=False)
class StepSection(Generic[L]):
    """One of the pipelines, with where its inputs and outputs lie.

    steps: at which it runs, None for once.  together: how several of them run; None where each runs by
    itself.  independent: whether no step needs another one, so that threads share them out.
    changed: the arrays among its inputs that it changes, where it is given all that it writes like that.
    """

    level: L | Stepwise[L]
    inputs: tuple[ArrayView, ...]
    outputs: tuple[ArrayView, ...]
    steps: Steps | None = None
    together: Together | None = None
    independent: bool = False
    changed: tuple[str, ...] = ()

    @property
    def goes_on(self) -> bool:
        """Whether it takes steps that go on with what others came to."""
        made = {view.array for view in self.outputs}
        return self.steps is not None and any(view.array in made for view in self.inputs)

    def flat(self) -> Iterator[L]:
        """Yield the level, or those of the sections that it is."""
        if isinstance(self.level, Stepwise):
            yield from self.level.flat()
        else:
            yield self.level


@dataclass(frozen=True, slots=True, eq=False)
class Stepwise(Generic[L]):
    """The pipelines in order, at any level of the compilation.

    whole: what all of them compute.  held: the arrays between them, and the outputs.
    """

    whole: Pipeline
    held: tuple[HeldArray, ...]
    sections: tuple[StepSection[L], ...]

    def flat(self) -> Iterator[L]:
        """Yield the levels of all sections, those of sections within them too."""
        for section in self.sections:
            yield from section.flat()

    def map(self, change: Callable[[L], Any]) -> Stepwise[Any]:
        """Change every level, within sections of sections too; this one where none changes."""
        levels = (section.level for section in self.sections)
        return self.with_levels([e.map(change) if isinstance(e, Stepwise) else change(e) for e in levels])

    def with_levels(self, levels: Sequence[Any]) -> Stepwise[Any]:
        """Put other levels into its sections; this one where these are the same."""
        pairs = [*zip(self.sections, levels, strict=True)]
        if all(level is section.level for section, level in pairs):
            return self
        return replace(self, sections=tuple(replace(section, level=level) for section, level in pairs))

    def with_sections(self, change: Callable[[StepSection[L]], StepSection[L]]) -> Stepwise[L]:
        """Change every section by itself; this one where none changes."""
        sections = tuple(map(change, self.sections))
        if all(new is old for new, old in zip(sections, self.sections, strict=True)):
            return self
        return replace(self, sections=sections)

    def __str__(self) -> str:
        lines = [f"{held_text(held)}" for held in self.held]
        for number, section in enumerate(self.sections, 1):
            lines += ["", f"section {number}: {section_text(section)}", "", str(section.level)]
            lines += [] if section.together is None else [str(section.together)]
        return "\n".join(lines)


def held_text(held: HeldArray) -> str:
    """An array between the pipelines in words."""
    extents = ", ".join(map(str, held.extents))
    place = f"{held.place}  {held.name}: {held.dtype} [{extents}]"
    if held.origin is None:
        return place
    order = f" from {held.origin}" if held.sign > 0 else f" back to {-held.origin}"
    return f"{place}, {held.planes} of {held.count} planes{order}"


def section_text(section: StepSection[Any]) -> str:
    """When a section runs and on what."""
    each = ", each by itself" if section.independent else ""
    when = "once" if section.steps is None else f"for {section.steps}{each}"
    views = [", ".join(map(str, views)) or "nothing" for views in (section.inputs, section.outputs)]
    return f"{when}, of {views[0]} to {views[1]}"
