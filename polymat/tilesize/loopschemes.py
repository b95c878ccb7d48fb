"""Loops of stages, by themselves or in tiles, as `Options.scheme` says them; of products see `schemefit`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from polymat.dataclass import dataclass
from polymat.graph.stage import Stage
from polymat.plan.loops import LoopPlan
from polymat.product.scheme import AnyAtom, GroupAtom, Scheme, SchemeLoop
from polymat.product.schemetext import Misfit
from polymat.tilesize.register import planes_of

MOST_JAMMED = 16  # points of a loop that run together: each is a copy of its body
_ORDERED = ("map", "reduce", "row")


@dataclass(frozen=True, slots=True)
class Tiled:
    """The tiles that a scheme says, and the loops within them.

    dims, sizes: of tiles, outermost first; none of a stage without tiles.  inner: all that runs in a tile.
    parallel: what threads share, as the scheme says it.  backwards: the tiles run from the last to the first.
    nest: all loops over tiles where a dimension has several, outermost first; `sizes` has the last of each.
    """

    dims: tuple[str, ...]
    sizes: tuple[int, ...]
    inner: tuple[SchemeLoop, ...]
    parallel: str | None
    backwards: bool
    nest: tuple[tuple[str, int], ...] = ()


def tiled_loops(scheme: Scheme) -> Tiled | Misfit:
    """The tiles and loops of a scheme; a loop outside of some tiles is one of tiles of one point."""
    atoms: list[SchemeLoop] = []
    for atom in scheme.atoms:
        if isinstance(atom, GroupAtom) and atom.word != "kernel":
            continue
        if not isinstance(atom, SchemeLoop) or atom.kind == "Texact":
            return Misfit(f"{atom} is for products of two arrays", "loops have the atoms Par, T, R, U and V")
        atoms.append(atom)
    parallel = [atom for atom in atoms if atom.kind == "Par"]
    if parallel and (len(parallel) > 1 or atoms[0] is not parallel[0]):
        return Misfit(
            f"{parallel[-1]} is not the first loop", "threads meet once: Par stands outermost, once"
        )
    atoms = atoms[len(parallel) :]
    count = max((k + 1 for k, atom in enumerate(atoms) if atom.kind == "T"), default=0)
    tiles: dict[str, int] = {}
    for atom in atoms[:count]:
        if atom.kind not in ("T", "R"):
            return Misfit(f"{atom} stands outside tiles", "T and R come first, then U and V")
        size, around = atom.size or 1, tiles.get(atom.dim)
        if around is not None and (around == size or around % size):
            return Misfit(
                f"{atom} does not divide the tiles of {around} that it stands in", "T(x, 256), T(x, 32) do"
            )
        tiles[atom.dim] = size
    inner = [atom for atom in atoms if atom.kind != "T"]
    shared = parallel[0].dim if parallel else None
    every = tuple((atom.dim, atom.size or 1) for atom in atoms[:count])
    nest = every if len(every) > len(tiles) else ()
    return Tiled(tuple(tiles), tuple(tiles.values()), tuple(inner), shared, bool(scheme.words("back")), nest)


def outside_tiles(scheme: Scheme) -> Misfit | None:
    """Why loops without tiles are not those of a scheme that says which way tiles run."""
    for atom in scheme.atoms:
        if isinstance(atom, GroupAtom) and atom.word in ("roll", "back"):
            (dim,) = atom.names
            return Misfit(f"{atom} is for tiles, and there are none", f"T({dim}, 32) inside it says tiles")
    return None


def tiled_product(scheme: Scheme, dims: Sequence[str]) -> tuple[Tiled, tuple[AnyAtom, ...]]:
    """The tiles along some dimensions that begin a scheme of a product, and the atoms for each of them.

    Those that threads share are tiles, where it says these: unless all tiles of a thread follow each other.
    """
    atoms = [atom for atom in scheme.atoms if not isinstance(atom, GroupAtom) or atom.word == "kernel"]
    first = atoms[0] if atoms else None
    shared = first.dim if isinstance(first, SchemeLoop) and first.kind == "Par" else None
    atoms = atoms[1:] if shared is not None else atoms
    if shared is not None and not (scheme.words("roll") or scheme.words("back")):
        dims = [dim for dim in dims if dim in shared.split("*")]
    tiles: dict[str, int] = {}
    for atom in atoms:
        further = {*dims} - {*tiles}
        if not isinstance(atom, SchemeLoop) or atom.kind != "T" or atom.dim not in further:
            break
        tiles[atom.dim] = atom.size
    atoms = atoms[len(tiles) :]
    tiled = Tiled(tuple(tiles), tuple(tiles.values()), (), shared, bool(scheme.words("back")))
    return tiled, tuple(atoms)


def loops_by_scheme(stage: Stage, base: LoopPlan, tiled: Tiled, lanes: int) -> LoopPlan | Misfit:
    """The loops of a stage that a scheme says; where it has tiles, of the part in one.

    base: those that it has otherwise.  lanes: of vectors of its elements.
    """
    order = tuple(atom.dim for atom in tiled.inner if atom.kind == "R")
    wrong = _kinds(tiled.inner) or _order(stage, base, order)
    if wrong is not None:
        return wrong
    summed = {*base.order} - {*stage.dims}
    kind = _kind(stage, order, summed)
    plan = base if base.kind == kind else replace(base, kind=kind, lanes=1, terms=False)
    changed = order != base.order
    plan = replace(plan, lanes=1) if changed and kind == "map" else plan
    plan = replace(plan, order=order, parallel=None, unroll=1, addends=1, ahead=0, block=0, streamed=0)
    plan = replace(plan, planes=None)
    if tiled.dims or tiled.parallel is None or changed:
        plan = replace(plan, within=())
    if tiled.parallel is not None and not tiled.dims:
        if tiled.parallel not in stage.dims:
            return Misfit(f"Par({tiled.parallel}) shares out no dimension of the result", _has(stage, summed))
        plan = replace(plan, parallel=tiled.parallel)
    return _unrolled(stage, _vector(stage, plan, tiled, lanes), tiled)


def _kinds(inner: Sequence[SchemeLoop]) -> Misfit | None:
    """Whether blocks and vectors are innermost."""
    rank = {"R": 0, "U": 1, "V": 2}
    for outer, further in pairwise(inner):
        if rank[further.kind] < rank[outer.kind]:
            return Misfit(f"{further} stands inside {outer}", "U and V are the innermost atoms")
    return None


def _order(stage: Stage, base: LoopPlan, order: Sequence[str]) -> Misfit | None:
    """Whether there is one loop along every dimension, in an order that the stage may run in."""
    if base.kind not in _ORDERED:
        why = (
            "runs in the order that its dependences leave"
            if stage.reads_itself
            else "adds into what it computes"
        )
        return Misfit(
            f"{stage.name} {why}", f"its loops are {', '.join(base.shown_order)}, as explain() says"
        )
    summed = [dim for dim in base.order if dim not in stage.dims]
    for dim in order:
        if dim not in base.order:
            return Misfit(f"R({dim}) names {dim}, which is no dimension of it", _has(stage, summed))
    for dim in base.order:
        if order.count(dim) != 1:
            many = "nothing runs" if dim not in order else "two loops run"
            return Misfit(f"{many} over all of {dim}", f"R({dim}) does, once")
    if tuple(order) != base.order and (len(stage.accumulations) > 1 or stage.segments is not None):
        hint = f"its loops are {', '.join(base.order)}, in this order"
        return Misfit(f"{stage.name} is several sums, or one between bounds from data", hint)
    return None


def _kind(stage: Stage, order: Sequence[str], summed: set[str]) -> str:
    """Points by themselves, sums in a register each, or sums in memory."""
    if not stage.is_reduction:
        return "map"
    return "row" if _outside(order, summed) else "reduce"


def _outside(order: Sequence[str], summed: set[str]) -> bool:
    """Whether a loop over the result runs within one that is summed over."""
    first = min((k for k, dim in enumerate(order) if dim in summed), default=len(order))
    return any(dim not in summed for dim in order[first:])


def _vector(stage: Stage, plan: LoopPlan, tiled: Tiled, lanes: int) -> LoopPlan | Misfit:
    found = [atom for atom in tiled.inner if atom.kind == "V"]
    if not found:
        return replace(plan, vector=None, lanes=1)
    vector, wrong = found[0], other_vectors(found, lanes)
    if wrong is not None:
        return wrong
    if not plan.order or vector.dim != plan.order[-1]:
        return Misfit(f"{vector} is not along the innermost loop", f"R({vector.dim}) is the last loop then")
    if plan.kind == "row" and vector.dim not in stage.dims:
        hint = f"loops over the result around all of {vector.dim} keep sums in registers"
        return Misfit(f"{vector} adds up in memory", hint)
    if plan.kind == "reduce" and plan.lanes == 1 and stage.dtype.kind == "f":
        plan = replace(plan, lanes=lanes)
    return replace(plan, vector=vector.dim)


def other_vectors(atoms: Sequence[AnyAtom], lanes: int) -> Misfit | None:
    """Why vectors in a scheme of loops are none of the processor's, which have so many lanes."""
    for atom in atoms:
        if isinstance(atom, SchemeLoop) and atom.kind == "V" and atom.size not in (0, lanes):
            hint = f"vectors of this processor have {lanes} such elements here"
            return Misfit(f"{atom} is no vector", hint)
    return None


def _unrolled(stage: Stage, plan: LoopPlan | Misfit, tiled: Tiled) -> LoopPlan | Misfit:
    """The plan with several points of its outermost loop at a time, and several addends of rows."""
    for atom in (atom for atom in tiled.inner if atom.kind == "U"):
        if isinstance(plan, Misfit):
            return plan
        shared = tiled.dims or tuple(filter(None, [plan.parallel]))
        if atom.size > MOST_JAMMED:
            return Misfit(f"{atom} unrolls {atom.size} points", f"at most {MOST_JAMMED} run together")
        if _adds(stage, plan, atom.dim):
            plan = replace(plan, addends=atom.size)
            continue
        planes = planes_of(stage, plan)
        if atom.dim not in shared and planes and (planes.dim, planes.count) == (atom.dim, atom.size):
            plan = replace(plan, planes=planes)
            continue
        long = [dim for dim in plan.order if dict(zip(tiled.dims, tiled.sizes, strict=True)).get(dim) != 1]
        if atom.dim not in shared or atom.dim != next(iter(long), None) or plan.unroll > 1:
            hint = "the outermost loop may be, where it is shared out (Par) or tiled (T)"
            return Misfit(f"{atom} unrolls another loop than the outermost", hint)
        if len(plan.order) < 2 or plan.terms or stage.segments is not None or stage.dtype.kind == "c":
            return Misfit(f"{atom} shares nothing between its points", f"leave {atom} out")
        plan = replace(plan, unroll=atom.size, block=tiled.dims.index(atom.dim) if tiled.dims else 0)
    return plan


def _adds(stage: Stage, plan: LoopPlan, dim: str) -> bool:
    """Whether a dimension is that of the innermost summed loop around rows of results."""
    rows = plan.kind == "row" and len(plan.order) > 1
    return rows and plan.order[-1] in stage.dims and plan.order[-2] == dim and dim not in stage.dims


def _has(stage: Stage, summed: Sequence[str] | set[str]) -> str:
    text = f"it has {', '.join(stage.dims) or 'no dimensions'}"
    return f"{text}, and sums over {', '.join(sorted(summed))}" if summed else text
