"""Short last dimensions, the channels of an image, counted as one with the dimension before them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod

from polymat.dataclass import dataclass
from polymat.graph.joined import joined_stage
from polymat.graph.pipeline import Pipeline
from polymat.graph.simplify import map_expressions
from polymat.graph.stage import InputArray, Stage
from polymat.lang.expr import Expr, Load
from polymat.lang.names import C_KEYWORDS
from polymat.lang.traverse import rebuild
from polymat.machine.model import Machine

SHORT = 4  # vectors: in rows of more, what is left over at their ends costs less than a fifth of them

Called = Callable[[Stage, Pipeline], bool]
Found = tuple[dict[str, Stage], dict[str, int]]  # stages in their new form; arrays that these make flat


def join_channels(pipeline: Pipeline, machine: Machine, is_called: Called) -> Pipeline:
    """Let loops run over the last two dimensions as over one where the last has a few points.

    A vector holds points of one row: three channels would be a vector of three, whatever there is room for.
    Arrays stay what they are for who calls, and where they lie in memory.

    is_called: whether a library, or register blocks, compute a stage.  These join dimensions by themselves.

    before:  f(i, j, c) = a(i, j - 1, c) + a(i, j + 1, c) for c of 0 .. 2
    after:   f(i, j_c) = a(i, j_c - 3) + a(i, j_c + 3)
    """
    notes: list[str] = []
    while (found := _Round(pipeline, machine, is_called).run()) is not None:
        pipeline, names = found
        notes += names
    return replace(pipeline, notes=(*pipeline.notes, *notes)) if notes else pipeline


@dataclass(frozen=True, slots=True, eq=False)
class _Round:
    """One dimension less of whatever has one too many."""

    pipeline: Pipeline
    machine: Machine
    is_called: Called

    def run(self) -> tuple[Pipeline, list[str]] | None:
        """The pipeline with what could be joined, and what was in words; None where nothing could."""
        pipeline = self.pipeline
        short = self._short()
        allowed = set(short)
        while True:
            stages, flat = self._largest(short, allowed)
            if not stages:
                return None
            made = self._made(stages, flat)
            spoiled = self._spoiled(made, stages, flat)
            if not spoiled:
                break
            allowed -= spoiled
        return made, [_note(pipeline.stage(name), stage) for name, stage in stages.items()]

    def _short(self) -> dict[str, int]:
        """The arrays whose last dimension has a few points, and how many."""
        arrays: list[InputArray | Stage] = [*self.pipeline.inputs, *self.pipeline.stages]
        sizes = [each.dtype.size for each in arrays]
        most = SHORT * self.machine.lanes(min(sizes))
        return {
            name: extents[-1].const
            for name, extents in self.pipeline.extents.items()
            if len(extents) > 1 and extents[-1].is_constant and 0 < extents[-1].const < most
        }

    def _largest(self, short: Mapping[str, int], allowed: set[str]) -> Found:
        """The most stages that can be joined with what they read, and the arrays that they read or are."""
        pipeline = self.pipeline
        taken = {name for stage in pipeline.stages for name in _names(stage)}
        candidates = {
            stage.name
            for stage in pipeline.stages
            if stage.name in allowed and len(stage.dims) > 1 and not self.is_called(stage, pipeline)
        }
        inputs = {array.name for array in pipeline.inputs if array.name in allowed}
        while True:
            made: dict[str, Stage] = {}
            for stage in pipeline.stages:
                if stage.name in candidates:
                    extent = short[stage.name]
                    arrays = {name for name in inputs | candidates if short[name] == extent}
                    found = joined_stage(stage, extent, _free(stage.dims[-2:], taken), arrays)
                    if found is not None:
                        made[stage.name] = found
            if made.keys() == candidates:
                break
            candidates = set(made)
        ranks = {name: len(extents) for name, extents in pipeline.extents.items()}
        read = {
            load.source.name
            for stage in made.values()
            for load in stage.loads()
            if load.source.name in inputs and len(load.indices) < ranks[load.source.name]
        }
        return made, {name: short[name] for name in (*made, *sorted(read))}

    def _made(self, stages: Mapping[str, Stage], flat: Mapping[str, int]) -> Pipeline:
        """The pipeline with these stages, and all arrays that they are or read by one index less."""
        pipeline = self.pipeline
        ranks = {name: len(pipeline.extents[name]) for name in flat}

        def leaf(node: Expr) -> Expr:
            if isinstance(node, Load) and len(node.indices) == ranks.get(node.source.name):
                *before, outer, inner = node.indices
                index = outer.scale(flat[node.source.name]) + inner
                return Load(node.source, (*before, index), node.dtype, node.at)
            return node

        def changed(stage: Stage) -> Stage:
            if not any(len(load.indices) == ranks.get(load.source.name) for load in stage.loads()):
                return stage
            return map_expressions(stage, lambda expr: rebuild(expr, leaf))

        known = pipeline.channels
        split = {
            name: (extent // prod(known.get(name, ())), *known.get(name, ())) for name, extent in flat.items()
        }
        return replace(
            pipeline,
            inputs=tuple(_flat(array, flat) for array in pipeline.inputs),
            stages=tuple(changed(stages.get(stage.name, stage)) for stage in pipeline.stages),
            channels={**known, **split},
        )

    def _spoiled(self, made: Pipeline, stages: Mapping[str, Stage], flat: Mapping[str, int]) -> set[str]:
        """The arrays that have to stay what they are for stages that would else not be called any more."""
        return {
            load.source.name
            for stage in self.pipeline.stages
            if stage.name not in stages and self.is_called(stage, self.pipeline)
            if any(load.source.name in flat for load in stage.loads())
            and not self.is_called(made.stage(stage.name), made)
            for load in stage.loads()
            if load.source.name in flat
        }


def _note(before: Stage, after: Stage) -> str:
    """What was joined in a stage, in words."""
    return f"{before.name}: {' and '.join(before.dims[-2:])} run as one dimension, {after.dims[-1]}"


def _free(dims: tuple[str, ...], taken: set[str]) -> str:
    """A name for dimensions that run as one."""
    name = "_".join(dims)
    while name in taken or name in C_KEYWORDS:
        name += "_"
    return name


def _names(stage: Stage) -> set[str]:
    """The names that dimensions and sizes of a stage have."""
    return {*stage.dims, *stage.domain.params, *(dim for item in stage.accumulations for dim in item.dims)}


def _flat(array: InputArray, flat: Mapping[str, int]) -> InputArray:
    if array.name not in flat:
        return array
    *before, outer, inner = array.extents
    return replace(array, extents=(*before, outer.scale(inner.const)))
