"""How register-block code carries out a contraction at given sizes: what is packed, which blocks, its scheme.

Which way is taken, what is packed and how blocks are cut is said once, for Python and for generated code
(`polymat.product.ways`, `packs`, `cuts`).  Generated code decides when it runs, with strides and addresses
that only the call tells: dimensions that continue each other in memory are joined there, and where segments
are gathered, as many columns are packed at a time as are neighbours in memory, up to some times the second
level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, prod

from polymat.dataclass import dataclass
from polymat.errors import unreachable
from polymat.graph.monomials import Factor
from polymat.lang.affine import Affine
from polymat.model.loopnest import LoopNest
from polymat.model.reference import Reference
from polymat.product.blocks import Blocks
from polymat.product.contraction import Contraction
from polymat.product.cutting import cut_by, cut_past, is_joinable
from polymat.product.formula import Values
from polymat.product.packs import (
    BLOCKED_LEFT,
    BLOCKED_RIGHT,
    COPIED_LEFT,
    COPIED_RIGHT,
    PASSING_LEFT,
    joined,
)
from polymat.product.question import is_unrolled, question
from polymat.product.reading import columns_at_once
from polymat.product.scheme import Atom, Pack, Scheme, SchemeLoop, Sequence2
from polymat.product.shares import Share, cut
from polymat.product.turned import lanes_of_segments, most_vectors, set_columns, turned_blocks
from polymat.product.ways import Way, large, read_depth, way_of

DIRECT_DEPTH = 128  # at most, of a long product that is not packed
SUMMED = 4  # rows and columns whose sums along rows stay in registers together


@dataclass(frozen=True, slots=True, eq=False)
class Blocking:
    """Blocks for the caches of one product, in elements of all its rows, columns and depth; what is packed.

    way: how it is computed.  m, n, k: all rows, columns and depth.
    rows_outside: whether the loop over columns is in that over rows.
    left_first: whether all of the left operand is copied before the loops over blocks.
    lanes_of: the dimension whose neighbours are in the lanes of vectors; None: the columns.
    joins: whether register blocks have rows of several segments.
    """

    way: Way
    contraction: Contraction
    blocks: Blocks
    m: float
    n: float
    k: float
    rows: int
    columns: int
    depth: int
    packs_left: bool
    packs_right: bool
    rows_outside: bool = False
    left_first: bool = False
    lanes_of: str | None = None
    joins: bool = False

    def scheme(self, parallel: str, estimates: Mapping[str, int]) -> Scheme:
        """The atoms of a blocking; several dimensions that one loop runs along are joined by `*`."""
        found, blocks = self.contraction, self.blocks
        rows, columns, depth = ("*".join(dims) for dims in (found.all_rows, found.all_columns, found.summed))
        atoms: list[Atom] = [SchemeLoop("Par", parallel)]
        atoms += [SchemeLoop("R", dim) for dim in found.outer if dim != parallel]
        atoms += [self._pack(found.left)] if self.left_first else []
        atoms += [SchemeLoop("T", columns, self.columns)] if self.columns < self.n else []
        atoms += [SchemeLoop("T", depth, self.depth)] if self.depth < self.k else []
        atoms += [self._pack(found.right)] if self.packs_right else []
        atoms += [SchemeLoop("T", rows, self.rows)] if self.rows < self.m else []
        atoms += [self._pack(found.left)] if self.packs_left and not self.left_first else []
        around = (rows, columns) if self.rows_outside else (columns, rows)
        atoms += [SchemeLoop("R", dim) for dim in (*around, depth)]
        atoms += self._register_blocks(estimates)
        return Scheme((*atoms, SchemeLoop("V", self.lanes_of or found.columns, blocks.lanes)))

    def _register_blocks(self, estimates: Mapping[str, int]) -> list[Atom]:
        """How rows and columns are cut for the registers."""
        found, blocks = self.contraction, self.blocks
        rows, columns = (found.length(dim, estimates) for dim in (found.rows, found.columns))
        if self.way is Way.LANES_OVER_DEPTH:
            lengths = ((found.rows, rows), (found.columns, columns))
            return [SchemeLoop("U", dim, max(1, min(SUMMED, ceil(length)))) for dim, length in lengths]
        if self.way is Way.RESULT_TRANSPOSED:
            lines = _cut(found.columns, columns, blocks.rows, 1)
            return [lines, _cut(found.rows, rows, blocks.columns, blocks.lanes)]
        lines = _cut(found.rows, rows, blocks.rows, 1)
        if self.joins:
            lines = _cut("*".join(found.all_rows), self.m, blocks.rows, 1)
        return [lines, _cut(found.columns, columns, blocks.columns, blocks.lanes)]

    def bands(self, extents: Mapping[str, int]) -> tuple[list[tuple[str, ...]], list[dict[str, int]]]:
        """Orders of its bands of loops, outermost first, and tile sizes, innermost first, for a nest."""
        found, blocks = self.contraction, self.blocks
        rows, columns, depth = found.all_rows, found.all_columns, found.summed
        single = dict.fromkeys(found.outer, 1)
        outer = single | _sizes(rows, self.rows, extents) | _sizes(columns, self.columns, extents)
        outer |= _sizes(depth, self.depth, extents)
        inner = outer | dict.fromkeys((*found.more_rows, *found.more_columns), 1)  # blocks are of one segment
        inner |= _sizes([found.rows], blocks.rows, extents) | _sizes([found.columns], blocks.columns, extents)
        inner |= {} if self.lanes_of is None else _sizes([self.lanes_of], blocks.lanes, extents)
        orders = [
            (*found.outer, *columns, *depth, *rows),
            (*found.outer, *depth, *(rows + columns if self.rows_outside else columns + rows)),
            (*found.outer, *depth, *rows, *columns),
        ]
        return orders, [inner, outer]

    def packed(self, nest: LoopNest) -> LoopNest:
        """The nest with what is packed in the order in which it is used: neighbours by row or column."""
        found = self.contraction
        factors = [found.left] * self.packs_left + [found.right] * self.packs_right
        copied = {self._names(factor): self._packed_order(factor) for factor in factors}

        def laid_out(reference: Reference) -> Reference:
            order = copied.get(self._names(reference))
            if order is None or reference.writes:
                return reference

            def place(form: Affine) -> int:
                return max((order.index(name) for name in form.names() if name in order), default=-1)

            return replace(reference, indices=tuple(sorted(reference.indices, key=place)))

        statements = tuple(
            replace(each, references=tuple(map(laid_out, each.references))) for each in nest.statements
        )
        return replace(nest, statements=statements)

    def _packed_order(self, factor: Factor) -> tuple[str, ...]:
        """The dimensions of a packed operand as register blocks use it, the innermost last."""
        found = self.contraction
        own = found.all_rows if factor is found.left else found.all_columns
        if self.way is Way.LANES_OVER_DEPTH:
            return (*own, found.depth)
        if factor is found.right and self.lanes_of is not None:
            own = (found.columns, self.lanes_of)
        return (*found.summed, *own)

    def _pack(self, factor: Factor) -> Pack:
        """The copy of an operand; its order where that is another one than that of the array."""
        order = self._packed_order(factor)
        lies = tuple(name for form in factor.indices for name in form.names() if name in order)
        return Pack(factor.source, () if lies == order else order)

    def _names(self, of: Factor | Reference) -> tuple[str, tuple[frozenset[str], ...]]:
        """An array and the dimensions in its indices."""
        array = of.source if isinstance(of, Factor) else of.array
        return array, tuple(frozenset(form.names()) & {*self.contraction.bounds} for form in of.indices)


def blocking(
    found: Contraction,
    blocks: Blocks,
    estimates: Mapping[str, int],
    *,
    share: Share | None = None,
    past: bool = False,
    handed: bool = False,
    ended: bool = False,
) -> Blocking:
    """How a contraction is carried out at the estimated sizes.

    share: lengths of dimensions of which a thread has a part, by which it chooses a way, copies and blocks.
    past: with its result past the caches.  handed: with parts of it handed to its readers.
    ended: with these computed in registers.
    """
    values = question(found, blocks, estimates, share=share, past=past, handed=handed, ended=ended)
    values = values | {"joinable": float(is_joinable(found, share=share or (), handed=handed))}
    is_straight = not share and is_unrolled(found, blocks, estimates)
    way = Way.UNROLLED if is_straight else way_of(values)
    return _by_way(_uncut(way, cut(found, share or {}), blocks, estimates), values, estimates)


def _uncut(way: Way, found: Contraction, blocks: Blocks, estimates: Mapping[str, int]) -> Blocking:
    """The whole product as one block, with nothing copied."""
    m, n, k = (
        prod(found.length(dim, estimates) for dim in dims)
        for dims in (found.all_rows, found.all_columns, (found.depth,))
    )
    rows, columns, depth = max(1, ceil(m)), max(1, ceil(n)), max(1, ceil(k))
    return Blocking(way, found, blocks, m, n, k, rows, columns, depth, packs_left=False, packs_right=False)


def _by_way(plain: Blocking, values: Values, estimates: Mapping[str, int]) -> Blocking:
    """The blocks of a way, and what it copies."""
    found, blocks = plain.contraction, plain.blocks
    match plain.way:
        case Way.LANES_OVER_DEPTH:
            copies = not values["down"]
            return replace(plain, packs_right=copies, rows_outside=True, lanes_of=found.depth)
        case Way.RESULT_TRANSPOSED:
            return replace(plain, lanes_of=found.rows)
        case Way.COPIED_NEAR:
            left, right = bool(COPIED_LEFT.at(values)), bool(COPIED_RIGHT.at(values))
            rows = min(plain.rows, blocks.rows) if left else plain.rows
            return replace(plain, rows=rows, packs_left=left, packs_right=right, rows_outside=True)
        case Way.FEW_ROWS:
            columns = columns_at_once(found.length(found.columns, estimates), values, blocks)
            depth = max(1, ceil(read_depth.at(values)))
            return replace(plain, columns=columns, depth=depth, packs_left=True)
        case Way.FEW_COLUMNS:
            return replace(plain, packs_right=True, rows_outside=True)
        case Way.LANES_OVER_SEGMENTS:
            return _turned(plain)
        case Way.RIGHT_IN_PARTS:
            packs = PASSING_LEFT.holds(values)
            rows, columns, depth = cut_past(values, blocks)
            plain = replace(plain, rows=rows, columns=columns, depth=depth)
            return replace(plain, packs_left=packs, packs_right=True, rows_outside=True)
        case Way.BLOCKED:
            return _in_blocks(plain, values, prod(found.length(dim, estimates) for dim in found.sums))
        case Way.UNROLLED | Way.SMALL | Way.ROW | Way.COLUMN | Way.DIRECT:
            return replace(plain, depth=min(plain.depth, DIRECT_DEPTH)) if large.holds(values) else plain
        case _:
            unreachable(plain.way)


def _in_blocks(plain: Blocking, values: Values, segments: float) -> Blocking:
    """Blocks for the caches of both operands, each of which is copied where that pays."""
    (rows, columns, depth), in_order = cut_by(values, plain.contraction, plain.blocks)
    joins, right = bool(joined.at(values)), bool(BLOCKED_RIGHT.at(values))
    left = joins or bool(BLOCKED_LEFT.at(values))
    made = replace(plain, k=plain.k * segments, rows=rows, columns=columns, depth=depth, joins=joins)
    return replace(made, packs_left=left, packs_right=right, left_first=in_order and left)


def _turned(made: Blocking) -> Blocking:
    """The left operand copied as a whole, and of the right one eight columns of a few vectors of segments."""
    columns = set_columns(most_vectors(made.k, made.blocks))
    lanes_of, blocks = lanes_of_segments(made.contraction), turned_blocks(made.blocks)
    made = replace(made, blocks=blocks, columns=min(made.columns, columns), lanes_of=lanes_of)
    return replace(made, packs_left=True, packs_right=True, left_first=True)


def _cut(dim: str, length: float, most: int, unit: int) -> Atom:
    """Register blocks along a dimension: its units as evenly as whole blocks allow."""
    units = max(1, ceil(length / unit))
    pieces = ceil(units * unit / most)
    size = ceil(units / pieces) * unit
    return Sequence2(dim, size, unit) if units % pieces else SchemeLoop("U", dim, size)


def _sizes(dims: Sequence[str], block: int, extents: Mapping[str, int]) -> dict[str, int]:
    """Tile sizes of dimensions that one block runs along, the last of them innermost."""
    sizes = {}
    for dim in reversed(dims):
        sizes[dim] = max(1, min(extents[dim], block))
        block = ceil(block / sizes[dim])
    return sizes
