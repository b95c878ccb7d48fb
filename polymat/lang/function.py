"""Inputs and functions: named values over a domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from polymat.dataclass import dataclass
from polymat.errors import (
    DtypeError,
    LangError,
    Location,
    NameClashError,
    ShapeError,
    UndefinedError,
    caller_location,
    counted,
)
from polymat.lang.affine import Affine
from polymat.lang.computed import index_form
from polymat.lang.condition import Condition
from polymat.lang.constructs import as_condition, truth
from polymat.lang.declaredranges import declared_ranges
from polymat.lang.expr import Const, Expr, Load, Parameter, as_computed, as_expr, as_stored, fits
from polymat.lang.indices import as_affine
from polymat.lang.interval import Domain, bounds_of, check_domain, size_parameters
from polymat.lang.methods import WholeMethods
from polymat.lang.names import check_name
from polymat.lang.types import STORED, ScalarType, can_store, check_type, lossy
from polymat.lang.valueranges import Ranges

MAX_RANK = 32


class Source(WholeMethods):
    """Anything that can be read at indices: an input or a function."""

    algebra = ""  # "matrix" or "signal" where that is more than an array
    makers: Any = None  # the kinds of stages that operators make of it, `Makers`; None for plain arrays
    sizes: tuple[Parameter, ...]  # the parameters that the extents are made of
    values: Ranges | None = None  # what its elements lie within, of integer inputs that are declared so
    sorted = False  # whether none is less than the one before, of vectors that are declared so
    _settable: ClassVar[frozenset[str]] = frozenset({"at", "what", "dtype", "name", "sizes"})

    def __init__(self, dtype: ScalarType, name: str | None, what: str, *, internal: bool = False) -> None:
        self.at = caller_location()
        self.what = what
        self.dtype = check_type(dtype, f"a {what}", self.at)
        self.name = name if name is None or internal else check_name(name, what, self.at)

    def __setattr__(self, name: str, value: Any) -> None:
        if not any(name in vars(base).get("_settable", ()) for base in type(self).__mro__):
            raise LangError(
                f"the {self.what} {self.label} has no {name} to set",
                at=caller_location(),
                hint=self._defining(),
            )
        super().__setattr__(name, value)

    def _defining(self) -> str:
        return f"{self.label} is given at call time; define a Function"

    def _running(self) -> str:
        return f"{self.label} is an input: pm.compile() what is computed from it, and call that with arrays"

    @property
    def label(self) -> str:
        """Name for messages."""
        return self.name if self.name is not None else f"(unnamed {self.what})"

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[Affine, ...]:
        """Extents of the array."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{self.what} {self.label}: {self.dtype}, rank {self.rank}>"

    def __call__(self, *indices: Any, **arguments: Any) -> Expr:
        at = caller_location()
        if arguments or any(isinstance(index, np.ndarray) for index in indices):
            raise LangError(
                f"{self.label} is no compiled pipeline, and was called with"
                f" {next((f'{name}=' for name in arguments), 'arrays')}",
                at=at,
                hint=self._running(),
            )
        if len(indices) != self.rank:
            has, got = counted(self.rank, "dimension"), counted(len(indices), "index", "indices")
            raise ShapeError(f"{self.label} has {has}, got {got}", at=at)
        forms = tuple(index_form(index, place, at) for place, index in enumerate(indices))
        return as_computed(Load(self, forms, self.dtype, at, size_parameters(*indices)))


class Input(Source):
    """An array given at call time; `dims` are its extents.

    values: (lowest, highest) of an array of integers, both affine in sizes: what a call checks, and what its
    elements may then be indices of.
    """

    _settable = frozenset({"dims", "values"})

    def __init__(
        self, dtype: ScalarType, name: str, dims: Sequence[Any], what: str, values: Any = None
    ) -> None:
        super().__init__(dtype, name, what)
        check_name(name, what, self.at)  # unlike a function, it cannot do without one
        if isinstance(dims, str | bytes) or not isinstance(dims, Sequence):
            raise ShapeError(f"the extents of {name} are a list, got {dims!r}", at=self.at, hint="[M, N]")
        self.sizes = size_parameters(*dims)
        self.dims = tuple(as_affine(d, self.at).with_parameters(self.sizes) for d in dims)
        if values is not None:
            self.values = declared_ranges(self.label, self.dtype, values, self.at)
            self.sizes = tuple(dict.fromkeys((*self.sizes, *size_parameters(*values))))
        _check_sizes_only(self)
        if (rank := len(self.dims)) > MAX_RANK:
            raise ShapeError(f"{name} has {rank} dimensions, an array has at most {MAX_RANK}", at=self.at)
        for extent in self.dims:
            if extent.is_constant and extent.const < 0:
                raise ShapeError(f"{name} has a negative extent {extent}", at=self.at)

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.dims)

    @property
    def shape(self) -> tuple[Affine, ...]:
        """Extents of the array."""
        return self.dims


def _check_sizes_only(source: Input) -> None:
    sizes = {p.name for p in source.sizes}
    limits = [form for each in source.values or () for form in (*each.lows, *each.highs)]
    for what, extent in (*(("extent", e) for e in source.dims), *(("limit", e) for e in limits)):
        for name in extent.names():
            if name not in sizes:
                raise ShapeError(
                    f"the {what} {extent} of {source.label} uses the variable {name}",
                    at=source.at,
                    hint="extents are made of integers and size parameters",
                )


class Image(Input):
    """An input of any rank: `Image(dtype, name, [extents])`, row-major.

    All of its operators go element by element, `*` too; `@` is the product of matrices, or of stacks of them.
    values: of integers the lowest and the highest, which are checked at each call: `values=(0, N - 1)`.
    """

    def __init__(self, dtype: ScalarType, name: str, dims: Sequence[Any], *, values: Any = None) -> None:
        super().__init__(dtype, name, dims, "Image", values)


@dataclass(frozen=True, slots=True, repr=False)
class CaseEntry:
    """One piece of a definition: `value` where `condition` holds."""

    belongs: ClassVar[str] = "a Case is an entry of a definition: f.defn = [Case(...), ...]"
    condition: Condition
    value: Any
    at: Location | None

    def __repr__(self) -> str:
        return f"Case({self.condition}, {self.value})"


def Case(condition: Condition, value: Any) -> CaseEntry:  # noqa: N802 (PolyMage's name)
    """A piece of a definition, for the points where an affine condition holds."""
    at = caller_location()
    return CaseEntry(as_condition(condition, "Case", at), value, at)


class Function(Source):
    """Values over a domain: `f = Function(([i, j], [I, J]), Double, "f"); f.defn = [expr]`.

    A definition is one expression, or disjoint `Case`s; points that no case covers take `default`.
    requires: conditions on sizes without which it is not meant; a call that breaks one is refused.
    wish: what a function without a name is called in a pipeline where nothing else has that name.
    """

    _settable = frozenset(
        {"variables", "intervals", "default", "defn", "_defn", "_compiled", "defined_at", "requires", "wish"}
    )
    requires: tuple[Condition, ...] = ()
    wish = ""

    def _defining(self) -> str:
        return f"a definition is given by {self.label}.defn = [...]"

    def _running(self) -> str:
        return f"compile it: run = pm.compile({self.name or 'it'}), then run(...)"

    def __init__(
        self,
        domain: Domain,
        dtype: ScalarType,
        name: str | None,
        default: Any = None,
        *,
        what: str = "Function",
        internal: bool = False,
    ) -> None:
        super().__init__(dtype, name, what, internal=internal)
        self.variables, self.intervals = check_domain(domain, self.label, self.at)
        self.sizes = tuple(dict.fromkeys(size for interval in self.intervals for size in interval.sizes))
        self.default = None if default is None else self._value(default, self.at)
        self._defn: tuple[CaseEntry | Expr, ...] | None = None
        self._compiled = False
        self.defined_at: Location | None = None

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.variables)

    @property
    def extreme(self) -> Any:
        """Of a reduction that gives an index the reduction to the elements there; of others None."""
        return None

    @property
    def defn(self) -> tuple[Any, ...]:
        """The definition; reading it before it is given is an error.

        Until something is compiled from it, another one takes its place: a cell of a notebook may run again.
        """
        if self._defn is None:
            raise UndefinedError(f"{self.label} was never given a definition", at=self.at)
        return self._defn

    @defn.setter
    def defn(self, entries: Any) -> None:
        at = caller_location()
        if self._compiled:
            raise NameClashError(
                f"{self.label} is defined a second time, after a pipeline was compiled from it",
                at=at,
                hint=f"its first definition is at {self.defined_at}; make a Function of its own for this one",
            )
        if not isinstance(entries, list | tuple):
            entries = [entries]
        if not entries:
            raise LangError(f"the definition of {self.label} is empty", at=at)
        self._defn = self._whole_definition(tuple(self._entry(entry, at) for entry in entries))
        self.defined_at = at

    def keep_definition(self) -> None:
        """Refuse other definitions from now on: something was compiled from this one."""
        self._compiled = True

    @property
    def is_defined(self) -> bool:
        """Whether a definition was given."""
        return self._defn is not None

    def _whole_definition(self, entries: tuple[Any, ...]) -> tuple[Any, ...]:
        """What stands for entries that are right one by one."""
        return entries

    def _entry(self, entry: Any, at: Location | None) -> CaseEntry | Expr:
        if isinstance(entry, CaseEntry):
            return CaseEntry(entry.condition, self._value(entry.value, entry.at), entry.at)
        return self._value(entry, at)

    def _value(self, value: Any, at: Location | None) -> Expr:
        expr = truth(value) if isinstance(value, Condition) else as_expr(value, at)
        if not can_store(expr.dtype, self.dtype):
            raise DtypeError(
                f"{self.label} is {self.dtype} but its definition is {expr.dtype}",
                at=at,
                hint=f"{lossy(expr.dtype, self.dtype)} if the loss is meant",
            )
        if isinstance(expr, Const) and expr.dtype.weak:
            if not fits(expr, self.dtype):
                raise DtypeError(f"the integer {expr.value} does not fit {self.label}, a {self.dtype}", at=at)
            return Const(expr.value, self.dtype)
        return as_stored(expr, self.dtype) if self.dtype in STORED else as_computed(expr)

    @property
    def shape(self) -> tuple[Affine, ...]:
        """Extents of the array: hi + 1 of each interval, enclosing the bounds that use variables."""
        from_names: dict[str, tuple[Affine, Affine]] = {}
        extents = []
        for variable, interval in zip(self.variables, self.intervals, strict=True):
            low, high = bounds_of(interval, from_names)
            from_names[variable.name] = (low, high)
            extents.append((high + 1).with_parameters(self.sizes))
        return tuple(extents)
