"""Compile the PolyBench kernels and a filter, check them, time them beside NumPy."""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks import decimate
from benchmarks.cases import Judge, kernel_case
from benchmarks.harness import PeerError, Timing, Worker, interleave
from benchmarks.peers.table import find_peer, polymat_peer
from benchmarks.polybench import PRODUCTS
from benchmarks.polybench.kernel import DATASETS, Kernel
from polymat.measuring.firstcompile import measure_first
from polymat.runtime.calibration import calibrated_machine

ALL_KERNELS: tuple[Kernel, ...] = (*PRODUCTS, decimate.KERNEL)
MOST_SECONDS_PER_KERNEL = 4.0
LEAST_SECONDS_PER_KERNEL = 0.3


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table."""

    kernel: Kernel
    dataset: str
    polymat: Timing
    numpy: Timing

    @property
    def speedup(self) -> float:
        """How many times faster polymat is, by the two times that the row shows."""
        return self.numpy.seconds / self.polymat.seconds

    @property
    def rate(self) -> str:
        """Operations or bytes per second, whichever limits the kernel."""
        sizes = self.kernel.sizes[self.dataset]
        count = self.kernel.flops(sizes) if self.kernel.compute_bound else self.kernel.traffic(sizes)
        unit = "GFLOP/s" if self.kernel.compute_bound else "GB/s"
        return f"{count / self.polymat.seconds / 1e9:7.1f} {unit:7}"

    def __str__(self) -> str:
        times = f"{show_seconds(self.polymat.seconds)} {self.rate} {show_seconds(self.numpy.seconds)}"
        return f"{self.kernel.name:10}{times} {self.speedup:8.2f}x"


def show_seconds(seconds: float) -> str:
    """Four digits with a unit, 12 columns wide."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:9.4g} {unit:2}"
    return f"{seconds * 1e6:9.4g} µs"


class WrongResultError(RuntimeError):
    """A result that rounding cannot explain."""


def run_one(
    workers: tuple[Worker, Worker], kernel: Kernel, dataset: str, *, deadline: float, left: int
) -> Line:
    """Compile, check and time one kernel, within its share of the time until the deadline."""
    case = kernel_case(kernel, dataset)
    judge = Judge(case)
    progress(f"{kernel.name:10} ")
    for worker in workers:
        ready = worker.prepare(case.task)
        error = judge.error(ready.result)
        if error > 1:
            name = worker.peer.name
            raise WrongResultError(
                f"{kernel.name}, {name}: the error is {error:.3g} times what rounding explains"
            )
        progress(f"{ready.note}, " if ready.note else "")
    progress("equals NumPy, ")
    share = (deadline - time.perf_counter()) / left
    seconds = min(MOST_SECONDS_PER_KERNEL, max(LEAST_SECONDS_PER_KERNEL, share))
    first, second = interleave(workers, seconds=seconds)
    progress(f"{len(first.rounds)} rounds\n")
    return Line(kernel, dataset, first, second)


def run_all(
    kernels: Sequence[Kernel], dataset: str, *, threads: int, seconds: float
) -> tuple[list[Line], int]:
    """Every kernel in turn; a failure is reported, counted, and does not stop the others."""
    deadline = time.perf_counter() + seconds
    lines: list[Line] = []
    failures = 0
    workers = start(threads)
    try:
        for position, kernel in enumerate(kernels):
            left = len(kernels) - position
            try:
                lines.append(run_one(workers, kernel, dataset, deadline=deadline, left=left))
            except (PeerError, WrongResultError) as failure:
                failures += 1
                progress(f"FAILED\n{failure}\n")
                close(workers)
                workers = start(threads)
    finally:
        close(workers)
    return lines, failures


def start(threads: int) -> tuple[Worker, Worker]:
    """The processes: polymat's, then NumPy's."""
    return Worker(polymat_peer(threads)), Worker(find_peer("NumPy", threads))


def close(workers: Sequence[Worker]) -> None:
    """End the processes."""
    for worker in workers:
        worker.close()


def progress(text: str) -> None:
    """Tell a waiting reader, without disturbing the table."""
    sys.stderr.write(text)
    sys.stderr.flush()


def show(lines: Sequence[Line], dataset: str, threads: int) -> None:
    """Print the table."""
    print(f"\n{dataset}, {threads} threads, float64; median of interleaved rounds\n")
    print(f"{'kernel':10}{'polymat':>12} {'':15} {'NumPy':>12} {'faster':>9}")
    for line in lines:
        print(line)
    if lines:
        mean = math.exp(sum(math.log(line.speedup) for line in lines) / len(lines))
        print(f"\ngeometric mean: {mean:.2f} times NumPy's speed")


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; the number of failures is the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=DATASETS, default="LARGE")
    parser.add_argument("--kernels", default="", help="names separated by commas (default: all)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=60.0, help="about how long to take in all")
    arguments = parser.parse_args(argv)
    known = {kernel.name: kernel for kernel in ALL_KERNELS}
    names = [name for name in arguments.kernels.split(",") if name] or list(known)
    unknown = [name for name in names if name not in known]
    if unknown or arguments.threads < 1:
        parser.error(
            f"no kernel {unknown[0]!r}: {', '.join(known)}" if unknown else "--threads is at least 1"
        )
    kernels = [known[name] for name in names]
    if calibrated_machine().calibration is None:
        measure_first()  # as the first compilation would, but that its time is not that of a kernel
    lines, failures = run_all(kernels, arguments.size, threads=arguments.threads, seconds=arguments.seconds)
    show(lines, arguments.size, arguments.threads)
    return failures


if __name__ == "__main__":
    sys.exit(main())
