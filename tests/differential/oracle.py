"""The language once more, in plain NumPy: what random programs are compared with.

`Oracle.names()` has the names that a program uses.  Definitions are evaluated at once, where the program
gives them, by enumerating points; nothing is shared with polymat's own interpreter, and NumPy itself decides
the types.  Functions that read themselves are computed point by point, as soon as what they read is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tests.differential import tracked
from tests.differential.nodes import (
    FUNCTIONS,
    Condition,
    Lit,
    Node,
    NotReady,
    Read,
    Select,
    Symbol,
    Typed,
    as_node,
    binary_node,
    some,
)
from tests.differential.nodes import Cast as CastNode
from tests.differential.tracked import Array, Tracked
from tests.tolerance import gamma

TYPES = {
    "Int": "int32",
    "Long": "int64",
    "Short": "int16",
    "Int8": "int8",
    "UChar": "uint8",
    "UInt16": "uint16",
    "UInt": "uint32",
    "UInt64": "uint64",
    "Half": "float16",
    "Float": "float32",
    "Double": "float64",
    "ComplexFloat": "complex64",
    "Complex": "complex128",
}
Points = dict[str, Array]


class Interval:
    """lo..hi, both included."""

    def __init__(self, _type: str, lo: Any, hi: Any) -> None:
        self.lo, self.hi = as_node(lo), as_node(hi)


def enumerate_points(names: Sequence[str], intervals: Sequence[Interval]) -> Iterator[dict[str, int]]:
    """The points of a domain, in order."""
    yield from _extended({}, list(zip(names, intervals, strict=True)))


def _extended(point: dict[str, int], rest: list[tuple[str, Interval]]) -> Iterator[dict[str, int]]:
    if not rest:
        yield point
        return
    name, interval = rest[0]
    for value in range(int(interval.lo.index(point)), int(interval.hi.index(point)) + 1):
        yield from _extended({**point, name: value}, rest[1:])


def columns(names: Sequence[str], points: Sequence[Mapping[str, int]]) -> Points:
    """Points as one integer array a dimension."""
    return {name: np.array([p[name] for p in points], dtype=np.int64) for name in names}


def _domain(names: Sequence[str], intervals: Sequence[Interval]) -> tuple[Points, int]:
    """The points of a domain as columns, and their number."""
    points = list(enumerate_points(names, intervals))
    return columns(names, points), len(points)


def _extreme(bound: Node, box: Mapping[str, tuple[int, int]], largest: int) -> int:
    """The least (0) or largest (1) value of an affine bound over a box."""
    corner = {name: low for name, (low, _) in box.items()}
    for name, ends in box.items():
        rising = bound.index({**corner, name: ends[0] + 1000}) >= bound.index({**corner, name: ends[0]})
        corner[name] = ends[largest if rising else 1 - largest]
    return int(bound.index(corner))


class Function:
    """A function: its elements on the enclosing box of its domain, with error bounds."""

    def __init__(self, domain: Any, dtype: str, name: str, default: Any = None) -> None:
        self.names = [v.name for v in domain[0]]
        self.intervals = list(domain[1])
        self.name, self.dtype = name, np.dtype(dtype)
        self.default = None if default is None else as_node(default)
        self.box = self._box()
        shape = [max(hi - lo + 1, 0) for lo, hi in self.box]
        self.values = np.zeros(shape, self.dtype)
        self.errors = np.zeros(shape)
        self.ready = np.zeros(shape, bool)

    def _box(self) -> list[tuple[int, int]]:
        """Bounds at the extremes of the variables before: of an empty range, too, by the same formula."""
        box: dict[str, tuple[int, int]] = {}
        for name, interval in zip(self.names, self.intervals, strict=True):
            box[name] = (_extreme(interval.lo, box, 0), _extreme(interval.hi, box, 1))
        return list(box.values())

    def __call__(self, *indices: Any) -> Node:
        return Read(self, tuple(as_node(index) for index in indices))

    def read(self, where: Sequence[Array], count: int) -> Tracked:
        """Elements at indices."""
        at = self._places(where, count)
        if not np.all(self.ready[at]):
            raise NotReady
        values = tracked.computed_with(self.values[at])
        return Tracked(np.broadcast_to(values, (count,)), np.broadcast_to(self.errors[at], (count,)))

    def has(self, where: Sequence[Array], count: int) -> Array:
        """Which of the elements at indices are computed."""
        return np.broadcast_to(self.ready[self._places(where, count)], (count,))

    def _places(self, where: Sequence[Array], count: int) -> tuple[Array, ...]:
        at = tuple(np.broadcast_to(w, (count,)) - lo for w, (lo, _) in zip(where, self.box, strict=True))
        for index, extent in zip(at, self.values.shape, strict=True):
            if np.any(index < 0) or np.any(index >= extent):
                raise AssertionError(f"the program reads {self.name} outside its box")
        return at

    def store(self, points: Points, count: int, value: Tracked) -> None:
        """Set elements."""
        stored = tracked.cast(value, self.dtype)
        at = tuple(points[n] - lo for n, (lo, _) in zip(self.names, self.box, strict=True))
        self.values[at] = np.broadcast_to(stored.value, (count,)) if at else np.ravel(stored.value)[0]
        self.errors[at] = np.broadcast_to(stored.error, (count,)) if at else np.ravel(stored.error)[0]
        self.ready[at] = True

    @property
    def defn(self) -> None:
        """Set to the definition; never read."""

    @defn.setter
    def defn(self, entries: Sequence[Any]) -> None:
        points, count = _domain(self.names, self.intervals)
        chosen: list[tuple[Node, Points, int]] = []
        left = np.ones(count, bool)
        for entry in entries:
            condition, value = entry if isinstance(entry, tuple) else (None, entry)
            here = np.ones(count, bool) if condition is None else condition.inside(points, count)
            left &= ~here
            chosen.append((as_node(value), some(points, here), int(here.sum())))
        if self.default is not None:
            chosen.append((self.default, some(points, left), int(left.sum())))
        for value, inner, inside in chosen:
            if inside and not value.reads(self):
                self.store(inner, inside, value.at(inner, inside))
        self._settle([piece for piece in chosen if piece[2] and piece[0].reads(self)])

    def _settle(self, waiting: list[tuple[Node, Points, int]]) -> None:
        """Compute the points of a recurrence as they become possible: at once those that wait for no other."""
        while waiting:
            left, before = [], sum(count for _, _, count in waiting)
            for value, points, count in waiting:
                ready = value.ready(points, count)
                now = int(ready.sum())
                if now:
                    self.store(some(points, ready), now, value.at(some(points, ready), now))
                if now < count:
                    left.append((value, some(points, ~ready), count - now))
            assert sum(count for _, _, count in left) < before, f"{self.name} waits for itself"
            waiting = left

    def output(self, trim: bool) -> tuple[Array, Array, Array]:
        """The array as a caller gets it, its error bounds, and where the function is defined."""
        found = []
        for part in (self.values, self.errors, self.ready):
            if not trim:
                shape = [max(hi + 1, 0) for _, hi in self.box]
                whole = np.zeros(shape, part.dtype)
                inner = tuple(
                    slice(max(lo, 0), max(lo, 0) + n) for (lo, _), n in zip(self.box, part.shape, strict=True)
                )
                whole[inner] = part
                part = whole
            found.append(part)
        return found[0], found[1], found[2]


class Input(Function):
    """An array given by the caller."""

    def __init__(self, dtype: str, name: str, extents: Any, arrays: Mapping[str, Array]) -> None:
        sizes = [as_node(extent).index({}) for extent in extents]
        names = [Symbol(f"d{k}") for k in range(len(sizes))]
        super().__init__((names, [Interval(dtype, 0, size - 1) for size in sizes]), dtype, name)
        self.values[...] = arrays[name]
        self.ready[...] = True


_OPERATIONS = {"Sum": "+", "Mul": "*", "Min": "min", "Max": "max"}


class Reduction(Function):
    """A function that accumulates over a second domain."""

    def __init__(self, domain: Any, over: Any, dtype: str, name: str, init: Any = None) -> None:
        super().__init__(domain, dtype, name)
        self.inner = [v.name for v in over[0]]
        self.inner_intervals = list(over[1])
        self.init = None if init is None else as_node(init)

    @property
    def defn(self) -> None:
        """Set to the definition; never read."""

    @defn.setter
    def defn(self, entries: Sequence[Any]) -> None:
        op = {reduce.op for _, reduce in map(_conditional, entries)}.pop()
        points = list(enumerate_points(self.names, self.intervals))
        start = Typed(_neutral(op, self.dtype)) if self.init is None else self.init
        if points:
            whole = columns(self.names, points)
            value = tracked.cast(start.at(whole, len(points)), self.dtype)
            value = Tracked(*(np.broadcast_to(part, (len(points),)) for part in (value.value, value.error)))
        todo: dict[Any, Any] = {
            tuple(p.values()): (value.at(np.array([k])), []) for k, p in enumerate(points)
        }
        over = list(enumerate_points(self.inner, self.inner_intervals))
        every = columns(self.inner, over)
        for condition, reduce in map(_conditional, entries):
            inside = np.ones(len(over), bool) if condition is None else condition.inside(every, len(over))
            for number in np.flatnonzero(inside):
                p = over[number]
                target = tuple(int(index.index(p)) for index in reduce.target)
                todo[target][1].append((reduce.value, p))
        self._accumulate(op, todo)

    def _accumulate(self, op: str, todo: dict[tuple[int, ...], Any]) -> None:
        while todo:
            left = {}
            for target, (start, terms) in todo.items():
                try:
                    total = _combined(op, self.dtype, start, [self._term(v, p) for v, p in _grouped(terms)])
                except NotReady:
                    left[target] = (start, terms)
                    continue
                self.store(columns(self.names, [dict(zip(self.names, target, strict=True))]), 1, total)
            assert len(left) < len(todo), f"{self.name} waits for itself"
            todo = dict(reversed(left.items()))

    def _term(self, value: Node, points: list[dict[str, int]]) -> Tracked:
        arrays = columns(self.inner, points)
        found = tracked.cast(value.at(arrays, len(points)), self.dtype)
        return Tracked(*(np.broadcast_to(part, (len(points),)) for part in (found.value, found.error)))


def _grouped(terms: list[tuple[Node, dict[str, int]]]) -> list[tuple[Node, list[dict[str, int]]]]:
    groups: dict[int, tuple[Node, list[dict[str, int]]]] = {}
    for value, p in terms:
        groups.setdefault(id(value), (value, []))[1].append(p)
    return list(groups.values())


def _conditional(entry: Any) -> Any:
    return entry if type(entry) is tuple else (None, entry)


def _neutral(op: str, dtype: np.dtype[Any]) -> Any:
    if op in ("Sum", "Mul"):
        return dtype.type(int(op == "Mul"))
    if dtype.kind == "f":
        return dtype.type(np.inf if op == "Min" else -np.inf)
    limits = np.iinfo(dtype)
    return dtype.type(limits.max if op == "Min" else limits.min)


def _combined(op: str, dtype: np.dtype[Any], start: Tracked, terms: list[Tracked]) -> Tracked:
    """All terms of one element, and a bound that holds for every order of the additions."""
    values = np.concatenate([np.ravel(t.value) for t in (start, *terms)]).astype(dtype)
    errors = np.concatenate([np.ravel(t.error) for t in (start, *terms)])
    ufunc = tracked.BINARY[_OPERATIONS[op]]
    with np.errstate(all="ignore"):
        total = np.asarray(ufunc.reduce(values, dtype=dtype))
        sizes = np.abs(values).astype(np.float64)
        if op in ("Min", "Max"):
            bound = np.max(errors)
        elif dtype.kind in "iu":
            bound = 0.0 if not np.any(errors) else np.inf
        elif op == "Sum":
            bound = np.sum(errors) + gamma(len(values), dtype) * np.sum(sizes)
        else:
            bound = _product_bound(sizes, errors, dtype)
    if dtype.kind in "fc" and not np.isfinite(total):
        nan = bool(np.any(np.isnan(values))) and not np.any(np.isinf(errors))
        bound = (
            0.0
            if dtype.kind == "f" and (nan or op in ("Min", "Max")) and np.isfinite(np.max(errors))
            else np.inf
        )
    return Tracked(total.reshape(1), np.full(1, np.inf if np.isnan(bound) else bound))


def _product_bound(sizes: Array, errors: Array, dtype: np.dtype[Any]) -> float:
    """Infinity where some order of the factors overflows or underflows."""
    grown, limits = sizes + errors, np.finfo(dtype)
    least = np.prod(np.where((sizes > 0) & (sizes < 1), sizes, 1.0))
    if np.prod(np.maximum(grown, 1.0)) > float(limits.max) / 4 or least < 4 * float(limits.tiny):
        return float(np.inf)
    return float(np.prod(grown) - np.prod(sizes) + gamma(4 * len(sizes), dtype) * np.prod(grown))


class Reduce:
    """One entry of a reduction."""

    def __init__(self, target: Read, value: Any, op: str) -> None:
        self.target, self.value, self.op = target.indices, as_node(value), op


class _Op:
    Sum, Mul, Min, Max = "Sum", "Mul", "Min", "Max"


class Oracle:
    """The namespace of one program."""

    def __init__(self, arrays: Mapping[str, Array], numbers: Mapping[str, Any]) -> None:
        self.arrays = arrays
        self.numbers = numbers

    def names(self) -> dict[str, Any]:
        """What a program may use."""

        def parameter(dtype: str, name: str) -> Node:
            kind = np.dtype(dtype)
            value = self.numbers[name]
            return Lit(tracked.Scalar(value)) if kind.kind in "iu" else Typed(kind.type(value))

        def array(dtype: str, name: str, extents: Any) -> Input:
            return Input(dtype, name, extents, self.arrays)

        def least(a: Any, b: Any) -> Node:
            return binary_node("min", a, b)

        def largest(a: Any, b: Any) -> Node:
            return binary_node("max", a, b)

        return {
            **TYPES,
            **FUNCTIONS,
            "Parameter": parameter,
            "Variable": lambda _type, name: Symbol(name),
            "Interval": Interval,
            "Matrix": array,
            "Vector": array,
            "Image": array,
            "Function": Function,
            "Reduction": Reduction,
            "Reduce": Reduce,
            "Case": lambda condition, value: (condition, value),
            "Condition": Condition,
            "Select": Select,
            "Cast": CastNode,
            "Min": least,
            "Max": largest,
            "Op": _Op,
            "Lit": Lit,
        }
