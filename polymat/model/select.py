"""Tile sizes from the reuse equation of a nest.

PolyMage matrix thesis, section 4.3: every tile size is γ_d·τ, γ_d the normalised reuse along the dimension;
the distinct elements of a tile, a polynomial in τ, are made equal to the cache (Algorithm 3).  Its worked
example for the matrix product has a slip: it counts B as 256·(0.5τ) where γ_k = 1 makes it 256·τ, and the
tile it prints holds 5737 elements in a cache of 4096; here the equation is 0.5τ² + 384τ - 4096 = 0.
Algorithm 2, of Jangda and Bondhugula's fusion model, takes the product of the tile sizes for the elements of
one buffer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import gcd, inf, prod

from polymat.dataclass import dataclass
from polymat.machine.model import Machine
from polymat.model.footprint import Volumes, tile_volume
from polymat.model.hierarchy import hierarchy
from polymat.model.loopnest import LoopNest
from polymat.model.polynomial import Number, Polynomial, power_text, signed_sum
from polymat.model.reuse import NO_REUSE, dimensional_reuse, normalised_reuse

# Iterations of the innermost loop in a tile: long enough for vectors and for the prefetcher.
INNER_TILE = 256
_TAU = "τ"


@dataclass(frozen=True, slots=True)
class Equation:
    """A polynomial in τ that must be 0: coefficients, highest power first, and the unit of its terms."""

    coefficients: tuple[float, ...]
    unit_bytes: int

    def at(self, value: float) -> float:
        """Left-hand side at a value of τ."""
        total = 0.0
        for coefficient in self.coefficients:
            total = total * value + coefficient
        return total

    @property
    def root(self) -> float:
        """The positive root; infinite where the tile never fills the cache, 0 where it always overflows."""
        if len(self.coefficients) < 2 or not any(self.coefficients[:-1]):
            return inf
        if self.at(0) >= 0:
            return 0.0
        low, high = 0.0, 1.0
        while self.at(high) < 0:
            low, high = high, 2 * high
        for _ in range(200):
            middle = (low + high) / 2
            if middle in (low, high):
                break
            low, high = (middle, high) if self.at(middle) < 0 else (low, middle)
        return high

    def __str__(self) -> str:
        degree = len(self.coefficients) - 1
        terms = [
            (c, power_text(_TAU, degree - k) if k < degree else "")
            for k, c in enumerate(self.coefficients)
            if c
        ]
        return f"{signed_sum(terms)} = 0"


@dataclass(frozen=True, slots=True)
class TileSizes:
    """Tile sizes for one level of cache, in the nest's order, and how they were found."""

    dims: tuple[str, ...]
    sizes: tuple[int, ...]
    inner: str | None
    reuse: tuple[float, ...]
    equation: Equation
    capacity_bytes: float
    method: str
    level: str = ""

    @property
    def by_dim(self) -> dict[str, int]:
        """Tile size by dimension."""
        return dict(zip(self.dims, self.sizes, strict=True))

    def explain(self) -> str:
        """The sizes and the equation they solve, in words."""
        sizes = ", ".join(f"{dim} {size}" for dim, size in zip(self.dims, self.sizes, strict=True))
        factors = ", ".join(f"{dim} {factor:.3g}" for dim, factor in zip(self.dims, self.reuse, strict=True))
        root = self.equation.root
        solved = f"from {self.equation}, root {root:.2f}," if root < inf else "with no size left to choose,"
        cache = f"{self.capacity_bytes:.0f} bytes" + (f" of {self.level}" if self.level else "")
        inner = f"; {self.inner} is innermost" if self.inner else ""
        return (
            f"{self.method}: tiles {sizes} {solved} for {cache} "
            f"in units of {self.equation.unit_bytes} bytes; reuse {factors}{inner}"
        )


def choose_tiles_levels(
    nest: LoopNest,
    machine: Machine,
    *,
    inner: str | None,
    tiled: Collection[str],
    inner_tile: int = INNER_TILE,
    threads: int = 1,
    fill: float = 1.0,
) -> tuple[TileSizes, ...]:
    """Algorithm 3 for every cache, nearest first; each tile is a multiple of the one inside it.

    A dimension that reaches its extent is fixed and the equation solved again for the others.  inner: the
    dimension that is fixed at `inner_tile`, None for none.  tiled: those that have tiles; the others are
    whole in every tile.  fill: the part of a cache that a tile may take.
    """
    whole = [dim for dim in nest.names if dim not in tiled]
    found: list[TileSizes] = []
    for level in hierarchy(machine, threads)[:-1]:
        tiles = algorithm3(
            nest,
            level.bytes * fill,
            inner=inner,
            inner_tile=inner_tile,
            level=level.name,
            whole=whole,
            resolve=True,
        )
        found.append(_multiples(nest, tiles, found[-1]) if found else tiles)
    return tuple(found)


def algorithm3(
    nest: LoopNest,
    capacity_bytes: float,
    *,
    inner: str | None,
    inner_tile: int = INNER_TILE,
    level: str = "",
    whole: Sequence[str] = (),
    resolve: bool = False,
) -> TileSizes:
    """Tile sizes γ_d·⌊τ⌋, where τ is the positive root of (elements of a tile) = (elements of the cache).

    The innermost dimension is fixed at `inner_tile`, halved until one iteration of the others fits.
    whole: dimensions that are not tiled.  resolve: solve again where a size exceeds its extent, and let the
    innermost one grow last.
    """
    gamma = normalised_reuse(nest)
    extents = nest.extents
    fixed = {dim: extents[dim] for dim in whole}
    volumes = tile_volume(nest, exact=False)

    def solved() -> tuple[Equation, Mapping[str, int]]:
        equation = reuse_equation(nest, capacity_bytes, gamma, fixed, volumes)
        return equation, scaled_sizes(extents, gamma, equation, fixed)

    if inner is not None and not (resolve and all(dim == inner or dim in fixed for dim in nest.names)):
        size = max(1, min(extents[inner], inner_tile))
        fixed[inner] = _fitting_inner(nest, volumes, capacity_bytes, inner, size, fixed)
    equation, sizes = solved()
    while resolve and (full := [d for d in nest.names if d not in fixed and sizes[d] == extents[d]]):
        fixed.update({dim: extents[dim] for dim in full})
        if all(dim in fixed for dim in nest.names) and inner is not None and inner not in (*full, *whole):
            del fixed[inner]
        equation, sizes = solved()
    names = nest.names
    chosen, reuse = tuple(sizes[dim] for dim in names), tuple(gamma[dim] for dim in names)
    return TileSizes(names, chosen, inner, reuse, equation, capacity_bytes, "Algorithm 3", level)


def reuse_equation(
    nest: LoopNest,
    capacity_bytes: float,
    gamma: Mapping[str, float],
    fixed: Mapping[str, int],
    volumes: Volumes | None = None,
) -> Equation:
    """Elements of a tile with sizes γ_d·τ, or the fixed ones, minus the elements of the cache.

    volumes: of a tile of the nest, where they are known already.
    """
    volumes = tile_volume(nest, exact=False) if volumes is None else volumes
    unit = gcd(*(group.element_bytes for group, _ in volumes)) or 1
    values: dict[str, Number] = {
        dim: fixed[dim] if dim in fixed else Polynomial.name(_TAU) * gamma[dim] for dim in nest.names
    }
    total = Polynomial()
    known: dict[object, Polynomial] = {}
    for group, volume in volumes:
        if volume.terms not in known:
            known[volume.terms] = volume.substitute(values)
        total = total + known[volume.terms] * (group.element_bytes // unit)
    return Equation((total - capacity_bytes / unit).coefficients(_TAU), unit)


def algorithm2(
    nest: LoopNest, footprint_bytes: float, *, inner_tile: int = INNER_TILE, level: str = ""
) -> TileSizes:
    """Tile sizes whose product is the elements of one buffer, the last dimension fixed at `inner_tile`."""
    classes = nest.classes
    unit = max((c.element_bytes for c in classes), default=1)
    buffers = max(1, len({c.array for c in classes}))
    *outer, inner = nest.names
    counts = {r.dim: r.total or NO_REUSE for r in dimensional_reuse(nest) if r.dim != inner}
    gamma = {dim: count / max(counts.values()) for dim, count in counts.items()}
    fixed = {inner: max(1, min(nest.extents[inner], inner_tile))}
    volume = footprint_bytes / unit / buffers / fixed[inner]
    powers = (prod(gamma.values()), *(0.0 for _ in outer[1:])) if outer else ()
    equation = Equation((*powers, -volume), unit)
    sizes = scaled_sizes(nest.extents, gamma, equation, fixed, whole_root=False)
    return TileSizes(
        nest.names,
        tuple(sizes[dim] for dim in nest.names),
        inner,
        (*(gamma[dim] for dim in outer), 1.0),
        equation,
        footprint_bytes,
        "Algorithm 2",
        level,
    )


def scaled_sizes(
    extents: Mapping[str, int],
    gamma: Mapping[str, float],
    equation: Equation,
    fixed: Mapping[str, int],
    *,
    whole_root: bool = True,
) -> dict[str, int]:
    """γ_d·⌊τ⌋ by dimension, at least 1 and at most the extent; the fixed sizes as they are."""
    root = equation.root
    if whole_root and root < inf:
        root = int(root)
    return {
        dim: fixed[dim] if dim in fixed else max(1, int(min(extent, gamma[dim] * root)))
        for dim, extent in extents.items()
    }


def _fitting_inner(
    nest: LoopNest,
    volumes: Volumes,
    capacity_bytes: float,
    inner: str,
    size: int,
    fixed: Mapping[str, int],
) -> int:
    """The size, halved until a tile with one iteration of the dimensions that are not fixed fits."""
    while size > 1:
        point = {dim: size if dim == inner else fixed.get(dim, 1) for dim in nest.names}
        if sum(v.evaluate(point) * group.element_bytes for group, v in volumes) <= capacity_bytes:
            break
        size //= 2
    return size


def _multiples(nest: LoopNest, tiles: TileSizes, inside: TileSizes) -> TileSizes:
    """The tiles, rounded down to multiples of those inside them; whole extents stay whole."""
    extents = nest.extents
    sizes = tuple(
        size if size == extents[dim] else max(1, size // small) * small
        for dim, size, small in zip(tiles.dims, tiles.sizes, inside.sizes, strict=True)
    )
    return replace(tiles, sizes=sizes)
