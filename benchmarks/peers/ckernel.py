"""Kernels in C that take sizes, inputs and results: what plain loops and a BLAS called from C share."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers.csource import aligned, copy_aligned, pointers
from benchmarks.task import Array, MissingError, Prepared, Task

NAMES = {"2mm": "two_mm", "3mm": "three_mm"}

# By problem: for every array that C writes, what its shape is taken from: dimensions of inputs.
# The first ones are the results, others are room for what lies between.
Shape = tuple[tuple[str, int], ...]
RESULTS: dict[str, tuple[Shape, ...]] = {
    "gemm": ((("C", 0), ("C", 1)),),
    "2mm": ((("D", 0), ("D", 1)), (("A", 0), ("B", 1))),
    "3mm": ((("A", 0), ("D", 1)), (("A", 0), ("B", 1)), (("C", 0), ("D", 1))),
    "symm": ((("C", 0), ("C", 1)),),
    "syrk": ((("C", 0), ("C", 1)),),
    "syr2k": ((("C", 0), ("C", 1)),),
    "trmm": ((("B", 0), ("B", 1)),),
    "doitgen": ((("A", 0), ("A", 1), ("A", 2)),),
    "gemver": ((("A", 0),), (("A", 0), ("A", 1)), (("A", 0),)),
    "gesummv": ((("A", 0),),),
    "atax": ((("A", 1),),),
    "bicg": ((("A", 1),), (("A", 0),)),
    "mvt": ((("A", 0),), (("A", 0),)),
    "product": ((("A", 0), ("B", 1)),),
}
_LINE: Shape = (("A", 0),)
_SQUARE: Shape = (("A", 0), ("A", 1))
_CUBE: Shape = (*_SQUARE, ("A", 2))
_DATA: Shape = (("data", 0), ("data", 1))
_IMAGE: Shape = (("imgIn", 0), ("imgIn", 1))
_FIELD: Shape = (("ex", 0), ("ex", 1))
_U: Shape = (("u", 0), ("u", 1))
RECURRENCES: dict[str, tuple[Shape, ...]] = {
    "correlation": ((("data", 1), ("data", 1)), _DATA),
    "covariance": ((("data", 1), ("data", 1)), _DATA),
    "cholesky": (_SQUARE,),
    "durbin": ((("r", 0),), (("r", 0),)),
    "gramschmidt": ((("A", 1), ("A", 1)), _SQUARE, _SQUARE),
    "lu": (_SQUARE,),
    "ludcmp": (_LINE, _SQUARE, _LINE),
    "trisolv": ((("b", 0),),),
    "deriche": (_IMAGE, _IMAGE, _IMAGE),
    "floyd-warshall": ((("path", 0), ("path", 1)),),
    "nussinov": ((("seq", 0), ("seq", 0)),),
    "adi": (_U, _U, _U, _U),
    "fdtd-2d": (_FIELD, _FIELD, _FIELD),
    "heat-3d": (_CUBE, _CUBE),
    "jacobi-1d": (_LINE, _LINE),
    "jacobi-2d": (_SQUARE, _SQUARE),
    "seidel-2d": (_SQUARE,),
}
_MOMENTS: Shape = (("Y", 0), ("Y", 1))
PROGRAMS: dict[str, tuple[Shape, ...]] = {
    "npbench_stockham_fft": ((("x", 0),),),
    "npbench_contour_integral": (_MOMENTS, _MOMENTS),
    "npbench_channel_flow": (_U, _U, _U),
}
RESULT_COUNTS = {
    **{"bicg": 2, "mvt": 2, "gramschmidt": 2, "fdtd-2d": 3},
    **{name: len(shapes) for name, shapes in PROGRAMS.items()},
}


def prepare_kernel(library: ctypes.CDLL, task: Task, symbol: str = "") -> Prepared:
    """Call the kernel of the task's name (or `symbol`) on aligned copies of its arrays.

    task.values["sizes"]: the sizes in the order that the kernel takes them; "dtype": of the results, where it
    is not that of the inputs.
    """
    symbol = symbol or NAMES.get(task.problem, task.problem.replace("-", "_"))
    shapes = (RESULTS | RECURRENCES | PROGRAMS).get(task.problem, ())
    if not shapes or not hasattr(library, symbol):
        raise MissingError(f"no kernel {task.problem}")
    kernel = getattr(library, symbol)
    inputs = [copy_aligned(array) for array in task.arrays.values()]
    kind = task.values.get("dtype") or np.result_type(*inputs)
    results = [_result(task.arrays, shape, kind) for shape in shapes]
    sizes = tuple(task.values["sizes"].values())
    arguments = ((ctypes.c_long * len(sizes))(*sizes), pointers(inputs), pointers(results))
    alive = (inputs, results)  # as long as their addresses are used
    library.timed.restype = ctypes.c_double
    wanted = tuple(results[: RESULT_COUNTS.get(task.problem, 1)])

    def call() -> tuple[Array, ...]:
        assert alive
        kernel(*arguments)
        return wanted

    def repeat(count: int) -> float:
        assert alive
        return float(library.timed(kernel, *arguments, ctypes.c_long(count)))

    return Prepared(call, repeat=repeat)


def _result(arrays: dict[str, Array], shape: Sequence[tuple[str, int]], kind: Any) -> Array:
    return aligned([arrays[name].shape[dimension] for name, dimension in shape], kind)
