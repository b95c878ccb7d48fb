"""The operators of truth values on expressions: `&`, `|`, `^`, `~`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polymat.lang.condition import Condition
from polymat.lang import later


class Logical:
    """Lets Bool values be combined as conditions are; of other values the operators are errors."""

    __slots__ = ()

    def __and__(self, other: Any) -> Any:
        return _combined("&", self, other)

    def __or__(self, other: Any) -> Any:
        return _combined("|", self, other)

    def __xor__(self, other: Any) -> Any:
        return _combined("^", self, other)

    def __lshift__(self, other: Any) -> Any:
        return _shifted("<<", self, other)

    def __rshift__(self, other: Any) -> Any:
        return _shifted(">>", self, other)

    def __invert__(self) -> Condition:
        return ~later.held(self, "~", None)


def _combined(op: str, left: Any, right: Any) -> Any:
    return NotImplemented if hasattr(right, "algebra") else later.logical(op, left, right)


def _shifted(op: str, left: Any, right: Any) -> Any:
    if hasattr(right, "algebra"):
        return NotImplemented
    raise later.no_bits(op, f"{left} {op} {right}")
