"""Measuring an FFT library: plausible times that are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polymat.measuring import fft
from polymat.runtime.librarystore import library_model, model_lines, store_model
from polymat.runtime.providers import provider


def test_times_of_transforms() -> None:
    found = provider("fft")
    assert found is not None
    measured = fft.measure_fft(found, longest=256)
    dtypes = ("complex128", "float64", "complex64", "float32")
    assert set(measured.grids) == {(r, d) for r in ("fft", "fft_prime") for d in dtypes}
    for (routine, dtype), grid in measured.grids.items():
        assert grid.levels[0][-1] == (256 if routine == "fft" else 251)
        assert all(1e-9 < seconds < 1e-2 for seconds in grid.seconds), (routine, dtype)


def test_kept_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(fft.measure_fft, "__defaults__", (16384,))
    assert library_model("fft") is None
    measured = fft.calibrate_fft()
    assert measured is not None
    assert library_model("fft") == fft.calibrate_fft()
    assert len(model_lines(measured)) == 5
    kind = "complex128"
    assert measured.grids["fft_parts", kind].levels == ((1, 4096, 8192, 16384),)
    assert measured.grids["fft_parts", "float64"].levels == ((1, 8192, 16384),)
    assert measured.grids["fft_square_parts", kind].levels == measured.grids["fft_square", kind].levels
    assert measured.grids["fft_square", kind].levels == ((1, 32, 64, 128),)
    assert library_model("blas") is None
    monkeypatch.setenv("POLYMAT_FFT", "none")
    assert fft.calibrate_fft() is None


def test_speeds_of_an_earlier_version_are_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(fft.measure_fft, "__defaults__", (4096,))
    found = provider("fft")
    assert found is not None
    measured = fft.measure_fft(found)
    fewer = {key: grid for key, grid in measured.grids.items() if key[0] in ("fft", "fft_prime")}
    store_model(found, replace(measured, grids=fewer))
    again = fft.calibrate_fft()
    assert again is not None
    assert set(again.grids) == set(measured.grids)
