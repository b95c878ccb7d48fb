"""Which stages may share tiles, and what each of them must compute beyond its tile.

Overlapped tiling as in the thesis on PolyMage's matrix extension, section 3.1 (a tile computes again what it
needs of its neighbours, so tiles are independent), extended to reductions as in its section 4.6 (a consumer
is placed after the last iteration of the reduction) and by private accumulation along reduced dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, compress, count, permutations
from math import gcd, lcm

from polymat.dataclass import dataclass
from polymat.fusion.alignment import align
from polymat.fusion.dag import Dag
from polymat.fusion.joins import joinable_edges as joinable_edges
from polymat.fusion.joins import siblings as siblings
from polymat.fusion.joins import unfit
from polymat.fusion.margins import Margin, Unbounded, widen
from polymat.fusion.reads import ONE, Reads
from polymat.graph.aligned import Alignment, Fusable, Member, Refused
from polymat.plan.tile import MOST_TILED


@dataclass(frozen=True, slots=True, eq=False)
class Tiling:
    """Tiling a group along one of its dimensions: margins of the stages that have it, private reductions.

    scales: the point x of a stage lies at scale * x of the tiled dimension.
    """

    dim: str
    own: dict[str, str]
    scales: dict[str, int]
    margins: dict[str, Margin]
    privates: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The tilings of a group that are possible: dimensions that may be tiled, and why the others may not."""

    stages: tuple[str, ...]
    live_outs: tuple[str, ...]
    alignment: Alignment
    tilings: tuple[Tiling, ...]
    refused: tuple[str, ...]

    def along(self, dims: Sequence[str]) -> Fusable | Refused:
        """The group tiled along dimensions of the alignment, outermost first."""
        known = {tiling.dim: tiling for tiling in self.tilings}
        missing = [dim for dim in dims if dim not in known]
        if missing or not dims:
            return Refused("; ".join(self.refused) or f"there is no dimension {', '.join(missing)} to tile")
        chosen = [known[dim] for dim in dims]
        for stage in self.stages:
            if not any([stage in tiling.own for tiling in chosen]):
                why = f"{stage} has no dimension along {', '.join(dims)}: it is whole in every tile"
                return Refused("; ".join([why, *self.alignment.conflicts]))
        return _fusable(self, chosen)

    def all(self, *, in_any_order: bool = False) -> tuple[Fusable, ...]:
        """Every tuple of dimensions that may be tiled together, in the order of the alignment, or in any."""
        dims = [tiling.dim for tiling in self.tilings]
        tuples = permutations if in_any_order else combinations
        found = [
            self.along(chosen)
            for many in range(1, min(len(dims), MOST_TILED) + 1)
            for chosen in tuples(dims, many)
        ]
        return tuple(choice for choice in found if isinstance(choice, Fusable))


def choices_of(reads: Reads, dag: Dag, stages: Sequence[str]) -> Choices | Refused:
    """Along which dimensions stages may share tiles; refused when along none."""
    ordered = dag.group(dag.mask(stages))
    for name in ordered:
        reason = unfit(reads, name)
        if reason is not None:
            return Refused(reason)
    if not dag.is_convex(dag.mask(stages)):
        return Refused(f"a stage outside {'+'.join(ordered)} needs one of them and is needed by another")
    alignment = align(reads, ordered)
    live = live_outs(reads, ordered)
    tilings: list[Tiling] = []
    refused: list[str] = list(alignment.conflicts)
    for level, own in enumerate(_owners(alignment, ordered)):
        found = _tiling(reads, ordered, live, alignment, level, own)
        if isinstance(found, Refused):
            refused.append(found.reason)
        else:
            tilings.append(found)
    reasons = tuple(dict.fromkeys(refused))  # what keeps dimensions apart may also leave a margin without end
    if not tilings:
        return Refused("; ".join(reasons) or f"{'+'.join(ordered)} has no dimensions")
    return Choices(ordered, live, alignment, tuple(tilings), reasons)


def live_outs(reads: Reads, stages: Sequence[str]) -> tuple[str, ...]:
    """The stages of a group that are outputs or read by others."""
    inside = set(stages)
    return tuple(
        name
        for name in stages
        if name in reads.pipeline.outputs or not inside.issuperset(reads.readers.get(name, ()))
    )


def _owners(alignment: Alignment, stages: Sequence[str]) -> list[dict[str, str]]:
    """For each dimension of a group the stages that have it, and what it is called there."""
    owners: list[dict[str, str]] = [{} for _ in alignment.dims]
    for name in stages:
        along = alignment.along[name]
        for level, dim in zip(compress(count(), along), filter(None, along), strict=False):
            owners[level][name] = dim
    return owners


def _tiling(
    reads: Reads,
    stages: tuple[str, ...],
    live: tuple[str, ...],
    alignment: Alignment,
    level: int,
    own: dict[str, str],
) -> Tiling | Refused:
    dim = alignment.dims[level]
    found = {name: alignment.scales[name][level] for name in own}
    if any(scale.numerator < 0 for scale in found.values()) and max(found.values()) > 0:
        return Refused(f"along {dim} the stages run in opposite directions: {_text(found)}")
    scales = _integral(found)
    for name in live:
        if name not in own:
            return Refused(f"{name} is needed outside and has no dimension along {dim}: no tile would own it")
    privates = tuple(name for name in own if own[name] not in reads.stages[name].dims)
    for name in privates:
        reason = _not_private(reads, name, own[name], dim, stages)
        if reason is not None:
            return Refused(reason)
    margins = widen(reads, stages, live, own, scales, dim)
    if isinstance(margins, Unbounded):
        return Refused(margins.reason)
    return Tiling(dim, own, scales, margins, privates)


def _text(scales: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{name} {scale}" for name, scale in scales.items())


def _integral(scales: Mapping[str, Fraction]) -> dict[str, int]:
    """The smallest positive integers in the same proportions."""
    if all(scale is ONE for scale in scales.values()):
        return dict.fromkeys(scales, 1)
    common = lcm(*(scale.denominator for scale in scales.values()))
    whole = {name: abs(int(scale * common)) for name, scale in scales.items()}
    divisor = gcd(*whole.values())
    return {name: scale // divisor for name, scale in whole.items()}


def _not_private(reads: Reads, name: str, own: str, dim: str, stages: tuple[str, ...]) -> str | None:
    """Why a reduction cannot be accumulated tile by tile along a reduced dimension."""
    readers = [reader for reader in reads.readers.get(name, ()) if reader in stages]
    if readers:
        return f"{name} is complete only after all tiles along {dim}, and {readers[0]} reads it"
    for accumulation in reads.stages[name].accumulations:
        if own not in accumulation.reduced_dims:
            return f"not every accumulation of {name} reduces over {own}"
    return None


def _fusable(choices: Choices, chosen: Sequence[Tiling]) -> Fusable:
    members = []
    privates = {name for tiling in chosen for name in tiling.privates}
    live = set(choices.live_outs)
    plain = all(max(tiling.scales.values(), default=1) == 1 for tiling in chosen)
    for name in choices.stages:
        scales = () if plain else tuple(tiling.scales.get(name, 1) for tiling in chosen)
        members.append(
            Member(
                stage=name,
                dims=tuple([tiling.own.get(name) for tiling in chosen]),
                margins=tuple([tiling.margins.get(name, (0, 0)) for tiling in chosen]),
                scratch=name not in live,
                private=name in privates,
                scales=scales if not plain and max(scales) > 1 else (),
            )
        )
    widest = tuple(
        (max(m.margins[k][0] for m in members), max(m.margins[k][1] for m in members))
        for k in range(len(chosen))
    )
    dims = tuple(tiling.dim for tiling in chosen)
    return Fusable(dims, tuple(members), widest, choices.live_outs)
