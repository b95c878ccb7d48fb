"""Matrices and vectors: inputs, results, and the operators between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polymat.errors import LangError, ShapeError, caller_location
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    Result,
    Shape,
    broadcast,
    check_plain,
    check_same_shape,
    described,
    extents_hint,
    fresh_variables,
    merged_sizes,
    names_in,
    pointwise,
    scalar,
    span,
)
from polymat.lang.expr import Expr, Variable, binary
from polymat.lang.function import Domain, Input, Source
from polymat.lang.operators import indexed, shown
from polymat.lang.reduction import Op, Reduce, Reduction
from polymat.lang.types import ScalarType

_WHAT = ("Scalar", "Vector", "Matrix")


class MatrixAlgebra(Source):
    """The operators of matrices and vectors; `A * B` and `A @ B` are both the matrix product.

    A number, an expression without indices or a rank-0 result scales or is added to every element.
    """

    algebra = "matrix"

    def _yields(self, other: Any) -> bool:
        """Whether a signal's operators decide: it may be scaled by a rank-0 result."""
        return self.rank == 0 and getattr(other, "algebra", "") == "signal"

    def __add__(self, other: Any) -> Any:
        return NotImplemented if self._yields(other) else _elementwise("+", self, other)

    def __radd__(self, other: Any) -> MatrixResult:
        return _elementwise("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if self._yields(other) else _elementwise("-", self, other)

    def __rsub__(self, other: Any) -> MatrixResult:
        return _elementwise("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return NotImplemented if self._yields(other) else _times(self, other)

    def __rmul__(self, other: Any) -> Result:
        return _times(other, self)

    def __matmul__(self, other: Any) -> MatrixReduction:
        return _matmul(self, other)

    def __rmatmul__(self, other: Any) -> MatrixReduction:
        return _matmul(other, self)

    def __truediv__(self, other: Any) -> Any:
        return NotImplemented if self._yields(other) else _divide(self, other)

    def __rtruediv__(self, other: Any) -> MatrixResult:
        return _divide(other, self)

    def __neg__(self) -> MatrixResult:
        return pointwise(MatrixResult, (self,), self.shape, lambda *at: -self(*at), f"(-{self.label})")

    def __pos__(self) -> MatrixAlgebra:
        return self

    @property
    def T(self) -> MatrixAlgebra:  # noqa: N802 (NumPy's name)
        """The transpose; a vector is its own, as in NumPy."""
        if self.rank < 2:
            return self
        return transposed(self)


class Matrix(MatrixAlgebra, Input):
    """An input of rank 2, row-major: `Matrix(Double, "A", [M, N])`."""

    def __init__(self, dtype: ScalarType, name: str, dims: Sequence[Any]) -> None:
        super().__init__(dtype, name, dims, "Matrix")
        _check_rank(self, 2, "Vector for one, Image for any number")


class Vector(MatrixAlgebra, Input):
    """An input of rank 1: `Vector(Double, "x", [N])`."""

    def __init__(self, dtype: ScalarType, name: str, dims: Sequence[Any]) -> None:
        super().__init__(dtype, name, dims, "Vector")
        _check_rank(self, 1, "Matrix for two, Image for any number")


def _check_rank(source: Input, rank: int, hint: str) -> None:
    if source.rank != rank:
        raise ShapeError(
            f"the {source.what} {source.name} has {rank} extent{'s' * (rank > 1)}, got {source.rank}",
            at=source.at,
            hint=hint,
        )


class MatrixResult(MatrixAlgebra, Result):
    """A matrix, vector or scalar that is computed element by element."""

    def __init__(self, domain: Domain, dtype: ScalarType) -> None:
        super().__init__(domain, dtype, None, what=_WHAT[len(domain[0])])


class MatrixReduction(MatrixAlgebra, Result, Reduction):
    """A matrix, vector or scalar that is accumulated."""

    def __init__(
        self, domain: Domain, reduction_domain: Domain, dtype: ScalarType, init: Expr | None = None
    ) -> None:
        what = _WHAT[len(domain[0])]
        Reduction.__init__(self, domain, reduction_domain, dtype, None, init, what=what)


def operand(value: Any, operation: str) -> Source | Expr:
    """Take a value as a matrix, a vector or a scalar expression; anything else is an error."""
    factor = scalar(value, operation)
    if factor is not None:
        return factor
    source: Source = value
    if source.algebra == "signal":
        raise LangError(
            f"{operation}: {source.label} is a Signal, not a Matrix or Vector",
            at=caller_location(),
            hint="a signal's operators are element-wise; declare it a Vector, or index both in a definition",
        )
    if source.rank > 2:
        raise ShapeError(
            f"{operation}: {source.label} has {source.rank} dimensions, a matrix has 2", at=caller_location()
        )
    if source.algebra == "":
        check_plain(source, operation)
    return source


def _formula(left: Any, op: str, right: Any) -> str:
    return f"{shown(left)} {op} {shown(right)}"


def _operands(op: str, left: Any, right: Any) -> tuple[Source | Expr, Source | Expr]:
    text = _formula(left, op, right)
    return operand(left, text), operand(right, text)


def _elementwise(op: str, left: Any, right: Any) -> MatrixResult:
    one, other = _operands(op, left, right)
    text = _formula(left, op, right)
    if isinstance(one, Source) and isinstance(other, Source):
        check_same_shape(text, one, other, _transposes(op, one, other))
    return broadcast(MatrixResult, op, one, other, f"({text})")


def _transposes(op: str, left: Source, right: Source) -> str:
    if left.rank == right.rank == 2 and left.shape == right.shape[::-1]:
        return f"did you mean {left.label} {op} {_flipped(right)}?"
    return ""


def _times(left: Any, right: Any) -> Result:
    one, other = _operands("*", left, right)
    if not (isinstance(one, Source) and isinstance(other, Source)):
        return broadcast(MatrixResult, "*", one, other, f"({_formula(left, '*', right)})")
    if one.rank == other.rank == 1:
        raise LangError(
            f"{_formula(one, '*', other)}: the product of two vectors is ambiguous",
            at=caller_location(),
            hint=f"dot({one.label}, {other.label}), outer({one.label}, {other.label}) "
            f"or elementwise_mul({one.label}, {other.label})",
        )
    return product(one, other)


def _matmul(left: Any, right: Any) -> MatrixReduction:
    one, other = _operands("@", left, right)
    if isinstance(one, Source) and isinstance(other, Source):
        return product(one, other)
    raise LangError(
        f"{_formula(left, '@', right)}: @ multiplies matrices and vectors, not scalars",
        at=caller_location(),
        hint=f"{shown(left)} * {shown(right)}",
    )


def _divide(left: Any, right: Any) -> MatrixResult:
    one, other = _operands("/", left, right)
    if isinstance(other, Source):
        raise LangError(
            f"{_formula(left, '/', right)}: only division by a scalar is defined",
            at=caller_location(),
            hint=f"element by element, in a definition: {indexed(one)} / {indexed(other)}",
        )
    return broadcast(MatrixResult, "/", one, other, f"({_formula(left, '/', right)})")


def transposed(source: Source) -> MatrixResult:
    """The stage T(i, j) = A(j, i)."""
    return pointwise(
        MatrixResult, (source,), source.shape[::-1], lambda i, j: source(j, i), f"{source.label}.T"
    )


def product(left: Source, right: Source) -> MatrixReduction:
    """The product of matrices and vectors, as NumPy's `@`: the inner extent is summed over, innermost."""
    text = f"({_formula(left, '@', right)})"
    inner, other_inner = left.shape[-1], right.shape[0]
    if inner != other_inner:
        raise ShapeError(
            f"cannot multiply {described(left)} by {described(right)}: "
            f"inner extents {inner} and {other_inner} differ",
            at=caller_location(),
            hint=_product_hint(left, right) or extents_hint(inner, other_inner),
        )
    rows, columns = left.shape[:-1], right.shape[1:]

    def term(outer: Sequence[Variable], k: Variable) -> Expr:
        return binary("*", left(*outer[: len(rows)], k), right(k, *outer[len(rows) :]))

    return contraction((left, right), (*rows, *columns), inner, term, text)


def contraction(
    operands: Sequence[Source], shape: Shape, inner: Affine, term: Any, text: str
) -> MatrixReduction:
    """The reduction C(i, j) = sum over k < inner of `term((i, j), k)`."""
    sizes = merged_sizes(*operands)
    *outer, k = fresh_variables(len(shape) + 1, names_in(operands))
    spans = [span(extent, sizes) for extent in shape]
    value = term(outer, k)
    stage = MatrixReduction((outer, spans), ([*outer, k], [*spans, span(inner, sizes)]), value.dtype)
    stage.defn = [Reduce(stage(*outer), value, Op.Sum)]
    stage.text = text
    return stage


def _flipped(source: Source) -> str:
    """The transpose as a user would write it: that of `B.T` is `B`."""
    label = source.label
    return label.removesuffix(".T") if label.endswith(".T") else f"{label}.T"


def _product_hint(left: Source, right: Source) -> str:
    """The transposition that would make a product fit, if there is one."""
    for flip_left, flip_right in ((False, True), (True, False), (True, True)):
        one = left.shape[::-1] if flip_left else left.shape
        other = right.shape[::-1] if flip_right else right.shape
        trivial = (flip_left and left.rank < 2) or (flip_right and right.rank < 2)
        if one[-1] == other[0] and not trivial:
            texts = (
                _flipped(left) if flip_left else left.label,
                _flipped(right) if flip_right else right.label,
            )
            return f"did you mean {texts[0]} @ {texts[1]}?"
    return ""
