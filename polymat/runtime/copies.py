"""What is said when a call copies a large array because its code cannot take it as it lies."""

from __future__ import annotations

from polymat.codegen.c.abi import Signature
from polymat.runtime.check_arrays import AnyArray


def copy_text(signature: Signature, index: int, array: AnyArray) -> str:
    """Which array is copied at each call of this kind, why, and what would spare it."""
    count = len(signature.inputs)
    shape = " x ".join(map(str, array.shape))
    what = f"{shape} {array.dtype} ({array.nbytes / 1e6:.1f} MB)"
    if index >= count:
        name = "out" if len(signature.outputs) == 1 else f"out[{index - count}]"
        return (
            f"{name}, {what} {_layout(array)}, is written by way of a copy at each call:"
            " a C-contiguous array is written as it lies"
        )
    spec = signature.inputs[index]
    if array.flags.aligned and (array.flags.f_contiguous if spec.by_columns else array.flags.c_contiguous):
        return f"{spec.name}, {what}, is also the output, and is copied first: the code cannot work in place"
    if not spec.by_columns and not spec.pitches and _has_rows(array):
        instead = f"compile(..., strided=[{spec.name}]) reads it as it lies"
    elif spec.by_columns:
        instead = "without fortran= it is read as it lies" if array.flags.c_contiguous else _CONTIGUOUS
    else:
        by_columns = f"compile(..., fortran=[{spec.name}]) reads it as it lies"
        instead = by_columns if array.flags.f_contiguous and array.flags.aligned else _CONTIGUOUS
    return f"{spec.name}, {what} {_layout(array)}, is copied at each call: {instead}"


_CONTIGUOUS = "np.ascontiguousarray copies it once, for several calls"


def _has_rows(array: AnyArray) -> bool:
    """Whether it is part of a C-contiguous array, whose last dimension lies without gaps."""
    steps = [*array.strides, array.itemsize]
    pairs = zip(array.shape, steps, steps[1:], (*array.shape[1:], 1), strict=False)
    apart = [
        step % inner == 0 and step >= inner * extent
        for n, step, inner, extent in pairs
        if n > 1 and inner > 0
    ]
    whole = array.shape[-1:] == (1,) or array.strides[-1:] == (array.itemsize,)
    return array.ndim > 1 and array.flags.aligned and whole and len(apart) == array.ndim and all(apart)


def _layout(array: AnyArray) -> str:
    if not array.flags.aligned:
        return "not aligned to its elements"
    if array.flags.c_contiguous:
        return "in C order"
    return "in Fortran order" if array.flags.f_contiguous else f"with strides {array.strides}"
