"""What peers are given, and what they answer; imported by their workers, so it needs NumPy alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]
Arrays = dict[str, Array]


@dataclass(frozen=True, slots=True)
class Task:
    """One computation: which problem it is, its arrays by name, and its sizes, scalars and texts."""

    problem: str
    arrays: Arrays
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Prepared:
    """What a peer makes of a task.

    call: what is timed; it returns the result, an array or a tuple of arrays.
    note: a remark for the reader.
    repeat: the seconds that so many calls take, where a loop in C tells better than one in Python.
    predicted: the seconds that the peer itself says a call takes.
    """

    call: Callable[[], Any]
    note: str = ""
    repeat: Callable[[int], float] | None = None
    predicted: float | None = None


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker's answer to a task: the result of a call, how long preparing and that call took, and more."""

    result: Any
    note: str
    prepare_seconds: float
    first_seconds: float
    predicted: float | None = None


class MissingError(RuntimeError):
    """A peer cannot do this here: a library is not installed, a feature is not there."""
