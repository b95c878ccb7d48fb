"""Groups that are alike but for the names of their stages and arrays: what one of them costs, all cost.

The steps of a band are copies of each other, so that most of its groups are others moved in time.

before:  (b2, c2) where b2 reads a1 and c2 reads b2, and (b3, c3) where b3 reads a2 and c3 reads b3
after:   (b3, c3) costs what (b2, c2) was found to cost
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping

from polymat.dataclass import dataclass
from polymat.fusion.dag import Dag
from polymat.fusion.reads import Reads
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import InputArray, Stage
from polymat.lang.affine import computed_in
from polymat.lang.expressiontext import structure
from polymat.tilesize.stateplanes import kept_in_place
from polymat.tilesize.traffic import sizes_of


@dataclass(frozen=True, slots=True)
class _Form:
    """What a stage is with numbers for the arrays that it reads: a copy of another one has the same.

    sources: the arrays, by number.
    """

    number: int
    sources: tuple[str, ...]


class AlikeGroups:
    """Tells of each group which group of the same form was asked for first.

    Of stages that are neither sums nor recurrences and read nothing at computed places: the plans of others
    depend on more of a pipeline than what the group itself reads, and who reads it.
    sizes: assumed for sizes that nobody gave.  kept: the stages that the first call alone computes.
    """

    def __init__(
        self, pipeline: Pipeline, reads: Reads, dag: Dag, sizes: Mapping[str, int], kept: Collection[str]
    ) -> None:
        self.pipeline, self.reads, self.dag, self.kept = pipeline, reads, dag, kept
        self.sizes = sizes
        self.given = {array.name: _given(array) for array in pipeline.inputs}
        self.in_place = {stage.name for stage, _ in kept_in_place(pipeline)}
        self.forms = _forms(pipeline)
        self.known: dict[Hashable, tuple[str, ...]] = {}

    def first(self, stages: tuple[str, ...]) -> tuple[str, ...]:
        """The group of the same form that was asked for first, which may be this one."""
        if not all(name in self.forms for name in stages):
            return stages
        return self.known.setdefault(self._form(stages), stages)

    def _form(self, stages: tuple[str, ...]) -> Hashable:
        """The forms of the stages, what they read of each other and of others, and who reads them."""
        numbers = {name: k for k, name in enumerate(stages)}
        outside: dict[str, int] = {}
        states = self.pipeline.states

        def place(name: str) -> tuple[bool, int]:
            """Which stage of the group, or which one of the arrays outside that it reads."""
            inside = name in numbers
            return inside, numbers[name] if inside else outside.setdefault(name, len(outside))

        found = [
            (
                self.forms[name].number,
                tuple(map(place, self.forms[name].sources)),
                name in self.pipeline.outputs,
                not numbers.keys() >= {*self.reads.readers.get(name, ())},
                (place(states[name]), name in self.in_place) if name in states else None,
                name in self.kept,
            )
            for name in stages
        ]
        bytes_of, extents = sizes_of(self.pipeline, self.sizes), self.pipeline.extents
        arrays = [(bytes_of[name], extents[name], self.given.get(name)) for name in outside]
        return tuple(found), tuple(arrays), self.dag.is_convex(self.dag.mask(stages))


def _given(array: InputArray) -> Hashable:
    """What is known of an input beside its extents; None where that is nothing, as of any other array."""
    known = (array.turned, array.values, array.pitches, array.shape, array.sorted)
    return known if any(known) else None


def _forms(pipeline: Pipeline) -> dict[str, _Form]:
    """The forms of those stages that have copies among the others."""
    if pipeline.waiting is not None or pipeline.positions:
        return {}
    texts = {stage.name: _text(stage) for stage in pipeline.stages if _is_plain(stage)}
    often = Counter(texts.values())
    numbers: dict[Hashable, int] = {}
    return {
        name: _Form(numbers.setdefault(text, len(numbers)), _sources(pipeline.stage(name)))
        for name, text in texts.items()
        if often[text] > 1
    }


def _is_plain(stage: Stage) -> bool:
    return not (
        stage.is_reduction or stage.reads_itself or any(computed_in(e.indices) for e in stage.loads())
    )


def _sources(stage: Stage) -> tuple[str, ...]:
    return tuple(dict.fromkeys(load.source.name for load in stage.loads()))


def _text(stage: Stage) -> Hashable:
    """All that a stage is but for its name and those of the arrays that it reads."""
    numbers = {name: str(number) for number, name in enumerate(_sources(stage))}
    parts = (
        (part.domain.key, str(part.condition), part.fills, structure(part.expr, numbers))
        for part in stage.parts
    )
    return stage.dtype, stage.dims, stage.bounds, stage.domain.key, tuple(parts)
