"""Plans as schemes: what runs, in the atoms that `Options.scheme` takes back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from polymat.graph.aligned import Member
from polymat.plan.loops import LoopPlan
from polymat.plan.registerblocks import kernel_of, scheme_of
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import Plan, TilePlan
from polymat.product.scheme import AnyAtom, GroupAtom, Scheme, SchemeLoop, Word, contradiction

_WRITTEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def schemes_of(plan: Plan) -> dict[str, Scheme]:
    """The schemes of a plan, by the stages of its group that they are given to; none where no atoms say it.

    Of tiles that several stages share the last one that has all dimensions of these says them; it is fused
    with the others, of which those have one that somebody gave loops.
    """
    stages = plan.group.stages
    own: Sequence[AnyAtom]
    inner: dict[str, Sequence[AnyAtom]] = {}
    match plan:
        case TilePlan():
            member = next((m for m in reversed(plan.members) if _says_sizes(plan, m)), None)
            if member is None:
                return {}
            given = [each for each in plan.members if each.stage in plan.given]
            inner = {each.stage: _further(plan, each) for each in given if each is not member}
            name = member.stage
            own = (*tile_atoms(plan, member), *(inner_atoms(plan, member) if member in given else ()))
        case LoopPlan():
            name, own = stages[-1], tuple(loop_atoms(plan))
        case _:
            name, own = stages[-1], _blocks_or_calls(plan)
    others = [each for each in stages if each != name] or ([name] if isinstance(plan, TilePlan) else [])
    atoms = (GroupAtom("fuse", tuple(others)), *own) if others else tuple(own)
    every = {**inner, name: atoms}
    if not own or not all(map(_is_written, atoms)) or any(map(contradiction, every.values())):
        return {}
    return {stage: Scheme(tuple(each)) for stage, each in every.items()}


def loop_atoms(plan: LoopPlan) -> Iterator[SchemeLoop]:
    """The loops of a stage by itself, or within a tile."""
    if plan.parallel is not None:
        yield SchemeLoop("Par", plan.parallel)
    yield from (SchemeLoop("R", dim) for dim in plan.shown_order)
    if plan.parallel is not None and plan.unroll > 1:
        yield SchemeLoop("U", plan.parallel, plan.unroll)
    if plan.lines > 1:
        yield SchemeLoop("U", plan.order[1], plan.lines)
    if plan.planes is not None:
        yield SchemeLoop("U", plan.planes.dim, plan.planes.count)
    if plan.addends > 1 and len(plan.order) > 1:
        yield SchemeLoop("U", plan.order[-2], plan.addends)
    if plan.shown_vector is not None:
        yield SchemeLoop("V", plan.shown_vector)


def shared_text(plan: TilePlan, member: Member) -> str:
    """The dimensions of a stage whose tiles threads share, as an atom has them."""
    shared = [number for number, _ in plan.outermost] if plan.is_numbered else [0]
    return "*".join(str(member.dims[number]) for number in shared)


def _says_sizes(plan: TilePlan, member: Member) -> bool:
    """Whether a stage has every tiled dimension, and whole points of it in every tile."""
    return None not in member.dims and all(size % member.scale(level) == 0 for level, size in plan.levels)


def tile_atoms(plan: TilePlan, member: Member) -> tuple[AnyAtom, ...]:
    """The atoms of the tiles that a stage is in, as it says them."""
    first = str(member.dims[0])
    ways: tuple[tuple[Word, bool], ...] = (("roll", plan.rolling), ("back", plan.backwards))
    rolls = tuple(GroupAtom(word, (first,)) for word, runs_so in ways if runs_so)
    calls = (GroupAtom("Call", plan.routines),) if plan.routines else ()
    return (SchemeLoop("Par", shared_text(plan, member)), *rolls, *_sizes(plan, member, plan.levels), *calls)


def _sizes(plan: TilePlan, member: Member, levels: Iterable[tuple[int, int]]) -> tuple[SchemeLoop, ...]:
    sizes = [(member.dims[level], size // member.scale(level)) for level, size in levels]
    return tuple(SchemeLoop("T", dim, size) for dim, size in sizes if dim is not None)


def _further(plan: TilePlan, member: Member) -> tuple[AnyAtom, ...]:
    """The loops of a stage that does not say the tiles: in the smallest of these where its own begin them."""
    atoms = inner_atoms(plan, member)
    tiled = [atom.dim for atom in atoms[:1] if isinstance(atom, SchemeLoop) and atom.kind == "T"]
    return (*(_sizes(plan, member, enumerate(plan.sizes)) if {*tiled} & {*member.dims} else ()), *atoms)


def inner_atoms(plan: TilePlan, member: Member) -> tuple[AnyAtom, ...]:
    """The loops of a stage within a tile."""
    loops = plan.loops[member.stage]
    if isinstance(loops, SchemePlan):
        return loops.scheme.atoms
    if not isinstance(loops, LoopPlan):
        return ()
    atoms = [*loop_atoms(loops)]
    block = [SchemeLoop("U", str(member.dims[loops.block]), loops.unroll)] if loops.unroll > 1 else []
    count = len(loops.order)
    return (*atoms[:count], *block, *atoms[count:])


def _blocks_or_calls(plan: Plan) -> tuple[AnyAtom, ...]:
    made = scheme_of(plan) or kernel_of(plan)
    if made is not None:
        return made.scheme.atoms
    return (GroupAtom("Call", plan.computed_by),) if plan.computed_by else ()


def _is_written(atom: AnyAtom) -> bool:
    """Whether all names are those that a scheme can be read with."""
    names = atom.names if isinstance(atom, GroupAtom) else getattr(atom, "dim", "i").split("*")
    return all(map(_WRITTEN.fullmatch, names))
