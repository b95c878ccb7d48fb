"""Redundant work of overlapped tiles (thesis on PolyMage's matrix extension, section 3.1, algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.graph.alignment import Member


def overlap_fraction(
    members: Sequence[Member],
    sizes: Sequence[int],
    *,
    tiles: Sequence[float] | None = None,
    weights: Mapping[str, float] | None = None,
) -> float:
    """Points that a tile computes beside its own, relative to its own: 0 where nothing is computed twice.

    sizes: tile sizes along the tiled dimensions.  tiles: how many tiles there are along each; a stage without
    a dimension there is computed again by every one of them (default: very many).
    weights: work per point of each stage, its untiled extents included (default: 1).
    """
    useful = redundant = 0.0
    for member in members:
        weight = 1.0 if weights is None else weights.get(member.stage, 1.0)
        done, needed = _points(member, sizes, tiles)
        useful += weight * needed
        redundant += weight * (done - needed)
    if useful:
        return redundant / useful
    return float("inf") if redundant else 0.0


def _points(member: Member, sizes: Sequence[int], tiles: Sequence[float] | None) -> tuple[float, float]:
    """Points that a tile computes of one stage, and its share of the points that there are."""
    done = needed = 1.0
    for level, (dim, (before, behind)) in enumerate(zip(member.dims, member.margins, strict=True)):
        if dim is not None:
            done *= sizes[level] + before + behind
            needed *= sizes[level]
        else:
            needed *= 0.0 if tiles is None else 1.0 / max(tiles[level], 1.0)
    return done, needed
