"""Compile a C file of this directory and load it; for peers that are called from C."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.task import Array, MissingError

HERE = Path(__file__).parent
OPTIMISED = ("-O3", "-march=native", "-std=gnu11", "-fPIC")
ALIGNMENT = 64


@cache
def load_c(source: str, flags: tuple[str, ...] = (), libraries: tuple[str, ...] = ()) -> ctypes.CDLL:
    """The library of a C file, compiled with gcc -O3 -march=native and further flags, once a process.

    It is linked without the flags that allow other arithmetic: linking with them switches subnormal numbers
    off for the whole process.
    """
    with tempfile.TemporaryDirectory() as directory:
        object_file, library = (str(Path(directory) / name) for name in ("peer.o", "peer.so"))
        _run([*OPTIMISED, *flags, f"-I{HERE}", "-c", str(HERE / source), "-o", object_file])
        kept = [flag for flag in flags if flag == "-fopenmp"]
        _run(["-shared", *kept, object_file, "-o", library, *libraries])
        return ctypes.CDLL(library)


def _run(arguments: Sequence[str]) -> None:
    command = [os.environ.get("CC", "gcc"), *arguments]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise MissingError(f"no C compiler {command[0]}") from None
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"{' '.join(command)}\n{error.stderr}") from error


def aligned(shape: Sequence[int], dtype: object = np.float64) -> Array:
    """Zeros that begin at a cache line, touched once so that no page is new when it is timed."""
    kind = np.dtype(dtype)  # type: ignore[call-overload]
    count = int(np.prod(shape)) * kind.itemsize
    room = np.zeros(count + ALIGNMENT, np.uint8)
    first = -room.ctypes.data % ALIGNMENT
    result: Array = room[first : first + count].view(kind).reshape(tuple(shape))
    result[...] = 0
    return result


def copy_aligned(array: Array) -> Array:
    """A C-contiguous copy that begins at a cache line."""
    result = aligned(array.shape, array.dtype)
    result[...] = array
    return result


def pointers(arrays: Sequence[Array]) -> ctypes.Array[ctypes.c_void_p]:
    """The addresses of arrays, as C takes them."""
    return (ctypes.c_void_p * max(1, len(arrays)))(*(array.ctypes.data for array in arrays))
