"""Why a call was refused.

The launcher only finds out that something is wrong; here the arguments are checked again, in Python, in the
order in which a reader would look, and the first thing that is wrong is put into words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from polymat.codegen.c.abi import PITCH, Signature, Size
from polymat.dataclass import dataclass
from polymat.errors import ArgumentError, InternalError, counted
from polymat.runtime.check_arrays import (
    AnyArray,
    check_array,
    check_extents,
    check_outputs,
    check_overlaps,
    sizes_text,
    too_large,
)
from polymat.runtime.check_scalars import Number, check_integer, check_scalar
from polymat.runtime.sizes import SIZE_LIMIT, evaluation_order, invert, origin_text, row_value
from polymat.runtime.spec import slot_names


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of a call that passed every check; `outputs` has None for each to be allocated."""

    inputs: dict[str, AnyArray]
    scalars: dict[str, Number]
    sizes: dict[str, int]
    outputs: tuple[AnyArray | None, ...]


def diagnose(signature: Signature, args: Sequence[object], kwargs: Mapping[str, object]) -> NoReturn:
    """Raise what is wrong with a call that the launcher refused."""
    bind(signature, args, kwargs)
    raise InternalError(
        f"bug in polymat: {signature.name}(): the call was refused, but nothing is wrong with its arguments"
    )


def bind(signature: Signature, args: Sequence[object], kwargs: Mapping[str, object]) -> Bound:
    """Match and check the arguments of a call."""
    given = match_arguments(signature, args, kwargs)
    call = f"{signature.name}():"
    scalars = {scalar.name: check_scalar(call, scalar, given[scalar.name]) for scalar in signature.scalars}
    named = {
        size.name: check_integer(call, size.name, given[size.name], "int64")
        for size in signature.sizes
        if size.by_name
    }
    arrays = [check_array(signature, array.name, array, given[array.name]) for array in signature.inputs]
    symbols = _bind_sizes(signature, arrays, named)
    check_extents(signature, arrays, symbols, given)
    _check_constraints(signature, symbols)
    outputs = check_outputs(signature, given.get("out"), symbols)
    check_overlaps(signature, arrays, outputs)
    return Bound(
        inputs={array.name: value for array, value in zip(signature.inputs, arrays, strict=True)},
        scalars=scalars,
        sizes={size.name: symbols[index] for index, size in enumerate(signature.sizes)},
        outputs=outputs,
    )


def usage(signature: Signature) -> str:
    """How the pipeline is called: `mm(A, B, *, alpha, out=None)`."""
    by_name = [name for name in slot_names(signature) if name not in signature.order]
    return f"{signature.name}({', '.join((*signature.order, '*', *by_name, 'out=None'))})"


def match_arguments(
    signature: Signature, args: Sequence[object], kwargs: Mapping[str, object]
) -> dict[str, object]:
    """The arguments by name."""
    call = f"{signature.name}():"
    if len(args) > len(signature.order):
        count = len(signature.order)
        takes = f"takes {counted(count, 'positional argument')}, got {len(args)}"
        raise ArgumentError(f"{call} {takes}", hint=usage(signature))
    given = dict(zip(signature.order, args, strict=False))
    names = slot_names(signature)
    for name, value in kwargs.items():
        if name in given:
            raise ArgumentError(f"{call} argument {name} is given twice, by position and by name")
        if name != "out" and name not in names:
            raise _unknown(signature, name, value, names)
        given[name] = value
    for name in names:
        if name not in given:
            raise ArgumentError(f"{call} argument {name} is missing", hint=usage(signature))
    return given


def _unknown(signature: Signature, name: str, value: object, names: Sequence[str]) -> ArgumentError:
    message = f"{signature.name}(): unknown argument {name!r}"
    for size in signature.sizes:
        if size.name == name and size.array >= 0:
            where = f"dimension {size.dim} of {signature.inputs[size.array].name} sets it"
            return ArgumentError(f"{message}: {where}, it is not passed")
    from difflib import get_close_matches  # imported where something is wrong

    close = get_close_matches(name, [*names, "out"], n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    number = isinstance(value, int) and not isinstance(value, bool)
    sizes = "; a size that compile(sizes=...) fixed is not passed" if number else ""
    return ArgumentError(message, hint=f"{hint}{usage(signature)}{sizes}")


def _bind_sizes(signature: Signature, arrays: Sequence[AnyArray], named: Mapping[str, int]) -> dict[int, int]:
    symbols: dict[int, int] = {}
    for symbol in evaluation_order(signature):
        if symbol < len(signature.sizes):
            symbols[symbol] = _bind_size(signature, symbol, arrays, named, symbols)
            continue
        row = signature.derived[symbol - len(signature.sizes)]
        value = row_value(row, symbols)
        if value is None:
            raise ArgumentError(too_large(signature, row, symbols))
        symbols[symbol] = value
    return symbols


def _pitch(signature: Signature, index: int, arrays: Sequence[AnyArray]) -> int:
    """The pitch of a dimension of a contiguous copy."""
    spec, array = next(
        pair for pair in zip(signature.inputs, arrays, strict=True) if index in pair[0].pitches
    )
    return int(array.shape[spec.pitches.index(index) + 1])


def _bind_size(
    signature: Signature,
    index: int,
    arrays: Sequence[AnyArray],
    named: Mapping[str, int],
    symbols: Mapping[int, int],
) -> int:
    size = signature.sizes[index]
    if size.by_name:
        return _in_range(signature, size, named[size.name])
    if size.array == PITCH:
        return _pitch(signature, index, arrays)
    extent = arrays[size.array].shape[size.dim]
    value = invert(signature, index).size(extent, symbols)
    if value is None:
        name = signature.inputs[size.array].name
        raise ArgumentError(
            f"{signature.name}(): argument {name} has shape {arrays[size.array].shape}:"
            f" dimension {size.dim} is too large"
        )
    return _in_range(signature, size, value)


def _in_range(signature: Signature, size: Size, value: int) -> int:
    text = f"{signature.name}(): size {size.name} = {value}, {origin_text(signature, size)}"
    if value < size.least:
        raise ArgumentError(f"{text}: expected at least {size.least}")
    if value > SIZE_LIMIT:
        raise ArgumentError(f"{text}: expected at most {SIZE_LIMIT}")
    return value


def _check_constraints(signature: Signature, symbols: Mapping[int, int]) -> None:
    for row, text in signature.constraints:
        value = row_value(row, symbols)
        if value is None:
            raise ArgumentError(too_large(signature, row, symbols))
        if value < 0:
            sizes = sizes_text(signature, range(len(signature.sizes)), symbols)
            raise ArgumentError(
                f"{signature.name}(): refused{f' for {sizes}' if sizes else ''}: requires {text}"
            )
