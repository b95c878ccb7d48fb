"""Which libraries are found, without loading them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from polymat.runtime.libraries import found_libraries


def test_finds_the_libraries_of_packages() -> None:
    found = {(library.kind, library.name, library.source) for library in found_libraries()}
    assert ("blas", "openblas", "scipy_openblas32") in found
    assert ("fft", "fftw3", "pyfftw") in found
    assert all(library.path.is_file() for library in found_libraries())


def test_looks_in_the_library_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["libopenblas.so.0", "libmkl_rt.so.2", "libblis-mt.so", "libfftw3.so.3", "libfftw3f.so.3.6.9"]
    others = ["libfftw3_omp.so.3", "libopenblas.a", "libmkl_core.so", "libfftw3l.so.3", "libopenblas64.so.0"]
    for name in names + others:
        (tmp_path / name).touch()
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nowhere:{tmp_path}")
    found = [library for library in found_libraries() if library.path.parent == tmp_path]
    assert sorted({library.path.name for library in found}) == sorted(names)
    assert {library.source for library in found} == {"environment"}
    assert {library.name for library in found} == {"openblas", "mkl", "blis", "fftw3", "fftw3f"}


def test_imports_nothing() -> None:
    script = (
        "import sys; from polymat.runtime.libraries import found_libraries; found_libraries();"
        "print({'scipy', 'pyfftw', 'scipy_openblas32'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown == "set()\n"
