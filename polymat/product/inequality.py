"""Conditions that Python and generated C both ask: products of names and numbers, compared."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal

_COMPARED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True, slots=True)
class Inequality:
    """One product of names and numbers compared with another; numbers are exact in double precision."""

    left: tuple[str | int, ...]
    sign: Literal["<", "<=", ">", ">="]
    right: tuple[str | int, ...]

    def holds(self, values: Mapping[str, float]) -> bool:
        """Whether it does where the names have these values."""
        left, right = (
            prod(values[f] if isinstance(f, str) else f for f in s) for s in (self.left, self.right)
        )
        return bool(_COMPARED[self.sign](left, right))

    def __str__(self) -> str:
        """The C expression, of variables with these names."""
        left, right = (" * ".join(map(str, side)) for side in (self.left, self.right))
        return f"{left} {self.sign} {right}"


def all_hold(conditions: Sequence[Inequality], values: Mapping[str, float]) -> bool:
    """Whether all of them do."""
    return all(condition.holds(values) for condition in conditions)


def any_holds(conditions: Sequence[Inequality], values: Mapping[str, float]) -> bool:
    """Whether one of them does."""
    return any(condition.holds(values) for condition in conditions)


def in_c(conditions: Sequence[Inequality]) -> str:
    """The C expression that all of them hold."""
    return " && ".join(map(str, conditions))


def any_in_c(*alternatives: Sequence[Inequality]) -> str:
    """The C expression that all conditions of one of the alternatives hold."""
    return " || ".join(f"({in_c(conditions)})" for conditions in alternatives)
