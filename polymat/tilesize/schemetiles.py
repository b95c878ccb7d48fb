"""Tiles of fused stages, as `Options.scheme` says them for some of the stages."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from polymat.errors import counted
from polymat.graph.aligned import Member
from polymat.graph.pipeline import Pipeline
from polymat.machine.model import Machine
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import NestPlan
from polymat.plan.planscheme import inner_atoms, loop_atoms, schemes_of, shared_text
from polymat.plan.registerblocks import scheme_of
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import Plan, TilePlan
from polymat.product.kernelfit import UserKernels
from polymat.product.scheme import AnyAtom, Atom, GroupAtom, Pack, Scheme, SchemeLoop, scheme_text
from polymat.product.schemetext import Misfit, read_scheme
from polymat.tilesize.loopschemes import (
    Tiled,
    loops_by_scheme,
    outside_tiles,
    tiled_loops,
    tiled_product,
)
from polymat.tilesize.namedgroups import all_counting, alternatives, counting, misfit_of_group
from polymat.tilesize.schemeplanner import is_modelled, plan_part

_BLOCKS = "Call of a microkernel is for sums of products of two arrays over boxes"
_SIZES = "tiles begin where every stage has a point, and their scratchpads have 64 MiB at most"


def products_of(
    pipeline: Pipeline, schemes: Mapping[str, str], estimates: Mapping[str, int]
) -> frozenset[str]:
    """The stages of a pipeline whose schemes may be loops of products."""
    named = (stage for stage in pipeline.stages if stage.name in schemes)
    return frozenset(stage.name for stage in named if is_modelled(stage, pipeline.context, estimates))


def sizes_by_schemes(
    members: Sequence[Member], schemes: Mapping[str, str], products: Container[str]
) -> dict[int, int]:
    """The sizes that schemes of stages of a tile say, by its loops; of several stages, the last one's."""
    sizes: dict[int, int] = {}
    texts = counting([member.stage for member in members], schemes)
    for member in members:
        scheme = read_scheme(texts[member.stage]) if member.stage in texts else None
        product = member.stage in products and not member.private
        found = _tiles_of(scheme, member, product=product) if isinstance(scheme, Scheme) else None
        if isinstance(found, Tiled):
            sizes |= dict(_levels(member, found))
    return sizes


def _tiles_of(scheme: Scheme, member: Member, *, product: bool) -> Tiled | Misfit:
    """The tiles of a scheme: those that begin that of a product, with its loops in each."""
    sizes_alone = all(isinstance(atom, SchemeLoop) and atom.kind in ("Par", "T") for atom in scheme.own)
    return (
        tiled_product(scheme, _tiled_dims(member))[0] if product and not sizes_alone else tiled_loops(scheme)
    )


def _tiled_dims(member: Member) -> list[str]:
    return [dim for dim in member.dims if dim is not None]


def says(plan: Plan, name: str, text: str) -> bool:
    """Whether the scheme of a stage is that of the plan, as it is printed, or with the stage's own name."""
    found, scheme = schemes_of(plan).get(name), read_scheme(text)
    if found is None or found == scheme or len(plan.group.stages) > 1:
        return found is not None and found == scheme
    return isinstance(scheme, Scheme) and scheme.atoms == (GroupAtom("fuse", (name,)), *found.atoms)


def says_any(plan: Plan, name: str, text: str | None) -> bool:
    """Whether one of the schemes of a stage is that of the plan; so if the stage has none."""
    return text is None or any(says(plan, name, each) for each in alternatives(text))


def heeds(plan: Plan, schemes: Mapping[str, str]) -> bool:
    """Whether a plan of a group does what schemes of its stages say."""
    texts = all_counting(plan.group.stages, schemes)
    return all(any(misfit_of_plan(plan, name, t) is None for t in each) for name, each in texts.items())


def fitting(plans: Sequence[Plan], schemes: Mapping[str, str], products: Container[str]) -> Sequence[Plan]:
    """Those plans of a group that do what schemes of its stages say; where none does those nearest to it."""
    heeding = [plan for plan in plans if heeds(plan, schemes)]
    said = [len(sizes_by_schemes(plan.members, schemes, products)) for plan in plans]
    return heeding or [plan for plan, count in zip(plans, said, strict=True) if count == max(said)]


def misfit_of_plan(plan: Plan, name: str, text: str) -> Misfit | None:
    """Why a plan of a group does not do what the scheme of one of its stages says."""
    scheme = read_scheme(text)
    if isinstance(scheme, Misfit):
        return scheme
    wrong = misfit_of_group(plan.group.stages, name, scheme)
    if wrong is None and scheme.kernel is not None and not _calls(plan, name):
        wrong = Misfit(f"{name} runs in no blocks that {scheme.kernel} computes", _BLOCKS)
    if wrong is not None or isinstance(plan, SchemePlan) or says(plan, name, text):
        return wrong
    calls = scheme.words("Call")
    if calls and calls[0] != (found := plan.computed_by):
        computed = f"is computed by {', '.join(found)}" if found else "is no call of a library"
        return Misfit(f"{name} {computed}", "explain() says why; Options.blas and fft are heeded first")
    if isinstance(plan, TilePlan):
        return misfit_of_tiles(plan, plan.member(name), scheme)
    if isinstance(plan, LoopPlan):
        return outside_tiles(scheme) or _of_loops(name, tuple(loop_atoms(plan)), scheme.own)
    printed = schemes_of(plan).get(name)
    runs = f" as {printed}" if printed is not None else ""
    return Misfit(
        f"{name} is computed{runs} in a way of its own", "explain() prints the schemes that may be given back"
    )


def _calls(plan: Plan, name: str) -> bool:
    """Whether a microkernel computes blocks of a stage in a plan."""
    return scheme_of(plan.part(name)) is not None


def is_for_one(scheme: Scheme, name: str) -> bool:
    """Whether a scheme is for a stage by itself: it has loops over points, or names no other stage."""
    if scheme.words("Call") or scheme.words("roll") or scheme.fused - {name}:
        return False
    return bool(scheme.fused) or any(loop.kind == "R" for loop in scheme.loops)


def says_more(scheme: Scheme) -> bool:
    """Whether a scheme says more than a size of tiles for each dimension."""
    dims = [loop.dim for loop in scheme.loops]
    others = any(not isinstance(atom, SchemeLoop) or atom.kind != "T" for atom in scheme.atoms)
    return others or len({*dims}) < len(dims)


def is_tiled(scheme: Scheme) -> bool:
    """Whether threads share the tiles of several dimensions."""
    return any(loop.kind == "Par" and "*" in loop.dim for loop in scheme.loops)


def misfit_of_tiles(plan: TilePlan, member: Member, scheme: Scheme) -> Misfit | None:
    """Why a scheme is none of the tiles that a stage is computed in."""
    loops = plan.loops[member.stage]
    found = _tiles_of(scheme, member, product=isinstance(loops, SchemePlan))
    if isinstance(found, Misfit):
        return found
    dims = _tiled_dims(member)
    along = f"outermost first they run along {', '.join(dims)}"
    for dim in found.dims:
        if dim not in dims:
            return Misfit(f"nothing is tiled along {dim}", f"tiles run along {', '.join(dims)}")
    places = [dims.index(dim) for dim in found.dims]
    if places != sorted(places) and not found.nest:
        return Misfit("tiles stand in another order", along)
    for (dim,) in scheme.words("roll"):
        if not plan.rolling or dim != member.dims[0]:
            return Misfit(f"tiles do not follow each other along {dim}", "leave roll out")
    for (dim,) in scheme.words("back"):
        if not plan.backwards or dim != member.dims[0]:
            return Misfit(
                f"tiles do not run backwards along {dim}", f"along {dims[0]} they may, without roll"
            )
    for level, size in _levels(member, found):
        if plan.sizes[level] != size:
            points, wanted = (each // member.scale(level) for each in (plan.sizes[level], size))
            return Misfit(
                f"tiles have {counted(points, 'point')} of {member.dims[level]}, not {wanted}", _SIZES
            )
    if found.parallel is not None and found.parallel != shared_text(plan, member):
        return Misfit(f"threads share no tiles of {found.parallel}", f"Par({shared_text(plan, member)})")
    wrong = _misfit_of_nest(plan, member, found)
    if wrong is not None:
        return wrong
    if not found.inner:
        return None
    if not isinstance(loops, LoopPlan):
        return Misfit(f"{member.stage} has no loops in a tile", "T alone says the sizes of tiles")
    return _of_loops(member.stage, inner_atoms(plan, member), found.inner)


def _misfit_of_nest(plan: TilePlan, member: Member, found: Tiled) -> Misfit | None:
    """Why tiles in tiles are not those of a plan."""
    if not found.nest:
        return None
    if plan.is_ordered:
        return Misfit("tiles follow each other, and have no tiles in them", "leave roll and back out")
    named = {member.dims.index(dim) for dim in found.dims}
    if _nest(member, found) == [each for each in plan.levels if each[0] in named]:
        return None
    return Misfit(
        "the scheme of another stage in the same tiles has other tiles in tiles", "one stage says them"
    )


def _nest(member: Member, found: Tiled) -> list[tuple[int, int]]:
    """Tiles in tiles that a scheme says, by the numbers of the group's dimensions."""
    levels = ((member.dims.index(dim), size) for dim, size in found.nest)
    return [(level, size * member.scale(level)) for level, size in levels]


def with_nest(plan: TilePlan, schemes: Mapping[str, str], products: Container[str]) -> TilePlan:
    """The plan with tiles in tiles that the scheme of one of its stages says; other dimensions stand last."""
    for member in plan.members:
        scheme = read_scheme(schemes[member.stage]) if member.stage in schemes else None
        product = member.stage in products and not member.private
        found = _tiles_of(scheme, member, product=product) if isinstance(scheme, Scheme) else None
        if not isinstance(found, Tiled) or not found.nest or not {*found.dims} <= {*member.dims}:
            continue
        nest = _nest(member, found)
        nest += [each for each in enumerate(plan.sizes) if each[0] not in dict(nest)]
        if dict(nest) == dict(enumerate(plan.sizes)) and not plan.is_ordered:
            return replace(plan, nest=tuple(nest))
    return plan


def _of_loops(stage: str, written: Sequence[AnyAtom], wanted: Sequence[Atom]) -> Misfit | None:
    """Why a scheme is not that of loops, which are written so."""
    found = [_without_lanes(atom) for atom in written if not isinstance(atom, GroupAtom)]
    if found == [_without_lanes(atom) for atom in wanted]:
        return None
    return Misfit(f"{stage} runs as {scheme_text(written)}", "explain() prints its scheme")


def _without_lanes(atom: Atom) -> Atom:
    return replace(atom, size=0) if isinstance(atom, SchemeLoop) and atom.kind == "V" else atom


def with_inner_loops(
    plan: TilePlan,
    pipeline: Pipeline,
    machine: Machine,
    estimates: Mapping[str, int],
    schemes: Mapping[str, str],
    user: UserKernels,
) -> TilePlan | Misfit:
    """The plan with the loops within its tiles, and tiles in tiles, that schemes of its stages say."""
    plan = with_nest(plan, schemes, products_of(pipeline, schemes, estimates))
    for member in plan.members:
        scheme = read_scheme(schemes[member.stage]) if member.stage in schemes else None
        if not isinstance(scheme, Scheme):
            continue
        made = _within(plan, member, pipeline, machine, estimates, scheme, user)
        if isinstance(made, Misfit):
            return made
        if made is not None:
            pairs = tuple(pair for pair in plan.joint if member.stage not in pair)
            loops, given = {**plan.loops, member.stage: made}, plan.given | {member.stage}
            plan = replace(plan, loops=loops, row_loop=None, joint=pairs, given=given)
    return plan


def _within(
    plan: TilePlan,
    member: Member,
    pipeline: Pipeline,
    machine: Machine,
    estimates: Mapping[str, int],
    scheme: Scheme,
    user: UserKernels,
) -> NestPlan | Misfit | None:
    """The loops of a stage in a tile that its scheme says; None where it says none."""
    stage, loops = pipeline.stage(member.stage), plan.loops[member.stage]
    atoms = tiled_product(scheme, _tiled_dims(member))[1]
    product = plan_part(stage, atoms, pipeline.context, machine, estimates, user)
    if isinstance(product, SchemePlan) and not member.private:
        points = {str(dim): member.points(level, plan.sizes[level]) for level, dim in enumerate(member.dims)}
        return _too_large(product.scheme.own, points) or product
    found = tiled_loops(scheme)
    made: NestPlan | Misfit | None = found if isinstance(found, Misfit) else None
    if isinstance(found, Tiled) and found.inner and isinstance(loops, LoopPlan):
        own = replace(found, dims=tuple(str(dim) for dim in member.dims), sizes=plan.sizes, parallel=None)
        made = loops_by_scheme(stage, loops, own, machine.lanes(stage.dtype.size))
    if isinstance(made, LoopPlan) and member.private and made.order != loops.order:
        made = Misfit(f"{member.stage} adds up over tiles", f"its loops are {', '.join(loops.order)}")
    if isinstance(made, LoopPlan):
        block = str(member.dims[made.block])
        return _too_large([SchemeLoop("U", block, made.unroll)], {block: plan.rows(member, made)}) or made
    return product if isinstance(product, Misfit) else made


def _too_large(atoms: Sequence[Atom], points: Mapping[str, int]) -> Misfit | None:
    """Why a tile, which has so many points along some dimensions, has less than an atom takes."""
    for atom in atoms:
        if not isinstance(atom, Pack) and atom.size > points.get(atom.dim, atom.size):
            text = f"{atom} takes more points than a tile has"
            return Misfit(text, f"tiles have {points[atom.dim]} of {atom.dim}")
    return None


def _levels(member: Member, found: Tiled) -> Iterator[tuple[int, int]]:
    """The sizes of the group's tiles that a scheme says, each with which of the loops over tiles it is of."""
    for dim, size in zip(found.dims, found.sizes, strict=True):
        if dim in member.dims:
            level = member.dims.index(dim)
            yield level, size * member.scale(level)
