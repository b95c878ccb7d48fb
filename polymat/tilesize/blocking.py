"""How register-block code carries out a contraction at given sizes: what is packed, which blocks, its scheme.

The twin of what the generated `_pm_gemm` decides when it runs, but for what depends on strides and addresses
that only the call tells: dimensions that continue each other in memory are joined there, and where segments
are gathered, as many columns are packed at a time as are neighbours in memory, up to some times the second
level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod

from polymat.graph.monomials import Factor
from polymat.lang.affine import Affine
from polymat.tilesize.access import Access, access_of, is_direct
from polymat.tilesize.blocks import LEAST_STRIPS, Blocks
from polymat.tilesize.contraction import Contraction
from polymat.tilesize.model import Nest
from polymat.tilesize.reference import Reference
from polymat.tilesize.scheme import Atom, Loop, Pack, Scheme, Sequence2

DIRECT_DEPTH = 128  # at most, of a long product that is not packed
FEW_PANELS, MANY_PANELS = 2, 16  # for which a copy of the left operand never pays, and always does
STAYING = 8  # second-level caches whose room is enough for weights that are read where they are


@dataclass(frozen=True, slots=True, eq=False)
class Blocking:
    """Blocks for the caches of one product, in elements of all its rows, columns and depth; what is packed.

    m, n, k: all rows, columns and depth.  rows_outside: whether the loop over columns is in that over rows.
    """

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

    def scheme(self, parallel: str, estimates: Mapping[str, int]) -> Scheme:
        """Its atoms; several dimensions that one loop runs along are joined by `*`."""
        found, blocks = self.contraction, self.blocks
        rows, columns, depth = (
            "*".join(dims)
            for dims in (
                (*found.more_rows, found.rows),
                (*found.more_columns, found.columns),
                (*found.sums, found.depth),
            )
        )
        atoms: list[Atom] = [Loop("Par", parallel)]
        atoms += [Loop("R", dim) for dim in found.outer if dim != parallel]
        atoms += [Loop("T", columns, self.columns)] if self.columns < self.n else []
        atoms += [Loop("T", depth, self.depth)] if self.depth < self.k else []
        atoms += [self._pack(found.right)] if self.packs_right else []
        atoms += [Loop("T", rows, self.rows)] if self.rows < self.m else []
        atoms += [self._pack(found.left)] if self.packs_left else []
        around = (rows, columns) if self.rows_outside else (columns, rows)
        atoms += [Loop("R", dim) for dim in (*around, depth)]
        atoms.append(_cut(found.rows, found.length(found.rows, estimates), blocks.rows, 1))
        atoms.append(
            _cut(found.columns, found.length(found.columns, estimates), blocks.columns, blocks.lanes)
        )
        return Scheme((*atoms, Loop("V", found.columns, blocks.lanes)))

    def bands(self, extents: Mapping[str, int]) -> tuple[list[tuple[str, ...]], list[dict[str, int]]]:
        """Orders of its bands of loops, outermost first, and tile sizes, innermost first, for a nest."""
        found, blocks = self.contraction, self.blocks
        rows = (*found.more_rows, found.rows)
        columns = (*found.more_columns, found.columns)
        depth = (*found.sums, found.depth)
        single = dict.fromkeys(found.outer, 1)
        outer = single | _sizes(rows, self.rows, extents) | _sizes(columns, self.columns, extents)
        outer |= _sizes(depth, self.depth, extents)
        inner = outer | _sizes(rows, blocks.rows, extents) | _sizes(columns, blocks.columns, extents)
        orders = [
            (*found.outer, *columns, *depth, *rows),
            (*found.outer, *depth, *(rows + columns if self.rows_outside else columns + rows)),
            (*found.outer, *depth, *rows, *columns),
        ]
        return orders, [inner, outer]

    def packed(self, nest: Nest) -> Nest:
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
        own = (*found.more_rows, found.rows) if factor is found.left else (*found.more_columns, found.columns)
        return (*found.sums, found.depth, *own)

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
    found: Contraction, blocks: Blocks, estimates: Mapping[str, int], *, past: bool = False
) -> Blocking:
    """How a contraction is carried out at the estimated sizes; past: with its result past the caches."""

    def all_of(*dims: str) -> float:
        return prod(found.length(dim, estimates) for dim in dims)

    k, segments = found.length(found.depth, estimates), all_of(*found.sums)
    m, n = all_of(*found.more_rows, found.rows), all_of(*found.more_columns, found.columns)
    access, small = access_of(found), blocks.small
    large = k * n > 2 * small
    far = m > 2 * blocks.rows and (large or m * n > 2 * small)
    far = far or (Access.ALONG not in access and m * k > small / 8)
    if is_direct(access, n) and not far:
        deep = min(max(1, ceil(k)), DIRECT_DEPTH) if large else max(1, ceil(k))
        rows, columns = max(1, ceil(m)), max(1, ceil(n))
        return Blocking(found, blocks, m, n, k, rows, columns, deep, packs_left=False, packs_right=False)
    many = found.length(found.rows, estimates) >= blocks.rows and m >= LEAST_STRIPS * blocks.rows
    many = many and not (past and Access.STRIPS in access and found.triangle is None)
    if many and k > 0 and (Access.PASSES in access or (Access.PASSES_LARGE in access and large)):
        packs = Access.STRIPS in access
        rows, columns, depth = blocks.passed(m, n, k, packs_left=packs)
        return Blocking(found, blocks, m, n, k, rows, columns, depth, packs, True, rows_outside=True)
    rows, columns, depth = blocks.at(m, n, k, segments, rows_are_one=not found.more_rows)
    panels = ceil(n / blocks.columns)
    few = Access.FEW in access and panels <= FEW_PANELS and k >= 64
    packs = (Access.SEGMENTS in access and not few) or panels >= MANY_PANELS
    packs = packs or ((panels > FEW_PANELS or Access.ALONG not in access) and m * k > small / 2)
    packs = Access.MIRRORED in access or (packs and Access.WINDOWS not in access)
    stays = Access.STAYS in access and k * segments * n <= STAYING * small
    stays = stays or (Access.BESIDE in access and not large)
    return Blocking(found, blocks, m, n, k * segments, rows, columns, depth, packs, packs_right=not stays)


def _cut(dim: str, length: float, most: int, unit: int) -> Atom:
    """Register blocks along a dimension: its units as evenly as whole blocks allow."""
    units = max(1, ceil(length / unit))
    pieces = ceil(units * unit / most)
    size = ceil(units / pieces) * unit
    return Sequence2(dim, size, unit) if units % pieces else Loop("U", dim, size)


def _sizes(dims: Sequence[str], block: int, extents: Mapping[str, int]) -> dict[str, int]:
    """Tile sizes of dimensions that one block runs along, the last of them innermost."""
    sizes = {}
    for dim in reversed(dims):
        sizes[dim] = max(1, min(extents[dim], block))
        block = ceil(block / sizes[dim])
    return sizes
