"""Whole arrays: scalar functions, comparisons and choices, element by element, broadcast as NumPy does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, ParamSpec, Protocol, overload

from polymat.errors import LangError, caller_location
from polymat.lang import later
from polymat.lang.algebra import Result, Shape, check_plain, pointwise, scalar
from polymat.lang.broadcasting import broadcast_shape, element, repeated
from polymat.lang.condition import COMPARISONS, Condition, logical, no_bits
from polymat.lang.constructs import Cast, Select, as_condition, truth
from polymat.lang.expr import BITS, Expr, Variable, binary, call
from polymat.lang.function import Source
from polymat.lang.interval import Domain
from polymat.lang.makers import Makers
from polymat.lang.operators import is_number, shown
from polymat.lang.reduction import Reduction
from polymat.lang.traverse import condition_operands
from polymat.lang.types import Bool, ScalarType

P = ParamSpec("P")


class ArrayResult(Result):
    """An array computed element by element of others that are no matrices; `*` goes by elements as well."""

    def __init__(self, domain: Domain, dtype: ScalarType) -> None:
        super().__init__(domain, dtype, None, what="Image")


class ArrayReduction(Result, Reduction):
    """A reduction of arrays that are no matrices."""

    def __init__(
        self, domain: Domain, reduction_domain: Domain, dtype: ScalarType, init: Expr | None = None
    ) -> None:
        Reduction.__init__(self, domain, reduction_domain, dtype, None, init, what="Image")


_ARRAYS: Makers[Any] = Makers(ArrayResult, ArrayReduction)


class Mask(Result):
    """A comparison of whole arrays: truth values, which `where`, `Select`, `&`, `|`, `~` take as conditions.

    holds: the condition at indices.  In arithmetic it counts as 0 and 1, and its `*` is element by element.
    """

    _settable = frozenset({"holds", "reads", "algebra", "makers", "same"})
    holds: Callable[..., Condition]
    reads: tuple[Source | Expr, ...]  # what the condition compares
    same: bool | None = None  # of == and !=: the truth value that Python's containers ask for

    def __init__(self, domain: Domain, dtype: ScalarType) -> None:
        super().__init__(domain, dtype, None, what="Mask")

    def __invert__(self) -> Mask:
        return _stage((self,), self.reads, self.shape, lambda *at: ~self.holds(*at), f"(~{self.label})")

    def __bool__(self) -> bool:
        return super().__bool__() if self.same is None else self.same


class Elementwise(Protocol[P]):
    """A scalar function that takes whole arrays too."""

    __name__: str

    @overload
    def __call__(self, x: Source, /, *more: Any) -> Result: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, x: Any, y: Source, /, *more: Any) -> Result: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Expr: ...


def elementwise(function: Callable[P, Expr]) -> Elementwise[P]:
    """Let a scalar function take whole arrays, and give a whole array then."""

    @wraps(function)
    def apply(*values: Any, **more: Any) -> Any:
        if any(isinstance(value, Source) for value in values):
            text = f"{function.__name__}({', '.join(map(shown, values))})"
            return lifted(lambda *elements: function(*elements, **more), values, text)
        return function(*values, **more)

    return apply


def makers_of(values: Iterable[Any]) -> Makers[Any]:
    """The kinds of stages that are made of some operands: matrices, where there is one among them."""
    found = (value.makers for value in values if isinstance(value, Source))
    return next((makers for makers in found if makers is not None), _ARRAYS)


def operands_of(values: Sequence[Any], operation: str, *, mixed: bool = False) -> list[Source | Expr]:
    """Values as arrays and scalar expressions; anything else is an error.

    mixed: signals may stand beside matrices, where the operation is the same for both.
    """
    found: list[Source | Expr] = []
    for value in values:
        factor = scalar(value, operation)
        found.append(value if factor is None else factor)
    sources = [each for each in found if isinstance(each, Source)]
    signal = next((source for source in sources if source.algebra == "signal"), None)
    if signal is not None and not mixed and any(source.algebra == "matrix" for source in sources):
        raise LangError(
            f"{operation}: {signal.label} is a Signal, not a Matrix or Vector",
            at=caller_location(),
            hint="a signal's operators are element-wise; declare it a Vector, or index both in a definition",
        )
    for source in sources:
        if source.algebra == "":
            check_plain(source, operation)
    return found


def lifted(
    function: Callable[..., Expr], values: Sequence[Any], text: str, dtype: ScalarType | None = None
) -> Any:
    """The stage that applies a scalar function to the elements of arrays, and to numbers as they are."""
    operands = operands_of(values, text)
    shape = broadcast_shape(operands, text)

    def value(*at: Variable) -> Expr:
        return function(*(element(operand, shape, at) for operand in operands))

    return pointwise(makers_of(values).computed, operands, shape, value, text, dtype)


@later.arithmetic.given
def arithmetic(op: str, left: Any, right: Any) -> Result:
    """`left op right`, element by element; `&`, `|`, `^` of truth values hold where both, or either, do."""
    text = f"{shown(left)} {op} {shown(right)}"
    if op in ("&", "|", "^") and _tells(left) and _tells(right):
        return _combined(op, left, right, f"({text})")
    broadcast_shape(operands_of((left, right), text), text)  # refused under the name of what was written
    if op in BITS and not (_has_bits(left) and _has_bits(right)):
        raise no_bits(op, text)
    result: Result = lifted(lambda one, other: binary(op, one, other), (left, right), f"({text})")
    return result


def _tells(value: Any) -> bool:
    """Whether a value is true or false: a comparison, a condition without indices or an array of Bool."""
    return isinstance(value, Mask | Condition) or (isinstance(value, Source) and value.dtype == Bool)


def _has_bits(value: Any) -> bool:
    """Whether a value is an integer, or an array of integers."""
    return is_number(value) or (not isinstance(value, Condition) and value.dtype.kind in "iu")


@later.inverted.given
def inverted(source: Source) -> Result:
    """~A: of truth values where they do not hold, of integers every bit the other way."""
    if source.dtype == Bool:
        return compared("==", source, 0)
    if source.dtype.kind in "iu":
        result: Result = lifted(lambda value: ~value, (source,), f"(~{source.label})")
        return result
    raise LangError(
        f"~{source.label}: it is {source.dtype}, and ~ is of truth values and of integers",
        at=caller_location(),
        hint=f"{source.label} == 0, say",
    )


@later.negated.given
def negated(source: Source) -> Result:
    """-A."""
    result: Result = lifted(lambda value: -value, (source,), f"(-{source.label})")
    return result


@later.absolute.given
def absolute(source: Source) -> Result:
    """abs(A)."""
    result: Result = lifted(lambda value: call("abs", value), (source,), f"abs({source.label})")
    return result


@later.compared.given
def compared(op: str, left: Any, right: Any) -> Mask:
    """Where `left op right` holds; either side may be a scalar."""
    text = f"{shown(left)} {op} {shown(right)}"
    if op not in COMPARISONS:
        raise LangError(f"unknown comparison {op!r:.60}", at=caller_location())
    operands = operands_of((left, right), text)
    shape = broadcast_shape(operands, text)

    def holds(*at: Any) -> Condition:
        one, other = (element(operand, shape, at) for operand in operands)
        return Condition(one, op, other)

    return _stage((left, right), operands, shape, holds, f"({text})")


@later.equality.given
def equality(op: str, left: Source, right: object) -> Any:
    """`==` or `!=`; as a truth value whether both are, or are not, the same object, which containers ask."""
    if not (isinstance(right, Source | Expr) or is_number(right)):
        return NotImplemented
    try:
        mask = compared(op, left, right)
    except LangError:  # `==` never raises: of what cannot be compared nothing is equal
        return NotImplemented
    mask.same = (left is right) == (op == "==")
    return mask


def _combined(op: str, left: Source | Condition, right: Source | Condition, text: str) -> Mask:
    masks = [side for side in (left, right) if isinstance(side, Source)]
    shape = broadcast_shape(masks, text)

    def holds(*at: Any) -> Condition:
        one, other = (condition_at(side, shape, at) for side in (left, right))
        return logical(op, one, other)

    return _stage(masks, [*condition_reads(left, text), *condition_reads(right, text)], shape, holds, text)


def _stage(
    values: Sequence[Any],
    operands: Sequence[Source | Expr],
    shape: Shape,
    holds: Callable[..., Condition],
    text: str,
) -> Mask:
    mask = pointwise(Mask, operands, shape, lambda *at: truth(holds(*at)), text, Bool)
    mask.holds, mask.reads = holds, tuple(operands)
    sources = [value for value in values if isinstance(value, Source)]
    mask.makers = next((source.makers for source in sources if source.makers is not None), None)
    mask.algebra = next((source.algebra for source in sources if source.makers is not None), "")
    return mask


def condition_at(condition: Any, shape: Shape, at: Sequence[Variable]) -> Condition:
    """A condition at indices of a result: of a comparison, of an array (where it is not 0), or as it is."""
    if isinstance(condition, Mask):
        return condition.holds(*repeated(condition.shape, shape, at))
    if isinstance(condition, Source):
        return Condition(condition(*repeated(condition.shape, shape, at)), "!=", 0)
    found: Condition = condition
    return found


def condition_reads(condition: Any, operation: str) -> list[Source | Expr]:
    """The whole arrays that a condition compares; one that depends on indices is refused."""
    if isinstance(condition, Mask):
        return list(condition.reads)
    if isinstance(condition, Source):
        return operands_of((condition,), operation)
    as_condition(condition, operation, caller_location())
    return operands_of(condition_operands(condition), operation)


@later.where.given
def where(condition: Any, then: Any, otherwise: Any) -> Result:
    """`then` where the condition holds, else `otherwise`, element by element: `pm.where(A > 0, A, 0)`.

    condition: a comparison of arrays, an array (true where it is not 0), or a Condition without indices.
    then, otherwise: arrays, numbers or scalar expressions; all are broadcast as NumPy does.
    """
    text = f"where({', '.join(map(shown, (condition, then, otherwise)))})"
    tested = [condition] if isinstance(condition, Source) else []
    reads = condition_reads(condition, "where")
    choices = operands_of((then, otherwise), text)
    shape = broadcast_shape([*tested, *choices], text)

    def value(*at: Variable) -> Expr:
        one, other = (element(choice, shape, at) for choice in choices)
        return Select(condition_at(condition, shape, at), one, other)

    makers = makers_of((condition, then, otherwise))
    result: Result = pointwise(makers.computed, [*reads, *choices], shape, value, text)
    return result


@later.converted.given
def converted(source: Source, dtype: ScalarType, saturate: bool = False) -> Result:
    """The elements in another type, by C's rules, or with the ends of a type for what is beyond them."""

    def cast(value: Expr) -> Expr:
        return Cast(dtype, value, saturate=saturate)

    text = f"Cast({dtype}, {source.label}, saturate=True)" if saturate else f"{source.label}.astype({dtype})"
    result: Result = lifted(cast, (source,), text, dtype)
    return result
