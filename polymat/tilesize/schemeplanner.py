"""The plan of a stage for which `Options.scheme` has a scheme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polymat.errors import InternalError, OptionError
from polymat.graph.aligned import Member
from polymat.graph.group import Group
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.machine.model import Machine
from polymat.model.pairwise import shipped_ranker
from polymat.options import Options
from polymat.plan.kernel import KernelPlan
from polymat.plan.nest import MergedPlan, NestPlan
from polymat.plan.planscheme import loop_atoms, shared_text
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import MOST_TILED, Plan, TilePlan
from polymat.poly.domain import Domain
from polymat.product.blocks import blocks_of
from polymat.product.contraction import Contraction
from polymat.product.kernelfit import UserKernels, fitted_kernel
from polymat.product.learned import ranked_schemes
from polymat.product.matching import contraction_of
from polymat.product.modelled import Extents, Modelled
from polymat.product.modelscheme import model_scheme
from polymat.product.scheme import AnyAtom, Atom, Scheme, SchemeLoop
from polymat.product.schemefit import fitted, operands
from polymat.product.schemetext import Misfit, read_scheme
from polymat.tilesize.loopschemes import (
    Tiled,
    loops_by_scheme,
    outside_tiles,
    tiled_loops,
    tiled_product,
)
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.planner import plan_tiles
from polymat.tilesize.register import in_rows

_GIVEN = "loops as Options.scheme says"


def plan_scheme(
    stage: Stage,
    text: str,
    context: Domain,
    machine: Machine,
    estimates: Mapping[str, int],
    usual: KernelPlan | None,
    user: UserKernels,
) -> SchemePlan | KernelPlan:
    """The plan of a stage by its scheme; an `OptionError` at the stage where it has none.

    usual: the plan around register blocks that was found for it: where its own scheme is given, that is it.
    """
    scheme = read_scheme(text)
    if isinstance(scheme, Misfit):
        raise misfit_error(stage, scheme)
    if usual is not None and scheme == usual.scheme:
        return usual
    found = contraction_of(stage, context, estimates)
    refused = _refused(stage, found)
    if found is None or refused:
        raise misfit_error(
            stage, Misfit(refused, "schemes are for sums of products of two arrays over boxes")
        )
    made = _fitting(stage, scheme, found, machine, user)
    if isinstance(made, Misfit):
        raise misfit_error(stage, made)
    return made


def _fitting(
    stage: Stage, scheme: Scheme, found: Contraction, machine: Machine, user: UserKernels
) -> SchemePlan | Misfit:
    """The plan of a contraction by a scheme, or why that is none of it."""
    lanes = blocks_of(machine, stage.dtype.size).lanes
    atoms = fitted(scheme, found, lanes)
    if isinstance(atoms, Misfit):
        return atoms
    plan = _plan(stage, scheme, found, atoms, lanes, "as Options.scheme says")
    if scheme.kernel is None:
        return plan
    called = fitted_kernel(scheme.kernel, user, atoms, found, stage)
    return called if isinstance(called, Misfit) else replace(plan, called=called)


def plan_part(
    stage: Stage,
    atoms: Sequence[AnyAtom],
    context: Domain,
    machine: Machine,
    estimates: Mapping[str, int],
    user: UserKernels,
    *,
    in_tiles: bool = True,
) -> SchemePlan | Misfit | None:
    """The plan of a product within a tile, or with what scales it, by the atoms for it; None of others."""
    found = contraction_of(stage, context, estimates)
    if found is None or not atoms or _refused(stage, found):
        return None
    first = atoms[0]
    if in_tiles and isinstance(first, SchemeLoop) and first.kind == "Par":
        return Misfit(f"{first} stands within a tile", "tiles are shared out: Par stands in front of them")
    user = user.in_tiles if in_tiles else user
    return _fitting(stage, Scheme(tuple(atoms)), found, machine, user)


def plan_merged(
    usual: MergedPlan,
    scheme: Scheme,
    context: Domain,
    machine: Machine,
    estimates: Mapping[str, int],
    user: UserKernels,
) -> MergedPlan | Misfit | None:
    """A product with what scales it and adds to it, in the loops of a scheme that is fused with these."""
    inner = plan_part(usual.stage, scheme.atoms[1:], context, machine, estimates, user, in_tiles=False)
    if not isinstance(inner, SchemePlan):
        return inner
    return replace(
        usual,
        kind=inner.kind,
        order=inner.order,
        parallel=inner.parallel,
        vector=inner.vector,
        reason=inner.reason,
        inner=inner,
    )


def plan_loops(
    pipeline: Pipeline,
    stage: Stage,
    scheme: Scheme,
    machine: Machine,
    estimates: Mapping[str, int],
    user: UserKernels,
) -> Plan | Misfit:
    """The plan of a stage by itself, no product of two arrays, in the loops and tiles of its scheme."""
    group = Group((stage.name,))
    tiled, atoms = tiled_product(scheme, stage.dims)
    part = (pipeline.context, machine, estimates, user)
    product = plan_part(stage, atoms, *part) if tiled.dims else None
    if isinstance(product, Misfit):
        return product
    if product is not None:
        return _in_tiles(pipeline, stage, tiled, product, machine, estimates)
    found = tiled_loops(scheme)
    found = found if isinstance(found, Misfit) or found.dims else outside_tiles(scheme) or found
    if isinstance(found, Misfit):
        return found
    base = in_rows(stage, plan_stage(group, stage, pipeline.context, machine.vector_bits), machine, None)
    if not found.inner:
        found = replace(found, inner=tuple(loop_atoms(replace(base, parallel=None, unroll=1, addends=1))))
    loops = loops_by_scheme(stage, base, found, machine.lanes(stage.dtype.size))
    if isinstance(loops, Misfit) or not found.dims:
        return loops if isinstance(loops, Misfit) else replace(loops, reason=_GIVEN)
    return _in_tiles(pipeline, stage, found, loops, machine, estimates)


def _in_tiles(
    pipeline: Pipeline,
    stage: Stage,
    found: Tiled,
    loops: NestPlan,
    machine: Machine,
    estimates: Mapping[str, int],
) -> TilePlan | Misfit:
    """The tiles of a stage by itself, with these loops in each."""
    wrong = next((dim for dim in found.dims if dim not in stage.dims), None)
    if wrong is not None or len(found.dims) > MOST_TILED:
        text = f"T({wrong}, ...) tiles no dimension of the result" if wrong else "too many loops over tiles"
        return Misfit(text, f"tiles run along {', '.join(stage.dims)}, at most {MOST_TILED} of them")
    group, member = Group((stage.name,)), Member(stage.name, found.dims, ((0, 0),) * len(found.dims))
    tile = (pipeline, group, found.dims, [member], machine, estimates, found.sizes)
    plan = plan_tiles(*tile, roll=False)
    given = frozenset({stage.name})
    plan = replace(plan, loops={stage.name: loops}, reason=_GIVEN, forced=True, given=given)
    if found.nest and found.backwards:
        return Misfit("tiles follow each other, and have no tiles in them", "leave back out")
    nest = tuple((found.dims.index(dim), size) for dim, size in found.nest)
    plan = replace(plan, backwards=found.backwards, nest=nest)
    shared = shared_text(plan, member)
    if found.parallel not in (None, shared):
        return Misfit(f"threads share no tiles of {found.parallel}", f"Par({shared}) says which they share")
    return plan


def is_modelled(stage: Stage, context: Domain, estimates: Mapping[str, int]) -> bool:
    """Whether the model of data movement chooses loops of a stage where it is asked for."""
    return not _refused(stage, contraction_of(stage, context, estimates))


def plan_model(
    stage: Stage,
    extents: Extents,
    context: Domain,
    machine: Machine,
    estimates: Mapping[str, int],
    threads: int,
    options: Options,
) -> SchemePlan:
    """The plan of such a stage by the scheme that the model chooses at the estimates.

    extents: of all arrays.  options: whether it has vectors and unrolled points, and whether it is that
    scheme or the variant of it that the learned ranker has first.
    """
    modelled = _modelled(stage, extents, context, machine, estimates, options)
    found, lanes = modelled.found, modelled.lanes
    scheme, why = model_scheme(modelled, threads), "as the model of data movement chooses"
    if options.blocks == "learned":
        ranked = ranked_schemes(modelled, scheme, threads, shipped_ranker())
        scheme, why = ranked.schemes[0], f"the first of {len(ranked.schemes)} variants by {ranked.by}"
    atoms = fitted(scheme, found, lanes)
    if isinstance(atoms, Misfit):
        raise InternalError(f"bug in polymat: {scheme} of the model is none of {stage.name}: {atoms.problem}")
    return _plan(stage, scheme, found, atoms, lanes, why)


def ranked_variants(
    stage: Stage,
    extents: Extents,
    context: Domain,
    machine: Machine,
    estimates: Mapping[str, int],
    threads: int,
    options: Options,
) -> tuple[Scheme, ...]:
    """The variants of the model's scheme of such a stage in the order of the ranker, the best first."""
    modelled = _modelled(stage, extents, context, machine, estimates, options)
    return ranked_schemes(modelled, model_scheme(modelled, threads), threads, shipped_ranker()).schemes


def _modelled(
    stage: Stage,
    extents: Extents,
    context: Domain,
    machine: Machine,
    estimates: Mapping[str, int],
    options: Options,
) -> Modelled:
    found = contraction_of(stage, context, estimates)
    if found is None:
        raise InternalError(f"bug in polymat: {stage.name} is no contraction")
    lanes = blocks_of(machine, stage.dtype.size).lanes if options.vector else 1
    return Modelled.of(stage, found, extents, estimates, machine, lanes, unrolls=options.unroll)


def _plan(
    stage: Stage, scheme: Scheme, found: Contraction, atoms: tuple[Atom, ...], lanes: int, why: str
) -> SchemePlan:
    loops = [atom for atom in atoms if isinstance(atom, SchemeLoop)]
    vector = loops[-1].dim if loops and loops[-1].kind == "V" else None
    first = loops[0]
    order = tuple(
        dict.fromkeys(loop.dim for loop in reversed(loops) if not loop.in_block and loop.kind != "Par")
    )
    return SchemePlan(
        group=Group((stage.name,)),
        kind="scheme",
        order=order[::-1],
        parallel=first.dim if first.kind == "Par" else None,
        vector=vector,
        reason=f"{scheme}, {why}",
        contraction=found,
        scheme=scheme,
        atoms=atoms,
        lanes=lanes,
    )


def _refused(stage: Stage, found: Contraction | None) -> str:
    """Why loops cannot be written from schemes for a stage, in words; empty where they can."""
    if found is None:
        return "it is no sum of products of two arrays over a box"
    if found.triangle is not None or found.mirror is not None:
        return "it is a product over a triangle"
    if found.more:
        return "it is a sum of several products"
    types = {stage.dtype, *(each.dtype for each in operands(found))}
    if len(types) > 1 or stage.dtype.kind != "f":
        return f"it is no product in one type of real numbers ({', '.join(sorted(map(str, types)))})"
    return ""


def misfit_error(stage: Stage, wrong: Misfit) -> OptionError:
    """The error of a stage whose scheme is none of it."""
    return OptionError(
        f"Options.scheme[{stage.name!r}] does not fit: {wrong.problem}", at=stage.at, hint=wrong.hint
    )
