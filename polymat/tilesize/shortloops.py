"""The price of starting loops that are shorter than a vector, often the most of what they cost.

Where a dimension is estimated to have one or a few points, a loop along it computes them one by one, and is
started anew at every point of the loops around it.  Loops of known length are left out: the compiler unrolls
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from polymat.graph.aligned import Member
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, Stage
from polymat.lang.affine import Affine
from polymat.lang.traverse import children, walk
from polymat.lang.types import real_part
from polymat.memo import remembered
from polymat.model.estimates import once_a_stage
from polymat.model.extents import extent
from polymat.plan.loops import LoopPlan

# Operations a lane that starting a loop is worth, at the rate of loops on vectors.  Measured (Zen 5, float):
# 0.35 to 0.55 ns, in a 3 x 3 convolution of one channel and in products with one column.
START = 1.8
FEW_POINTS = (2, 3)  # of a size that nobody gave: points of the plane and of space, colours
WRITTEN_OUT = (
    16  # turns of a loop that gcc writes out, where it knows their number (max-completely-peel-times)
)


def short_sizes(pipeline: Pipeline, given: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Of sizes that may be small, the values for which loops have versions: lengths of rows of arrays.

    given: what the user expects of sizes.
    """
    rows = {extents[-1] for extents in pipeline.extents.values() if len(extents) > 1}
    lengths = [size.name for size in pipeline.sizes if Affine.name(size.name) in rows]
    expected = {name: (given[name],) if name in given else FEW_POINTS for name in lengths}
    return {name: values for name, values in expected.items() if 0 < values[0] <= WRITTEN_OUT}


@once_a_stage
def starting_operations(stage: Stage, estimates: Mapping[str, int], loops: LoopPlan, lanes: int) -> float:
    """Operations that starting the short loops of a nest is worth; none of sums into computed elements."""
    if not (loops.adds_up or loops.kind == "map"):
        return 0.0
    lengths, variable = loop_lengths(stage, estimates), _variable(stage, estimates)
    starts, around = 0.0, 1.0
    for dim in loops.order:
        length = lengths.get(dim, 1.0)
        starts += around if dim in variable and length < lanes else 0.0
        around *= length
    return START * lanes * starts


def short_rows_slowdown(stage: Stage, loops: LoopPlan, lanes: int, share: float) -> float:
    """How many times as long a stencil takes whose rows have fewer points than a vector, of known number.

    share: of the peak that other loops reach.  C compilers unroll such rows, and find vectors across them
    where each array is read at one place; what is read beside it is loaded and computed element by element.
    """
    if loops.kind != "map" or len(stage.dims) < 2 or loops.vector != stage.dims[-1]:
        return 1.0
    low, high = stage.box[-1]
    is_short = (high - low).is_constant and (high - low).const + 1 < lanes
    return max(1.0, lanes * share) if is_short and _reads_beside(stage) else 1.0


@remembered
def _reads_beside(stage: Stage) -> bool:
    """Whether an array is read at several places along its rows' neighbour, the dimension before the last."""
    before = stage.dims[-2]
    places: dict[object, set[int]] = {}
    for load in stage.loads():
        for position, form in enumerate(load.indices):
            if before in form.names():
                key = load.source.name, position, form - form.const
                places.setdefault(key, set()).add(form.const)
    return any(len(found) > 1 for found in places.values())


@remembered
def computed_bytes(stage: Stage) -> int:
    """Bytes of the largest real numbers that a stage computes with: vectors hold that many fewer of them."""
    nodes = (node for _, expr in stage.expressions() for node in walk(expr) if children(node))
    sizes = [real_part(node.dtype).size for node in nodes if not node.dtype.weak]
    return max((real_part(stage.dtype).size, *sizes))


@once_a_stage
def loop_lengths(stage: Stage, estimates: Mapping[str, int]) -> dict[str, float]:
    """Extents of all dimensions of a stage, those of the result and reduced ones."""
    return {dim: extent(size, estimates) for dim, size in _sizes(stage).items()}


def level_lengths(
    stages: Mapping[str, Stage], members: Sequence[Member], estimates: Mapping[str, int]
) -> list[float]:
    """Points of each tiled dimension, in those of the finest stage; 1 where no stage runs along it."""
    known = [(member, loop_lengths(stages[member.stage], estimates)) for member in members]
    return [
        max(
            [m.scale(k) * lengths.get(dim, 1.0) for m, lengths in known if (dim := m.dims[k]) is not None],
            default=1.0,
        )
        for k in range(len(members[0].dims))
    ]


@remembered
def written_out_terms(stage: Stage) -> tuple[int, ...] | None:
    """How many terms an element has of each of a stage's sums, where compilers write all of them out.

    None where a sum has more, or as many as data or the call say.
    """
    counts = tuple(_known_terms(item) for item in stage.accumulations)
    return counts if stage.segments is None and all(0 < count <= WRITTEN_OUT for count in counts) else None


def row_terms(stage: Stage, loops: LoopPlan) -> tuple[int, ...] | None:
    """The terms, as `written_out_terms` has them, of sums that go row by row without explicit vectors."""
    return written_out_terms(stage) if loops.kind == "row" and loops.lanes == 1 else None


def _known_terms(item: Accumulation) -> int:
    """Terms of an element; 0 where the call tells their number."""
    own = {name for form in item.target for name in form.names()}
    sizes = [high - low + 1 for dim, (low, high) in zip(item.dims, item.box, strict=True) if dim not in own]
    return prod(size.const for size in sizes) if all(size.is_constant for size in sizes) else 0


@once_a_stage
def _variable(stage: Stage, _: Mapping[str, int]) -> frozenset[str]:
    """Its dimensions whose extents only the call tells."""
    return frozenset(dim for dim, size in _sizes(stage).items() if not size.is_constant)


def _sizes(stage: Stage) -> dict[str, Affine]:
    items: list[Stage | Accumulation] = [*reversed(stage.accumulations), stage]
    boxes = [(dim, bounds) for item in items for dim, bounds in zip(item.dims, item.box, strict=True)]
    return {dim: high - low + 1 for dim, (low, high) in boxes}
