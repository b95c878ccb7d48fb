"""Measuring a BLAS: every routine is called rightly, and what is measured is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polymat.idiom.librarymodel import AXES
from polymat.measuring import blastimes
from polymat.measuring.librarybench import ROUTINES
from polymat.runtime.librarystore import library_model, model_lines, model_path, store_model
from polymat.runtime.providers import provider

SMALL = (1, 4, 16)


def cases(dtypes: tuple[str, ...]) -> tuple[blastimes.Case, ...]:
    return tuple((routine, dtype, (SMALL,) * len(AXES[routine])) for routine in ROUTINES for dtype in dtypes)


def test_every_routine(capfd: pytest.CaptureFixture[str]) -> None:
    """Times are plausible, and the library had nothing to say about wrong arguments."""
    found = provider("blas")
    assert found is not None
    done: list[float] = []
    measured = blastimes.measure_library(found, cases(("float64", "float32")), done.append)
    assert done[-1] == 1.0
    assert set(measured.grids) == {(r, d) for r in ROUTINES for d in ("float64", "float32")}
    for (routine, dtype), grid in measured.grids.items():
        assert all(5e-10 < seconds < 1e-2 for seconds in grid.seconds), (routine, dtype)
    assert capfd.readouterr() == ("", "")


def test_kept_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(blastimes, "_cases", lambda: cases(("float64",))[:2])
    assert library_model() is None
    measured = blastimes.calibrate_library()
    kept = library_model()
    assert measured is not None
    assert kept is not None
    assert blastimes.calibrate_library() == kept
    assert (kept.provider, kept.fingerprint) == (measured.provider, measured.fingerprint)
    assert kept.seconds("gemm", "float64", (16, 16, 16)) == pytest.approx(
        measured.seconds("gemm", "float64", (16, 16, 16)), rel=1e-3
    )
    lines = model_lines(kept)
    assert lines[0].startswith(f"measured {kept.date}: openblas ")
    assert lines[1].startswith("float64 ")
    found = provider("blas")
    assert found is not None
    model_path(found).write_text("")
    assert library_model() is None
    monkeypatch.setenv("POLYMAT_CACHE", "off")
    assert library_model() is None


def test_what_an_earlier_version_measured_stays_in_use_until_it_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(blastimes, "_cases", lambda: cases(("float64",))[:2])
    found = provider("blas")
    assert found is not None
    measured = blastimes.measure_library(found, cases(("float64",))[:2])
    fewer = {key: grid for key, grid in measured.grids.items() if key[0] == "gemm"}
    store_model(found, replace(measured, grids=fewer))
    kept = library_model()
    assert kept is not None
    assert kept.grid("gemm_t", "float64") == kept.grids["gemm", "float64"]
    again = blastimes.calibrate_library()
    assert again is not None
    assert set(again.grids) == {("gemm", "float64"), ("gemm_t", "float64")}


def test_what_was_measured_at_other_sizes_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path))
    coarse = tuple((name, kind, ((1, 8),) * len(levels)) for name, kind, levels in cases(("float64",))[:1])
    monkeypatch.setattr(blastimes, "_cases", lambda: coarse)
    before = blastimes.calibrate_library()
    assert before is not None
    assert [grid.levels[0] for grid in before.grids.values()] == [(1, 8)]
    monkeypatch.setattr(blastimes, "_cases", lambda: cases(("float64",))[:1])
    after = blastimes.calibrate_library()
    assert after is not None
    assert [grid.levels[0] for grid in after.grids.values()] == [SMALL]


def test_matrices_and_vectors_are_timed_where_no_kernel_fits() -> None:
    """Libraries are quickest at powers of two: what lies between is not read from these alone."""
    for routine, dtype, levels in blastimes._cases():
        if routine in ("gemv", "gemv_t", "ger"):
            assert all({17, 33, 65} <= {*axis} for axis in levels), (routine, dtype)
