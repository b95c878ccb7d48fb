"""A signature as the flat tuple from which the C launcher builds its tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from polymat.codegen.c.abi import Array, Row, Signature, Size
from polymat.errors import InternalError, NameClashError
from polymat.runtime.sizes import SIZE_LIMIT, evaluation_order, invert, merged

DTYPES = (
    "bool",
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)


def launch_spec(signature: Signature, threads: int) -> tuple[Any, ...]:
    """The arguments of `Launcher`; slots are inputs, scalars, sizes passed by name, and `out`."""
    names = slot_names(signature)
    pairs = [(array.name, array.dtype) for array in signature.inputs + signature.outputs]
    pairs += [(scalar.name, scalar.dtype) for scalar in signature.scalars]
    for name, dtype in pairs:
        if dtype not in DTYPES:
            raise InternalError(f"bug in polymat: {signature.name}: {name} has dtype {dtype}")
    return (
        signature.name,
        (*names, "out"),
        tuple(_array(array) for array in signature.inputs + signature.outputs),
        len(signature.inputs),
        tuple(_size(signature, index, size) for index, size in enumerate(signature.sizes)),
        tuple(_row(row) for row in signature.derived),
        evaluation_order(signature),
        tuple((np.dtype(s.dtype).kind, np.dtype(s.dtype).itemsize) for s in signature.scalars),
        tuple(names.index(name) for name in signature.order),
        signature.inplace,
        tuple(_row(row) for row, _ in signature.constraints),
        threads,
        SIZE_LIMIT,
    )


def slot_names(signature: Signature) -> tuple[str, ...]:
    """Names of everything that may be passed, except `out`: inputs, scalars, sizes that no shape shows."""
    names = [array.name for array in signature.inputs]
    names += [scalar.name for scalar in signature.scalars]
    names += [size.name for size in signature.sizes if size.by_name]
    if "out" in names:
        raise NameClashError(
            f"{signature.name}: an argument is called out, but out= stands for the output",
            hint="give the argument another name",
        )
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise NameClashError(f"{signature.name}: two arguments are called {twice}")
    return tuple(names)


def _array(array: Array) -> tuple[Any, ...]:
    zeroed = array.zero_fill and (tuple(_row(row) for row in array.written_from) or True)
    extents = tuple(_row(row) for row in array.extents)
    return array.name, np.dtype(array.dtype), extents, zeroed, array.by_columns, array.pitches


def _size(signature: Signature, index: int, size: Size) -> tuple[Any, ...]:
    if size.array < 0:
        return size.array, 0, size.least, 1, _row(Row(0))
    inversion = invert(signature, index)
    return size.array, size.dim, size.least, inversion.coefficient, _row(inversion.rest)


def _row(row: Row) -> tuple[Any, ...]:
    return row.const, row.divisor, merged(row)
