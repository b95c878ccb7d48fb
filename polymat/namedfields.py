"""Data classes that name the field that was probably meant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any

from polymat.errors import OptionError, caller_location


def knows_its_fields(cls: Any) -> Any:
    """Let a data class name the field that was probably meant where one is given that it has not."""
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

    cls.__init__ = checked
    return cls
