"""Estimated sizes, and what follows from them for a stage, found once a compilation.

A partition of many stages prices thousands of groups, each of which asks the same of its stages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from polymat.graph.stage import InputArray, Stage
from polymat.memo import remembered

Subject = TypeVar("Subject", bound=Stage | InputArray)
Result = TypeVar("Result")
More = ParamSpec("More")


class Estimates(dict[str, int]):
    """Sizes by name, which do not change once they are made: answers are remembered by their identity."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def once_a_stage(
    function: Callable[Concatenate[Subject, Mapping[str, int], More], Result],
) -> Callable[Concatenate[Subject, Mapping[str, int], More], Result]:
    """Let a compilation remember what a function says of a stage, or an input, under estimates.

    Of other sizes than estimates it is not remembered.

    What else it is given is hashable.
    """
    once = remembered(function)

    @wraps(function)
    def remembering(
        stage: Subject, estimates: Mapping[str, int], /, *more: More.args, **named: More.kwargs
    ) -> Result:
        ask = once if isinstance(estimates, Estimates) else function
        return ask(stage, estimates, *more, **named)

    return remembering
