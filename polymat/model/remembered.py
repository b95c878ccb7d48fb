"""Functions of a frozen value that keep their results in that value.

A partition of many stages prices thousands of groups, which ask the same of the same statements.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

Value = TypeVar("Value")
Result = TypeVar("Result")
More = ParamSpec("More")


def remembered(
    function: Callable[Concatenate[Value, More], Result],
) -> Callable[Concatenate[Value, More], Result]:
    """Call a function once for each value and what else it is given, by position.

    The value has a `__dict__`, where results live as long as it does; the others are hashable.
    """
    name = f"_{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def remembering(value: Value, /, *more: More.args, **named: More.kwargs) -> Result:
        kept = value.__dict__.setdefault(name, {})
        key = (more, *named.items())
        if key not in kept:
            kept[key] = function(value, *more, **named)
        result: Result = kept[key]
        return result

    return remembering
