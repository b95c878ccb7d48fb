"""The points at the end of a row that fill no vector: gcc computes them by a half one and one by one.

before:  46 points in vectors of 16
after:   two vectors, a half one, and six points by themselves, each of as many instructions as a vector
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Variable
from polymat.lang.traverse import walk
from polymat.memo import remembered
from polymat.model.estimates import once_a_stage
from polymat.model.extents import extent
from polymat.plan.loops import LoopPlan
from polymat.plan.tile import Plan
from polymat.tilesize.shortloops import WRITTEN_OUT, loop_lengths


@dataclass(frozen=True, slots=True)
class RowEnds:
    """The rows of a part: how many points they have, each of them where they are alike.

    Of others, those of a triangle say, the most, and what is left of their vectors is the mean.
    """

    length: float
    alike: bool

    def vectors_and_points(self, lanes: int) -> tuple[float, float]:
        """How many vectors one has, the half one among them, and how many points by themselves."""
        if not self.alike:
            return self.length / lanes, (max(1, lanes // 2) - 1) / 2
        whole, left = divmod(floor(self.length), lanes)
        half, left = divmod(left, max(1, lanes // 2))
        return whole + half, left


def has_ends(
    pipeline: Pipeline, plan: Plan, stage: Stage, loops: LoopPlan, estimates: Mapping[str, int]
) -> bool:
    """Whether the loops of a map end with each of its rows.

    Not where one loop runs over all rows, where the last vector has a mask, since neighbours are shifted in
    explicit ones, nor in tiles that cut rows, whose ends have a price of their own.
    """
    if loops.kind != "map" or not stage.dims or loops.vector != stage.dims[-1] or plan.row_loop is not None:
        return False
    if loops.lanes > 1 and _shifts(stage):
        return False
    member, sizes = plan.member(stage.name), [*plan.tile_sizes.values()]
    if member is not None and loops.vector in member.dims:
        size = sizes[member.dims.index(loops.vector)]
        return size >= loop_lengths(stage, estimates)[loops.vector]
    return not _follow_each_other(pipeline, stage)


@remembered
def _shifts(stage: Stage) -> bool:
    """Whether a stage reads neighbours of a row, and no numbers but of its own type."""
    loads = [load for load in stage.loads() if load.indices]
    rows = {
        (load.source.name, *load.indices[:-1], load.indices[-1] - load.indices[-1].const) for load in loads
    }
    places = {(load.source.name, load.indices) for load in loads}
    return len(rows) < len(places) and all(load.dtype == stage.dtype for load in loads)


def _follow_each_other(pipeline: Pipeline, stage: Stage) -> bool:
    """Whether all rows are neighbours in every array, so that one loop runs over all of them.

    As `codegen/loops/wholerows.py` finds of the loops that are written.
    """
    if len(stage.parts) != 1 or not stage.domain.is_box() or len(stage.dims) < 2:
        return False
    if any(isinstance(node, Variable) for node in walk(stage.parts[0].expr)):
        return False
    low, high = stage.box[-1]
    own = tuple(map(Affine.name, stage.dims[-2:]))
    return low == Affine() and all(
        load.indices[-2:] == own and pipeline.extents[load.source.name][-1] == high + 1
        for load in stage.loads()
        if any(dim in form.names() for form in load.indices for dim in stage.dims)
    )


@once_a_stage
def rows_of(stage: Stage, estimates: Mapping[str, int], number: int) -> RowEnds | None:
    """The rows of a part; None of few points, which are written out."""
    part, alone = stage.parts[number], len(stage.parts) == 1
    domain = stage.domain if alone else part.domain
    limits = None if alone else domain.limits(stage.dims[-1])
    alike = domain.is_box() and (alone or limits is not None)
    low, high = limits or stage.box[-1]
    length = extent(high - low + 1, estimates)
    return RowEnds(length, alike) if length > WRITTEN_OUT else None
