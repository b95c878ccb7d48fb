"""The price of filters follows what their code does beside multiplying: nothing, shuffles, single samples."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from itertools import product

import pytest

from polymat.codegen.prelude import prelude
from polymat.codegen.signals.filterblocks import FilterShape
from polymat.lang.types import Complex, Double, Float, ScalarType
from polymat.machine.known import ZEN3
from polymat.machine.model import Machine
from polymat.runtime.libraryfile import build
from polymat.tilesize.filterblock import are_neighbours, filter_block
from polymat.tilesize.filterprice import filter_seconds

WIDE = replace(ZEN3, vector_bits=512, vector_registers=32)


def seconds(machine: Machine, dtype: ScalarType = Double, **asked: object) -> float:
    given = {"taps": 32.0, "results": 1e5, "samples": 1e5, **asked}
    return filter_seconds(machine, dtype, 1, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("machine", [ZEN3, WIDE], ids=["256 bits", "512 bits"])
@pytest.mark.parametrize(("suffix", "size"), [("f32", 4), ("f64", 8)])
def test_generated_code_decides_alike(machine: Machine, suffix: str, size: int) -> None:
    """Whether vectors are of neighbours is said in C, at each call, and here, for the price."""
    block = filter_block(machine, size)
    shape = FilterShape(suffix, block.lanes, block.rows, block.taps, block.width)
    takes = "int near(ptrdiff_t n, ptrdiff_t up, ptrdiff_t down)"
    asks = f"{takes}\n{{\n    return _pm_filter_is_near_{suffix}(n, up, down);\n}}\n"
    built = build(prelude(frozenset({shape})) + asks)
    near = ctypes.CDLL(str(built.path)).near
    near.argtypes = (ctypes.c_ssize_t,) * 3
    built.release()
    edges = {edge + more for step in range(1, 9) for edge in (48 * step, 96 * step) for more in (-1, 0, 1)}
    for taps, up, step in product({1, 2, 3, 17, *edges}, range(1, 6), range(1, 9)):
        assert bool(near(taps, up, step)) == are_neighbours(machine, size, taps, step, up)


def test_samples_that_are_read_in_place_take_no_time() -> None:
    """Of neighbouring results the price is that of multiplying, however many samples there are."""
    assert seconds(ZEN3, samples=1e5) == seconds(ZEN3, samples=9e5)
    assert seconds(ZEN3, samples=1e5, step=2) < seconds(ZEN3, samples=9e5, step=2)
    assert seconds(WIDE, samples=1e5) < seconds(WIDE, samples=9e5)


@pytest.mark.parametrize("dtype", [Float, Double])
def test_results_of_two_kinds_are_put_together(dtype: ScalarType) -> None:
    """So are those that are scaled, or added to something."""
    alone = seconds(ZEN3, dtype)
    assert alone < seconds(ZEN3, dtype, plain=False) == seconds(ZEN3, dtype, up=2)
    assert seconds(ZEN3, dtype, up=2) < 2.0 * alone


def test_single_samples_take_longer_than_shuffled_ones() -> None:
    """And still longer where their lines leave the first level between two phases."""
    pair, many = (seconds(ZEN3, taps=2000.0, step=step) for step in (2, 10))
    assert pair < many
    large = replace(ZEN3, l1_bytes=1 << 20)
    assert seconds(large, taps=2000.0, step=10) < many
    assert seconds(large, taps=2000.0, step=2) == pair


def test_complex_samples_are_taken_apart() -> None:
    """Four real filters, which add to each other."""
    real, pairs = seconds(ZEN3), seconds(ZEN3, Complex)
    assert 4.0 * real < pairs < 6.0 * real
