"""Extents and bytes of stages at estimates of the sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from polymat.graph.aligned import Member
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.model.assumed import UNKNOWN_EXTENT
from polymat.model.estimates import once_a_stage


def tile_size(
    stages: Mapping[str, Stage],
    members: Sequence[Member],
    estimates: Mapping[str, int],
    kept: Mapping[str, int] | None = None,
) -> Callable[[Sequence[int]], float]:
    """The bytes that one tile's stages write, margins included, as a function of its sizes.

    kept: of rolling tiles, how many points along the first dimension the ring of a stage has beside them.
    """
    known: list[tuple[float, list[tuple[int, int, int]]]] = []
    for member in members:
        whole, tiled = _apart(stages[member.stage], estimates, member.dims)
        levels = []
        for level in tiled:
            beside = sum(member.margins[level])
            if kept is not None and level == 0:
                beside = kept.get(member.stage, beside)
            levels.append((level, beside, member.scale(level)))
        known.append((whole, levels))

    def size_of(sizes: Sequence[int]) -> float:
        total = 0.0
        for count, levels in known:
            for level, margin, scale in levels:
                points = (sizes[level] - 1 + margin) // scale + 1  # as Member.points counts them
                count *= points if points > 0 else 0
            total += count
        return total

    return size_of


@once_a_stage
def _apart(
    stage: Stage, estimates: Mapping[str, int], dims: tuple[str | None, ...]
) -> tuple[float, tuple[int, ...]]:
    """Bytes of a stage's result at one point of the tiled dimensions, and those of them that it has."""
    whole, levels = float(stage.dtype.size), []
    for dim, length in zip(stage.dims, stage_extents(stage, estimates), strict=True):
        if dim in dims:
            levels.append(dims.index(dim))
        else:
            whole *= length
    return whole, tuple(levels)


@once_a_stage
def stage_extents(stage: Stage, estimates: Mapping[str, int]) -> tuple[float, ...]:
    """Extents of the dimensions of a stage's result at the estimates."""
    return tuple(extent(high - low + 1, estimates) for low, high in stage.box)


def extent(form: Affine, estimates: Mapping[str, int]) -> float:
    """A size form at the estimates."""
    total = form.const
    for atom, coefficient in form.terms:
        if type(atom) is not str:
            values = {name: estimates.get(name, UNKNOWN_EXTENT) for name in form.names()}
            return max(float(form.evaluate(values)), 0.0)
        total += coefficient * estimates.get(atom, UNKNOWN_EXTENT)
    return max(float(total), 0.0)
