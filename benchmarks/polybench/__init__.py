"""The thirteen PolyBench/C 4.2.1 problems that are matrix products and matrix-vector products."""

from __future__ import annotations

from benchmarks.polybench import (
    atax,
    bicg,
    doitgen,
    gemm,
    gemver,
    gesummv,
    k2mm,
    k3mm,
    mvt,
    symm,
    syr2k,
    syrk,
    trmm,
)
from benchmarks.polybench.kernel import Kernel

KERNELS: tuple[Kernel, ...] = (
    gemm.KERNEL,
    k2mm.KERNEL,
    k3mm.KERNEL,
    symm.KERNEL,
    syrk.KERNEL,
    syr2k.KERNEL,
    trmm.KERNEL,
    doitgen.KERNEL,
    gemver.KERNEL,
    gesummv.KERNEL,
    atax.KERNEL,
    bicg.KERNEL,
    mvt.KERNEL,
)


def find_kernel(name: str) -> Kernel:
    """The kernel of that name; `KeyError` lists the names there are."""
    for kernel in KERNELS:
        if kernel.name == name:
            return kernel
    raise KeyError(f"no kernel {name!r}; there are {', '.join(kernel.name for kernel in KERNELS)}")
