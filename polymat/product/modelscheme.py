"""Schemes of contractions that the analytical model of data movement chooses (`Options.blocks` "model").

Analytical cache modelling of tensor contractions: register blocks, tiles for every cache, which arrays the
innermost loops of each band leave where they are, and what is copied where, for the least predicted time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import ceil, prod

from polymat.dataclass import dataclass
from polymat.errors import InternalError
from polymat.graph.monomials import Factor
from polymat.model.tiledlevels import Band, Kind, Sizes, TiledNest
from polymat.model.tilelevelsearch import LevelTiles, level_tiles, pieces, rank
from polymat.product.modelblocks import RegisterShape, SumShape
from polymat.product.modelled import ArrayAccess, Modelled
from polymat.product.scheme import Atom, Pack, Scheme, SchemeLoop, Sequence2
from polymat.product.schemefit import dims_of, with_packs
from polymat.product.sumshapes import neighbours, quickest_shape, sum_shape

COPIED = 1.0  # cycles in which an element is copied to where its neighbour in the original is its neighbour
TURNED = 2.0  # and where it is not
FAR = 2048  # bytes of a step, half of a page: what is fetched ahead lies within one
APART = 3.0  # times as long as lines in a row those take that no other one announces
LINES_AHEAD = 4  # lines in a row after which further ones are fetched ahead
MOST_TRIED = 8  # register blocks, each with some of the operands copied
SHARED_DIMS = 2  # dimensions of which it is tried to share them out to threads


@dataclass(frozen=True, slots=True, eq=False)
class _Solved:
    """A way to compute it: register block, tiles, and for each operand the cache that holds its copy.

    copies: numbers of levels, the nearest cache 0, memory the last; None: not copied.  seconds: of the
    arithmetic and the copies, then of each level.
    """

    of: Modelled
    block: RegisterShape
    summed: tuple[str, ...]
    tiles: LevelTiles
    copies: tuple[int | None, ...]
    seconds: tuple[float, ...]


def model_scheme(of: Modelled, threads: int) -> Scheme:
    """The scheme of a contraction that is predicted to be the quickest, on so many threads."""
    if threads < 2:
        return _scheme(_solved(of))
    found = [_solved(of.with_shared(dim, threads)) for dim in shareable(of, threads)]
    return _scheme(min(found, key=lambda each: rank(each.seconds)) if found else _solved(of))


def shareable(of: Modelled, threads: int) -> list[str]:
    """Dimensions of the result that go round, those whose shares are most equal and longest first."""
    extents = of.every
    dims = [dim for dim in of.found.result if extents[dim] >= threads]
    uneven = {dim: ceil(extents[dim] / threads) * threads / extents[dim] for dim in dims}
    return sorted(dims, key=lambda dim: (round(uneven[dim], 1), -extents[dim]))[:SHARED_DIMS]


def _solved(of: Modelled) -> _Solved:
    """The best of all register blocks and copies."""
    tried = list[tuple[float, tuple[bool, ...], SumShape, RegisterShape]]()
    for copied in product((False, True), repeat=2):
        shape, blocks = quickest_shape(of, sum_shape(of, copied))
        tried += [(seconds, copied, shape, block) for seconds, block in blocks]
    best: _Solved | None = None
    quickest = sorted(tried, key=lambda each: each[0])
    for seconds, copied, shape, block in quickest[: MOST_TRIED // (SHARED_DIMS if of.shared else 1)]:
        if best is not None and seconds > rank(best.seconds):
            break
        for each in _with_tiles(of, shape, block, copied):
            if best is None or rank(each.seconds) < rank(best.seconds):
                best = each
    if best is None:
        raise InternalError(f"bug in polymat: no register block for {of.result.reference.array}")
    return best


def _with_tiles(
    of: Modelled, shape: SumShape, block: RegisterShape, copied: Sequence[bool]
) -> Iterator[_Solved]:
    """The block with the tiles that are best for it."""
    steps = {(a.reference.array, a.reference.slopes): a.steps for a in of.accesses}
    dims = [own for own, is_copied in zip(shape.operands, copied, strict=True) if is_copied]
    nest = TiledNest.of(of.nest, steps, dims, _slowdowns(of, shape, block, copied), of.machine.line_bytes)

    def computing(sizes: Sequence[Sizes], orders: Sequence[Sequence[Kind]]) -> Sizes:
        return block.seconds(shape, of.machine, *block.run_lengths(shape, nest.dims, sizes, orders))

    choices = {dim: _choices(of.extents[dim], dim, block) for dim in nest.dims}
    for tiles in level_tiles(nest, choices, of.caches, of.seconds_a_byte, computing)[:3]:
        where, spent = _copies(of, nest, tiles, block, copied)
        seconds = (tiles.seconds[0] + spent, *tiles.seconds[1:])
        yield _Solved(of, block, shape.summed, tiles, where, seconds)


def _slowdowns(
    of: Modelled, shape: SumShape, block: RegisterShape, copied: Sequence[bool]
) -> dict[frozenset[str], float]:
    """How much longer than lines in a row the lines of operands take to come, by their dimensions."""
    found = {}
    for (_, access), own, is_copied in zip(of.factors, shape.operands, copied, strict=True):
        if is_copied:
            continue
        inner = [dim for dim in neighbours(access) if dim in own]
        last = shape.summed[-1]
        run = max((of.extents[d] if d == last else block.points.get(d, 1) for d in inner), default=1)
        step = access.steps.get(last, 0)
        if step >= FAR or last in inner:
            found[own] = _slowdown(run * access.reference.element_bytes, of.machine.line_bytes)
    return found


def _slowdown(run: float, line: int) -> float:
    """How much longer lines take to come of which so many bytes lie in a row."""
    return 1.0 + (APART - 1.0) * min(1.0, LINES_AHEAD * line / run)


def _choices(extent: int, dim: str, block: RegisterShape) -> list[int]:
    """Sizes of tiles along a dimension, which blocks fill."""
    size = min(block.points.get(dim, 1), max(1, extent))
    less = dict(block.less).get(dim, 0)
    found = pieces(max(1, extent), size)
    if not less:
        return found
    return [each for each in found if each in (size, extent) or block.whole(extent % each, dim) == 1.0]


def _copies(
    of: Modelled, nest: TiledNest, tiles: LevelTiles, block: RegisterShape, copied: Sequence[bool]
) -> tuple[tuple[int | None, ...], float]:
    """The cache that holds each copy, and the seconds that all copies take (equations 10 to 14).

    A copy is made again where the loops around it have the same part of the operand again.
    """
    where: list[int | None] = []
    spent = 0.0
    for (factor, access), is_copied in zip(of.factors, copied, strict=True):
        if not is_copied:
            where.append(None)
            continue
        order = copy_order(of, factor, access, block)
        levels = range(len(of.caches) + 1)
        prices = [_copy_price(of, nest, tiles, access, order, level) for level in levels]
        best = min(range(len(prices)), key=lambda level: prices[level])
        where.append(best)
        spent += prices[best]
    return tuple(where), spent


def _copy_price(
    of: Modelled, nest: TiledNest, tiles: LevelTiles, access: ArrayAccess, dims: Sequence[str], level: int
) -> float:
    """Seconds to copy an operand for the tiles of a cache; of memory, all of it at once."""
    size, line = access.reference.element_bytes, of.machine.line_bytes
    if level == len(of.caches):
        sizes, again = dict(of.extents), 1.0
    else:
        held, number = tiles.tiles[level], _number(nest, dims)
        sizes = dict(zip(nest.dims, map(int, held.sizes[0]), strict=True))
        moved = nest.moved(held, _bands(nest, tiles)[level:])
        again = float(moved[number][0] / held.touched[number][0])
    elements = prod(sizes[dim] for dim in dims)
    run = max((sizes[dim] for dim in neighbours(access)), default=1)
    lines = elements / run * ((run - 1) * size + line)
    slow = _slowdown(run * size, line)
    stored = 2.0 * elements * size if 2 * elements * size > of.caches[-1].bytes else 0.0
    a_byte = of.seconds_a_byte[min(level, len(of.caches) - 1)]
    each = COPIED if access.steps.get(dims[-1]) == size else TURNED
    return again * (elements * each / of.machine.hertz + (lines * slow + stored) * a_byte)


def _number(nest: TiledNest, dims: Sequence[str]) -> int:
    """Which operand of a nest these dimensions move."""
    every = enumerate(nest.operands)
    return next(k for k, each in every if not each.group.writes and {*each.group.dims} == {*dims})


def _bands(nest: TiledNest, tiles: LevelTiles) -> list[Band]:
    """The loops around the tiles of every cache, the nearest first."""
    outer = [*(each.sizes for each in tiles.tiles[1:]), nest.whole]
    return [Band(*each) for each in zip(outer, tiles.orders, strict=True)]


def copy_order(of: Modelled, factor: Factor, access: ArrayAccess, block: RegisterShape) -> tuple[str, ...]:
    """The dimensions of a copy: those of a block last, before them what its sums run along."""
    own = dims_of(factor, of.found)
    lanes = [dim for dim in own if dim == block.vector]
    rows = [dim for dim, _ in reversed(block.sizes) if dim in own and dim not in lanes]
    last = (lanes or rows)[:1]
    inner = [dim for dim in own if dim in of.found.summed]
    summed = sorted(inner, key=lambda dim: -access.steps.get(dim, 0))
    others = [dim for dim in own if dim not in summed and dim not in last]
    return (*others, *summed, *last)


def _scheme(best: _Solved) -> Scheme:
    """The atoms of a solution, outermost first."""
    of, block, levels = best.of, best.block, best.tiles
    extents, points = of.extents, block.points
    bands = [[dim for kind in reversed(order) for dim in kind] for order in levels.orders]
    left, atoms, ends = dict(extents), list[SchemeLoop](), list[tuple[int, int]]()
    for number in range(len(bands) - 1, -1, -1):
        tile = dict(zip(extents, map(int, levels.tiles[number].sizes[0]), strict=True))
        ends.append((number + 1, len(atoms)))
        atoms += _loops(bands[number], left, tile, points)
        left = {dim: min(size, tile[dim]) for dim, size in left.items()}
    ends.append((0, len(atoms)))
    inner = [dim for dim in of.found.result if dim not in points] + [dim for dim in points] + [*best.summed]
    atoms += _loops(inner, left, {}, points)
    missing = [dim for dim in extents if not any(atom.dim == dim for atom in atoms)]
    around: list[Atom] = [SchemeLoop("R", dim) for dim in missing if dim in of.found.result]
    within: list[Atom] = [SchemeLoop("R", dim) for dim in missing if dim not in of.found.result]
    made = _with_copies(best, atoms, dict(ends))
    shared: list[Atom] = [] if of.shared is None else [SchemeLoop("Par", of.shared)]
    return Scheme((*shared, *around, *made, *within, *block_atoms(block)))


def _loops(
    dims: Sequence[str], left: Mapping[str, int], tile: Mapping[str, int], points: Mapping[str, int]
) -> list[SchemeLoop]:
    """A band of loops over tiles; those whose tiles are register blocks run over all that is left."""
    found = []
    for dim in dims:
        unit = min(points.get(dim, 1), left[dim])
        size = tile.get(dim, unit)
        if size < left[dim]:
            found.append(SchemeLoop("R", dim) if size <= unit else SchemeLoop("T", dim, size))
    return found


def _with_copies(best: _Solved, atoms: Sequence[SchemeLoop], ends: Mapping[int, int]) -> list[Atom]:
    """The loops with the copies: no further in than their bands."""
    copied = [(*pair, level) for pair, level in zip(best.of.factors, best.copies, strict=True)]
    packs = [
        (
            Pack(factor.source, copy_order(best.of, factor, access, best.block)),
            dims_of(factor, best.of.found),
            ends.get(level, 0),
        )
        for factor, access, level in copied
        if level is not None
    ]
    return with_packs(atoms, packs)


def block_atoms(block: RegisterShape) -> list[Atom]:
    """The atoms of a register block."""
    less, found = dict(block.less), list[Atom]()
    for dim, size in block.sizes:
        if dim in less:
            found.append(Sequence2(dim, size, less[dim]))
        elif size > (block.lanes if dim == block.vector else 1):
            found.append(SchemeLoop("U", dim, size))
    if block.lanes > 1:
        found.append(SchemeLoop("V", block.vector, block.lanes))
    return found
