"""Timing whole products by register blocks and by the BLAS in use, by turns, and keeping the times."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from itertools import product
from statistics import median

import numpy as np

from polymat.codegen.c.elements import ELEMENT_BYTES
from polymat.dataclass import dataclass
from polymat.errors import ToolchainError
from polymat.idiom.callcosts import SKEW
from polymat.idiom.librarymodel import LibraryModel
from polymat.idiom.libraryroutines import blas_routine
from polymat.machine.calibrate import Calibration
from polymat.machine.memory import available_memory
from polymat.machine.model import Machine
from polymat.machine.probe import probe
from polymat.machine.producttimes import SHARED, ProductTimes, quicker, triples
from polymat.measuring.productbench import SUFFIXES, function_name, product_bench, room_name
from polymat.measuring.sample import RefusedError
from polymat.measuring.timing import date_text, load_timers
from polymat.product.blocks import blocks_of
from polymat.product.wholeproducts import shares_columns
from polymat.runtime.calibration import fingerprint, store_calibration, stored_calibration
from polymat.runtime.compilerprocess import limited
from polymat.runtime.librarystore import identity, store_model, stored_model
from polymat.runtime.logs import tell_user
from polymat.runtime.providers import Provider, tried_provider

Progress = Callable[[float], None]
Times = tuple[ProductTimes, ...]
Extents = tuple[int, int, int]
_PAGE = 4096
_SAMPLE_SECONDS, _WARM_SECONDS = 2e-4, 2e-3
_SHARE = 0.5  # of the time at the peak of the processor, which nothing takes less than
_OVERTIME = 3  # times as long as rounds may take by the clock, after which those that were made count
_MEMORY_SHARE = 4  # of the memory there is, at most a quarter


@dataclass(frozen=True, slots=True)
class Rounds:
    """Extents of products, of m, n and k alike, and how often each is timed.

    least, most: rounds; no further one begins that would take more than so many seconds of processors.
    whole: seconds by the clock for everything, the compilation of the program too.
    """

    levels: tuple[int, ...]
    least: int
    most: int
    seconds: float
    whole: float = math.inf


LONG = Rounds((3, 8, 24, 96, 320, 1000), least=5, most=9, seconds=8.0)
SHORT = Rounds((16, 128, 640), least=3, most=4, seconds=0.8)


@dataclass(slots=True)
class _Case:
    """One product on some threads: how often it is repeated, and seconds of each round in both ways.

    least: seconds that no processor is quicker than; the clock of some virtual machines stands still for a
    while, and such a round counts for nothing.
    """

    suffix: str
    extents: Extents
    threads: int
    repeats: int
    least: float
    is_short: bool
    own: list[float] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> tuple[float, float]:
        """Of own code its best, which others only add to, and of the library by the usual ratio to it."""
        own = min(self.own)
        ratios = [calls / mine for calls, mine in zip(self.calls, self.own, strict=False)]
        return own, own * median(ratios) if ratios else 0.0


def keep_products(
    rounds: Rounds, *, force: bool = True, again: bool = False, progress: Progress | None = None
) -> Times:
    """Time whole products and keep the times with those of the machine, and of its BLAS; the own ones.

    The machine has been measured before; where products cannot be timed the user is told why.
    force: although they are known, of this library too; again: and the better of both are kept.
    """
    calibration, found = stored_calibration(), blas_in_use()
    if calibration is None:
        return ()
    stored = None if found is None else stored_model(found)
    known = found is None or (stored is not None and stored.products)
    if calibration.products and known and not force:
        return calibration.products
    try:
        timed = with_products(calibration, found, rounds, again=again, progress=progress)
    except ToolchainError as error:
        tell_user("calibrate", f"products are decided by their price: {error.message}")
        return calibration.products
    store_calibration(timed)
    return timed.products


def with_products(
    calibration: Calibration,
    found: Provider | None,
    rounds: Rounds,
    *,
    again: bool = False,
    progress: Progress | None = None,
) -> Calibration:
    """A calibration with times of whole products; those of the library are kept with that.

    again: with the better of those and of the times that are known.
    """
    machine = probe().with_calibration(calibration)
    own, calls = measure_products(machine, calibration.threads, found, rounds, progress)
    stored = None if found is None else stored_model(found)
    if again:
        own, calls = quicker((calibration.products, () if stored is None else stored.products), (own, calls))
    if found is not None:
        stored = stored or LibraryModel(fingerprint(), identity(found), date_text(), {})
        store_model(found, replace(stored, products=calls))
    return replace(calibration, products=own)


def measure_products(
    machine: Machine,
    threads: int,
    found: Provider | None,
    rounds: Rounds,
    progress: Progress | None = None,
) -> tuple[Times, Times]:
    """Times of own products and of the library's, on one thread and on so many."""
    end = time.perf_counter() + rounds.whole
    with limited(rounds.whole - min(rounds.seconds, rounds.whole / 2.0)):
        library = _library(machine, found, threads)
    try:
        return _measured(library, machine, threads, found is not None, rounds, end, progress)
    except RefusedError:
        return _measured(library, machine, 1, found is not None, rounds, end, progress)


def _measured(
    library: ctypes.CDLL,
    machine: Machine,
    threads: int,
    calls: bool,
    rounds: Rounds,
    end: float,
    progress: Progress | None,
) -> tuple[Times, Times]:
    cases = list(_cases(machine, threads, rounds.levels))
    longest = (rounds.levels[-1],) * 3
    room = max(int(getattr(library, room_name(suffix))(*longest, threads)) for suffix in SUFFIXES)
    if room > available_memory() // _MEMORY_SHARE:
        raise ToolchainError("there is no memory for products of matrices to be timed")
    with _memory(room) as address:
        _measure_rounds(library, cases, address, rounds, end, calls=calls, progress=progress)
    if progress is not None:
        progress(1.0)
    teams = tuple(dict.fromkeys((1, threads)))
    own, others = (_times(cases, teams, rounds.levels, way) for way in (0, 1))
    return tuple(_in_its_blocks(each, machine) for each in own), others if calls else ()


def _in_its_blocks(times: ProductTimes, machine: Machine) -> ProductTimes:
    """Own times, with the register blocks of the machine."""
    blocks = blocks_of(machine.of_a_thread(times.threads), times.element_bytes)
    return replace(times, block=(blocks.rows, blocks.vectors))


def _measure_rounds(
    library: ctypes.CDLL,
    cases: Sequence[_Case],
    address: int,
    rounds: Rounds,
    end: float,
    *,
    calls: bool,
    progress: Progress | None,
) -> None:
    """Go through all cases by turns; a `ToolchainError` where a machine is too slow for a single round.

    end: when none begins any more, by the clock.
    """
    end, used = min(end, time.perf_counter() + _OVERTIME * rounds.seconds), time.process_time()
    for done in range(rounds.most):
        spent = time.process_time() - used
        if done >= rounds.least and spent * (done + 1) > rounds.seconds * done:
            return
        for case in cases:
            if time.perf_counter() > end:
                if done == 0:
                    raise ToolchainError("products of matrices take too long to be timed")
                return
            _round(library, case, address, calls=calls, first=done % 2)
        if progress is not None:
            progress((done + 1) / rounds.most)


def _cases(machine: Machine, threads: int, levels: Sequence[int]) -> Iterator[_Case]:
    """Every product of a type on one thread, and the larger ones on several."""
    for suffix, team in product(SUFFIXES, dict.fromkeys((1, threads))):
        peak = machine.peak_flops(ELEMENT_BYTES[suffix], team)
        for extents in triples(levels):
            points = math.prod(extents)
            if team == 1 or points >= SHARED:
                estimate = 2.0 * points / peak
                repeats = math.ceil(_SAMPLE_SECONDS / estimate)
                is_short = estimate * repeats < _WARM_SECONDS
                yield _Case(suffix, extents, team, repeats, estimate * _SHARE, is_short)


def _round(library: ctypes.CDLL, case: _Case, address: int, *, calls: bool, first: int) -> None:
    """Time a product in both ways, each once before where others have pushed its operands out."""
    run = getattr(library, function_name(case.suffix))
    m, n, k = case.extents
    across = (shares_columns(m, n), n > SKEW * m)
    found: dict[int, float] = {}
    for way in (first, 1 - first) if calls else (0,):
        asked = (way, int(across[way]), m, n, k)
        if case.is_short:
            run(*asked, 1, case.threads, address)
        seconds = run(*asked, case.repeats, case.threads, address)
        if seconds < 0.0:
            raise RefusedError
        found[way] = seconds / case.repeats
    if min(found.values()) >= case.least:
        case.own.append(found[0])
        case.calls += [found[1]] if calls else []


def _times(cases: Sequence[_Case], teams: Sequence[int], levels: tuple[int, ...], way: int) -> Times:
    """The tables of one way, a type and a number of threads each."""
    if not all(case.own for case in cases):
        raise ToolchainError("the clock stands still where products of matrices are timed")
    found = {(case.suffix, case.threads, case.extents): case.seconds[way] for case in cases}
    return tuple(
        ProductTimes(
            ELEMENT_BYTES[suffix],
            threads,
            levels,
            tuple(
                found.get((suffix, threads, extents)) or found[suffix, 1, extents]
                for extents in triples(levels)
            ),
        )
        for suffix, threads in product(SUFFIXES, teams)
    )


def blas_in_use() -> Provider | None:
    """The library that this process uses, if its products are right."""
    return tried_provider("blas", [blas_routine("gemm", dtype) for dtype in ("float64", "float32")])


@contextmanager
def _memory(size: int) -> Iterator[int]:
    """The address of a page, and memory from there on."""
    memory = np.ones((size + 2 * _PAGE) // 8)
    yield -(-memory.ctypes.data // _PAGE) * _PAGE


def _library(machine: Machine, found: Provider | None, threads: int = 1) -> ctypes.CDLL:
    alone, together = (
        [blocks_of(machine.of_a_thread(team), ELEMENT_BYTES[suffix]) for suffix in SUFFIXES]
        for team in (1, threads)
    )
    text, files, routines = product_bench(alone, together, calls=found is not None)
    library = load_timers(text, routines, found, files=lambda: files)
    size, count, pointer, real = ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p, ctypes.c_double
    for suffix in SUFFIXES:
        timer, room = getattr(library, function_name(suffix)), getattr(library, room_name(suffix))
        timer.argtypes, timer.restype = (count, count, size, size, size, size, count, pointer), real
        room.argtypes, room.restype = (size, size, size, count), real
    return library
