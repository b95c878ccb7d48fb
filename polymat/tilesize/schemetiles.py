"""Tiles of fused stages, as `Options.scheme` says them for some of the stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from polymat.graph.aligned import Member
from polymat.graph.pipeline import Pipeline
from polymat.machine.model import Machine
from polymat.plan.loops import LoopPlan
from polymat.plan.planscheme import schemes_of, shared_text
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import Plan, TilePlan
from polymat.product.scheme import Scheme, SchemeLoop
from polymat.product.schemetext import Misfit, read_scheme
from polymat.tilesize.loopschemes import Tiled, loops_by_scheme, tiled_loops


def sizes_by_schemes(members: Sequence[Member], schemes: Mapping[str, str]) -> dict[int, int]:
    """The sizes that schemes of stages of a tile say, by its loops; of several stages, the last one's."""
    sizes: dict[int, int] = {}
    for member in members:
        scheme = read_scheme(schemes[member.stage]) if member.stage in schemes else None
        found = tiled_loops(scheme) if isinstance(scheme, Scheme) else None
        if isinstance(found, Tiled):
            sizes |= {level: size * member.scale(level) for level, size in _levels(member, found)}
    return sizes


def says(plan: Plan, name: str, text: str) -> bool:
    """Whether the scheme of a stage is that of the plan, as it is printed."""
    return schemes_of(plan).get(name) == read_scheme(text)


def heeds(plan: Plan, schemes: Mapping[str, str]) -> bool:
    """Whether a plan of a group does what schemes of its stages say."""
    return all(
        misfit_of_plan(plan, name, schemes[name]) is None for name in plan.group.stages if name in schemes
    )


def fitting(plans: Sequence[Plan], schemes: Mapping[str, str]) -> Sequence[Plan]:
    """Those plans of a group that do what schemes of its stages say; all of them where none does."""
    return [plan for plan in plans if heeds(plan, schemes)] or plans


def misfit_of_plan(plan: Plan, name: str, text: str) -> Misfit | None:
    """Why a plan of a group does not do what the scheme of one of its stages says."""
    scheme = read_scheme(text)
    if isinstance(scheme, Misfit):
        return scheme
    wrong = misfit_of_group(plan.group.stages, name, scheme)
    if wrong is not None or isinstance(plan, SchemePlan) or says(plan, name, text):
        return wrong
    calls = scheme.words("Call")
    if calls and (*calls[0],) != plan.routines:
        computed = (
            f"is computed by {', '.join(plan.routines)}" if plan.routines else "is no call of a library"
        )
        return Misfit(f"{name} {computed}", "explain() says why; Options.blas and fft are heeded first")
    member = next((each for each in plan.members if each.stage == name), None)
    if isinstance(plan, TilePlan) and member is not None:
        return misfit_of_tiles(plan, member, scheme)
    if isinstance(plan, LoopPlan):
        found = tiled_loops(scheme)
        return found if isinstance(found, Misfit) else _of_loops(plan, found)
    printed = schemes_of(plan).get(name)
    runs = f" as {printed}" if printed is not None else ""
    return Misfit(
        f"{name} is computed{runs} in a way of its own", "explain() prints the schemes that may be given back"
    )


def is_for_one(scheme: Scheme, name: str) -> bool:
    """Whether a scheme is for a stage by itself: it has loops over points, or names no other stage."""
    if scheme.words("Call") or scheme.words("roll") or scheme.fused - {name}:
        return False
    return bool(scheme.fused) or any(loop.kind == "R" for loop in scheme.loops)


def says_more(scheme: Scheme) -> bool:
    """Whether a scheme says more than sizes of tiles."""
    return any(not isinstance(atom, SchemeLoop) or atom.kind != "T" for atom in scheme.atoms)


def misfit_of_group(stages: Sequence[str], name: str, scheme: Scheme) -> Misfit | None:
    """Why a group of stages is not the one that the scheme of one of them names."""
    if not scheme.fused or {*scheme.fused, name} == {*stages}:
        return None
    others = [each for each in stages if each != name]
    with_whom = f"shares its loops with {', '.join(others)}" if others else "runs by itself"
    hint = "explain() lists the groups that were considered, and why others were refused"
    return Misfit(f"{name} {with_whom}, not with {', '.join(sorted(scheme.fused))}", hint)


def misfit_of_tiles(plan: TilePlan, member: Member, scheme: Scheme) -> Misfit | None:
    """Why a scheme is none of the tiles that a stage is computed in."""
    found = tiled_loops(scheme)
    if isinstance(found, Misfit):
        return found
    dims = [dim for dim in member.dims if dim is not None]
    along = f"outermost first they run along {', '.join(dims)}"
    for dim in found.dims:
        if dim not in dims:
            return Misfit(f"nothing is tiled along {dim}", f"tiles run along {', '.join(dims)}")
    places = [dims.index(dim) for dim in found.dims]
    if places != sorted(places):
        return Misfit("tiles stand in another order", along)
    for (dim,) in scheme.words("roll"):
        if not plan.rolling or dim != member.dims[0]:
            return Misfit(f"tiles do not follow each other along {dim}", "leave roll out")
    for (dim,) in scheme.words("back"):
        if not plan.backwards or dim != member.dims[0]:
            return Misfit(
                f"tiles do not run backwards along {dim}", f"along {dims[0]} they may, without roll"
            )
    if found.parallel is not None and found.parallel != shared_text(plan, member):
        return Misfit(f"threads share no tiles of {found.parallel}", f"Par({shared_text(plan, member)})")
    loops = plan.loops[member.stage]
    inner = replace(found, parallel=None)
    if not found.inner:
        return None
    if not isinstance(loops, LoopPlan):
        return Misfit(f"{member.stage} has no loops in a tile", "T alone says the sizes of tiles")
    return _of_loops(loops, inner)


def _of_loops(plan: LoopPlan, found: Tiled) -> Misfit | None:
    """Why a scheme is not that of loops."""
    order = tuple(atom.dim for atom in found.inner if atom.kind == "R")
    if order == plan.order and found.parallel == plan.parallel and (found.dims or not plan.members):
        return None
    runs = ", ".join(plan.shown_order)
    return Misfit(f"{plan.group.stages[-1]} runs along {runs}", "explain() prints its scheme")


def with_inner_loops(
    plan: TilePlan, pipeline: Pipeline, machine: Machine, schemes: Mapping[str, str]
) -> TilePlan | Misfit:
    """The plan with the loops within its tiles that schemes of its stages say."""
    for member in plan.members:
        scheme = read_scheme(schemes[member.stage]) if member.stage in schemes else None
        found = tiled_loops(scheme) if isinstance(scheme, Scheme) else None
        loops = plan.loops[member.stage]
        if not isinstance(found, Tiled) or not found.inner or not isinstance(loops, LoopPlan):
            continue
        stage = pipeline.stage(member.stage)
        own = replace(found, dims=tuple(str(dim) for dim in member.dims), sizes=plan.sizes, parallel=None)
        made = loops_by_scheme(stage, loops, own, machine.lanes(stage.dtype.size))
        if isinstance(made, LoopPlan) and member.private and made.order != loops.order:
            made = Misfit(f"{member.stage} adds up over tiles", f"its loops are {', '.join(loops.order)}")
        if isinstance(made, Misfit):
            return made
        pairs = tuple(pair for pair in plan.joint if member.stage not in pair)
        loops_of = {**plan.loops, member.stage: made}
        given = plan.given | {member.stage}
        plan = replace(plan, loops=loops_of, row_loop=None, joint=pairs, given=given)
    return plan


def _levels(member: Member, found: Tiled) -> Iterator[tuple[int, int]]:
    """The tile sizes of a scheme, each with which of the loops over tiles it is of."""
    for dim, size in zip(found.dims, found.sizes, strict=True):
        if dim in member.dims:
            yield member.dims.index(dim), size
