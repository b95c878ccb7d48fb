"""Whole products, timed: the results are right, both ways are timed, and what is found is kept."""

from __future__ import annotations

import ctypes
import logging
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polymat.errors import ToolchainError
from polymat.machine.probe import probe
from polymat.machine.producttimes import SHARED, ProductTimes, triples
from polymat.measuring import timedproducts
from polymat.measuring.productbench import SUFFIXES, function_name
from polymat.measuring.timedproducts import LONG, SHORT, Rounds, keep_products, measure_products
from polymat.runtime.calibration import calibration_lines, store_calibration, stored_calibration
from polymat.runtime.librarystore import library_model, model_lines
from polymat.runtime.providers import Provider, provider
from tests.measuring.test_firstcompile import likely

TINY = Rounds((4, 20), least=1, most=1, seconds=60.0)
M, N, K = 37, 21, 50


@pytest.fixture(scope="module")
def found() -> Provider:
    blas = provider("blas")
    if blas is None:
        pytest.skip("no BLAS")
    return blas


@pytest.fixture(scope="module")
def library(found: Provider) -> ctypes.CDLL:
    return timedproducts._library(probe(), found)


@pytest.mark.parametrize("across", [0, 1])
@pytest.mark.parametrize("threads", [1, 2, 4, 6])
@pytest.mark.parametrize("calls", [0, 1])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_timed_is_a_product(
    library: ctypes.CDLL, suffix: str, calls: int, threads: int, across: int
) -> None:
    """Of operands that begin 16 bytes behind a page each."""
    dtype = np.dtype({"f32": np.float32, "f64": np.float64}[suffix])
    memory = np.zeros(1 << 20, np.uint8)
    page = -memory.ctypes.data % 4096
    starts, rng = [], np.random.default_rng(7)
    for elements in (M * K, K * N, M * N):
        starts.append(page + 16)
        page += -(-(elements * dtype.itemsize + 16) // 4096) * 4096
    a, b, c = (
        memory[start : start + rows * columns * dtype.itemsize].view(dtype).reshape(rows, columns)
        for start, (rows, columns) in zip(starts, ((M, K), (K, N), (M, N)), strict=True)
    )
    a[:], b[:] = rng.random((M, K)), rng.random((K, N))
    address = memory.ctypes.data + starts[0] - 16
    seconds = getattr(library, function_name(suffix))(calls, across, M, N, K, 2, threads, address)
    assert seconds >= 0.0
    np.testing.assert_allclose(c, a @ b, rtol=1e-4 if suffix == "f32" else 1e-12)


def test_every_product_has_its_times(found: Provider) -> None:
    """On one thread and on two; those too small to be shared are the same on both."""
    own, calls = measure_products(probe(), 2, found, TINY)
    assert [(each.element_bytes, each.threads) for each in own] == [(4, 1), (4, 2), (8, 1), (8, 2)]
    assert [(each.element_bytes, each.threads) for each in calls] == [(4, 1), (4, 2), (8, 1), (8, 2)]
    assert all(0.0 < seconds < 1.0 for each in (*own, *calls) for seconds in each.seconds)
    assert SHARED > 20**3
    assert own[0].seconds == own[1].seconds


def test_without_a_library() -> None:
    own, calls = measure_products(probe(), 1, None, TINY)
    assert len(own) == 2
    assert calls == ()


def test_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timedproducts, "available_memory", lambda: 1000)
    with pytest.raises(ToolchainError, match="there is no memory for products of matrices to be timed"):
        measure_products(probe(), 1, None, TINY)


def test_what_takes_too_long_is_given_up() -> None:
    with pytest.raises(ToolchainError, match="products of matrices take too long to be timed"):
        measure_products(probe(), 1, None, replace(TINY, seconds=0.0))


def test_a_clock_that_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds in which it did count for nothing; where it always does there are no times."""
    case = timedproducts._Case("f64", (9, 9, 9), 1, 1, 1e-6, True)
    for found in ((5e-6, 2e-6), (0.0, 2e-6), (4e-6, 1e-9)):
        answers = iter((found[0], found[0], found[1], found[1]))

        class Library:
            time_f64 = staticmethod(lambda *_, answers=answers: next(answers))

        monkeypatch.setattr(timedproducts, "function_name", lambda _: "time_f64")
        timedproducts._round(Library, case, 0, calls=True, first=0)  # type: ignore[arg-type]
    assert (case.own, case.calls) == ([5e-6], [2e-6])
    case.own.clear()
    with pytest.raises(ToolchainError, match="the clock stands still"):
        timedproducts._times([case], (1,), (9,), 0)


def test_the_usual_ratio_counts() -> None:
    """Disturbance of one round of either way does not."""
    case = timedproducts._Case("f64", (9, 9, 9), 1, 1, 0.0, True)
    case.own[:] = [2.0, 1.0, 5.0]
    case.calls[:] = [4.0, 2.0, 2.5]
    assert case.seconds == (1.0, 2.0)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.usefixtures("cache", "found")
def test_kept_with_the_machine_and_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    assert keep_products(TINY) == ()
    assert stored_calibration() is None
    store_calibration(likely())
    table = ProductTimes(8, 1, (4, 20), (1e-6,) * 8)
    monkeypatch.setattr(timedproducts, "measure_products", lambda *_: ((table,), (table,)))
    own = keep_products(TINY)
    kept, model = stored_calibration(), library_model()
    assert kept is not None
    assert model is not None
    assert kept.products == model.products == own == (table,)
    assert model.grids == {}
    monkeypatch.setattr(timedproducts, "measure_products", None)
    assert keep_products(LONG, force=False) == own
    said = "float64 products of 20 cubed 16.0 GFLOP/s"
    assert said in calibration_lines(kept)
    assert said in model_lines(model)


@pytest.mark.usefixtures("cache")
def test_where_products_cannot_be_timed_the_rest_stays(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise ToolchainError("the clock stands still where products of matrices are timed")

    store_calibration(likely())
    monkeypatch.setattr(timedproducts, "measure_products", refuse)
    with caplog.at_level(logging.INFO, "polymat.calibrate"):
        assert keep_products(LONG) == ()
    assert stored_calibration() == likely()
    assert "products are decided by their price: the clock stands still" in caplog.text


def test_what_is_timed_by_itself_is_the_shorter() -> None:
    def operations(rounds: Rounds) -> int:
        return rounds.least * sum(math.prod(extents) for extents in triples(rounds.levels))

    assert 3 * operations(SHORT) < operations(LONG)
