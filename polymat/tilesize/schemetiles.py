"""Sizes of the tiles of fused stages, as `Options.scheme` says them for one of the stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from polymat.graph.aligned import Member
from polymat.plan.kernel import KernelPlan
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import Plan
from polymat.product.scheme import Scheme, SchemeLoop
from polymat.product.schemetext import Misfit, read_scheme


def sizes_by_schemes(members: Sequence[Member], schemes: Mapping[str, str]) -> dict[int, int]:
    """The sizes that schemes of stages of a tile say, by its loops; of several stages, the last one's."""
    sizes: dict[int, int] = {}
    for member in members:
        scheme = read_scheme(schemes[member.stage]) if member.stage in schemes else None
        if isinstance(scheme, Scheme):
            sizes |= {level: atom.size * member.scale(level) for level, atom in _levels(member, scheme)}
    return sizes


def heeds(plan: Plan, schemes: Mapping[str, str]) -> bool:
    """Whether a plan of a group does what schemes of its stages say."""
    wanted = [name for name in plan.group.stages if name in schemes]
    if not wanted or isinstance(plan, SchemePlan):
        return True
    if isinstance(plan, KernelPlan):
        return str(plan.scheme) == str(read_scheme(schemes[wanted[0]]))
    members = {member.stage: member for member in plan.members}
    return all(name in members and misfit_of_tiles(members[name], schemes[name]) is None for name in wanted)


def fitting(plans: Sequence[Plan], schemes: Mapping[str, str]) -> Sequence[Plan]:
    """Those plans of a group that do what schemes of its stages say; all of them where none does."""
    return [plan for plan in plans if heeds(plan, schemes)] or plans


def misfit_of_tiles(member: Member, text: str) -> Misfit | None:
    """Why a scheme is none of the tiles that a stage is computed in."""
    scheme = tiles_of_scheme([dim for dim in member.dims if dim is not None], text)
    return scheme if isinstance(scheme, Misfit) else None


def tiles_of_scheme(dims: Sequence[str], text: str) -> Scheme | Misfit:
    """A scheme that says sizes of tiles along some dimensions alone."""
    scheme = read_scheme(text)
    if isinstance(scheme, Misfit):
        return scheme
    for atom in scheme.atoms:
        if not isinstance(atom, SchemeLoop) or atom.kind != "T":
            return Misfit(f"{atom} is not for the tiles of fused stages", "T(x, 32) says their size along x")
        if atom.dim not in dims:
            return Misfit(f"nothing is tiled along {atom.dim}", f"tiles run along {', '.join(dims)}")
    places = [dims.index(atom.dim) for atom in scheme.atoms if isinstance(atom, SchemeLoop)]
    if places != sorted({*places}):
        hint = f"outermost first they run along {', '.join(dims)}"
        return Misfit("tiles stand in another order, or twice", hint)
    return scheme


def _levels(member: Member, scheme: Scheme) -> Iterator[tuple[int, SchemeLoop]]:
    """The tile loops of a scheme, each with which of the loops over tiles it is."""
    for atom in scheme.atoms:
        if isinstance(atom, SchemeLoop) and atom.kind == "T" and atom.dim in member.dims:
            yield member.dims.index(atom.dim), atom
