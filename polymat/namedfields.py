"""Data classes that name the field that was probably meant, and print the fields that are not as usual."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any

from polymat.errors import OptionError, caller_location


def knows_its_fields(cls: Any) -> Any:
    """Let a data class name the field that was probably meant where one is given that it has not.

    It prints what was given: `Options(threads=2)`.
    """
    create: Callable[..., None] = cls.__init__
    known = [item.name for item in fields(cls)]

    @wraps(create)
    def checked(self: object, *values: Any, **named: Any) -> None:
        for name in named:
            if name not in known:
                from difflib import get_close_matches  # imported where something is wrong

                near = get_close_matches(name, known, 1)
                raise OptionError(
                    f"{cls.__name__} has no {name!r}",
                    at=caller_location(),
                    hint=f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}",
                )
        create(self, *values, **named)

    cls.__init__, cls.__repr__ = checked, short_text
    return cls


def short_text(value: Any) -> str:
    """A value of a data class with the fields that differ from their defaults."""
    each = ((item, getattr(value, item.name)) for item in fields(value))
    told = (f"{item.name}={own!r}" for item, own in each if own != item.default)
    return f"{type(value).__qualname__}({', '.join(told)})"


def whole_text(value: Any) -> str:
    """A value of a data class with all of its fields."""
    told = (f"{item.name}={getattr(value, item.name)!r}" for item in fields(value))
    return f"{type(value).__qualname__}({', '.join(told)})"
