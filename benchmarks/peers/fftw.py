"""The serial FFTW of pyfftw's wheel, called from C."""

from __future__ import annotations

import ctypes
import importlib.util
from pathlib import Path

from benchmarks.peers.csource import aligned, load_c, pointers
from benchmarks.task import Array, MissingError, Prepared, Task

MEASURE, ESTIMATE = 0, 64


def prepare_estimated(task: Task) -> Prepared:
    """Planned without measuring."""
    return _prepare(task, ESTIMATE)


def prepare_measured(task: Task) -> Prepared:
    """Planned by measuring, which is not timed."""
    return _prepare(task, MEASURE)


def find_fftw() -> Path:
    """The library in the wheel, the serial one for double precision."""
    found = importlib.util.find_spec("pyfftw")
    if found is None or found.origin is None:
        raise MissingError("pyfftw is not installed")
    beside = Path(found.origin).parent.parent
    libraries = sorted(path for path in beside.glob("py[fF][fF][tT][wW].libs/libfftw3-*.so*"))
    if not libraries:
        raise MissingError("no FFTW in pyfftw's wheel")
    return libraries[0]


def _prepare(task: Task, rigour: int) -> Prepared:
    if task.problem != "dft":
        raise MissingError(f"no transform {task.problem}")
    library = load_c("fftw.c", libraries=("-ldl",))
    library.open_fftw.restype = ctypes.c_char_p
    complaint = library.open_fftw(str(find_fftw()).encode())
    if complaint:
        raise MissingError(complaint.decode())
    library.plan.restype, library.timed.restype = ctypes.c_void_p, ctypes.c_double
    x = task.arrays["x"]
    inputs, results = aligned(x.shape, x.dtype), aligned(x.shape, x.dtype)
    addresses = pointers([inputs, results])
    plan = library.plan(
        ctypes.c_long(len(x)),
        ctypes.c_void_p(addresses[0]),
        ctypes.c_void_p(addresses[1]),
        ctypes.c_uint(rigour),
    )
    inputs[...] = x

    def repeat(count: int) -> float:
        assert inputs is not None  # it lives as long as its address is used
        return float(library.timed(ctypes.c_void_p(plan), ctypes.c_long(count)))

    def call() -> Array:
        repeat(1)
        return results

    return Prepared(call, repeat=repeat)
