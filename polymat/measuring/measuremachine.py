"""Measuring this machine: bandwidth of every level, peak arithmetic, cost of a parallel region."""

from __future__ import annotations

import ctypes
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext

from polymat.codegen.products.blockshape import Shape
from polymat.errors import ToolchainError
from polymat.machine.calibrate import BlockRate, Calibration, Rate, Stream
from polymat.machine.cpus import usable_cpus
from polymat.machine.model import MEMORY, Machine
from polymat.machine.probe import probe
from polymat.machine.twice import better_of
from polymat.measuring.blockbench import name_of
from polymat.measuring.effort import LONG, Effort, Progress, measure_rounds, measure_until_agreed
from polymat.measuring.loopsamples import declare_loops, loop_figures, loop_samples, pair_figure
from polymat.measuring.microbenchmarks import block_shapes, source
from polymat.measuring.sample import RefusedError, Sample
from polymat.measuring.samples import (
    memory_for_sweeps,
    pieces_sample,
    reach_samples,
    reached,
    rolling_samples,
    rows_sample,
    samples_of,
)
from polymat.measuring.timing import date_text
from polymat.runtime.calibration import fingerprint, store_calibration, stored_calibration
from polymat.runtime.compilerprocess import limited
from polymat.runtime.libraryfile import build
from polymat.runtime.openmp import idle_threads_sleep, quiet_openmp
from polymat.runtime.threads import get_num_threads
from polymat.runtime.toolchain import compiler_version, find_compiler

_log = logging.getLogger("polymat.calibrate")


def calibrate(*, force: bool = False, progress: Progress | None = None) -> Calibration:
    """The stored calibration of this machine, or a new one, which is then stored.

    A stored one that was measured with fewer threads than calls use now, or without register blocks or all
    that loops and tiles do beside multiply-adds, is replaced; force: any is.
    """
    threads, stored = measured_threads(), stored_calibration()
    is_whole = stored is not None and stored.blocks and stored.vectors and stored.pair_seconds
    if stored is not None and is_whole and stored.threads >= threads and not force:
        return stored
    measured = measure(probe(), threads, progress=progress)
    store_calibration(measured)
    return measured


def calibrate_again(first: Calibration, *, progress: Progress | None = None) -> Calibration:
    """A machine that was measured once, measured once more, with the better of its figures kept.

    What else is measured lies between the two, so that who used the processor in one is gone in the other.
    """
    known = stored_calibration() or first
    if known.passes > 1:
        return known
    found = better_of(known, measure(probe(), known.threads, progress=progress))
    store_calibration(found)
    return found


def measured_threads() -> int:
    """How many threads are measured together: those of a call, if there are processors for them."""
    return max(1, min(get_num_threads(), usable_cpus()))


def measure(
    machine: Machine, threads: int, *, effort: Effort = LONG, progress: Progress | None = None
) -> Calibration:
    """Measure with one and with `threads` threads, in rounds of all samples."""
    deadline = time.perf_counter() + effort.most_seconds
    shapes = () if effort.short else block_shapes(machine)
    with limited(effort.most_seconds - effort.seconds) if effort.short else nullcontext():
        library = _library(machine, shapes)

    def measured(team: int) -> Calibration:
        with memory_for_sweeps(library, team, effort.memory) as block:
            samples = dict(samples_of(library, machine, block, team, shapes))
            loops = dict(loop_samples(library, machine, block.address))
            loops |= dict(reach_samples(library, machine, block))
            loops["several rows"] = rows_sample(library, machine, block)
            loops["pieces"] = pieces_sample(library, machine, block)
            loops |= dict(rolling_samples(library, machine, block))
            if effort.short:
                measure_until_agreed(samples, effort.seconds, deadline)
                loops = _agreed(loops, deadline)
            else:
                measure_rounds((*samples.values(), *loops.values()), effort, progress)
        if progress is not None:
            progress(1.0)
        return _calibration(samples, loops, machine, team, shapes)

    try:
        return measured(threads)
    except RefusedError:
        return measured(1)


def _agreed(loops: Mapping[str, Sample], deadline: float) -> dict[str, Sample]:
    """What loops do beside multiply-adds, in what time is left; nothing where that was too little."""
    try:
        measure_until_agreed(loops, 0.0, deadline)
    except ToolchainError as error:
        _log.debug("loops were not measured: %s", error.message)
        return {}
    return dict(loops)


def _calibration(
    samples: Mapping[str, Sample],
    loops: Mapping[str, Sample],
    machine: Machine,
    threads: int,
    shapes: Sequence[Shape],
) -> Calibration:
    def rate(name: str) -> Rate:
        return Rate(samples[f"{name} 1"].rate, samples[f"{name} {threads}"].rate)

    many, read = threads > 1, _levels(rate, "read")
    vectors, crossings, row = loop_figures(loops, machine)
    return Calibration(
        fingerprint=fingerprint(),
        compiler=compiler_version(find_compiler()),
        date=date_text(),
        threads=threads,
        read=read,
        copy=_levels(rate, "copy"),
        flops32=rate("flops32"),
        flops64=rate("flops64"),
        hertz=samples["clock"].rate,
        fma_seconds=samples["chain"].seconds,
        region_seconds=samples["region"].seconds if many else machine.region_seconds,
        # Threads that never slept were not woken.
        wake_seconds=samples["wake"].seconds if many and idle_threads_sleep() else machine.wake_seconds,
        blocks=tuple(
            BlockRate(each.element_bytes, each.rows, each.vectors, samples[f"block {name_of(each)}"].rate)
            for each in shapes
        ),
        share_seconds=_sharing(samples, threads) if many else 0.0,
        vectors=vectors,
        crossings=crossings,
        row_seconds=row,
        reach_bytes=reached(loops, read[2].one, read[3].one),
        rows_rate=loops["several rows"].rate if loops else 0.0,
        pieces_rate=loops["pieces"].rate if loops else 0.0,
        requests_gain=loops["unasked"].seconds / loops["asked"].seconds if loops else 0.0,
        pair_seconds=pair_figure(loops, machine) if loops else 0.0,
    )


def _sharing(samples: Mapping[str, Sample], threads: int) -> float:
    """What a region costs whose data changes cores: what it takes longer than one thread alone does."""
    longer = samples[f"share {threads}"].seconds - samples["share 1"].seconds
    return max(samples["region"].seconds, longer)


def _levels(rate: Callable[[str], Rate], stream: Stream) -> tuple[Rate, Rate, Rate, Rate]:
    """Rates of all levels; no level is slower than a farther one, which noise alone could make it seem."""
    memory = rate(f"{stream} {MEMORY}")
    l3 = _at_least(rate(f"{stream} 3"), memory)
    l2 = _at_least(rate(f"{stream} 2"), l3)
    return _at_least(rate(f"{stream} 1"), l2), l2, l3, memory


def _at_least(rate: Rate, least: Rate) -> Rate:
    return Rate(max(rate.one, least.one), max(rate.all, least.all))


def _library(machine: Machine, shapes: Sequence[Shape]) -> ctypes.CDLL:
    # The sweeps are unrolled as they should be: with 64 loads a turn, reading the second level took twice as
    # long on a Zen 5, whose prefetcher goes by the addresses of the instructions.
    built = build(source(machine, shapes), program_flags=("-fno-unroll-loops",))
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
        ("pm_read_rows", (pointer, size, size)),
        ("pm_read_pieces", (pointer, size, size, size)),
        ("pm_roll", (pointer, size, size, size, count, real)),
        ("pm_copy", (pointer, size, size, size, size, size, real, count)),
        ("pm_flops32", (size, real, count)),
        ("pm_flops64", (size, real, count)),
        ("pm_chain", (size, real)),
        ("pm_clock", (size,)),
        ("pm_regions", (count, count, count)),
        ("pm_shares", (pointer, size, count, count)),
        *([("pm_block", (count, pointer, size))] if shapes else []),
    ):
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, real
    declare_loops(library)
    library.pm_allocate.argtypes, library.pm_allocate.restype = (size, count), pointer
    library.pm_free.argtypes, library.pm_free.restype = (pointer,), None
    return library
