"""Reductions: a sum, product, minimum or maximum over a second domain."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import reduce
from operator import and_
from typing import Any, ClassVar

from polymat.dataclass import dataclass
from polymat.errors import DtypeError, LangError, Location, caller_location
from polymat.lang import later
from polymat.lang.condition import Condition
from polymat.lang.constructs import Select, truth
from polymat.lang.databounds import holds_within
from polymat.lang.expr import CastExpr, Expr, Load, as_expr
from polymat.lang.function import CaseEntry, Function
from polymat.lang.interval import Domain, check_domain
from polymat.lang.types import STORED, Bool, ScalarType


class Op(Enum):
    """The associative operation of a reduction: Sum, Mul, Min, Max, ArgMin, ArgMax, Any, All or Count.

    ArgMin and ArgMax give where the first such element is.  Any, All and Count are of conditions.
    """

    Sum = "+"
    Mul = "*"
    Min = "min"
    Max = "max"
    ArgMin = "argmin"
    ArgMax = "argmax"
    Any = "any"
    All = "all"
    Count = "count"

    @property
    def gives_index(self) -> bool:
        """Whether it gives where an element is, not its value."""
        return self in (Op.ArgMin, Op.ArgMax)

    @property
    def of_truth(self) -> bool:
        """Whether it is of conditions, or of whether values are not 0."""
        return self in _OF_TRUTH


EXTREMES = (Op.Min, Op.Max)  # the result is one of the values, in whatever order these are compared
# What these are of numbers: of 0 and 1 the largest, the smallest and the sum.
_OF_TRUTH = {Op.Any: Op.Max, Op.All: Op.Min, Op.Count: Op.Sum}


@dataclass(frozen=True, slots=True, repr=False)
class ReduceEntry:
    """Accumulate `value` into `target` at every point of the reduction domain."""

    belongs: ClassVar[str] = "a Reduce is an entry of the definition of a Reduction, not of a Function"
    target: Load
    value: Expr
    op: Op
    at: Location | None

    def __repr__(self) -> str:
        return f"Reduce({self.target}, {self.value}, Op.{self.op.name})"


def Reduce(target: Expr, value: Any, op: Op) -> ReduceEntry:  # noqa: N802 (PolyMage's name)
    """`target op= value` over the reduction domain: `Reduce(C(i, j), A(i, k) * B(k, j), Op.Sum)`."""
    at = caller_location()
    if not isinstance(target, Load):
        raise LangError("the first argument of Reduce is the reduction at its indices", at=at, hint="C(i, j)")
    if not isinstance(op, Op):
        raise LangError(
            "the third argument of Reduce is Op.Sum, Mul, Min, Max, ArgMin, ArgMax, Any, All or Count, "
            f"got {op!r}",
            at=at,
        )
    if not op.of_truth:
        return ReduceEntry(target, as_expr(value, at), op, at)
    condition = value if isinstance(value, Condition) else Condition(as_expr(value, at), "!=", 0)
    return ReduceEntry(target, truth(condition), op, at)


class Reduction(Function):
    """A function defined by accumulation.

    `Reduction(([i, j], [I, J]), ([i, j, k], [I, J, K]), Double, "C")`: the domain of the result, then the
    domain that is reduced over.  Each point starts from `init` (an expression over the result's variables)
    or the operation's neutral element: 0, 1, the largest or the smallest value of the type.

    Op.ArgMin and Op.ArgMax give an integer: the value of the variable that is reduced over where the smallest
    or largest element is, of several that are equal the first, of NaN the first.  Of several variables, which
    then go from 0 to a size, it counts their points in the order of the domain.  `place.extreme` is the
    reduction to the elements there, which is computed anyway: `compile([place, place.extreme])` gives both.

    Op.Any, Op.All and Op.Count take a Condition, or a value that holds where it is not 0: whether it holds
    somewhere (Bool), everywhere (Bool, and of no points), and how often (an integer).
    """

    _settable = frozenset({"reduction_variables", "reduction_intervals", "init", "_extreme"})
    _extreme: Reduction | None = None

    def __init__(
        self,
        domain: Domain,
        reduction_domain: Domain,
        dtype: ScalarType,
        name: str | None,
        init: Any = None,
        *,
        what: str = "Reduction",
        internal: bool = False,
    ) -> None:
        super().__init__(domain, dtype, name, what=what, internal=internal)
        if dtype in STORED:
            raise DtypeError(
                f"{self.label} is {dtype}, in which nothing is added up",
                at=self.at,
                hint=f"a Float reduction, and a {dtype} function that reads it",
            )
        self.reduction_variables, self.reduction_intervals = check_domain(
            reduction_domain, f"{self.label}'s reduction", self.at, reduced=True
        )
        self.init = None if init is None else super()._value(init, self.at)

    def _entry(self, entry: Any, at: Location | None) -> Any:
        if isinstance(entry, CaseEntry):
            return CaseEntry(entry.condition, self._reduce(entry.value, entry.at), entry.at)
        return self._reduce(entry, at)

    def _reduce(self, entry: Any, at: Location | None) -> ReduceEntry:
        if not isinstance(entry, ReduceEntry):
            raise LangError(f"the definition of the reduction {self.label} holds Reduce(...) entries", at=at)
        if entry.target.source is not self:
            raise LangError(
                f"{self.label} is defined by a Reduce into {entry.target.source.label}", at=entry.at
            )
        if entry.op.of_truth:
            entry = self._of_numbers(entry)
        dtype = entry.value.dtype if entry.op.gives_index else self.dtype
        if entry.op not in (Op.Sum, Op.Mul) and dtype.kind == "c":
            raise DtypeError(f"Op.{entry.op.name} has no meaning for complex values", at=entry.at)
        if entry.op in (Op.Sum, Op.Mul) and dtype == Bool:
            raise DtypeError(
                f"{self.label} is Bool, of which there is no Op.{entry.op.name}",
                at=entry.at,
                hint="Op.Max for any, Op.Min for all; an Int reduction counts",
            )
        value = entry.value
        if not entry.op.gives_index:
            value = self._value(value, entry.at)
            value = self.within(value, later.neutral(entry.op, self.dtype))
        return ReduceEntry(entry.target, value, entry.op, entry.at)

    def within(self, value: Expr, otherwise: Expr) -> Expr:
        """A value where all bounds that are computed from data hold, and elsewhere another one."""
        pairs = zip(self.reduction_variables, self.reduction_intervals, strict=True)
        conditions = [holds_within(variable, each.data) for variable, each in pairs if each.data is not None]
        if not conditions:
            return value
        value = value if value.dtype == otherwise.dtype else CastExpr(value, otherwise.dtype)
        return Select(reduce(and_, conditions), value, otherwise)

    def _of_numbers(self, entry: ReduceEntry) -> ReduceEntry:
        """The same of the numbers 0 and 1."""
        counts = entry.op is Op.Count
        if self.dtype.kind not in "iu" if counts else self.dtype != Bool:
            raise DtypeError(
                f"{self.label} is {self.dtype}, but Op.{entry.op.name} gives "
                f"{'a number of points, an integer' if counts else 'a truth value, Bool'}",
                at=entry.at,
            )
        value = CastExpr(entry.value, self.dtype) if counts else entry.value
        return ReduceEntry(entry.target, value, _OF_TRUTH[entry.op], entry.at)

    def _whole_definition(self, entries: tuple[Any, ...]) -> tuple[Any, ...]:
        if not any(_reduce_of(entry).op.gives_index for entry in entries):
            return entries
        return later.positions(self, entries)

    @property
    def extreme(self) -> Reduction | None:
        """Of one that gives an index the reduction to the elements there; of others None."""
        return self._extreme

    @property
    def op(self) -> Op:
        """The one operation of all entries."""
        return self.one_op(self.defn, self.defined_at)

    def one_op(self, entries: Iterable[Any], at: Location | None) -> Op:
        """The one operation of some entries; several are an error."""
        ops: list[Op] = list(dict.fromkeys(_reduce_of(entry).op for entry in entries))
        if len(ops) > 1:
            raise LangError(
                f"{self.label} mixes {' and '.join(f'Op.{op.name}' for op in ops)}",
                at=at,
                hint="one operation a reduction",
            )
        return ops[0]


def _reduce_of(entry: Any) -> ReduceEntry:
    found: ReduceEntry = entry.value if isinstance(entry, CaseEntry) else entry
    return found
