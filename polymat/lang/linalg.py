"""Linear algebra under BLAS's names: each a reduction, and a point-wise stage that scales it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polymat.errors import LangError, ShapeError, caller_location
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    Result,
    between,
    check_plain,
    check_same_shape,
    described,
    dims,
    extents_hint,
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
from polymat.lang.operators import shown
from polymat.lang.reduction import Op, Reduce
from polymat.lang.types import ScalarType, promote

_KINDS = ("scalar", "Vector", "Matrix")


def transpose(A: Source) -> Result:
    """The transpose of a matrix: a stage T(i, j) = A(j, i)."""
    (source,) = _arguments("transpose", (2,), A=A)
    return transposed(source)


def elementwise_mul(A: Source, B: Source) -> Result:
    """Multiply two arrays element by element: of one shape, or broadcast to one as NumPy does."""
    for name, value in (("A", A), ("B", B)):
        if not isinstance(value, Source):
            raise _no_source("elementwise_mul", name, value, "Vector or Matrix")
    return multiplied(A, B, f"elementwise_mul({A.label}, {B.label})")


def scalar_mul(A: Source, alpha: Any) -> Result:
    """Multiply a matrix or vector by a number, a parameter or a rank-0 result."""
    (source,) = _arguments("scalar_mul", (1, 2), A=A)
    factor = _factor("scalar_mul", "alpha", alpha)
    return multiplied(factor, source, f"scalar_mul({source.label}, {shown(factor)})")


def dot(x: Source, y: Source) -> MatrixReduction:
    """The inner product of two vectors (no conjugation), of rank 0: read it as `d()`."""
    left, right = _arguments("dot", (1,), x=x, y=y)
    text = f"dot({left.label}, {right.label})"
    check_same_shape(text, left, right)
    result = product(left, right)
    result.text = text
    return result


def outer(x: Source, y: Source) -> MatrixResult:
    """The outer product of two vectors: O(i, j) = x(i) * y(j)."""
    left, right = _arguments("outer", (1,), x=x, y=y)
    return pointwise(
        MatrixResult,
        (left, right),
        (*left.shape, *right.shape),
        lambda i, j: binary("*", left(i), right(j)),
        f"outer({left.label}, {right.label})",
    )


def gemm(A: Source, B: Source, C: Source, alpha: Any, beta: Any) -> Result:
    """alpha * A @ B + beta * C; where beta is the number 0, C is not read."""
    a, b, c = _arguments("gemm", (2,), A=A, B=B, C=C)
    scaling = _Scaling("gemm", alpha, beta, f"gemm({a.label}, {b.label}, {c.label})")
    _check_extents("gemm", ("A's columns", a, 1), ("B's rows", b, 0))
    _check_extents("gemm", ("C's rows", c, 0), ("A's rows", a, 0))
    _check_extents("gemm", ("C's columns", c, 1), ("B's columns", b, 1))
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
    a, b, c = _arguments("symm", (2,), A=A, B=B, C=C)
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
    a, c = _arguments("syrk", (2,), A=A, C=C)
    scaling = _Scaling("syrk", alpha, beta, f"syrk({a.label}, {c.label})")
    _check_square("syrk", c, a)

    def term(i: Variable, j: Variable, k: Variable) -> Expr:
        return binary("*", a(i, k), a(j, k))

    return scaling.of_lower(_lower((a,), term, f"(lower {a.label} @ {a.label}.T)"), c)


def syr2k(A: Source, B: Source, C: Source, alpha: Any, beta: Any) -> MatrixResult:
    """The lower triangle of alpha * (A @ B.T + B @ A.T) + beta * C; the strict upper triangle is C's."""
    a, b, c = _arguments("syr2k", (2,), A=A, B=B, C=C)
    scaling = _Scaling("syr2k", alpha, beta, f"syr2k({a.label}, {b.label}, {c.label})")
    check_same_shape(scaling.text, a, b)
    _check_square("syr2k", c, a)

    def term(i: Variable, j: Variable, k: Variable) -> Expr:
        return binary("+", binary("*", a(i, k), b(j, k)), binary("*", b(i, k), a(j, k)))

    text = f"(lower {a.label} @ {b.label}.T + {b.label} @ {a.label}.T)"
    return scaling.of_lower(_lower((a, b), term, text), c)


def trmm(A: Source, B: Source, alpha: Any, beta: Any = 0) -> Result:
    """alpha * L.T @ B + beta * B, where L is unit lower triangular with A's strict lower triangle."""
    a, b = _arguments("trmm", (2,), A=A, B=B)
    scaling = _Scaling("trmm", alpha, beta, f"trmm({a.label}, {b.label})")
    _check_extents("trmm", ("A's rows", a, 0), ("A's columns", a, 1))
    _check_extents("trmm", ("B's rows", b, 0), ("A's columns", a, 1))
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


def _arguments(function: str, ranks: tuple[int, ...], **arguments: Any) -> tuple[Source, ...]:
    """Check matrix and vector arguments: a plain function may stand beside a matrix, not alone."""
    for name, value in arguments.items():
        _check_argument(function, name, value, ranks)
    if all(value.algebra == "" for value in arguments.values()):
        name, value = next(iter(arguments.items()))
        raise LangError(
            f"{function}: {name} must be a {_expected(ranks)}, got the {value.what} {value.label}",
            at=caller_location(),
            hint=f"{function} takes Matrix and Vector inputs and what is computed from them",
        )
    return tuple(arguments.values())


def _expected(ranks: tuple[int, ...]) -> str:
    return " or ".join(_KINDS[rank] for rank in ranks)


def _check_argument(function: str, name: str, value: Any, ranks: tuple[int, ...]) -> None:
    expected = _expected(ranks)
    if not isinstance(value, Source):
        raise _no_source(function, name, value, expected)
    if value.algebra == "signal":
        raise LangError(
            f"{function}: {name} must be a {expected}, got the Signal {value.label}",
            at=caller_location(),
            hint="declare it a Vector",
        )
    if value.rank not in ranks:
        raise ShapeError(
            f"{function}: {name} must be a {expected}, got {described(value)}", at=caller_location()
        )
    check_plain(value, function)


def _no_source(function: str, name: str, value: Any, expected: str) -> LangError:
    return LangError(
        f"{function}: {name} must be a {expected}, got {shown(value)}",
        at=caller_location(),
        hint="arrays are given when the pipeline is called; declare an input for it here",
    )


Extent = tuple[str, Source, int]


def _check_extents(function: str, one: Extent, other: Extent) -> None:
    (name, source, dim), (other_name, other_source, other_dim) = one, other
    extent, expected = source.shape[dim], other_source.shape[other_dim]
    if extent != expected:
        raise ShapeError(
            f"{function}: {name} and {other_name} differ, {extent} and {expected}: "
            f"{described(source)}, {described(other_source)}",
            at=caller_location(),
            hint=extents_hint(extent, expected),
        )


def _check_square(function: str, result: Source, factor: Source) -> None:
    _check_extents(function, ("C's rows", result, 0), ("A's rows", factor, 0))
    _check_extents(function, ("C's columns", result, 1), ("A's rows", factor, 0))
