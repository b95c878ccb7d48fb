"""How far the stages of a group reach beyond a tile along one dimension, from exact distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from polymat.dataclass import dataclass
from polymat.fusion.reads import ONE, Reads

Margin = tuple[int, int]  # points of the group's dimension before and behind the tile


@dataclass(frozen=True, slots=True)
class Unbounded:
    """Why the stages cannot be computed tile by tile along a dimension."""

    reason: str


def widen(
    reads: Reads,
    stages: Sequence[str],
    live_outs: Sequence[str],
    own: Mapping[str, str],
    scales: Mapping[str, int],
    dim: str,
) -> dict[str, Margin] | Unbounded:
    """The margins of every stage that has the dimension, so that its readers in the tile find their values.

    From the last stages backwards: what is needed outside is computed in the tile that owns it, what is
    read at distances low..high is computed from low before to high behind its reader's points.

    A stage's point x lies at scale * x of the group's dimension; distances count 1 / denominator of a
    producer's point each, which is a whole number of the group's, since the denominator divides its scale.
    Tiles begin at common multiples of all scales, so margins are whole points of a stage, and its last point
    before the end of a tile lies a whole one before it.
    """
    margins: dict[str, Margin] = {name: (0, 0) for name in live_outs}
    for consumer in reversed(stages):
        for producer in reads.producers[consumer]:
            if producer not in own:
                continue
            if consumer not in own:
                return Unbounded(f"{consumer} reads {producer} but has no dimension along {dim}")
            slope = ONE
            if scales[consumer] != scales[producer]:
                slope = Fraction(scales[consumer], scales[producer])
            span = reads.span(producer, consumer, own[producer], own[consumer], slope)
            if span is None:
                return Unbounded(f"{consumer} reads {producer} along {dim} at no constant distance")
            if span[0] <= span[1] and consumer in margins:
                before, behind = margins[consumer]
                scale = scales[producer]
                unit = scale // slope.denominator
                last = behind - (scales[consumer] - 1) + unit * span[1]
                needed = (_down(before - unit * span[0], scale), _down(last + scale - 1, scale))
                known = margins.get(producer, needed)
                margins[producer] = (max(known[0], needed[0]), max(known[1], needed[1]))
    return margins


def _down(distance: int, scale: int) -> int:
    """The next multiple of the scale that is no larger."""
    return distance // scale * scale
