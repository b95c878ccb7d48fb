"""What is measured of loops beside multiply-adds: divisions, shuffles, elements apart, loads across lines."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from polymat.machine.calibrate import LineCrossing, VectorSeconds
from polymat.machine.model import Machine
from polymat.measuring.sample import Sample

_SECONDS = 5e-4
_AT_ONCE = 12  # operations of a step
_CYCLES = 4.0  # of an operation or an element at most, about
_COUNT, _APART = 512, 5  # elements that are picked, and how far they are from each other
_BEHIND = 16  # bytes that arrays of NumPy begin behind a line
_ROOM = 8192 + 256  # bytes of a row at most, and a few lines, so that no load waits for a store
_PATIENCE = 2.0
_SIZES = (4, 8)
_VECTORS, _MORE_VECTORS = 1, 9  # of rows, whose ends take the same time
_ROW_CYCLES = 40.0  # at most, about
_LEAST = 1e-12  # seconds: none to speak of, and measured
_STENCIL_VECTORS, _STENCIL_SHARE = 31, 0.125  # of a row, and of the second level that each array takes


def loop_samples(library: ctypes.CDLL, machine: Machine, address: int) -> Iterator[tuple[str, Sample]]:
    """Of both precisions, by name, in memory from an address on."""
    steps = _times(machine, _AT_ONCE)
    for size in _SIZES:
        bits = 8 * size
        for name in ("divide", "shuffle"):
            run = partial(getattr(library, f"pm_{name}{bits}"), steps, 1.5)
            yield f"{name} {size}", _sample(_AT_ONCE * steps, run)
        repeats = _times(machine, _COUNT)
        behind = address + _COUNT * _APART * size
        picked = partial(getattr(library, f"pm_picked{bits}"), address, behind, _COUNT, _APART, repeats)
        yield f"picked {size}", _sample(_COUNT * repeats, picked)
        placed = partial(getattr(library, f"pm_gathered{bits}"), address, behind, _COUNT, repeats)
        yield f"gathered {size}", _sample(_COUNT * repeats, placed)
    lanes = machine.lanes(4)
    rows = max(1, int(_SECONDS * machine.hertz / (lanes * _ROW_CYCLES)))
    for vectors in (_VECTORS, _MORE_VECTORS):
        begin = partial(library.pm_rows, address, address + _ROOM, vectors, rows)
        yield f"rows of {vectors}", _sample(lanes * rows, begin)
    held = machine.l1_bytes // 2
    share = held - held % (4 * machine.vector_bits // 8)
    repeats = max(1, round(_SECONDS * machine.bandwidth(1) / share))
    across = partial(library.pm_across, address + _BEHIND, share, repeats)
    yield "across", _sample(share * repeats, across)
    yield from _stencils(library, machine, address)


def _stencils(library: ctypes.CDLL, machine: Machine, address: int) -> Iterator[tuple[str, Sample]]:
    """A stencil from one array that the second level holds to another, by one row and by two at a time."""
    row = _STENCIL_VECTORS * machine.vector_bits // 64 + 1  # begins elsewhere in a line than the one before
    rows = max(4, int(_STENCIL_SHARE * machine.l2_bytes) // (8 * row)) // 2 * 2
    behind = address + 8 * rows * row + _BEHIND
    steps = max(1, round(_SECONDS * machine.bandwidth(2) / (8 * 2 * rows * row)))
    for name, both in (("row", 0), ("two rows", 1)):
        run = partial(library.pm_stencil, address + _BEHIND, behind, rows, _STENCIL_VECTORS, row, steps, both)
        yield f"stencil by {name}", _sample(2 * steps * rows * row, run)


def pair_figure(samples: Mapping[str, Sample], machine: Machine) -> float:
    """Seconds that storing a vector takes longer where two rows are stored side by side.

    The difference that was measured, and the load of a vector that two rows save, which prices count.
    """
    longer = samples["stencil by two rows"].seconds - samples["stencil by row"].seconds
    return max(longer * machine.vector_bits / 64 + machine.vector_bits / 8 / machine.bandwidth(1), _LEAST)


def loop_figures(
    samples: Mapping[str, Sample], machine: Machine
) -> tuple[tuple[VectorSeconds, ...], tuple[LineCrossing, ...], float]:
    """The figures of what was measured, with what a row takes beside its vectors; none of nothing."""
    if not samples:
        return (), (), 0.0
    vectors = tuple(
        VectorSeconds(
            size, *(samples[f"{name} {size}"].seconds for name in ("divide", "shuffle", "picked", "gathered"))
        )
        for size in _SIZES
    )
    short, long = (samples[f"rows of {count}"].seconds for count in (_VECTORS, _MORE_VECTORS))
    vector = max(0.0, long - short) / (_MORE_VECTORS - _VECTORS)
    # Half a vector in the mean stands at its end.  A row waits once at least for what an addition does.
    row = max(machine.fma_latency / machine.hertz, short - (_VECTORS + 0.5) * vector)
    return vectors, (LineCrossing(machine.vector_bits // 8, 1, samples["across"].rate),), row


def declare_loops(library: ctypes.CDLL) -> None:
    """Say what the functions of a measuring program take."""
    size, pointer, real = ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_double
    for bits in (8 * each for each in _SIZES):
        for name, arguments in (
            (f"pm_divide{bits}", (size, real)),
            (f"pm_shuffle{bits}", (size, real)),
            (f"pm_picked{bits}", (pointer, pointer, size, size, size)),
            (f"pm_gathered{bits}", (pointer, pointer, size, size)),
        ):
            _declare(library, name, arguments)
    _declare(library, "pm_across", (pointer, size, size))
    _declare(library, "pm_rows", (pointer, pointer, size, size))
    _declare(library, "pm_stencil", (pointer, pointer, *[size] * 4, ctypes.c_int))


def _declare(library: ctypes.CDLL, name: str, arguments: tuple[object, ...]) -> None:
    function = getattr(library, name)
    function.argtypes, function.restype = arguments, ctypes.c_double


def _sample(amount: int, run: Callable[[], float]) -> Sample:
    return Sample(float(amount), run, patience=_PATIENCE)


def _times(machine: Machine, operations: int) -> int:
    """How often so many operations are done in a sample."""
    return max(1, int(_SECONDS * machine.hertz / (operations * _CYCLES)))
