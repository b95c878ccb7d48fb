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


def prepare_openblas(task: Task) -> Prepared:
    """The OpenBLAS of the scipy-openblas32 wheel."""
    package = importlib.import_module("scipy_openblas32")
    return _prepare(task, sorted(Path(package.get_lib_dir()).glob("libscipy_openblas*.so")), "scipy_")


def prepare_mkl(task: Task) -> Prepared:
    """The MKL of the mkl wheel, which puts its libraries beside the interpreter's."""
    return _prepare(task, sorted((Path(sys.prefix) / "lib").glob("libmkl_rt.so*")), "")


def _prepare(task: Task, found: Sequence[Path], prefix: str) -> Prepared:
    if not found:
        raise MissingError("the library is not installed")
    library = load_c("blas.c", libraries=("-ldl",))
    library.open_blas.restype = ctypes.c_char_p
    complaint = library.open_blas(str(found[-1]).encode(), prefix.encode())
    if complaint:
        raise MissingError(f"{found[-1]}: {complaint.decode()}")
    symbol = ""
    if task.problem == "product":
        single = next(iter(task.arrays.values())).dtype == np.float32
        scaled = "C" in task.arrays
        symbol = ("product32_scaled" if scaled else "product32") if single else "product64"
    return prepare_kernel(library, task, symbol)
