"""Where every array of a pipeline lives: with the caller, or in the workspace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.aligned import Member
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.types import ScalarType
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan
from polymat.poly.domain import Domain
from polymat.poly.lifespan import Folds

LINE_BYTES = 64  # of a cache; rows of a scratchpad begin on a line of their own
# Lines of a row, or a divisor of them, by which many rows would have the same sets of a first-level cache.
# That finds its sets by addresses within a page: rows half a page apart share two of them, of 8 to 12 lines.
COLLIDING_LINES = 32
FEWEST_LINES = 4  # of a row that begins on a line of its own: a line more would be much of fewer
TILE = "_pm_tile"  # with a number: where the tile begins along a tiled dimension
WHOLE = "_pm_whole_"  # before a stage's name: its array, inside a group that computes it in a scratchpad


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array in memory, row-major: element (i, ...) is at index (i - origin, ...).

    place: "input", "output", "workspace", "kept" (from the first call on) or "scratchpad" (of one tile; its
    origin moves with the tile).
    ring: the first dimension that is one, if any: index i of it is at i modulo its extent, a power of two.
    copy: it is the scratchpad of a stage that has an array as well.
    folds: of an array that has places for few of its elements at a time, their number along each dimension,
    index i being at i modulo that (None: each index has a place); empty for others.
    of: the output whose array that is, where it is not its own.
    written_from: of an output that is not fully written, the positions from which on it is, one a dimension;
    empty where what is written is no rectangle.
    """

    name: str
    dtype: ScalarType
    place: str
    extents: tuple[Affine, ...]
    origin: tuple[Affine, ...]
    fully_written: bool = True
    written_from: tuple[Affine, ...] = ()
    ring: int | None = None
    copy: bool = False
    folds: Folds = ()
    of: str = ""

    def is_single(self, dim: int) -> bool:
        """Whether all elements along a dimension have the same place."""
        return bool(self.folds) and self.folds[dim] == 1


def buffers(pipeline: Pipeline, schedule: Schedule) -> dict[str, Buffer]:
    """Every array by name: inputs, then stages in order; a stage may have none."""
    scratch = {
        member.stage: (plan, member)
        for plan in schedule.plans
        if isinstance(plan, TilePlan)
        for member in plan.members
        if member.scratch
    }
    found = input_buffers(pipeline)
    absorbed = {name for plan in schedule.plans for name in plan.absorbed}
    for stage in pipeline.stages:
        if stage.name in absorbed:
            continue
        if stage.name in scratch:
            found[stage.name] = _scratchpad(stage, *scratch[stage.name])
            continue
        if stage.name in pipeline.outputs:
            found[stage.name] = output_buffer(stage, pipeline)
            continue
        if stage.name in schedule.in_outputs:
            found[stage.name] = _in_output(stage, schedule, pipeline)
            continue
        place = "kept" if stage.name in schedule.kept else "workspace"
        origin = tuple(_origin(stage, k, pipeline.context, trim=False) for k in range(len(stage.dims)))
        folds = schedule.folds.get(stage.name, ())
        extents = _extents(stage, origin, folds)
        found[stage.name] = Buffer(stage.name, stage.dtype, place, extents, origin, folds=folds)
    return found


def _in_output(stage: Stage, schedule: Schedule, pipeline: Pipeline) -> Buffer:
    """A recurrence in the array of an output, which is its last step."""
    output, folds = pipeline.stage(schedule.in_outputs[stage.name]), schedule.folds[stage.name]
    array = output_buffer(output, pipeline)
    places = _extents(stage, (stage.box[0][0], *array.origin), folds)
    return Buffer(
        *(stage.name, stage.dtype, "output", (places[0], *array.extents)),
        origin=(stage.box[0][0], *array.origin),
        folds=folds,
        of=output.name,
    )


def input_buffers(pipeline: Pipeline) -> dict[str, Buffer]:
    """The arrays that a call is given, by name."""
    return {
        array.name: Buffer(array.name, array.dtype, "input", array.extents, (Affine(),) * len(array.extents))
        for array in pipeline.inputs
    }


def output_buffer(stage: Stage, pipeline: Pipeline) -> Buffer:
    """The array of an output, which is the caller's."""
    origin = tuple(_origin(stage, k, pipeline.context, pipeline.trim) for k in range(len(stage.dims)))
    full = _covers_box(stage, origin, pipeline.context)
    written = () if full else _rectangle(stage, origin, pipeline.context)
    extents = _extents(stage, origin, ())
    return Buffer(
        *(stage.name, stage.dtype, "output", extents, origin), fully_written=full, written_from=written
    )


def _extents(stage: Stage, origin: tuple[Affine, ...], folds: Folds) -> tuple[Affine, ...]:
    """The places of an array along each dimension."""
    whole = [extent - low for extent, low in zip(stage.extents, origin, strict=True)]
    kept = folds or (None,) * len(whole)
    return tuple(extent if few is None else Affine((), few) for extent, few in zip(whole, kept, strict=True))


def inside(pipeline: Pipeline, plan: TilePlan, storage: Mapping[str, Buffer]) -> dict[str, Buffer]:
    """Where every array is for the stages of a tiled group: what tiles keep a copy of, in scratchpads."""
    found = dict(storage)
    for member in plan.members:
        if member.copied:
            found[WHOLE + member.stage] = storage[member.stage]
            found[member.stage] = replace(_scratchpad(pipeline.stage(member.stage), plan, member), copy=True)
    return found


def _scratchpad(stage: Stage, plan: TilePlan, member: Member) -> Buffer:
    """An array for the points of one tile and its margins."""
    extents, origin, ring = [], [], None
    for position, (dim, (low, high)) in enumerate(zip(stage.dims, stage.box, strict=True)):
        if dim in member.dims:
            level = member.dims.index(dim)
            loop = plan.row_loop if level == 1 else None
            width = loop.columns(plan.sizes[1]) if loop else plan.pad_extent(member, level)
            before = loop.before(member.stage) if loop else member.margins[level][0]
            extents.append(Affine((), _row(width, stage.dtype.size) if dim == stage.dims[-1] else width))
            if plan.rolling and level == 0:
                ring = position
                origin.append(Affine())
            elif member.scale(level) > 1:
                origin.append(Affine.name(part_begin(level, stage.name)))
            else:
                origin.append(Affine.name(f"{TILE}{level}") - before)
        else:
            is_row = 0 < position == len(stage.dims) - 1
            length = high - low + 1
            apart = bool(plan.kernels)
            extents.append(_whole_row(length, stage.dtype.size, apart=apart) if is_row else length)
            origin.append(low)
    return Buffer(stage.name, stage.dtype, "scratchpad", tuple(extents), tuple(origin), ring=ring)


def _row(width: int, element_bytes: int) -> int:
    """Elements of a scratchpad's row: whole lines, one more than fit where rows would collide in a cache."""
    line = LINE_BYTES // element_bytes
    lines = -(-width // line)
    return (lines + (lines % COLLIDING_LINES == 0)) * line


def _whole_row(width: Affine, element_bytes: int, *, apart: bool) -> Affine:
    """Elements of a row of all points: whole lines, unless there are few.

    apart: a line further apart than they are long, those of a tile in other sets of a cache.
    """
    line = LINE_BYTES // element_bytes
    if width.is_constant:
        few = width.const < FEWEST_LINES * line
        return width + apart * line if few else Affine((), _row(width.const + apart * line, element_bytes))
    lines: Affine = (width + (line - 1)).floordiv(line) * line
    return lines + apart * line


def part_begin(level: int, stage: str) -> str:
    """Name of the first point that a tile computes of a stage at another scale than the tile's."""
    return f"{TILE}{level}_{stage}"


def _origin(stage: Stage, position: int, context: Domain, trim: bool) -> Affine:
    """0 for a dimension that never goes below it, else its lowest index, as when it is to be trimmed."""
    if trim:
        return stage.box[position][0]
    negative = stage.domain.assume(context).at_least_zero([-Affine.name(stage.dims[position]) - 1])
    return Affine() if negative.is_empty() else stage.box[position][0]


def _covers_box(stage: Stage, origin: tuple[Affine, ...], context: Domain) -> bool:
    bounds = [(low, high) for low, (_, high) in zip(origin, stage.box, strict=True)]
    whole = Domain.box(stage.domain.params, stage.dims, bounds).assume(context)
    return whole.is_subset(stage.domain)


def _rectangle(stage: Stage, origin: tuple[Affine, ...], context: Domain) -> tuple[Affine, ...]:
    """Where in its array the points of a stage begin, if they are those of a rectangle."""
    lows = tuple(low for low, _ in stage.box)
    if not _covers_box(stage, lows, context):
        return ()
    return tuple(low - start for low, start in zip(lows, origin, strict=True))
