"""The operators `&`, `|`, `^`, `~` of truth values and of the bits of integers, and shifts."""

from __future__ import annotations

from typing import Any

from polymat.lang import later


class Logical:
    """Bool values are combined as conditions are, integers bit by bit; of other values these are errors."""

    __slots__ = ()

    def __and__(self, other: Any) -> Any:
        return _combined("&", self, other)

    def __rand__(self, other: Any) -> Any:
        return _combined("&", other, self)

    def __or__(self, other: Any) -> Any:
        return _combined("|", self, other)

    def __ror__(self, other: Any) -> Any:
        return _combined("|", other, self)

    def __xor__(self, other: Any) -> Any:
        return _combined("^", self, other)

    def __rxor__(self, other: Any) -> Any:
        return _combined("^", other, self)

    def __lshift__(self, other: Any) -> Any:
        return _shifted("<<", self, other)

    def __rlshift__(self, other: Any) -> Any:
        return _shifted("<<", other, self)

    def __rshift__(self, other: Any) -> Any:
        return _shifted(">>", self, other)

    def __rrshift__(self, other: Any) -> Any:
        return _shifted(">>", other, self)

    def __invert__(self) -> Any:
        return later.complement(self)


def _combined(op: str, left: Any, right: Any) -> Any:
    return NotImplemented if hasattr(right, "algebra") else later.combined(op, left, right)


def _shifted(op: str, left: Any, right: Any) -> Any:
    return NotImplemented if hasattr(right, "algebra") else later.binary(op, left, right)
