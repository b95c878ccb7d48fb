"""Nests that several tests use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from polymat.lang.affine import Affine
from polymat.machine.model import Machine
from polymat.model.footprint import bytes_touched
from polymat.model.loopnest import LoopNest, single
from polymat.model.looporder import innermost
from polymat.model.reference import Reference
from polymat.model.select import TileSizes, algorithm3

i, j, k = (Affine.name(name) for name in "ijk")

# The processor of the thesis's worked example: 32 KiB of first-level cache.
TINY = Machine("tiny", cores=4, l1_bytes=32 << 10, l2_bytes=256 << 10, l3_bytes=8 << 20)


def matmul(ni: int = 2000, nj: int = 2300, nk: int = 2600, element_bytes: int = 8) -> LoopNest:
    """C[i, j] += A[i, k] * B[k, j]."""
    references = (
        Reference("C", (i, j), element_bytes, writes=True),
        Reference("A", (i, k), element_bytes),
        Reference("B", (k, j), element_bytes),
    )
    return single({"i": ni, "j": nj, "k": nk}, references, sequential=("k",), flops=2)


def fir(samples: int = 4096, taps: int = 64) -> LoopNest:
    """ybs[i] += yds[M + i - j] * window[j]."""
    references = (
        Reference("ybs", (i,), writes=True),
        Reference("yds", (i - j + 64,)),
        Reference("window", (j,)),
    )
    return single({"i": samples, "j": taps}, references, sequential=("j",), flops=2)


def is_parallel(nest: LoopNest, dim: str) -> bool:
    """Whether no statement has a dependence along the dimension."""
    return not any(dim in statement.sequential for statement in nest.statements)


def loop_order(nest: LoopNest) -> tuple[str, ...]:
    """The nest's order with the dimension of Algorithm 5 moved innermost."""
    inner = innermost(nest).choice
    return (*(dim for dim in nest.names if dim != inner), *([inner] if inner is not None else []))


def tile_bytes(nest: LoopNest, sizes: Mapping[str, float]) -> float:
    """Bytes that a tile accesses."""
    return sum(bytes_touched(group, sizes) for group in nest.classes)


def counted(references: Sequence[Reference], sizes: Mapping[str, int]) -> int:
    """Distinct elements in a tile at the origin, by visiting every point."""
    points = [
        dict(zip(sizes, point, strict=True)) for point in product(*(range(size) for size in sizes.values()))
    ]
    return len(
        {
            (reference.array, *(form.evaluate(point) for form in reference.indices))
            for reference in references
            for point in points
        }
    )


def choose_tiles_paper(nest: LoopNest, machine: Machine) -> TileSizes:
    """Algorithm 3 for the first-level cache, with Algorithm 5's innermost dimension."""
    return algorithm3(nest, machine.l1_bytes, inner=innermost(nest).choice, level="L1")
