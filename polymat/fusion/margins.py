"""How far the stages of a group reach beyond a tile along one dimension, from exact distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polymat.fusion.reads import Reads

Margin = tuple[int, int]  # points before and behind the tile


@dataclass(frozen=True, slots=True)
class Unbounded:
    """Why the stages cannot be computed tile by tile along a dimension."""

    reason: str


def widen(
    reads: Reads, stages: Sequence[str], live_outs: Sequence[str], own: Mapping[str, str], dim: str
) -> dict[str, Margin] | Unbounded:
    """The margins of every stage that has the dimension, so that its readers in the tile find their values.

    From the last stages backwards: what is needed outside is computed in the tile that owns it, what is
    read at distances low..high is computed from low before to high behind its reader's points.
    """
    margins: dict[str, Margin] = {name: (0, 0) for name in live_outs}
    for consumer in reversed(stages):
        for producer in reads.producers[consumer]:
            if producer not in own:
                continue
            if consumer not in own:
                return Unbounded(f"{consumer} reads {producer} but has no dimension along {dim}")
            span = reads.span(producer, consumer, own[producer], own[consumer])
            if span is None:
                return Unbounded(f"{consumer} reads {producer} along {dim} at no constant distance")
            if span[0] <= span[1] and consumer in margins:
                before, behind = margins[consumer]
                needed = (before - span[0], behind + span[1])
                known = margins.get(producer, needed)
                margins[producer] = (max(known[0], needed[0]), max(known[1], needed[1]))
    return margins
