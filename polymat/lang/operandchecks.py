"""What functions of linear algebra check of their arguments."""

from __future__ import annotations

from typing import Any

from polymat.errors import LangError, ShapeError, caller_location
from polymat.lang.algebra import (
    check_plain,
    described,
    extents_hint,
)
from polymat.lang.function import Source
from polymat.lang.operators import shown

_KINDS = ("scalar", "Vector", "Matrix")


def checked_arguments(function: str, ranks: tuple[int, ...], **arguments: Any) -> tuple[Source, ...]:
    """Check matrix and vector arguments: a plain function may stand beside a matrix, not alone."""
    for name, value in arguments.items():
        _check_argument(function, name, value, ranks)
    if all(value.algebra == "" for value in arguments.values()):
        name, value = next(iter(arguments.items()))
        raise LangError(
            f"{function}: {name} must be a {_expected(ranks)}, got the {value.what} {value.label}",
            at=caller_location(),
            hint=f"{function} takes Matrix and Vector inputs and what is computed from them",
        )
    return tuple(arguments.values())


def _expected(ranks: tuple[int, ...]) -> str:
    return " or ".join(_KINDS[rank] for rank in ranks)


def _check_argument(function: str, name: str, value: Any, ranks: tuple[int, ...]) -> None:
    expected = _expected(ranks)
    if not isinstance(value, Source):
        raise no_source(function, name, value, expected)
    if value.algebra == "signal":
        raise LangError(
            f"{function}: {name} must be a {expected}, got the Signal {value.label}",
            at=caller_location(),
            hint="declare it a Vector",
        )
    if value.rank not in ranks:
        raise ShapeError(
            f"{function}: {name} must be a {expected}, got {described(value)}", at=caller_location()
        )
    check_plain(value, function)


def no_source(function: str, name: str, value: Any, expected: str) -> LangError:
    return LangError(
        f"{function}: {name} must be a {expected}, got {shown(value)}",
        at=caller_location(),
        hint="arrays are given when the pipeline is called; declare an input for it here",
    )


Extent = tuple[str, Source, int]


def check_extents(function: str, one: Extent, other: Extent) -> None:
    (name, source, dim), (other_name, other_source, other_dim) = one, other
    extent, expected = source.shape[dim], other_source.shape[other_dim]
    if extent != expected:
        raise ShapeError(
            f"{function}: {name} and {other_name} differ, {extent} and {expected}: "
            f"{described(source)}, {described(other_source)}",
            at=caller_location(),
            hint=extents_hint(extent, expected),
        )


def check_square(function: str, result: Source, factor: Source) -> None:
    check_extents(function, ("C's rows", result, 0), ("A's rows", factor, 0))
    check_extents(function, ("C's columns", result, 1), ("A's rows", factor, 0))
