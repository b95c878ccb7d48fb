"""The arguments of a compilation, checked: outputs, inputs, sizes and constraints."""

from __future__ import annotations

import logging
import operator
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from polymat.errors import DtypeError, LangError, NameClashError, caller_location
from polymat.lang.condition import Condition
from polymat.lang.expr import Parameter
from polymat.lang.function import Function, Input
from polymat.lang.operators import shown
from polymat.lang.traverse import conjuncts

MAX_SIZE = 2**48  # what a call accepts; products of sizes and element bytes stay far from 2**63


def output_functions(outputs: Any) -> tuple[Function, ...]:
    """Check what the user passed as outputs."""
    at = caller_location()
    listed = tuple(outputs) if isinstance(outputs, list | tuple) else (outputs,)
    if not listed:
        raise LangError("there are no outputs to compile", at=at)
    for output in listed:
        if isinstance(output, Input):
            raise LangError(f"{output.label} is an input: there is nothing to compute", at=at)
        if not isinstance(output, Function):
            raise LangError(
                f"an output is a function, a reduction or a matrix result, got {shown(output)}", at=at
            )
        if sum(other is output for other in listed) > 1:
            raise NameClashError(f"the output {output.label} is listed twice", at=at)
    return listed


def argument_order(inputs: Any, used: Sequence[Input]) -> list[Input | Parameter]:
    """Check `inputs=`; without it the inputs in order of first use."""
    if inputs is None:
        return list(used)
    at = caller_location()
    if not isinstance(inputs, list | tuple):
        raise LangError(
            f"inputs= is a list of input arrays and parameters, got {shown(inputs)}",
            at=at,
            hint="inputs=[A, B]",
        )
    for item in inputs:
        if not isinstance(item, Input | Parameter):
            raise LangError(f"inputs= lists input arrays and parameters, got {shown(item)}", at=at)
        if sum(other is item for other in inputs) > 1:
            raise NameClashError(f"inputs= lists {item.name} twice", at=at)
    missing = [array.label for array in used if not any(array is item for item in inputs)]
    if missing:
        raise LangError(f"inputs= lacks {', '.join(missing)}, which the outputs read", at=at)
    return list(inputs)


def fixed_sizes(sizes: Any, word: str) -> dict[str, int]:
    """Check a mapping from parameters to integers, given as `sizes=` or `estimates=`."""
    if sizes is None:
        return {}
    at = caller_location()
    if not isinstance(sizes, Mapping):
        raise LangError(f"{word}= maps Parameters to integers, got {shown(sizes)}", at=at, hint="{N: 128}")
    fixed: dict[str, int] = {}
    for parameter, value in sizes.items():
        if not isinstance(parameter, Parameter):
            raise LangError(
                f"{word}= maps Parameters to integers, got the key {shown(parameter)}",
                at=at,
                hint="the Parameter itself, not its name: {N: 128}",
            )
        number = _integer(value)
        if parameter.dtype.kind not in "iu" or number is None:
            reason = "an integer is needed" if number is None else f"it is a {parameter.dtype}, not a size"
            raise DtypeError(f"{word}= gives {parameter.name} the value {shown(value)}: {reason}", at=at)
        if not 0 <= number < MAX_SIZE:
            limits = "0 .. 2**48 - 1"
            raise LangError(f"{word}= gives {parameter.name} the value {number}, not in {limits}", at=at)
        if fixed.setdefault(parameter.name, number) != number:
            raise NameClashError(f"{word}= gives {parameter.name} two values", at=at)
    return fixed


def check_known(sizes: Collection[str], known: Sequence[str]) -> None:
    """Refuse a size given as `sizes=` that the pipeline does not have."""
    for name in sizes:
        if name not in known:
            raise LangError(
                f"sizes= gives a value for {name}, which is no parameter of this pipeline",
                at=caller_location(),
                hint=f"its parameters: {', '.join(known)}" if known else "it has no parameters",
            )


def note_unknown(estimates: Collection[str], known: Sequence[str]) -> None:
    """Log estimates of parameters that the pipeline does not have: one dictionary may serve several."""
    unknown = [name for name in estimates if name not in known]
    if unknown:
        logging.getLogger("polymat.built").debug("estimates= without effect: %s", ", ".join(unknown))


def _integer(value: Any) -> int | None:
    if isinstance(value, bool | np.bool_):  # neither is a size, and older NumPy's counts as an index
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def checked_constraints(constraints: Any) -> tuple[Condition, ...]:
    """Check `constraints=`: comparisons, those that `&` combines one by one; each is looked at later."""
    try:
        listed = tuple(constraints)
    except (TypeError, LangError):  # a Condition itself, an expression
        listed = (None,)
    if not all(isinstance(condition, Condition) for condition in listed):
        raise LangError(
            f"constraints= lists conditions on sizes, got {shown(constraints)}",
            at=caller_location(),
            hint='constraints=[Condition(N, ">=", 16)]',
        )
    return tuple(single for condition in listed for single in conjuncts(condition))


def checked_flag(value: Any, word: str) -> bool:
    """Check a keyword argument that is True or False."""
    if not isinstance(value, bool):
        raise LangError(f"{word}= is True or False, got {shown(value)}", at=caller_location())
    return value


def listed_inputs(value: Any, word: str) -> tuple[Input, ...]:
    """Check what the user passed as `fortran=` or `strided=`, as far as that can be without the pipeline."""
    if not isinstance(value, list | tuple):
        raise LangError(
            f"{word}= is a list of input arrays, got {shown(value)}",
            at=caller_location(),
            hint=f"{word}=[A]",
        )
    for item in value:
        if not isinstance(item, Input):
            raise LangError(f"{word}= lists input arrays, got {shown(item)}", at=caller_location())
    return tuple(value)


def strided_inputs(strided: Any, fortran: Sequence[Input]) -> tuple[Input, ...]:
    """Check what the user passed as `strided=`, as far as that can be without the pipeline."""
    listed = listed_inputs(strided, "strided")
    for array in listed:
        if array in fortran:
            raise LangError(
                f"fortran= and strided= both list {array.name}",
                at=caller_location(),
                hint="it is read column by column, or by rows that lie apart",
            )
    return listed
