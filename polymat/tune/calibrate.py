"""Measuring this machine: bandwidth of every level, peak arithmetic, cost of a parallel region."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from polymat.codegen.products.blockshape import Shape
from polymat.errors import ToolchainError
from polymat.machine.calibrate import BlockRate, Calibration, Rate, Stream
from polymat.machine.cpus import usable_cpus
from polymat.machine.memory import available_memory
from polymat.machine.model import MEMORY, Machine
from polymat.machine.probe import probe
from polymat.runtime.build import build
from polymat.runtime.calibration import fingerprint, store_calibration, stored_calibration
from polymat.runtime.openmp import quiet_openmp
from polymat.runtime.threads import get_num_threads
from polymat.runtime.toolchain import compiler_version, find_compiler
from polymat.tune.blockbench import name_of, operations
from polymat.tune.microbenchmarks import accumulators, block_shapes, source
from polymat.tune.timing import date_text

Progress = Callable[[float], None]
"""Told the part of the work that is done, from 0.0 to 1.0."""

_SECONDS = 2.0  # for all rounds together, or up to twice as long where others use the machine
_PATIENCE = 2.0
_LEAST_ROUNDS = 5
_IMPROVEMENT = 0.97
_SAMPLE_SECONDS = 1e-3
_REGIONS, _SLEEPY_REGIONS, _SLEEP_MICROSECONDS = 100, 4, 300
_PAGE = 4096
_STEP = 1 << 11  # a multiple of one step of a sweep, for vectors of up to 2048 bits
# Of memory so much at a time that what a cache still holds of it, unwritten above all, does not count.
_WINDOW, _LEAST_WINDOW = 64 << 20, 8 << 20
_WANTED_MEMORY, _WANTED_SLICE = 512 << 20, 64 << 20
_LEAST_SLICE = 8 << 20


class _RefusedError(Exception):
    """The system does not give the threads that were asked for."""


@dataclass(slots=True)
class _Sample:
    """Something measured again and again: its best time counts, because disturbance only adds to it.

    run: does `amount` of it, in bytes, operations or times, and returns the seconds that it took.
    """

    amount: float
    run: Callable[[], float]
    best: float = field(default=float("inf"))

    def measure(self) -> bool:
        """Measure once more; tell whether that was better by more than a little."""
        seconds = self.run()
        if seconds < 0.0:
            raise _RefusedError
        before = self.best
        # The clock of some virtual machines stands still for short whiles.
        if seconds > 0.0:
            self.best = min(before, seconds)
        return self.best < _IMPROVEMENT * before

    @property
    def rate(self) -> float:
        return self.amount / self.best

    @property
    def seconds(self) -> float:
        return self.best / self.amount


def calibrate(
    *, force: bool = False, seconds: float = _SECONDS, progress: Progress | None = None
) -> Calibration:
    """The stored calibration of this machine, or a new one, which is then stored.

    A stored one that was measured with fewer threads than calls use now, or without register blocks, is
    replaced; force: any is.
    """
    threads = max(1, min(get_num_threads(), usable_cpus()))
    stored = stored_calibration()
    if stored is not None and stored.threads >= threads and stored.blocks and not force:
        return stored
    measured = measure(probe(), threads, seconds=seconds, progress=progress)
    store_calibration(measured)
    return measured


def measure(
    machine: Machine, threads: int, *, seconds: float = _SECONDS, progress: Progress | None = None
) -> Calibration:
    """Measure with one and with `threads` threads, in rounds of all samples for about `seconds`."""
    library = _library(machine)
    try:
        samples = _measured(library, machine, threads, seconds, progress)
    except _RefusedError:
        threads = 1
        samples = _measured(library, machine, threads, seconds, progress)
    return _calibration(samples, machine, threads)


def _measured(
    library: ctypes.CDLL, machine: Machine, threads: int, seconds: float, progress: Progress | None
) -> Mapping[str, _Sample]:
    with _block(library, threads) as block:
        samples = dict(_samples(library, machine, block, threads))
        _rounds(tuple(samples.values()), seconds, progress)
    if progress is not None:
        progress(1.0)
    return samples


def _rounds(samples: tuple[_Sample, ...], seconds: float, progress: Progress | None) -> None:
    """Measure all in turn until none has become better during the second half of the time."""
    begin = time.perf_counter()
    done = improved = 0
    while True:
        if any([sample.measure() for sample in samples]):  # a list: every one is measured
            improved = done
        done += 1
        spent = time.perf_counter() - begin
        settled = spent >= seconds and done >= max(_LEAST_ROUNDS, 2 * improved)
        if settled or (spent >= _PATIENCE * seconds and done >= _LEAST_ROUNDS):
            return
        if progress is not None:
            progress(min(0.99, spent / max(seconds, spent)))


@dataclass(frozen=True, slots=True)
class _Block:
    """Memory in which thread t uses `slice` bytes from address + t * slice."""

    address: int
    slice: int
    threads: int

    def span(self, threads: int, machine: Machine) -> int:
        """Bytes one thread may roam: all of them for a thread alone whose slice would fit a cache."""
        alone = threads == 1 and self.slice < 8 * machine.l3_bytes
        return self.slice * self.threads if alone else self.slice


def _samples(
    library: ctypes.CDLL, machine: Machine, block: _Block, threads: int
) -> Iterator[tuple[str, _Sample]]:
    for team in dict.fromkeys((1, threads)):
        for level in range(1, MEMORY + 1):
            yield f"read {level} {team}", _bandwidth(library, machine, block, level, "read", team)
            yield f"copy {level} {team}", _bandwidth(library, machine, block, level, "copy", team)
        for bits, function in ((32, library.pm_flops32), (64, library.pm_flops64)):
            yield f"flops{bits} {team}", _flops(function, machine, bits // 8, team)
    steps = int(_SAMPLE_SECONDS * machine.hertz / 8)
    yield "clock", _Sample(8.0 * steps, lambda: library.pm_clock(steps))
    links = int(_SAMPLE_SECONDS * machine.hertz / machine.fma_latency)
    yield "chain", _Sample(float(links), lambda: library.pm_chain(links, 0.999))
    for number, shape in enumerate(block_shapes(machine)):
        yield f"block {name_of(shape)}", _products(library.pm_block, number, shape, machine, block)
    if threads > 1:
        yield "region", _Sample(_REGIONS, lambda: library.pm_regions(_REGIONS, 0, threads))
        yield (
            "wake",
            _Sample(
                _SLEEPY_REGIONS, lambda: library.pm_regions(_SLEEPY_REGIONS, _SLEEP_MICROSECONDS, threads)
            ),
        )


def _bandwidth(
    library: ctypes.CDLL, machine: Machine, block: _Block, level: int, stream: Stream, threads: int
) -> _Sample:
    """Sweeps over a working set that fits the level and no nearer one, or over memory not seen for long."""
    span = block.span(threads, machine)
    size = min(_working_set(machine, level, threads), span // 4)
    share = _round(size if stream == "read" else size // 2, _STEP)
    estimate = machine.bandwidth(level, threads, stream) / threads
    repeats = 1 if level == MEMORY else max(1, round(_SAMPLE_SECONDS * estimate / size))
    windows = _windows(span if stream == "read" else span // 2, share) if level == MEMORY else 1
    # Data at a distance of whole pages disturbs the forwarding of stores to loads on some processors.
    apart = (_round(span // 2, _PAGE) if level == MEMORY else _round(size, _PAGE)) + _PAGE // 2
    turn = 0

    def run() -> float:
        nonlocal turn
        address = block.address + turn % windows * share
        turn += 1
        warm = 0 if level == MEMORY else 1
        if stream == "read":
            return float(library.pm_read(address, block.slice, share, repeats, warm, threads))
        return float(library.pm_copy(address, block.slice, share, apart, repeats, warm, 1.0, threads))

    sides = 1 if stream == "read" else 2
    return _Sample(float(share) * sides * repeats * threads, run)


def _working_set(machine: Machine, level: int, threads: int) -> int:
    """Bytes a thread sweeps over."""
    if level == 1:
        return machine.l1_bytes // 2
    if level == 2:
        return (machine.l1_bytes + machine.l2_bytes) // 2
    if level == 3:
        # So much more than the second level that nothing stays in it from one sweep to the next.
        return machine.l2_bytes + min(machine.capacity(3, threads) // 2, 3 * machine.l2_bytes)
    return max(_WINDOW // threads, _LEAST_WINDOW)


def _windows(span: int, window: int) -> int:
    """How many windows lie side by side in the span, a page left over."""
    return max(1, (span - _PAGE) // window)


def _flops(function: Callable[..., float], machine: Machine, element_bytes: int, threads: int) -> _Sample:
    per_step = 2 * accumulators(machine) * machine.lanes(element_bytes)
    steps = max(1, round(_SAMPLE_SECONDS * machine.peak_flops(element_bytes) / per_step))
    return _Sample(float(per_step) * steps * threads, lambda: function(steps, 0.999, threads))


def _products(
    function: Callable[..., float], number: int, shape: Shape, machine: Machine, block: _Block
) -> _Sample:
    """Small products by one register block."""
    each = operations(shape)
    repeats = max(1, round(_SAMPLE_SECONDS * machine.peak_flops(shape.element_bytes) / each))
    return _Sample(each * repeats, lambda: function(number, block.address, repeats))


def _calibration(samples: Mapping[str, _Sample], machine: Machine, threads: int) -> Calibration:
    def rate(name: str) -> Rate:
        return Rate(samples[f"{name} 1"].rate, samples[f"{name} {threads}"].rate)

    many = threads > 1
    return Calibration(
        fingerprint=fingerprint(),
        compiler=compiler_version(find_compiler()),
        date=date_text(),
        threads=threads,
        read=_levels(rate, "read"),
        copy=_levels(rate, "copy"),
        flops32=rate("flops32"),
        flops64=rate("flops64"),
        hertz=samples["clock"].rate,
        fma_seconds=samples["chain"].seconds,
        region_seconds=samples["region"].seconds if many else machine.region_seconds,
        wake_seconds=samples["wake"].seconds if many else machine.wake_seconds,
        blocks=tuple(
            BlockRate(each.element_bytes, each.rows, each.vectors, samples[f"block {name_of(each)}"].rate)
            for each in block_shapes(machine)
        ),
    )


def _levels(rate: Callable[[str], Rate], stream: Stream) -> tuple[Rate, Rate, Rate, Rate]:
    """Rates of all levels; no level is slower than a farther one, which noise alone could make it seem."""
    memory = rate(f"{stream} {MEMORY}")
    l3 = _at_least(rate(f"{stream} 3"), memory)
    l2 = _at_least(rate(f"{stream} 2"), l3)
    return _at_least(rate(f"{stream} 1"), l2), l2, l3, memory


def _at_least(rate: Rate, least: Rate) -> Rate:
    return Rate(max(rate.one, least.one), max(rate.all, least.all))


@contextmanager
def _block(library: ctypes.CDLL, threads: int) -> Iterator[_Block]:
    """Memory for the sweeps: as much as is wanted, but an eighth of what is available at most."""
    most = available_memory() // 8 // threads
    wanted = max(_WANTED_MEMORY // threads, _WANTED_SLICE)
    size = _round(max(min(wanted, most), _LEAST_SLICE), _PAGE)
    address = library.pm_allocate(size, threads)
    if not address:
        raise ToolchainError(f"there is no memory for a calibration ({size * threads >> 20} MiB)")
    try:
        yield _Block(address, size, threads)
    finally:
        library.pm_free(address)


def _round(size: int, multiple: int) -> int:
    """The size rounded down, but not to nothing."""
    return max(multiple, size - size % multiple)


def _library(machine: Machine) -> ctypes.CDLL:
    # The sweeps are unrolled as they should be: with 64 loads a turn, reading the second level took twice as
    # long on a Zen 5, whose prefetcher goes by the addresses of the instructions.
    built = build(source(machine), program_flags=("-fno-unroll-loops",))
    try:
        quiet_openmp(built.image)
        library = ctypes.CDLL(str(built.path))
    except OSError as error:
        raise ToolchainError(f"cannot load the measuring program: {error}") from error
    finally:
        built.release()
    size, count, pointer, real = ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_double
    for name, arguments in (
        ("pm_read", (pointer, size, size, size, size, count)),
        ("pm_copy", (pointer, size, size, size, size, size, real, count)),
        ("pm_flops32", (size, real, count)),
        ("pm_flops64", (size, real, count)),
        ("pm_chain", (size, real)),
        ("pm_clock", (size,)),
        ("pm_regions", (count, count, count)),
        ("pm_block", (count, pointer, size)),
    ):
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, real
    library.pm_allocate.argtypes, library.pm_allocate.restype = (size, count), pointer
    library.pm_free.argtypes, library.pm_free.restype = (pointer,), None
    return library
