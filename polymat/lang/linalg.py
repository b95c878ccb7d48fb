"""Linear algebra under BLAS's names: each a reduction, and a point-wise stage that scales it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polymat.errors import LangError, ShapeError, caller_location
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    Result,
    between,
    check_same_shape,
    described,
    dims,
    fresh_variables,
    merged_sizes,
    names_in,
    pointwise,
    scalar,
    span,
)
from polymat.lang.condition import Condition
from polymat.lang.expr import Const, Expr, Variable, binary
from polymat.lang.function import Case, CaseEntry, Source
from polymat.lang.indices import as_affine
from polymat.lang.matrix import MatrixReduction, MatrixResult, multiplied, product, transposed
from polymat.lang.operandchecks import check_extents, check_square, checked_arguments, no_source
from polymat.lang.operators import shown
from polymat.lang.reduction import Op, Reduce
from polymat.lang.types import ScalarType, promote


def transpose(A: Source) -> Result:
    """The transpose of a matrix: a stage T(i, j) = A(j, i)."""
    (source,) = checked_arguments("transpose", (2,), A=A)
    return transposed(source)


def elementwise_mul(A: Source, B: Source) -> Result:
    """Multiply two arrays element by element: of one shape, or broadcast to one as NumPy does."""
    for name, value in (("A", A), ("B", B)):
        if not isinstance(value, Source):
            raise no_source("elementwise_mul", name, value, "Vector or Matrix")
    return multiplied(A, B, f"elementwise_mul({A.label}, {B.label})")


def scalar_mul(A: Source, alpha: Any) -> Result:
    """Multiply a matrix or vector by a number, a parameter or a rank-0 result."""
    (source,) = checked_arguments("scalar_mul", (1, 2), A=A)
    factor = _factor("scalar_mul", "alpha", alpha)
    return multiplied(factor, source, f"scalar_mul({source.label}, {shown(factor)})")


def dot(x: Source, y: Source) -> MatrixReduction:
    """The inner product of two vectors (no conjugation), of rank 0: read it as `d()`."""
    left, right = checked_arguments("dot", (1,), x=x, y=y)
    text = f"dot({left.label}, {right.label})"
    check_same_shape(text, left, right)
    result = product(left, right)
    result.text = text
    return result


def outer(x: Source, y: Source) -> MatrixResult:
    """The outer product of two vectors: O(i, j) = x(i) * y(j)."""
    left, right = checked_arguments("outer", (1,), x=x, y=y)
    return pointwise(
        MatrixResult,
        (left, right),
        (*left.shape, *right.shape),
        lambda i, j: binary("*", left(i), right(j)),
        f"outer({left.label}, {right.label})",
    )


def gemm(A: Source, B: Source, C: Source, alpha: Any, beta: Any) -> Result:
    """alpha * A @ B + beta * C; where beta is the number 0, C is not read."""
    a, b, c = checked_arguments("gemm", (2,), A=A, B=B, C=C)
    scaling = _Scaling("gemm", alpha, beta, f"gemm({a.label}, {b.label}, {c.label})")
    check_extents("gemm", ("A's columns", a, 1), ("B's rows", b, 0))
    check_extents("gemm", ("C's rows", c, 0), ("A's rows", a, 0))
    check_extents("gemm", ("C's columns", c, 1), ("B's columns", b, 1))
    return scaling.of(product(a, b), c)


def symm(
    A: Source,
    B: Source,
    C: Source,
    M: Any,
    N: Any,
    alpha: Any,
    beta: Any,
) -> Result:
    """alpha * S @ B + beta * C, where S is symmetric and A holds its lower triangle.

    A is M x M, B and C are M x N; A's strict upper triangle is never read.
    """
    a, b, c = checked_arguments("symm", (2,), A=A, B=B, C=C)
    scaling = _Scaling("symm", alpha, beta, f"symm({a.label}, {b.label}, {c.label})")
    rows, columns = (as_affine(extent, caller_location()) for extent in (M, N))
    for name, source, shape in (("A", a, (rows, rows)), ("B", b, (rows, columns)), ("C", c, (rows, columns))):
        if source.shape != shape:
            raise ShapeError(
                f"symm: {name} is {described(source)}, but M and N make it {dims(shape)}",
                at=caller_location(),
                hint="A is M x M, B and C are M x N",
            )
    sizes = merged_sizes(a, b)
    i, j, k = fresh_variables(3, names_in((a, b, c)))
    spans = [span(rows, sizes), span(columns, sizes)]
    below = binary("*", a(i, k), b(k, j))
    stage = MatrixReduction(([i, j], spans), ([i, j, k], [*spans, span(rows, sizes)]), below.dtype)
    stage.defn = [
        Case(Condition(k, "<=", i), Reduce(stage(i, j), below, Op.Sum)),
        Case(Condition(k, ">", i), Reduce(stage(i, j), binary("*", a(k, i), b(k, j)), Op.Sum)),
    ]
    stage.text = f"(symmetric {a.label} @ {b.label})"
    return scaling.of(stage, c)


def syrk(A: Source, C: Source, alpha: Any, beta: Any) -> MatrixResult:
    """The lower triangle of alpha * A @ A.T + beta * C; the strict upper triangle is C's."""
    a, c = checked_arguments("syrk", (2,), A=A, C=C)
    scaling = _Scaling("syrk", alpha, beta, f"syrk({a.label}, {c.label})")
    check_square("syrk", c, a)

    def term(i: Variable, j: Variable, k: Variable) -> Expr:
        return binary("*", a(i, k), a(j, k))

    return scaling.of_lower(_lower((a,), term, f"(lower {a.label} @ {a.label}.T)"), c)


def syr2k(A: Source, B: Source, C: Source, alpha: Any, beta: Any) -> MatrixResult:
    """The lower triangle of alpha * (A @ B.T + B @ A.T) + beta * C; the strict upper triangle is C's."""
    a, b, c = checked_arguments("syr2k", (2,), A=A, B=B, C=C)
    scaling = _Scaling("syr2k", alpha, beta, f"syr2k({a.label}, {b.label}, {c.label})")
    check_same_shape(scaling.text, a, b)
    check_square("syr2k", c, a)

    def term(i: Variable, j: Variable, k: Variable) -> Expr:
        return binary("+", binary("*", a(i, k), b(j, k)), binary("*", b(i, k), a(j, k)))

    text = f"(lower {a.label} @ {b.label}.T + {b.label} @ {a.label}.T)"
    return scaling.of_lower(_lower((a, b), term, text), c)


def trmm(A: Source, B: Source, alpha: Any, beta: Any = 0) -> Result:
    """alpha * L.T @ B + beta * B, where L is unit lower triangular with A's strict lower triangle."""
    a, b = checked_arguments("trmm", (2,), A=A, B=B)
    scaling = _Scaling("trmm", alpha, beta, f"trmm({a.label}, {b.label})")
    check_extents("trmm", ("A's rows", a, 0), ("A's columns", a, 1))
    check_extents("trmm", ("B's rows", b, 0), ("A's columns", a, 1))
    rows, columns = b.shape
    sizes = merged_sizes(a, b)
    i, j, k = fresh_variables(3, names_in((a, b)))
    spans = [span(rows, sizes), span(columns, sizes)]
    below = between(Affine.name(i.name) + 1, rows - 1, sizes)
    value = binary("*", a(k, i), b(k, j))
    stage = MatrixReduction(([i, j], spans), ([i, j, k], [*spans, below]), value.dtype, b(i, j))
    stage.defn = [Reduce(stage(i, j), value, Op.Sum)]
    stage.text = f"(unit lower {a.label}.T @ {b.label})"
    return scaling.of(stage, b)


def _lower(operands: Sequence[Source], term: Any, text: str) -> MatrixReduction:
    """The reduction P(i, j) = sum over k of `term(i, j, k)` for j <= i."""
    rows, inner = operands[0].shape
    sizes = merged_sizes(*operands)
    i, j, k = fresh_variables(3, names_in(operands))
    triangle = [span(rows, sizes), between(Affine(), Affine.name(i.name), sizes)]
    value = term(i, j, k)
    stage = MatrixReduction(([i, j], triangle), ([i, j, k], [*triangle, span(inner, sizes)]), value.dtype)
    stage.defn = [Reduce(stage(i, j), value, Op.Sum)]
    stage.text = text
    return stage


class _Scaling:
    """The scalars of one call, checked, and how they combine a product with what it is added to."""

    def __init__(self, function: str, alpha: Any, beta: Any, text: str) -> None:
        self.alpha = _factor(function, "alpha", alpha)
        self.beta = _factor(function, "beta", beta)
        self.text = text

    def of(self, product: MatrixReduction, addend: Source) -> Result:
        """alpha * product + beta * addend; the product itself where that is all."""
        dtype = self._dtype(product, addend)
        if dtype == product.dtype and _is_number(self.alpha, 1) and _is_number(self.beta, 0):
            product.text = self.text
            return product

        def value(i: Variable, j: Variable) -> Expr:
            return self._sum(product(i, j), addend(i, j))

        return pointwise(MatrixResult, self._reads(product, addend), product.shape, value, self.text, dtype)

    def of_lower(self, product: MatrixReduction, addend: Source) -> MatrixResult:
        """The same in the lower triangle; the addend alone above it."""

        def value(i: Variable, j: Variable) -> list[CaseEntry]:
            lower = self._sum(product(i, j), addend(i, j))
            return [Case(Condition(j, "<=", i), lower), Case(Condition(j, ">", i), addend(i, j))]

        return pointwise(MatrixResult, self._reads(product, addend), addend.shape, value, self.text)

    def _dtype(self, product: Source, addend: Source) -> ScalarType:
        """The type of the whole sum, also where a term is dropped."""
        return promote(promote(self.alpha.dtype, product.dtype), promote(self.beta.dtype, addend.dtype))

    def _reads(self, product: Source, addend: Source) -> tuple[Source | Expr, ...]:
        return (product, addend, self.alpha, self.beta)

    def _sum(self, product: Expr, addend: Expr) -> Expr:
        scaled = _scaled(self.alpha, product)
        if _is_number(self.beta, 0):
            return scaled
        return binary("+", scaled, _scaled(self.beta, addend))


def _scaled(factor: Expr, value: Expr) -> Expr:
    result = binary("*", factor, value)
    return value if _is_number(factor, 1) and result.dtype == value.dtype else result


def _is_number(factor: Expr, number: int) -> bool:
    return isinstance(factor, Const) and factor.value == number


def _factor(function: str, name: str, value: Any) -> Expr:
    """Check a scalar argument."""
    factor = scalar(value, f"{function}'s {name}")
    if factor is None:
        raise LangError(f"{function}: {name} is a scalar, got {described(value)}", at=caller_location())
    return factor
