"""What is measured of a machine, and how much of it at a time."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import log1p

from polymat.codegen.products.blockshape import Shape
from polymat.dataclass import dataclass
from polymat.errors import ToolchainError
from polymat.machine.calibrate import PIECE_BYTES, Stream
from polymat.machine.memory import available_memory
from polymat.machine.model import MEMORY, Machine
from polymat.measuring.blockbench import name_of, operations
from polymat.measuring.microbenchmarks import accumulators
from polymat.measuring.sample import Sample

_SAMPLE_SECONDS = 1e-3
_REGIONS, _SLEEPY_REGIONS, _SLEEP_MICROSECONDS = 100, 4, 300
_SHARED = 512  # numbers that each thread computes in a region that is timed with its data: a page
_REGION_PATIENCE = 3.0  # how deep threads sleep differs
_PAGE = 4096
_STEP = 1 << 11  # a multiple of one step of a sweep, for vectors of up to 2048 bits
# Of memory so much at a time that what a cache still holds of it, unwritten above all, does not count.
_WINDOW, _LEAST_WINDOW = 64 << 20, 8 << 20
WANTED_MEMORY = 512 << 20
_LEAST_SLICE = 8 << 20
REACHES = (1.5, 2, 3, 4)  # times the part of the last level that plans count on
ROWS, ROW_BYTES = 8, (1 << 13) + (1 << 7)  # that are read together, and of each: no multiple of a page
CUT_ROWS = 32  # of a tile that cuts such rows
FAR_SHARE = 0.25  # of the bytes, at most, where others have taken lines


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


def samples_of(
    library: ctypes.CDLL, machine: Machine, block: _Block, threads: int, shapes: Sequence[Shape]
) -> Iterator[tuple[str, Sample]]:
    """Bandwidths, arithmetic, these register blocks and parallel regions, by name."""
    for team in dict.fromkeys((1, threads)):
        for level in range(1, MEMORY + 1):
            yield f"read {level} {team}", _bandwidth(library, machine, block, level, "read", team)
            yield f"copy {level} {team}", _bandwidth(library, machine, block, level, "copy", team)
        for bits, function in ((32, library.pm_flops32), (64, library.pm_flops64)):
            yield f"flops{bits} {team}", _flops(function, machine, bits // 8, team)
    steps = int(_SAMPLE_SECONDS * machine.hertz / 8)
    yield "clock", Sample(8.0 * steps, lambda: library.pm_clock(steps))
    links = int(_SAMPLE_SECONDS * machine.hertz / machine.fma_latency)
    yield "chain", Sample(float(links), lambda: library.pm_chain(links, 0.999))
    for number, shape in enumerate(shapes):
        yield f"block {name_of(shape)}", _products(library.pm_block, number, shape, machine, block)
    if threads > 1:
        for team in (1, threads):
            alike = partial(library.pm_shares, block.address, _SHARED * threads, _REGIONS, team)
            yield f"share {team}", Sample(_REGIONS, alike, patience=_REGION_PATIENCE)
        for name, count, pause in (("region", _REGIONS, 0), ("wake", _SLEEPY_REGIONS, _SLEEP_MICROSECONDS)):
            run = partial(library.pm_regions, count, pause, threads)
            yield name, Sample(count, run, patience=_REGION_PATIENCE)


def _bandwidth(
    library: ctypes.CDLL, machine: Machine, block: _Block, level: int, stream: Stream, threads: int
) -> Sample:
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
    return Sample(float(share) * sides * repeats * threads, run)


def reach_samples(library: ctypes.CDLL, machine: Machine, block: _Block) -> Iterator[tuple[str, Sample]]:
    """Reading multiples of the part of the last level that plans count on, by the number of bytes."""
    span = block.span(1, machine)
    for size in (_round(int(times * machine.l3_bytes), _STEP) for times in REACHES):
        if size <= span:
            read = partial(library.pm_read, block.address, block.slice, size, 1, 1, 1)
            yield f"reach {size}", Sample(float(size), read, patience=_REGION_PATIENCE)


def rows_sample(library: ctypes.CDLL, machine: Machine, block: _Block) -> Sample:
    """Reading several rows at a time."""
    span = block.span(1, machine)
    return _far_sample(
        machine, block, span, ROWS * ROW_BYTES, lambda *sweep: library.pm_read_rows(*sweep, ROW_BYTES)
    )


def pieces_sample(library: ctypes.CDLL, machine: Machine, block: _Block) -> Sample:
    """Reading rows in pieces, as tiles do that cut them."""
    return _far_sample(
        machine,
        block,
        block.span(1, machine),
        CUT_ROWS * ROW_BYTES,
        lambda *sweep: library.pm_read_pieces(*sweep, ROW_BYTES, PIECE_BYTES),
    )


def rolling_samples(library: ctypes.CDLL, machine: Machine, block: _Block) -> Iterator[tuple[str, Sample]]:
    """Tiles that roll over rows, with requests for those of the next tile and without."""
    half = block.span(1, machine) // 2
    apart = _round(half, _PAGE) + _PAGE // 2

    def roll(asks: int, address: int, size: int) -> float:
        return float(library.pm_roll(address, size, apart, ROW_BYTES, asks, 0.5))

    for name, asks in (("asked", 1), ("unasked", 0)):
        yield name, _far_sample(machine, block, half, 2 * ROW_BYTES, partial(roll, asks))


def _far_sample(
    machine: Machine, block: _Block, span: int, unit: int, read: Callable[[int, int], float]
) -> Sample:
    """What reads memory not seen for long: read(address, bytes), whole units, within so many bytes."""
    share = _round(min(_working_set(machine, MEMORY, 1), span // 4), unit)
    turn, windows = 0, _windows(span, share)

    def run() -> float:
        nonlocal turn
        address = block.address + turn % windows * share
        turn += 1
        return float(read(address, share))

    return Sample(float(share), run, patience=_REGION_PATIENCE)


def reached(samples: Mapping[str, Sample], near: float, far: float) -> float:
    """The most bytes that the last level seems to hold, by what comes as slowly as memory; 0.0: unknown.

    before:  of 16 MiB a fifth is missed
    after:   14.3 MiB, of which that is the share where each line takes the place of any other

    near, far: bytes a second from the last level and from memory.
    """
    most = 0.0
    for sample in (sample for name, sample in samples.items() if name.startswith("reach ")):
        slower = (sample.seconds - 1.0 / near) / max(1.0 / far - 1.0 / near, 1e-15)
        if slower <= FAR_SHARE:
            most = max(most, sample.amount * _held_share(max(slower, 0.0)))
    return most


def _held_share(missed: float) -> float:
    """The room that lines have, as a share of their bytes, where such a share of them is missed each time.

    A line stays with a probability of exp(-m), m being what is fetched over the room.
    """
    return missed / -log1p(-missed) if missed > 0.0 else 1.0


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


def _flops(function: Callable[..., float], machine: Machine, element_bytes: int, threads: int) -> Sample:
    per_step = 2 * accumulators(machine) * machine.lanes(element_bytes)
    steps = max(1, round(_SAMPLE_SECONDS * machine.peak_flops(element_bytes) / per_step))
    return Sample(float(per_step) * steps * threads, lambda: function(steps, 0.999, threads))


def _products(
    function: Callable[..., float], number: int, shape: Shape, machine: Machine, block: _Block
) -> Sample:
    """Small products by one register block."""
    each = operations(shape)
    repeats = max(1, round(_SAMPLE_SECONDS * machine.peak_flops(shape.element_bytes) / each))
    return Sample(each * repeats, lambda: function(number, block.address, repeats))


@contextmanager
def memory_for_sweeps(library: ctypes.CDLL, threads: int, total: int = WANTED_MEMORY) -> Iterator[_Block]:
    """Memory for the sweeps: `total` and at least an eighth of that for each thread, if there is plenty.

    An eighth of what is available at most.
    """
    most = available_memory() // 8 // threads
    wanted = max(total // threads, total // 8)
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
