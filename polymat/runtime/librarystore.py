"""The measured speeds of the BLAS and the FFT library in use: where they are kept."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from polymat.idiom.librarymodel import Kind, LibraryModel, load, store
from polymat.machine.producttimes import speed_lines
from polymat.runtime.cachedir import directory_trusted
from polymat.runtime.calibration import fingerprint
from polymat.runtime.measurementfiles import keep_measured, measured_path
from polymat.runtime.providers import Provider, provider
from polymat.runtime.settings import settings

_LENGTHS = (64, 1024, 16384, 262144)


def library_model(kind: Kind = "blas") -> LibraryModel | None:
    """The measured times of the library that this process uses; None without one, or where none were."""
    found = provider(kind)
    return None if found is None else stored_model(found)


def identity(found: Provider) -> str:
    """The text that tells one library from another: name, version and size of its files."""
    sizes = " ".join(str(path.stat().st_size) for path in found.paths)
    return f"{found} {found.source} {sizes}"


def model_path(found: Provider) -> Path:
    """The file of this library on this processor."""
    return measured_path("library", f"{fingerprint()}|{identity(found)}")


def stored_model(found: Provider) -> LibraryModel | None:
    """The stored times of a library; None when none were measured, or the cache is off."""
    path = model_path(found)
    if settings().cache_mode == "off" or not directory_trusted(path.parent):
        return None
    try:
        status = path.stat()
    except OSError:
        return None
    return _read(path, status.st_mtime_ns, status.st_size, identity(found))


# The file is told by its time and size: another one is read anew.
@lru_cache(maxsize=4)
def _read(path: Path, _changed: int, _bytes: int, library: str) -> LibraryModel | None:
    return load(path, fingerprint(), library)


def store_model(found: Provider, model: LibraryModel) -> Path | None:
    """Keep a model and return its file; None when the cache is off or readonly."""
    return keep_measured(model_path(found), lambda path: store(path, model))


def model_lines(model: LibraryModel) -> tuple[str, ...]:
    """The speeds for people, a line for each type: GFLOP/s of cubic products, microseconds of transforms."""
    lines = [f"measured {model.date}: {model.provider.split(' (')[0]}, one thread"]
    cubes = (8, 32, 128, 512, 1024)
    for dtype, flops in (("float32", 2), ("float64", 2), ("complex64", 8), ("complex128", 8)):
        if ("gemm", dtype) in model.grids:
            grid = model.grids["gemm", dtype]
            speeds = "  ".join(f"{n}: {flops * n**3 / grid.at((n, n, n)) / 1e9:.1f}" for n in cubes)
            lines.append(f"{dtype:<10} {speeds} GFLOP/s")
    lines.extend(speed_lines(model.products))
    for dtype in ("float32", "float64", "complex64", "complex128"):
        if ("fft", dtype) in model.grids:
            times = "  ".join(f"{n}: {model.grids['fft', dtype].at((n,)) * 1e6:.3g}" for n in _LENGTHS)
            lines.append(f"{dtype:<10} {times} us")
    return tuple(lines)
