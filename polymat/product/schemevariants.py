"""Variants of the loops of a contraction around one register block, and what their working sets are.

PolyDL, section 4: variants have their loops in another order, other tiles and another loop that threads
share; what is innermost, a register block, stays.  Here they come from one scheme, of which the block and the
copies are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product
from math import ceil, prod
from random import Random

from polymat.lang.affine import Affine
from polymat.machine.model import Machine
from polymat.model.loopnest import Dim, LoopNest
from polymat.model.pairwise import VariantFigures
from polymat.model.tilelevelsearch import pieces
from polymat.model.volumes import Copy, TiledLoop
from polymat.model.workingset import level_sums
from polymat.product.contraction import Contraction
from polymat.product.scheme import Atom, Pack, Scheme, SchemeLoop, unrolled
from polymat.product.schemefit import dims_of, operands, packed_factor, with_packs
from polymat.product.schememovement import loops_and_copies, scheme_movement, share_of_a_thread

TILE_POINTS = (32, 128, 512)  # of a tile along all dimensions of a kind; and all points
MOST_VARIANTS = 48  # that are ranked

Kind = tuple[str, ...]


def scheme_variants(
    start: Scheme, found: Contraction, extents: Mapping[str, int], shared: Sequence[str] = ()
) -> tuple[Scheme, ...]:
    """The scheme, and others around its register block with its copies: any order of tiles of some sizes.

    extents: of all dimensions.  shared: dimensions that threads may share; none on one thread.  Of more than
    MOST_VARIANTS so many are drawn, always the same ones.
    """
    own = [atom for atom in start.own if not (isinstance(atom, SchemeLoop) and atom.kind == "Par")]
    block = tuple(atom for atom in own if atom.in_block)
    packs = tuple(atom for atom in own if isinstance(atom, Pack))
    kinds = _kinds(own, found)
    units = {dim: unrolled(block).get(dim, 1) for dim in extents}
    tiles = [_tiles(kind, extents, units) for kind in kinds]
    choices = [*product(shared or (None,), product(*tiles), permutations(kinds))]
    made: dict[str, Scheme] = {str(start): start}
    for dim, sizes, order in Random(0).sample(choices, len(choices)):
        loops = _outer(order, {name: size for each in sizes for name, size in each.items()}, extents)
        scheme = Scheme((*_threads(dim), *_with_packs(loops, packs, found), *_inner(own, found), *block))
        made.setdefault(str(scheme), scheme)
        if len(made) == MOST_VARIANTS:
            break
    return tuple(made.values())


def _threads(dim: str | None) -> tuple[Atom, ...]:
    return () if dim is None else (SchemeLoop("Par", dim),)


def _order_of(atoms: Sequence[Atom], found: Contraction) -> list[str]:
    """The dimensions in the order of their innermost loops, outermost first."""
    loops = [atom.dim for atom in reversed(atoms) if isinstance(atom, SchemeLoop) and not atom.in_block]
    inside = list(dict.fromkeys(loops))[::-1]
    return [dim for dim in found.bounds if dim not in inside] + inside


def _kinds(atoms: Sequence[Atom], found: Contraction) -> list[Kind]:
    """Dimensions that move the same arrays, in the order of their loops, the innermost last."""
    arrays = [set(dims_of(each, found)) for each in operands(found)] + [set(found.result)]
    kinds: dict[tuple[bool, ...], list[str]] = {}
    for dim in _order_of(atoms, found):
        kinds.setdefault(tuple(dim in each for each in arrays), []).append(dim)
    return [tuple(each) for each in kinds.values()]


def _tiles(kind: Kind, extents: Mapping[str, int], units: Mapping[str, int]) -> list[dict[str, int]]:
    """Sizes of tiles of the dimensions of a kind: the inner dimensions whole, as far as so many points go."""
    found = []
    for points in (prod(extents[dim] for dim in kind), *TILE_POINTS):
        sizes, left = dict[str, int](), points
        for dim in reversed(kind):
            fitting = [size for size in pieces(extents[dim], min(units[dim], extents[dim])) if size <= left]
            sizes[dim] = max(fitting, default=min(units[dim], extents[dim]))
            left = max(1, left // sizes[dim])
        if sizes not in found:
            found.append(sizes)
    return found


def _outer(order: Sequence[Kind], tile: Mapping[str, int], extents: Mapping[str, int]) -> list[SchemeLoop]:
    """The loops over tiles, outermost first."""
    dims = (dim for kind in order for dim in kind)
    return [SchemeLoop("T", dim, tile[dim]) for dim in dims if tile[dim] < extents[dim]]


def _inner(atoms: Sequence[Atom], found: Contraction) -> list[SchemeLoop]:
    """The loops within a tile, those over the sum innermost."""
    ordered = sorted(_order_of(atoms, found), key=lambda dim: dim in found.summed)
    return [SchemeLoop("R", dim) for dim in ordered]


def _with_packs(loops: Sequence[SchemeLoop], packs: Sequence[Pack], found: Contraction) -> list[Atom]:
    """The loops with the copies."""
    factors = [(pack, packed_factor(pack, found)) for pack in packs]
    placed = [(pack, () if each is None else dims_of(each, found), len(loops)) for pack, each in factors]
    return with_packs(loops, placed)


def scheme_figures(
    nest: LoopNest, found: Contraction, atoms: Sequence[Atom], machine: Machine, *, threads: int = 1
) -> VariantFigures:
    """Figures of the loops and copies of a scheme by the models, for one of the threads.

    nest: of the contraction alone.  threads: that share out the dimension of its `Par`, and the last cache.
    """
    team, extents = share_of_a_thread(nest, atoms, machine, threads)
    loops, copies = loops_and_copies(found, atoms, extents)
    looped = nest_of_loops(nest, loops)
    moved = scheme_movement(nest, found, atoms, machine, threads=threads).bytes
    sums = level_sums(looped, machine, looped.names, threads=team)
    size = nest.references()[0].element_bytes
    return VariantFigures(sums, moved, size * sum(_copied(each, loops) for each in copies))


def _copied(copy: Copy, loops: Sequence[TiledLoop]) -> float:
    """Elements that a copy writes, as often as it is made; loops: innermost first."""
    runs = [ceil(loop.range) for loop in loops]
    own = prod(n for n, loop in zip(runs[: copy.inside], loops, strict=False) if loop.dim in copy.dims)
    return float(own * prod(runs[copy.inside :]))


def nest_of_loops(nest: LoopNest, loops: Sequence[TiledLoop]) -> LoopNest:
    """The nest with a dimension for every loop of a scheme that runs more than once, outermost first.

    loops: innermost first.
    """
    forms: dict[str, Affine] = {dim: Affine((), 0) for dim in nest.extents}
    dims: list[Dim] = []
    for number, loop in enumerate(reversed(loops)):
        count = ceil(loop.extent / loop.inside)
        if count > 1:
            dims.append(Dim(f"{loop.dim}.{number}", count))
            forms[loop.dim] += Affine.name(dims[-1].name).scale(int(loop.inside))
    (statement,) = nest.statements
    references = tuple(
        replace(each, indices=tuple(form.substitute(forms) for form in each.indices))
        for each in statement.references
    )
    split = replace(statement, dims=tuple(dims), references=references, sequential=())
    return LoopNest(tuple(dims), (split,), nest.live_out)
