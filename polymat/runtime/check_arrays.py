"""Arrays of a call, checked as the launcher does, with words for what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from polymat.codegen.c.abi import Array, Row, Signature
from polymat.errors import ArgumentError, counted
from polymat.runtime.foreign import NoArrayError, array_of, element_text, kind_text, offers_array
from polymat.runtime.sizes import merged, origin_text, row_text, row_value, shape_text

AnyArray = npt.NDArray[Any]
Symbols = Mapping[int, int]

# Steps after which the exact answer on overlap is given up; np.shares_memory can be exponential.
_OVERLAP_WORK = 100_000


def check_array(
    signature: Signature, label: str, array: Array, value: object, *, instead: str = ""
) -> AnyArray:
    """The value as an array of the right kind, dtype and rank; `instead`: what else an output could be."""
    wanted = f"expected a numpy.ndarray of {array.dtype}, shape {shape_text(signature, array.extents)}"
    if not isinstance(value, np.ndarray):
        return _check_foreign(signature, label, array, value, wanted, instead)
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(
            f"{signature.name}(): argument {label} is a masked array, whose mask would be lost: {wanted}",
            hint=instead or f"{label}.filled(value), or {label}.data to ignore the mask",
        )
    if value.dtype != np.dtype(array.dtype):
        swapped = value.dtype.newbyteorder("=") == np.dtype(array.dtype)
        note = " (not in this machine's byte order)" if swapped else ""
        raise ArgumentError(
            f"{signature.name}(): argument {label} has dtype {value.dtype}{note}: expected {array.dtype}",
            hint=instead
            or _converted(
                label, value.dtype, np.dtype(array.dtype), f"{label}.astype(np.{_in_numpy(array.dtype)})"
            ),
        )
    return _check_rank(signature, f"argument {label}", array, value)


def _check_foreign(
    signature: Signature, label: str, array: Array, value: object, wanted: str, instead: str
) -> AnyArray:
    """The array of another library as NumPy's."""
    call = f"{signature.name}():"
    hint = instead or f"np.asarray({label}, dtype=np.{_in_numpy(array.dtype)})"
    if value is None:
        raise ArgumentError(f"{call} argument {label} is None: {wanted}")
    if not offers_array(value):
        raise ArgumentError(f"{call} argument {label} is of type {type(value).__name__}: {wanted}", hint=hint)
    kind, element = kind_text(value), element_text(value)
    try:
        found = array_of(value)
    except NoArrayError as error:
        if error.hint:
            raise ArgumentError(
                f"{call} argument {label} is {kind} {error.why}: {wanted}", hint=f"{label}.{error.hint}"
            ) from None
        if element not in ("", array.dtype):
            raise ArgumentError(
                f"{call} argument {label} is {kind} of {element}: expected {array.dtype}", hint=hint
            ) from None
        known = hint if instead or error.convertible else ""
        raise ArgumentError(f"{call} argument {label} is {kind} {error.why}: {wanted}", hint=known) from None
    if found.dtype != np.dtype(array.dtype):
        raise ArgumentError(
            f"{call} argument {label} is {kind} of {found.dtype}: expected {array.dtype}",
            hint=instead or _converted(label, found.dtype, np.dtype(array.dtype), hint),
        )
    return _check_rank(signature, subject(label, value), array, found)


def _check_rank(signature: Signature, who: str, array: Array, value: AnyArray) -> AnyArray:
    if value.ndim != len(array.extents):
        raise ArgumentError(
            f"{signature.name}(): {who} has {counted(value.ndim, 'dimension')}, shape {value.shape}:"
            f" expected {counted(len(array.extents), 'dimension')}, {shape_text(signature, array.extents)}"
        )
    return value


def subject(label: str, value: object) -> str:
    """An argument in words: `argument A`, and what it is where it is no array of NumPy's."""
    return f"argument {label}" if isinstance(value, np.ndarray) else f"argument {label}, {kind_text(value)},"


def _in_numpy(dtype: object) -> str:
    """The name that every version of NumPy has: `np.bool` came back with the second."""
    return "bool_" if str(dtype) == "bool" else str(dtype)


def _converted(label: str, given: np.dtype[Any], wanted: np.dtype[Any], whole: str) -> str:
    """What the caller may write: `whole`, where that is likely to be meant: a complex array has two parts."""
    if given.kind == "c" and wanted.kind != "c":
        return f"{label}.real or abs({label}), as {wanted}, which has no room for imaginary parts"
    if given.name == "bfloat16" and wanted == np.uint16:
        return f"{label}.view(np.uint16), the sixteen bits of each number, where it is declared as BFloat16"
    return whole


def check_extents(
    signature: Signature, arrays: Sequence[AnyArray], symbols: Symbols, given: Mapping[str, object]
) -> None:
    """Every extent of every input is what its row says; `given`: the arguments as they came."""
    for index, (array, value) in enumerate(zip(signature.inputs, arrays, strict=True)):
        for dim, row in enumerate(array.extents):
            expected = row_value(row, symbols)
            if expected is None:
                raise ArgumentError(too_large(signature, row, symbols))
            if expected == value.shape[dim]:
                continue
            sets = [size for size in signature.sizes if (size.array, size.dim) == (index, dim)]
            wanted = (
                f"{row_text(signature, row)} for some integer {sets[0].name}"
                if sets
                else describe_extent(signature, row, expected, symbols)
            )
            raise ArgumentError(
                f"{signature.name}(): {subject(array.name, given[array.name])} has shape {value.shape}:"
                f" expected dimension {dim} to be {wanted}"
            )


def check_outputs(signature: Signature, out: object, symbols: Symbols) -> tuple[AnyArray | None, ...]:
    """The arrays in `out=`, None for each that is to be allocated."""
    count = len(signature.outputs)
    if out is None:
        return (None,) * count
    if not isinstance(out, tuple):
        if count > 1:
            names = ", ".join(array.name for array in signature.outputs)
            raise ArgumentError(
                f"{signature.name}(): argument out is of type {type(out).__name__}:"
                f" expected a tuple of {count} arrays ({names})"
            )
        return (_check_output(signature, "out", signature.outputs[0], out, symbols),)
    if len(out) != count:
        raise ArgumentError(
            f"{signature.name}(): argument out is a tuple of {len(out)}: expected {count},"
            f" one for each of {', '.join(array.name for array in signature.outputs)}"
        )
    return tuple(
        _check_output(signature, f"out[{index}]", array, value, symbols)
        for index, (array, value) in enumerate(zip(signature.outputs, out, strict=True))
    )


def _check_output(
    signature: Signature, label: str, array: Array, value: object, symbols: Symbols
) -> AnyArray | None:
    if value is None:
        return None
    shape = []
    for row in array.extents:
        extent = row_value(row, symbols)
        if extent is None:
            raise ArgumentError(too_large(signature, row, symbols))
        shape.append(max(extent, 0))
    instead = f"np.empty({tuple(shape)}, dtype=np.{_in_numpy(array.dtype)}) makes an array that fits"
    checked = check_array(signature, label, array, value, instead=instead)
    if checked.shape != tuple(shape):
        raise ArgumentError(
            f"{signature.name}(): {subject(label, value)} has shape {checked.shape}: expected {tuple(shape)},"
            f" which is {shape_text(signature, array.extents)} for {array.name}"
        )
    if not checked.flags.writeable:
        raise ArgumentError(f"{signature.name}(): {subject(label, value)} is read-only", hint=instead)
    return checked


def check_overlaps(
    signature: Signature, inputs: Sequence[AnyArray], outputs: Sequence[AnyArray | None]
) -> None:
    """Outputs share memory with nothing, except that one may be exactly an input."""
    call = f"{signature.name}():"
    labels = ["out"] if len(outputs) == 1 else [f"out[{index}]" for index in range(len(outputs))]
    given = [(label, array) for label, array in zip(labels, outputs, strict=True) if array is not None]
    for index, (label, array) in enumerate(given):
        if overlaps_itself(array):
            raise ArgumentError(
                f"{call} argument {label} has elements that overlap in memory (shape {array.shape},"
                f" strides {array.strides})"
            )
        for other_label, other in given[:index]:
            if shares_memory(array, other):
                raise ArgumentError(f"{call} arguments {other_label} and {label} share memory")
        for spec, value in zip(signature.inputs, inputs, strict=True):
            if shares_memory(array, value) and not same_view(array, value):
                alike = (array.shape, array.dtype) == (value.shape, value.dtype)
                raise ArgumentError(
                    f"{call} argument {label} shares memory with {spec.name}, but is not the same array",
                    hint="pass a copy of one of them" + f", or {spec.name} itself as {label}" * alike,
                )


def shares_memory(a: AnyArray, b: AnyArray) -> bool:
    """Whether some byte is in both; True where that is too hard to find out."""
    plain_a, plain_b = np.ndarray.view(a, np.ndarray), np.ndarray.view(b, np.ndarray)
    try:
        return np.shares_memory(plain_a, plain_b, max_work=_OVERLAP_WORK)  # type: ignore[arg-type]
    except RuntimeError:
        return True


def same_view(a: AnyArray, b: AnyArray) -> bool:
    """Whether both are the same elements in the same order."""
    if a.ctypes.data != b.ctypes.data or a.shape != b.shape or a.itemsize != b.itemsize:
        return False
    return all(s == t for n, s, t in zip(a.shape, a.strides, b.strides, strict=True) if n > 1)


def overlaps_itself(array: AnyArray) -> bool:
    """Whether two indices may lead to one element: sorted, each stride must step over all the smaller."""
    if array.size == 0 or array.flags.c_contiguous:
        return False
    reach = array.itemsize
    for stride, extent in sorted(
        (abs(stride), extent) for stride, extent in zip(array.strides, array.shape, strict=True) if extent > 1
    ):
        if stride < reach:
            return True
        reach += stride * (extent - 1)
    return False


def describe_extent(signature: Signature, row: Row, value: int, symbols: Symbols) -> str:
    """An expected extent with the sizes it follows from: `K = 4, which A's dimension 1 sets`."""
    used = _sizes_in(signature, row)
    if not used:
        return str(value)
    text = row_text(signature, row)
    if [signature.sizes[index].name for index in used] == [text]:
        return f"{text} = {value}, {origin_text(signature, signature.sizes[used[0]])}"
    causes = "; ".join(
        f"{signature.sizes[index].name} = {symbols[index]}, {origin_text(signature, signature.sizes[index])}"
        for index in used
    )
    return f"{text} = {value} ({causes})"


def too_large(signature: Signature, row: Row, symbols: Symbols) -> str:
    """The message for a row that leaves 64 bits."""
    values = sizes_text(signature, _sizes_in(signature, row), symbols)
    return f"{signature.name}(): {row_text(signature, row)} does not fit into 64 bits ({values})"


def sizes_text(signature: Signature, indices: Sequence[int], symbols: Symbols) -> str:
    """`M = 2, N = 3`."""
    return ", ".join(f"{signature.sizes[index].name} = {symbols[index]}" for index in indices)


def _sizes_in(signature: Signature, row: Row) -> list[int]:
    first = len(signature.sizes)
    found: dict[int, None] = {}
    for symbol, _ in merged(row):
        inner = [symbol] if symbol < first else _sizes_in(signature, signature.derived[symbol - first])
        found.update(dict.fromkeys(inner))
    return list(found)
