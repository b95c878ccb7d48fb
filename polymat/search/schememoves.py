"""Steps among the schemes of a contraction: other tiles, orders, blocks and copies than one that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from random import Random

from polymat.decide.chosen import BY_SCHEME, UnfitError, Ways
from polymat.decide.decider import Decider
from polymat.graph.selection import GroupChoice
from polymat.machine.model import Machine
from polymat.model.describe import stage_nest
from polymat.plan.schemeplan import SchemePlan
from polymat.product.modelblocks import LOADS, SLACK
from polymat.product.scheme import Atom, Pack, Scheme, SchemeLoop, contradiction, unrolled
from polymat.product.schemefit import dims_of, operands
from polymat.product.schememovement import scheme_movement
from polymat.product.schemevariants import scheme_variants
from polymat.tilesize.stagework import VECTOR_SHARE

FACTORS = (0.5, 0.75, 1.5, 2.0)  # of the size of a tile or a block
MOST_TRIES = 12  # changes of a scheme that are drawn for one that fits
SPILLED = 2.0  # times the cycles of a block whose sums registers do not hold
AFRESH = 0.15  # of the steps begin with the model's scheme, not with the one that runs


def other_scheme(ways: Ways, group: GroupChoice, rng: Random) -> GroupChoice | None:
    """The group, a contraction, in the loops of another scheme; None of other groups.

    The first one is that of the model of data movement, from which all others come.
    """
    start = ways.modelled(group.stages)
    if start is None:
        return None
    if not group.scheme:
        return by_scheme(group.stages, start.scheme)
    now = ways.plan(group)
    plan = now if isinstance(now, SchemePlan) and rng.random() >= AFRESH else start
    for _ in range(MOST_TRIES):
        atoms = rng.choice(_CHANGES)(plan, ways.decider.assumed, rng)
        if not atoms or contradiction(atoms) or tuple(atoms) == plan.scheme.atoms:
            continue
        choice = by_scheme(group.stages, Scheme(tuple(atoms)))
        try:
            ways.plan(choice)
        except UnfitError:
            continue
        return choice
    return None


def by_scheme(stages: tuple[str, ...], scheme: Scheme) -> GroupChoice:
    """The choice of a scheme for a stage by itself."""
    return GroupChoice(stages, BY_SCHEME, scheme=str(scheme))


def block_slowdown(plan: SchemePlan, machine: Machine) -> float:
    """How many times as long as in a vectorised loop an operation takes in the block of a scheme.

    By how many sums are under way, what is loaded for them and whether registers hold them.
    """
    found, sizes = plan.contraction, unrolled(plan.atoms)
    lanes = plan.lanes if plan.vector in found.result else 1
    sums = max(1.0, prod(sizes.get(dim, 1) for dim in found.result) / lanes)
    loads = []
    for factor in operands(found):
        own = {*dims_of(factor, found)} & {*found.result}
        count = prod(sizes.get(dim, 1) for dim in sorted(own))
        loads.append(max(1.0, count / lanes if plan.vector in own else count))
    step = max(sums / machine.fma_units, sum(loads) / LOADS, machine.fma_latency + SLACK)
    spilled = SPILLED if sums + min(loads) + 1 >= machine.vector_registers else 1.0
    return VECTOR_SHARE * spilled * step * machine.fma_units / sums * plan.lanes / lanes


def moving_seconds(plan: SchemePlan, decider: Decider) -> float:
    """Predicted seconds of what moves between the caches in the loops of a scheme, with its copies."""
    (name,) = plan.group.stages
    nest = stage_nest(decider.pipeline.stage(name), decider.assumed)
    found, machine = plan.contraction, decider.machine
    return scheme_movement(nest, found, plan.atoms, machine, threads=decider.threads).seconds


def _resized(plan: SchemePlan, estimates: Mapping[str, int], rng: Random) -> list[Atom]:
    """One tile of another size, in whole blocks."""
    del estimates
    atoms = [*plan.scheme.own]
    tiles = [k for k, atom in enumerate(atoms) if isinstance(atom, SchemeLoop) and atom.kind == "T"]
    if not tiles:
        return []
    at = rng.choice(tiles)
    atoms[at] = _scaled(atoms[at], unrolled(atoms).get(_dim(atoms[at]), 1), rng.choice(FACTORS))
    return atoms


def _reordered(plan: SchemePlan, estimates: Mapping[str, int], rng: Random) -> list[Atom]:
    """Two neighbours in the other order, loops or copies."""
    del estimates
    atoms = [*plan.scheme.own]
    outer = [k for k, atom in enumerate(atoms) if not (atom.in_block or _kind(atom) == "Par")]
    if len(outer) < 2:
        return []
    at = rng.choice(outer[:-1])
    atoms[at], atoms[at + 1] = atoms[at + 1], atoms[at]
    return atoms


def _reblocked(plan: SchemePlan, estimates: Mapping[str, int], rng: Random) -> list[Atom]:
    """A block with another number of rows, or of vectors; tiles around it are whole blocks."""
    del estimates
    atoms = [*plan.scheme.own]
    places = [k for k, atom in enumerate(atoms) if _kind(atom) in ("U", "V")]
    if not places:
        return []
    at = rng.choice(places)
    dim, vector = _dim(atoms[at]), plan.lanes if _dim(atoms[at]) == plan.vector else 1
    size = unrolled(plan.atoms).get(dim, 1) + rng.choice((-2, -1, 1, 2)) * vector
    if size < vector:
        return []
    block = SchemeLoop("U", dim, size)
    own = [k for k, atom in enumerate(atoms) if _kind(atom) == "U" and _dim(atom) == dim]
    atoms[own[0] if own else at : (own[0] + 1 if own else at)] = [block]
    return [_scaled(atom, size, 1.0) if _kind(atom) == "T" and _dim(atom) == dim else atom for atom in atoms]


def _copied(plan: SchemePlan, estimates: Mapping[str, int], rng: Random) -> list[Atom]:
    """One copy less, or all of the model's copies elsewhere."""
    del estimates
    atoms = [*plan.scheme.own]
    packs = [k for k, atom in enumerate(atoms) if isinstance(atom, Pack)]
    if not packs:
        return []
    pack = atoms.pop(rng.choice(packs))
    if rng.random() < 0.5:
        first = 1 if _kind(atoms[0]) == "Par" else 0
        atoms.insert(rng.randint(first, sum(not atom.in_block for atom in atoms)), pack)
    return atoms


def _other_variant(plan: SchemePlan, estimates: Mapping[str, int], rng: Random) -> list[Atom]:
    """Another order and other tiles around the same block."""
    found = plan.contraction
    extents = {dim: max(1, round(found.length(dim, estimates))) for dim in found.bounds}
    shared = [loop.dim for loop in plan.scheme.loops if loop.kind == "Par"]
    return [*rng.choice(scheme_variants(plan.scheme, found, extents, shared)).own]


_CHANGES: tuple[Callable[[SchemePlan, Mapping[str, int], Random], Sequence[Atom]], ...] = (
    *(_resized, _resized, _reordered, _reblocked, _copied, _other_variant),
)


def _kind(atom: Atom) -> str:
    return atom.kind if isinstance(atom, SchemeLoop) else ""


def _dim(atom: Atom) -> str:
    return "" if isinstance(atom, Pack) else atom.dim


def _scaled(atom: Atom, unit: int, factor: float) -> Atom:
    """A tile of about so many times its size, in whole units."""
    assert isinstance(atom, SchemeLoop)
    return replace(atom, size=max(1, round(atom.size * factor / unit)) * unit)
