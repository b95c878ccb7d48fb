"""OpenBLAS and MKL called from C, with as many threads of their own as the environment says."""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.peers.ckernel import prepare_kernel
from benchmarks.peers.csource import load_c
from benchmarks.task import MissingError, Prepared, Task


def openblas_file() -> Path:
    """The OpenBLAS of the scipy-openblas32 wheel."""
    package = importlib.import_module("scipy_openblas32")
    return _last(sorted(Path(package.get_lib_dir()).glob("libscipy_openblas*.so")))


def mkl_file() -> Path:
    """The MKL of the mkl wheel, which puts its libraries beside the interpreter's."""
    return _last(sorted((Path(sys.prefix) / "lib").glob("libmkl_rt.so*")))


def _last(found: Sequence[Path]) -> Path:
    if not found:
        raise MissingError("the library is not installed")
    return found[-1]


def prepare_openblas(task: Task) -> Prepared:
    """By OpenBLAS."""
    return _prepare(task, openblas_file(), "scipy_")


def prepare_mkl(task: Task) -> Prepared:
    """By MKL."""
    return _prepare(task, mkl_file(), "")


def _prepare(task: Task, found: Path, prefix: str) -> Prepared:
    library = load_c("blas.c", libraries=("-ldl",))
    library.open_blas.restype = ctypes.c_char_p
    complaint = library.open_blas(str(found).encode(), prefix.encode())
    if complaint:
        raise MissingError(f"{found}: {complaint.decode()}")
    symbol = ""
    if task.problem == "product":
        single = next(iter(task.arrays.values())).dtype == np.float32
        scaled = "C" in task.arrays
        symbol = ("product32_scaled" if scaled else "product32") if single else "product64"
    return prepare_kernel(library, task, symbol)
