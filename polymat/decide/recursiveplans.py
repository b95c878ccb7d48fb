"""Recursive filters as plans: which stages are such filters in a row, and the predicted time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import prod

from polymat.decide.filterplans import QUICKER
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.idiom.recursion import Recursion
from polymat.idiom.recursive import match_recursion
from polymat.idiom.recursiveends import Ending, match_ending, match_result
from polymat.machine.model import Machine
from polymat.options import Options
from polymat.plan.library import RecursivePlan
from polymat.plan.loops import WAITING
from polymat.tilesize.filterblock import RUN, register_lanes, transposed_lanes
from polymat.tilesize.shortloops import loop_lengths
from polymat.tilesize.stagework import stage_operations

# Operations of vectorised loops, for one sample.  Measured (Zen 3, 10 to 40 cycles a vector): a multiply-add
# of a section, of which a cycle has two where none waits for another; and to transpose a sample into lanes
# and its result back, once for all sections in a row.
MULTIPLY_ADD = 0.6
MOVED = 7.5
# The same for each position of a run, section and sample that it looks back: what a run adds to the next one
# is computed at each call, one number after the other.  As many channels as lanes have no use for it.
RESPONSE = 60.0


class RecursivePlanner:
    """Plans of recursive filters for groups of one pipeline."""

    def __init__(
        self, pipeline: Pipeline, machine: Machine, options: Options, sizes: Mapping[str, int]
    ) -> None:
        self.pipeline = pipeline
        self.sizes = sizes
        self.machine = machine
        self.options = options

    @cached_property
    def found(self) -> dict[str, Recursion]:
        """The recurrences that are recursive filters, by name."""
        if not self.options.kernels:
            return {}
        context, extents = self.pipeline.context, self.pipeline.extents
        every = ((s.name, match_recursion(s, context, extents)) for s in self.pipeline.stages)
        return {name: each for name, each in every if each is not None}

    def joins(self) -> list[tuple[str, str]]:
        """Pairs of a chain of filters and a stage that keeps some of its results."""
        return [
            (name, stage.name)
            for name, each in self.found.items()
            if each.chain is not None
            for stage in self.pipeline.stages
            if match_result(stage, each, self.pipeline.context)
            or match_ending(stage, each, self.pipeline.context)
        ]

    def plan(self, stages: tuple[str, ...]) -> RecursivePlan | None:
        """The plan of a group that is one filter, or a chain with all stages that read it."""
        found = self.found.get(stages[0])
        if found is None or (found.chain is None) != (len(stages) == 1):
            return None
        if found.chain is None:
            return self._planned(stages, found, stages[0], tuple(d for d in found.stage.dims), ())
        readers = [s for s in self.pipeline.stages if any(x.source.name == stages[0] for x in s.loads())]
        outside = {stage.name for stage in readers} - set(stages)
        if stages[0] in self.pipeline.outputs or outside:
            return None
        results, endings = [], []
        for name in stages[1:]:
            stage = self.pipeline.stage(name)
            result = match_result(stage, found, self.pipeline.context)
            ending = match_ending(stage, found, self.pipeline.context)
            if result is not None:
                results.append((name, result))
            elif ending is not None:
                endings.append(ending)
            else:
                return None
        if len(results) != 1:
            return None
        return self._planned(stages, found, *results[0], tuple(endings))

    def _planned(
        self,
        stages: tuple[str, ...],
        found: Recursion,
        result: str,
        indices: tuple[str, ...],
        endings: tuple[Ending, ...],
    ) -> RecursivePlan:
        lanes = transposed_lanes(self.machine, found.stage.dtype.size)
        loops = sum(stage_operations(self.pipeline.stage(name), self.sizes) for name in stages)
        relative = self._operations(found, lanes) / max(1.0, loops)
        most = QUICKER * (1.0 if found.channels else WAITING)  # of loops, which wait for each sample
        return RecursivePlan(
            group=Group(stages),
            kind="recursive",
            order=(),
            parallel=found.channels[0] if found.channels else None,
            vector=found.time,
            reason=_reason(found, lanes),
            recursion=found,
            result=result,
            indices=indices,
            endings=endings,
            lanes=lanes,
            width=register_lanes(self.machine, found.stage.dtype.size),
            relative=min(relative, most),
        )

    def _operations(self, found: Recursion, lanes: int) -> float:
        """Operations of vectorised loops in the time of all sections, on so many lanes side by side.

        They add coefficients of the signal and of results, and of results once more for the run before.
        """
        section, lengths = found.section, loop_lengths(found.stage, self.sizes)
        sections = float(found.count) if found.chain is not None else 1.0
        channels = prod((lengths[dim] for dim in found.channels), start=1.0)
        each = MULTIPLY_ADD * sections * (len(section.forward) + 2 * len(section.back)) + MOVED
        total = each * channels * lengths[found.time]
        if channels < lanes:
            run = min(float(RUN), lengths[found.time] / lanes)
            total += RESPONSE * run * sections * section.depth
        return total


def _reason(found: Recursion, lanes: int) -> str:
    """How it is computed, in words."""
    runs = f"{lanes} runs of up to {RUN} samples of a channel side by side, what was before them added after"
    if found.channels:
        runs = f"{lanes} channels side by side, of fewer {runs}"
    one = "each block passes all sections in the first-level cache; " if found.chain is not None else ""
    return f"{found}: {one}{runs}"
