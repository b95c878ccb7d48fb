"""Expressions of the oracle: closures over NumPy, with a separate reading as an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from tests.differential import tracked
from tests.differential.tracked import Array, Tracked

Points = Mapping[str, Array]


class NotReady(Exception):  # noqa: N818 (a signal, not an error)
    """An element is read before it is computed."""


class Node:
    """Base: operators build nodes; `at` evaluates as a value, `index` as an exact integer."""

    parts: tuple[Node, ...] = ()
    __array_ufunc__ = None

    def at(self, points: Points, count: int) -> Tracked:
        """The values at `count` points."""
        raise NotImplementedError

    def ready(self, points: Points, count: int) -> Array:
        """At which of `count` points all is there that is read."""
        found = np.ones(count, bool)
        for part in self.parts:
            found &= part.ready(points, count)
        return found

    def index(self, point: Mapping[str, Any]) -> Any:
        """The integer value as an index or bound."""
        raise TypeError(f"{type(self).__name__} is no index")

    def reads(self, source: object) -> bool:
        """Whether a function is read."""
        return any(part.reads(source) for part in self.parts)

    def __add__(self, other: Any) -> Node:
        return Binary("+", self, as_node(other))

    def __radd__(self, other: Any) -> Node:
        return Binary("+", as_node(other), self)

    def __sub__(self, other: Any) -> Node:
        return Binary("-", self, as_node(other))

    def __rsub__(self, other: Any) -> Node:
        return Binary("-", as_node(other), self)

    def __mul__(self, other: Any) -> Node:
        return Binary("*", self, as_node(other))

    def __rmul__(self, other: Any) -> Node:
        return Binary("*", as_node(other), self)

    def __truediv__(self, other: Any) -> Node:
        return Binary("/", self, as_node(other))

    def __rtruediv__(self, other: Any) -> Node:
        return Binary("/", as_node(other), self)

    def __floordiv__(self, other: Any) -> Node:
        return Binary("//", self, as_node(other))

    def __rfloordiv__(self, other: Any) -> Node:
        return Binary("//", as_node(other), self)

    def __mod__(self, other: Any) -> Node:
        return Binary("%", self, as_node(other))

    def __rmod__(self, other: Any) -> Node:
        return Binary("%", as_node(other), self)

    def __pow__(self, other: Any) -> Node:
        return Binary("**", self, as_node(other))

    def __and__(self, other: Any) -> Node:
        return Binary("&", self, as_node(other))

    def __or__(self, other: Any) -> Node:
        return Binary("|", self, as_node(other))

    def __xor__(self, other: Any) -> Node:
        return Binary("^", self, as_node(other))

    def __lshift__(self, other: Any) -> Node:
        return Binary("<<", self, as_node(other))

    def __rshift__(self, other: Any) -> Node:
        return Binary(">>", self, as_node(other))

    def __invert__(self) -> Node:
        return Apply(tracked.inverted, self)

    def __neg__(self) -> Node:
        return Apply(tracked.negative, self)


class Lit(Node):
    """A Python number: weak."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def at(self, points: Points, count: int) -> Tracked:
        return tracked.exact(self.value)

    def index(self, point: Mapping[str, Any]) -> Any:
        return self.value


class Typed(Node):
    """A NumPy number: a parameter, or a literal with a type."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def at(self, points: Points, count: int) -> Tracked:
        return tracked.exact(np.full(count, self.value))

    def index(self, point: Mapping[str, Any]) -> Any:
        return int(self.value)


class Symbol(Node):
    """A variable; as a value a Long."""

    def __init__(self, name: str) -> None:
        self.name = name

    def at(self, points: Points, count: int) -> Tracked:
        return tracked.exact(points[self.name])

    def index(self, point: Mapping[str, Any]) -> Any:
        return point[self.name]


class Binary(Node):
    """An operation of two operands."""

    def __init__(self, op: str, left: Node, right: Node) -> None:
        self.op, self.parts = op, (left, right)

    def at(self, points: Points, count: int) -> Tracked:
        left, right = (part.at(points, count) for part in self.parts)
        return tracked.binary(self.op, left, right)

    def index(self, point: Mapping[str, Any]) -> Any:
        left, right = (part.index(point) for part in self.parts)
        match self.op:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "//":
                return left // right
            case "%":
                return left % right
        raise TypeError(f"{self.op} in an index")


class Apply(Node):
    """A function of one operand."""

    def __init__(self, change: Callable[[Tracked], Tracked], operand: Node) -> None:
        self.change, self.parts = change, (operand,)

    def at(self, points: Points, count: int) -> Tracked:
        return self.change(self.parts[0].at(points, count))


class Read(Node):
    """An element of a function or input."""

    def __init__(self, source: Any, indices: tuple[Node, ...]) -> None:
        self.source, self.indices = source, indices

    def at(self, points: Points, count: int) -> Tracked:
        found: Tracked = self.source.read(self._where(points), count)
        return found

    def ready(self, points: Points, count: int) -> Array:
        found: Array = self.source.has(self._where(points), count)
        return found

    def _where(self, points: Points) -> list[Array]:
        return [np.asarray(index.index(points)) for index in self.indices]

    def reads(self, source: object) -> bool:
        return self.source is source


class Condition:
    """A comparison, or two conditions joined by & or |."""

    def __init__(self, left: Any, op: str, right: Any) -> None:
        self.op = op
        self.sides = (left, right) if op in "&|" else (as_node(left), as_node(right))

    def __and__(self, other: Condition) -> Condition:
        return Condition(self, "&", other)

    def __or__(self, other: Condition) -> Condition:
        return Condition(self, "|", other)

    def operands(self) -> tuple[Node, ...]:
        """The nodes that are compared."""
        return tuple(n for s in self.sides for n in (s.operands() if isinstance(s, Condition) else (s,)))

    def inside(self, points: Points, count: int) -> Array:
        """Of indices: at which of `count` points."""
        left, right = cast(Any, self.sides)
        if self.op in "&|":
            both: tuple[Array, Array] = (left.inside(points, count), right.inside(points, count))
            return both[0] & both[1] if self.op == "&" else both[0] | both[1]
        holds = tracked.COMPARED[self.op](left.index(points), right.index(points))
        return np.broadcast_to(holds, (count,))

    def at(self, points: Points, count: int) -> tuple[Array, Array]:
        """Of values: where it holds, and where that is beyond doubt."""
        left, right = (cast(Any, side.at(points, count)) for side in self.sides)
        if self.op in "&|":
            holds = left[0] & right[0] if self.op == "&" else left[0] | right[0]
            return holds, left[1] & right[1]
        holds, sure = tracked.compare(self.op, left, right)
        return np.broadcast_to(holds, (count,)), np.broadcast_to(sure, (count,))


class Select(Node):
    """One of two values; only the chosen one is read."""

    def __init__(self, condition: Condition, then: Any, otherwise: Any) -> None:
        self.condition = condition
        self.parts = (as_node(then), as_node(otherwise), *condition.operands())

    def ready(self, points: Points, count: int) -> Array:
        found = np.ones(count, bool)
        for part in self.parts[2:]:
            found &= part.ready(points, count)
        holds = np.zeros(count, bool)
        holds[found] = self.condition.at(some(points, found), int(found.sum()))[0]
        for branch, chosen in ((self.parts[0], found & holds), (self.parts[1], found & ~holds)):
            found[chosen] = branch.ready(some(points, chosen), int(chosen.sum()))
        return found

    def at(self, points: Points, count: int) -> Tracked:
        holds, sure = self.condition.at(points, count)
        found = []
        for branch, chosen in ((self.parts[0], holds), (self.parts[1], ~holds)):
            found.append((chosen, branch.at(some(points, chosen), int(chosen.sum()))))
        one, other = (part.value for _, part in found)
        both = (tracked.beside(one, other), tracked.beside(other, one))
        kinds = [value if np.ndim(value) == 0 else value.dtype for value in both]
        value = np.zeros(count, np.result_type(*kinds))
        error = np.zeros(count)
        for chosen, part in found:
            value[chosen], error[chosen] = part.value, part.error
        return Tracked(value, np.where(sure, error, np.inf))


def some(points: Points, chosen: Array) -> dict[str, Array]:
    """The points that are chosen."""
    return {name: values[chosen] for name, values in points.items()}


class Cast(Node):
    """A conversion."""

    def __init__(self, dtype: str, operand: Any) -> None:
        self.dtype, self.parts = dtype, (as_node(operand),)

    def at(self, points: Points, count: int) -> Tracked:
        found = tracked.cast(self.parts[0].at(points, count), self.dtype)
        return Tracked(tracked.computed_with(found.value), found.error)


def as_node(value: Any) -> Node:
    """A node for a Python or NumPy number; nodes pass."""
    if isinstance(value, Node):
        return value
    return Typed(value) if isinstance(value, np.number) else Lit(value)


def binary_node(op: str, left: Any, right: Any) -> Node:
    """An operation that Python has no operator for."""
    return Binary(op, as_node(left), as_node(right))


def _function(name: str) -> Callable[[Any], Node]:
    return lambda operand: Apply(lambda value: tracked.function(name, value), as_node(operand))


FUNCTIONS = {name: _function(name) for name in tracked.FUNCTIONS}
