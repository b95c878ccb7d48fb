"""Nests that several tests use."""

from __future__ import annotations

from polymat.lang.affine import Affine
from polymat.machine.model import Machine
from polymat.tilesize.model import Nest, single
from polymat.tilesize.reference import Reference

i, j, k = (Affine.name(name) for name in "ijk")

# The processor of the thesis's worked example: 32 KiB of first-level cache.
TINY = Machine("tiny", cores=4, l1_bytes=32 << 10, l2_bytes=256 << 10, l3_bytes=8 << 20)


def matmul(ni: int = 2000, nj: int = 2300, nk: int = 2600, element_bytes: int = 8) -> Nest:
    """C[i, j] += A[i, k] * B[k, j]."""
    references = (
        Reference("C", (i, j), element_bytes, writes=True),
        Reference("A", (i, k), element_bytes),
        Reference("B", (k, j), element_bytes),
    )
    return single({"i": ni, "j": nj, "k": nk}, references, sequential=("k",), flops=2)


def fir(samples: int = 4096, taps: int = 64) -> Nest:
    """ybs[i] += yds[M + i - j] * window[j]."""
    references = (
        Reference("ybs", (i,), writes=True),
        Reference("yds", (i - j + 64,)),
        Reference("window", (j,)),
    )
    return single({"i": samples, "j": taps}, references, sequential=("j",), flops=2)
