"""Stages: what `build` makes of the user's functions, frozen and with exact domains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from polymat.dataclass import dataclass
from polymat.errors import InternalError, Location
from polymat.graph.datasegments import SegmentedSum, find_segments
from polymat.lang.affine import Affine, computed_in, extremes
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Load
from polymat.lang.neutral import neutral
from polymat.lang.reduction import Op
from polymat.lang.traverse import loads_in
from polymat.lang.types import ScalarType
from polymat.poly.domain import Domain

Bounds = tuple[tuple[Affine, Affine], ...]


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference of a load in a pipeline to an input or a stage, by name."""

    name: str
    dtype: ScalarType
    is_input: bool

    @property
    def label(self) -> str:
        """Name for messages."""
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """`stage(dims) = expr` on `domain`.

    `condition` is the user's own (None: there was none, the domain says it); `fills` marks the default, which
    holds where no other part does.
    """

    domain: Domain
    condition: Condition | None
    expr: Expr
    at: Location | None
    fills: bool = False

    def values(self) -> Iterator[Expr]:
        """The expression that each of its points evaluates."""
        yield self.expr


@dataclass(frozen=True, eq=False)
class Accumulation:
    """`stage(target) op= expr` on `domain`, whose dimensions and bounds are its own."""

    dims: tuple[str, ...]
    bounds: Bounds
    domain: Domain
    condition: Condition | None
    target: tuple[Affine, ...]
    expr: Expr
    at: Location | None

    def values(self) -> Iterator[Expr]:
        """The expressions that each point evaluates: what is added, and what its place is computed by."""
        yield self.expr
        yield from (atom.value for atom in computed_in(self.target))

    @property
    def is_aligned(self) -> bool:
        """Whether the target's indices are distinct dimensions of the accumulation."""
        own = [Affine.name(dim) for dim in self.dims]
        return len(set(self.target)) == len(self.target) and all(form in own for form in self.target)

    @property
    def reduced_dims(self) -> tuple[str, ...]:
        """The dimensions that the target does not use."""
        used = {n for form in self.target for n in form.names()}
        return tuple(d for d in self.dims if d not in used)

    @cached_property
    def box(self) -> Bounds:
        """Smallest and largest index per dimension as forms over the sizes."""
        return _bounding_box(self.dims, self.bounds)


@dataclass(frozen=True, eq=False)
class Stage:
    """One function of the pipeline; what follows from its fields is found once, and asked for very often.

    parts: its definition; for a reduction the start values.
    op, accumulations: of a reduction, else None and empty.
    bounds: the user's intervals; `domain` the same as an exact set.
    circle: the stages that need each other, this one among them; empty where it needs itself at most.
    """

    name: str
    dtype: ScalarType
    dims: tuple[str, ...]
    bounds: Bounds
    domain: Domain
    parts: tuple[Part, ...]
    op: Op | None
    accumulations: tuple[Accumulation, ...]
    at: Location | None
    circle: tuple[str, ...] = ()

    @property
    def ref(self) -> Ref:
        """How others read it."""
        return Ref(self.name, self.dtype, is_input=False)

    @property
    def is_reduction(self) -> bool:
        """Whether it accumulates."""
        return self.op is not None

    @property
    def operation(self) -> Op:
        """The operation of a reduction."""
        if self.op is None:
            raise InternalError(f"bug in polymat: {self.name} is no reduction")
        return self.op

    @cached_property
    def box(self) -> Bounds:
        """Smallest and largest index per dimension as forms over the sizes."""
        return _bounding_box(self.dims, self.bounds)

    @property
    def extents(self) -> tuple[Affine, ...]:
        """Extents of its array: largest index plus one."""
        return tuple(high + 1 for _, high in self.box)

    def definitions(self) -> Iterator[Part | Accumulation]:
        """Yield its parts, then its accumulations."""
        yield from self.parts
        yield from self.accumulations

    def expressions(self) -> Iterator[tuple[Domain, Expr]]:
        """Every right-hand side with the domain it runs on, and what the places of sums are computed by."""
        for item in self.definitions():
            yield from ((item.domain, expr) for expr in item.values())

    def loads(self) -> Iterator[Load]:
        """Every load of every right-hand side."""
        return iter(self._loads)

    @cached_property
    def _loads(self) -> tuple[Load, ...]:
        return tuple(load for item in self.definitions() for load in loads_of(item))

    @cached_property
    def segments(self) -> SegmentedSum | None:
        """Where its one sum runs between bounds that data give; None where it does not."""
        if self.op is None or len(self.accumulations) != 1:
            return None
        (item,) = self.accumulations
        order = item.reduced_dims if item.is_aligned else item.dims
        return find_segments(item.expr, item.reduced_dims, order, neutral(self.op, self.dtype))

    def counted(self, item: Accumulation) -> Bounds:
        """The box of an accumulation, without the dimensions that bounds given by data depend on.

        All the rows of a sparse matrix have as many elements together as there are.
        """
        if self.segments is None:
            return item.box
        names = self.segments.names()
        return tuple(pair for dim, pair in zip(item.dims, item.box, strict=True) if dim not in names)

    @cached_property
    def reads_itself(self) -> bool:
        """Whether it is a recurrence, by itself or with others."""
        return bool(self.circle) or any(load.source.name == self.name for load in self.loads())


def ends(ranges: Iterable[tuple[Affine, Affine]]) -> tuple[tuple[Affine, ...], tuple[Affine, ...]]:
    """The different forms in which ranges begin, and those in which they end."""
    pairs = [*ranges]
    return tuple(dict.fromkeys(low for low, _ in pairs)), tuple(dict.fromkeys(high for _, high in pairs))


def loads_of(item: Part | Accumulation) -> Iterator[Load]:
    """Every load of a definition."""
    return (node for expr in item.values() for node in loads_in(expr))


def _bounding_box(dims: tuple[str, ...], bounds: Bounds) -> Bounds:
    known: dict[str, tuple[Affine, Affine]] = {}
    for dim, (lo, hi) in zip(dims, bounds, strict=True):
        known[dim] = (extremes(lo, known)[0], extremes(hi, known)[1])
    return tuple(known[d] for d in dims)


@dataclass(frozen=True, slots=True)
class InputArray:
    """An array given at call time.

    turned: the user's has its dimensions in the other order.
    pitches: where the user's is part of a larger array, whose extents these are: the size that each but the
    first is, "" where the user's extent is that of the larger array, too.  shape: the user's extents then.
    values: what each of its elements lies between, both included; a call checks that.  sorted: and that none
    is less than the one before.  checked: who calls has done so.
    """

    name: str
    dtype: ScalarType
    extents: tuple[Affine, ...]
    at: Location | None = None
    turned: bool = False
    values: tuple[Affine, Affine] | None = None
    pitches: tuple[str, ...] = ()
    shape: tuple[Affine, ...] = ()
    sorted: bool = False
    checked: bool = False

    @property
    def ref(self) -> Ref:
        """How stages read it."""
        return Ref(self.name, self.dtype, is_input=True)

    def tight(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """The pitches of an array that is no part of a larger one."""
        pairs = zip(self.pitches, self.shape[1:], strict=True) if self.pitches else ()
        return {name: int(extent.evaluate(sizes)) for name, extent in pairs if name}


@dataclass(frozen=True, slots=True)
class ScalarInput:
    """A run-time scalar, or a size when domains depend on it."""

    name: str
    dtype: ScalarType


def constants(values: Mapping[str, int]) -> dict[str, Affine]:
    """Fixed sizes as forms, for substitution."""
    return {name: Affine((), value) for name, value in values.items()}
