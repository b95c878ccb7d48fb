"""The thirty problems of PolyBench/C 4.2.1."""

from __future__ import annotations

from benchmarks.polybench import (
    adi,
    atax,
    bicg,
    cholesky,
    correlation,
    covariance,
    deriche,
    doitgen,
    durbin,
    fdtd_2d,
    floyd_warshall,
    gemm,
    gemver,
    gesummv,
    gramschmidt,
    heat_3d,
    jacobi_1d,
    jacobi_2d,
    k2mm,
    k3mm,
    lu,
    ludcmp,
    mvt,
    nussinov,
    seidel_2d,
    symm,
    syr2k,
    syrk,
    trisolv,
    trmm,
)
from benchmarks.polybench.kernel import Kernel

PRODUCTS: tuple[Kernel, ...] = (
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
"""Products of matrices, and of a matrix and vectors."""

RECURRENCES: tuple[Kernel, ...] = (
    correlation.KERNEL,
    covariance.KERNEL,
    cholesky.KERNEL,
    durbin.KERNEL,
    gramschmidt.KERNEL,
    lu.KERNEL,
    ludcmp.KERNEL,
    trisolv.KERNEL,
    deriche.KERNEL,
    floyd_warshall.KERNEL,
    nussinov.KERNEL,
    adi.KERNEL,
    fdtd_2d.KERNEL,
    heat_3d.KERNEL,
    jacobi_1d.KERNEL,
    jacobi_2d.KERNEL,
    seidel_2d.KERNEL,
)
"""Statistics, solvers, dynamic programming and stencils: what reads what it has made, or several times."""

KERNELS = (*PRODUCTS, *RECURRENCES)


def find_kernel(name: str) -> Kernel:
    """The kernel of that name; `KeyError` lists the names there are."""
    for kernel in KERNELS:
        if kernel.name == name:
            return kernel
    raise KeyError(f"no kernel {name!r}; there are {', '.join(kernel.name for kernel in KERNELS)}")
