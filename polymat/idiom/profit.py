"""Predicted seconds of library calls, which are compared with those of own code to decide between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from polymat.idiom.call import Idiom, LibraryCall, Role
from polymat.idiom.librarymodel import LibraryModel
from polymat.idiom.measuredcalls import measured_seconds
from polymat.idiom.routines import HALF
from polymat.lang.types import real_part
from polymat.machine.grid import Grid
from polymat.machine.model import Machine
from polymat.machine.producttimes import Extents, Ratios, ratios_of
from polymat.machine.seams import parted
from polymat.memo import remembered

CALL_SECONDS = 5e-8  # to call a routine, check its arguments and choose a kernel
MIRROR_SECONDS = 5e-10  # to copy an element across the diagonal (Zen 5, 16 x 16 at a time)
EFFICIENCY = 0.75  # of the peak that a library that was not measured reaches on a large product
SHORT = 8.0  # steps along an axis that cost as much as the packing and the tails of a call
# Rows of the blocks on the diagonal of a triangle that a library computes as a whole (OpenBLAS on a Zen 5:
# syrk of 70 to 240 rows).
DIAGONAL = 64.0
_SOLVES = frozenset(("trsm",))  # where steps wait for each other
# PolyMage matrix thesis, section 4.4: multiplications from which a product is mapped to a library.
MAPPED_POINTS = 256.0**3
# Of the peak that routines for vectors reach, which use every element of a matrix once: no more than loops
# that are fused.  Vectorised loops reach a little more on data in the cache.
STREAM_EFFICIENCY = 0.2
# Extents of products, beside those that were timed, whose estimated times stand for those of calls.
_ESTIMATED = (1, 4, 16)
_REAL = {"float32": 4, "float64": 8}
_PRODUCT: tuple[Role, ...] = ("m", "n", "k")
_PRODUCTS = frozenset(("gemm", dtype) for dtype in _REAL)


def call_points(call: LibraryCall, sizes: Mapping[str, int]) -> float:
    """Multiplications of a call with its batch."""
    axes = (*call.batch, *(axis for _, axis in call.axes))
    return prod((axis.length(sizes) for axis in axes), start=call.row.points)


def is_mapped(idiom: Idiom, sizes: Mapping[str, int]) -> bool:
    """Whether the thesis calls a library, whatever the machine: M·N·K is at least 256³."""
    return sum(call_points(call, sizes) for call in idiom.calls) >= MAPPED_POINTS


def efficiency(call: LibraryCall, sizes: Mapping[str, int]) -> float:
    """The share of the peak that a routine reaches at these extents: less where one is short."""
    if call.row.level < 3:
        return STREAM_EFFICIENCY
    return product_share(axis.length(sizes) for _, axis in call.axes)


def product_share(lengths: Iterable[float]) -> float:
    """The share of the peak that a product with axes of these lengths reaches."""
    return prod((length / (length + SHORT) for length in lengths), start=EFFICIENCY)


def call_seconds(
    idiom: Idiom,
    machine: Machine,
    sizes: Mapping[str, int],
    threads: int,
    model: LibraryModel | None = None,
) -> float:
    """Predicted seconds of the calls on so many threads, without their data movement.

    model: what was measured of the library; routines that were not go by shares of the machine's peak.
    """
    peak = machine.peak_flops(real_part(idiom.product.dtype).size, threads)
    total = 0.0
    for call in idiom.calls:
        total += MIRROR_SECONDS * _mirrored_points(call, sizes) / threads
        measured = measured_seconds(call, model, sizes, threads) if model is not None else None
        if measured is not None:
            total += measured * _whole_ratio(call, sizes, threads, model, machine)
            continue
        product = _as_product(call, sizes, threads, model)
        if product is not None:
            total += product
            continue
        batch = prod((axis.length(sizes) for axis in call.batch), start=1.0)
        flops = 2.0 * call_points(call, sizes) * (4.0 if call.dtype.kind == "c" else 1.0)
        if flops > 0:  # no extent is 0, where nothing has an efficiency
            total += flops / (peak * efficiency(call, sizes))
        total += CALL_SECONDS * batch / threads
    return total


def _as_product(
    call: LibraryCall, sizes: Mapping[str, int], threads: int, model: LibraryModel | None
) -> float | None:
    """Seconds of a routine that was not measured, from those of whole products of real matrices.

    Of a triangle it computes half, with the blocks of the diagonal as a whole.
    """
    dtype = call.dtype
    ratios = (
        library_ratios(model, dtype.dtype) if model and call.row.level == 3 and dtype.kind == "f" else None
    )
    if ratios is None or model is None or call.routine in _SOLVES:
        return None
    lengths = {role: axis.length(sizes) for role, axis in call.axes}
    square = lengths["n" if call.side == "right" else "m"]
    extents = (lengths["m"], lengths.get("n", square), lengths.get("k", square))
    batch = prod((axis.length(sizes) for axis in call.batch), start=1.0)
    team = threads if batch < threads else 1
    seconds = model.grids["gemm", dtype.dtype].at(_part(extents, team)) * ratios.at(extents, team)
    whole = 1.0 if call.row.triangle_of is None else 1.0 + min(1.0, DIAGONAL / max(square, 1.0))
    return seconds * call.row.points * whole * batch / (threads if team == 1 else 1)


def _part(extents: Extents, threads: int) -> Extents:
    """What each of some threads computes of a product: a part of its longer side."""
    m, n, k = extents
    return (m, max(n / threads, 1.0), k) if n > m else (max(m / threads, 1.0), n, k)


def _whole_ratio(
    call: LibraryCall, sizes: Mapping[str, int], threads: int, model: LibraryModel | None, machine: Machine
) -> float:
    """By what a product of matrices takes longer than predicted, as those did that were timed as a whole.

    Of another routine by what sharing costs products that are as large, or where none were timed, by what the
    peak of all threads is less than as many times that of one: no thread computes as fast as one alone.
    """
    dtype = real_part(call.dtype)
    ratios = library_ratios(model, dtype.dtype) if model and call.row.level == 3 else None
    batch = prod((axis.length(sizes) for axis in call.batch), start=1.0)
    if ratios is None:
        if threads == 1 or call.row.level < 3:
            return 1.0
        return max(1.0, threads * machine.peak_flops(dtype.size, 1) / machine.peak_flops(dtype.size, threads))
    lengths = {role: axis.length(sizes) for role, axis in call.axes}
    longest = max(lengths.values(), default=1.0)
    extents = tuple(lengths.get(role, longest) for role in _PRODUCT)
    shared = ratios.at(extents, threads if batch < threads else 1)
    return shared if is_whole_product(call) else max(1.0, shared / ratios.at(extents, 1))


def is_whole_product(call: LibraryCall) -> bool:
    """Whether a call is a product of real matrices, which `calibrate` times beside own ones."""
    return call.routine == "gemm" and call.dtype.kind == "f"


@remembered
def library_ratios(model: LibraryModel, dtype: str) -> Ratios | None:
    """By what whole products of a real type took longer than predicted; None where none were timed.

    model: completed.
    """

    def predicted(extents: Extents, threads: int) -> float:
        return model.grids["gemm", dtype].at(_part(extents, threads))

    found = ratios_of(model.products, _REAL[dtype], predicted)
    return None if found is None else found.parted()


@remembered
def completed(model: LibraryModel, machine: Machine) -> LibraryModel:
    """A library with what its products take beyond a seam apart.

    Where whole products alone were timed, with estimates of calls that these then correct.
    """
    missing = [dtype for dtype in _REAL if model.products and ("gemm", dtype) not in model.grids]
    grids = {key: parted(grid) if key in _PRODUCTS else grid for key, grid in model.grids.items()}
    if missing:
        timed = model.products[0].levels
        grids |= {("gemm", dtype): _estimated(machine, _REAL[dtype], timed) for dtype in missing}
    return replace(model, grids=grids)


def _estimated(machine: Machine, element_bytes: int, timed: Sequence[int]) -> Grid:
    """Seconds of products on one thread by shares of the peak, which grow up to the least extent timed."""
    peak, least = machine.peak_flops(element_bytes, 1), timed[0]
    levels = (tuple(sorted({*_ESTIMATED, *timed})),) * 3
    seconds = (
        2.0 * prod(extents) / (peak * product_share(min(each, least) for each in extents)) + CALL_SECONDS
        for extents in product(*levels)
    )
    return Grid(levels, tuple(seconds))


def _mirrored_points(call: LibraryCall, sizes: Mapping[str, int]) -> float:
    """Elements of a triangle that are copied to the other one."""
    if not call.mirrored:
        return 0.0
    axes = (*call.batch, call.axis("m"), call.axis("n"))
    return prod((axis.length(sizes) for axis in axes), start=HALF)
