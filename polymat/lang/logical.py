"""The operators of truth values on expressions: `&`, `|`, `^`, `~`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polymat.lang.condition import Condition


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
        from polymat.lang.condition import held

        return ~held(self, "~", None)


def _combined(op: str, left: Any, right: Any) -> Any:
    from polymat.lang.condition import logical  # made of expressions

    return NotImplemented if hasattr(right, "algebra") else logical(op, left, right)


def _shifted(op: str, left: Any, right: Any) -> Any:
    from polymat.lang.condition import no_bits

    if hasattr(right, "algebra"):
        return NotImplemented
    raise no_bits(op, f"{left} {op} {right}")
