"""Whether, or how often, something holds in a whole array."""

from __future__ import annotations

import typing

from polymat.errors import LangError, caller_location
from polymat.lang.algebra import Result
from polymat.lang.function import Source
from polymat.lang.operators import shown
from polymat.lang.reducing import holds


def _of_whole(name: str, source: object, axis: typing.Any, keepdims: bool) -> Result:
    if not isinstance(source, Source):
        raise LangError(
            f"{name} is of a whole array or of a comparison of some, got {shown(source)}",
            at=caller_location(),
            hint=f"Reduce(r(i), condition, Op.{name}) of elements at indices",
        )
    return holds(source, name.lower(), axis, keepdims)


def Any(source: Source, axis: typing.Any = None, keepdims: bool = False) -> Result:  # noqa: N802
    """Whether an element is not 0, or a comparison holds somewhere: `A.any(axis, keepdims)`, Bool."""
    return _of_whole("Any", source, axis, keepdims)


def All(source: Source, axis: typing.Any = None, keepdims: bool = False) -> Result:  # noqa: N802
    """Whether all elements are not 0, or a comparison holds everywhere: `A.all(axis, keepdims)`, Bool."""
    return _of_whole("All", source, axis, keepdims)


def Count(source: Source, axis: typing.Any = None, keepdims: bool = False) -> Result:  # noqa: N802
    """How many elements are not 0, or how often a comparison holds, as `np.count_nonzero`: Long."""
    return _of_whole("Count", source, axis, keepdims)
