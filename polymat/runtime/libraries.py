"""Which BLAS and FFT libraries are installed, found without loading or importing any of them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path

from polymat.dataclass import dataclass
from polymat.idiom.librarymodel import Kind
from polymat.runtime.settings import settings

_SYSTEM_DIRECTORIES = ("/usr/local/lib64", "/usr/local/lib", "/usr/lib64", "/lib64", "/usr/lib", "/lib")
# Without the variants with integers of 64 bits, which the wrappers of generated code do not call.
_NAMES: tuple[tuple[Kind, str, re.Pattern[str]], ...] = (
    ("blas", "openblas", re.compile(r"lib(scipy_)?openblas(?!64)[\w.-]*\.so[\d.]*")),
    ("blas", "blis", re.compile(r"libblis(?!64)[\w.-]*\.so[\d.]*")),
    ("blas", "mkl", re.compile(r"libmkl_rt\.so[\d.]*")),
    ("fft", "mkl", re.compile(r"libmkl_rt\.so[\d.]*")),
    ("fft", "fftw3", re.compile(r"libfftw3(-[0-9a-f]+)?\.so[\d.]*")),
    ("fft", "fftw3f", re.compile(r"libfftw3f(-[0-9a-f]+)?\.so[\d.]*")),
)
_BEGINNINGS = re.compile(r"lib(scipy_)?(openblas|blis|mkl_rt|fftw3)")  # of all of them
# Packages of Python that carry one of them, and where in it: beside the package or inside.
_PACKAGES = (
    ("scipy_openblas32", ("{package}/lib", "{package}/../scipy_openblas32.libs")),
    ("pyfftw", ("{package}/../pyfftw.libs", "{package}/../pyFFTW.libs")),
)


@dataclass(frozen=True, slots=True)
class Library:
    """A library file; `source` is the Python package that brought it, "system" or "environment"."""

    kind: Kind
    name: str
    path: Path
    source: str


def found_libraries() -> Iterator[Library]:
    """Every BLAS and FFTW that could be used: those of Python packages first, then the system's.

    Directories are looked into as far as libraries are asked for: the first one often does.
    """
    seen: set[tuple[Kind, Path]] = set()
    for source, directory in _directories():
        for file in _listing(directory):
            for kind, name, pattern in _NAMES:
                path = directory / file
                if pattern.fullmatch(file) and (kind, path.resolve()) not in seen:
                    seen.add((kind, path.resolve()))
                    yield Library(kind, name, path, source)


def _directories() -> Iterator[tuple[str, Path]]:
    for package, places in _PACKAGES:
        spec = PathFinder.find_spec(package)
        for location in (spec.submodule_search_locations or ()) if spec is not None else ():
            for place in places:
                yield package, Path(os.path.normpath(place.format(package=location)))
    for directory in settings().library_path:
        yield "environment", Path(directory)
    yield "environment", Path(sys.prefix) / "lib"
    for directory in _SYSTEM_DIRECTORIES:
        yield "system", Path(directory)
        for multiarch in sorted(Path(directory).glob("*-linux-gnu*")):
            yield "system", multiarch


def _listing(directory: Path) -> list[str]:
    try:
        return sorted(filter(_BEGINNINGS.match, os.listdir(directory)))
    except OSError:
        return []
