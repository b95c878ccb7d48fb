"""Blocks of a matrix product chosen by the working sets of their loops, as PolyDL ranks variants.

PolyDL, section 4: of several variants of a loop nest that is tiled around a microkernel, the one whose reuses
are served by the nearest caches comes first; none of them is run.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from polymat.lang.affine import Affine
from polymat.machine.model import Machine
from polymat.model.loopnest import LoopNest, single
from polymat.model.reference import Reference
from polymat.model.workingset import rank, tile_nest, variant_cost
from polymat.product.blocks import Blocks, whole_units
from polymat.product.cutting import cut_of

DEPTHS = (1, 2, 4, 8)  # parts of the deepest panel that are tried
SHARES = (1, 4)  # parts of the second level, for the left operand, and of the last, for the right one
LEAST_DEPTH = 32
_LOOPS = ("n.tile.tile", "k.tile", "m.tile.tile", "n.tile", "m.tile", "k", "m", "n")  # of the code


def variants(blocks: Blocks) -> tuple[Blocks, ...]:
    """Blocks for the caches that are tried: those given, shallower ones, and smaller ones the other way.

    What a shallower block leaves of a cache, it fills with more rows or columns.
    """
    found = {}
    for part in DEPTHS:
        kc = min(blocks.kc, max(LEAST_DEPTH, blocks.kc // part))
        for left in SHARES:
            for right in SHARES:
                mc = whole_units(blocks.mc * blocks.kc / kc / left, blocks.rows)
                nc = whole_units(blocks.nc * blocks.kc / kc / right, blocks.columns)
                found[kc, mc, nc] = replace(blocks, kc=kc, mc=mc, nc=nc)
    return tuple(found.values())


# Many variants are priced, by numbers alone: one answer serves all products of the same extents.
# Of numbers and a machine alone, of any pipeline.
@lru_cache(maxsize=256)
def ranked(
    blocks: Blocks, m: int, n: int, k: int, element_bytes: int, machine: Machine, threads: int = 1
) -> tuple[tuple[Blocks, float], ...]:
    """Blocks for a product of m x k by k x n elements with what their working sets cost, cheapest first.

    m, n: of one thread's part; threads: that share the last level.  Blocks that the extents leave no
    different are one variant, the first of them.
    """
    nest = _product(max(1, m), max(1, n), max(1, k), element_bytes)
    costs: dict[tuple[int, int, int], tuple[Blocks, float]] = {}
    for each in variants(blocks):
        sizes = cut_of(each, *nest.extents.values())
        if sizes not in costs:
            tiled = _tiled(nest, each, sizes)
            order = [loop for loop in _LOOPS if loop in tiled.names]
            costs[sizes] = each, variant_cost(tiled, machine, order, threads=threads)
    return rank(tuple(costs.values()), lambda variant: variant[1])


def _product(m: int, n: int, k: int, element_bytes: int) -> LoopNest:
    """The nest of C[m, n] += A[m, k] * B[k, n]; packing leaves any contraction like that."""
    i, j, p = (Affine.name(name) for name in "mnk")
    references = (
        Reference("C", (i, j), element_bytes, writes=True),
        Reference("A", (i, p), element_bytes),
        Reference("B", (p, j), element_bytes),
    )
    return single({"m": m, "n": n, "k": k}, references, sequential=("k",), flops=2)


def _tiled(nest: LoopNest, blocks: Blocks, sizes: tuple[int, int, int]) -> LoopNest:
    """The nest with tiles for the registers, and tiles of these for the caches."""
    rows, columns, depth = sizes
    tiled = tile_nest(nest, {"m": blocks.rows, "n": blocks.columns})
    outer = {"m.tile": -(-rows // blocks.rows), "n.tile": -(-columns // blocks.columns), "k": depth}
    return tile_nest(tiled, outer)
