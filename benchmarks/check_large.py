"""Verify the PolyBench kernels at LARGE and EXTRALARGE against NumPy: `python -m benchmarks.check_large`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from benchmarks.polybench import KERNELS, find_kernel
from benchmarks.polybench.kernel import DATASETS, Kernel


def check(kernel: Kernel, way: str, dataset: str) -> bool:
    """Compile for one data set, run once, compare; print one line and say whether it is right."""
    sizes = kernel.sizes[dataset]
    arrays = kernel.inputs(sizes)
    call = kernel.compile(way, estimates=sizes)
    begin = time.perf_counter()
    results = call(*kernel.poisoned(arrays).values(), **kernel.counted(sizes), **kernel.scalars)
    seconds = time.perf_counter() - begin
    error = kernel.error(results, arrays, sizes)
    right = error <= 1
    verdict = "right" if right else "WRONG"
    print(
        f"{kernel.name:14} {way:8} {dataset:10} {verdict}  {seconds:8.3f} s  error/bound {error:.3g}",
        flush=True,
    )
    return right


def main(argv: Sequence[str] | None = None) -> int:
    """Check what the command line names; the number of failures is the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=DATASETS, action="append", help="default: LARGE and EXTRALARGE")
    parser.add_argument("--kernels", default="", help="names separated by commas (default: all)")
    arguments = parser.parse_args(argv)
    kernels = [find_kernel(name) for name in arguments.kernels.split(",") if name] or KERNELS
    failures = 0
    for dataset in arguments.size or ("LARGE", "EXTRALARGE"):
        for kernel in kernels:
            failures += sum(not check(kernel, way, dataset) for way in kernel.builds)
    return failures


if __name__ == "__main__":
    sys.exit(main())
