"""Ways of computing a kernel that the harness can time against each other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks import decimate
from benchmarks.harness import Peer, Prepared
from benchmarks.polybench import KERNELS
from benchmarks.polybench.kernel import Kernel
from polymat.runtime.cache import entries

ALL_KERNELS: tuple[Kernel, ...] = (*KERNELS, decimate.KERNEL)


@dataclass(frozen=True, slots=True)
class Workload:
    """A kernel at the sizes of a data set."""

    kernel: str
    dataset: str

    def find(self) -> Kernel:
        """The kernel of that name; `KeyError` lists the names there are."""
        for kernel in ALL_KERNELS:
            if kernel.name == self.kernel:
                return kernel
        known = ", ".join(kernel.name for kernel in ALL_KERNELS)
        raise KeyError(f"no kernel {self.kernel!r}; there are {known}")


def prepare_numpy(workload: Workload) -> Prepared:
    """The NumPy or SciPy solution."""
    kernel = workload.find()
    arrays = kernel.inputs(kernel.sizes[workload.dataset])
    return Prepared(_solve(kernel.reference, arrays))


def _solve(reference: Callable[[Any], dict[str, Any]], arrays: Any) -> Callable[[], Any]:
    return lambda: tuple(reference(arrays).values())


def prepare_polymat(workload: Workload) -> Prepared:
    """The pipeline, compiled with the sizes as estimates; it allocates its results as NumPy does."""
    kernel = workload.find()
    sizes = kernel.sizes[workload.dataset]
    before = {entry.key for entry in entries()}
    begin = time.perf_counter()
    call = kernel.compile(estimates=sizes)
    seconds = time.perf_counter() - begin
    origin = "compiled" if {entry.key for entry in entries()} - before else "from the cache"
    arguments = tuple(kernel.inputs(sizes).values())
    return Prepared(partial(call, *arguments, **kernel.scalars), f"{origin} in {seconds:.2f} s")


def numpy_peer(threads: int) -> Peer:
    """NumPy and SciPy, with their BLAS on `threads` threads."""
    count = str(threads)
    return Peer(
        "NumPy",
        prepare_numpy,
        {name: count for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")},
    )


def polymat_peer(threads: int) -> Peer:
    """Polymat on `threads` threads; NumPy's own thread pool, which it does not use, stays off."""
    return Peer("polymat", prepare_polymat, {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": "1"})
