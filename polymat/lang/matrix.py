"""Matrices and vectors: inputs, results, and the operators between them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from polymat.errors import LangError, PolymatWarning, ShapeError, caller_location, counted
from polymat.lang import later
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    Result,
    Shape,
    check_plain,
    described,
    extents_hint,
    fresh_variables,
    merged_sizes,
    names_in,
    pointwise,
    span,
)
from polymat.lang.broadcasting import broadcast_shape, joined, repeated
from polymat.lang.expr import Expr, Variable, binary
from polymat.lang.function import Input, Source
from polymat.lang.interval import Domain
from polymat.lang.makers import Makers
from polymat.lang.operators import shown
from polymat.lang.producthints import misfit_hint
from polymat.lang.reduction import Op, Reduce, Reduction
from polymat.lang.types import ScalarType
from polymat.lang.whole import Mask, lifted, makers_of, operands_of

_WHAT = {0: "Scalar", 1: "Vector", 2: "Matrix"}


class MatrixAlgebra(Source):
    """The operators of matrices and vectors: `A * B` and `A @ B` are both the matrix product, all else goes
    element by element.
    """  # noqa: D205 (one sentence)

    algebra = "matrix"


class Matrix(MatrixAlgebra, Input):
    """An input of rank 2, row-major: `Matrix(Double, "A", [M, N])`.

    `A * B` of two matrices is their product, as `A @ B` is, and says so once: `elementwise_mul(A, B)` is what
    NumPy means.  All else goes element by element: `Exp(A)`, `A / B`, `A ** 2`, `A > 0`, `A + bias`.
    values: of integers the lowest and the highest, which are checked at each call.
    """

    def __init__(self, dtype: ScalarType, name: str, dims: Sequence[Any], *, values: Any = None) -> None:
        super().__init__(dtype, name, dims, "Matrix", values)
        _check_rank(self, 2, "Vector for one, Image for any number")


class Vector(MatrixAlgebra, Input):
    """An input of rank 1: `Vector(Double, "x", [N])`.

    values: of integers the lowest and the highest: `Vector(Int, "column", [NNZ], values=(0, N - 1))` holds
    indices of what has N elements.  sorted: none is less than the one before, as `np.sort` leaves them.  Each
    call checks both.
    """

    _settable = frozenset({"sorted"})

    def __init__(
        self, dtype: ScalarType, name: str, dims: Sequence[Any], *, values: Any = None, sorted: bool = False
    ) -> None:
        super().__init__(dtype, name, dims, "Vector", values)
        _check_rank(self, 1, "Matrix for two, Image for any number")
        if not isinstance(sorted, bool):
            raise LangError(f"{name}: sorted is True or False, got {sorted!r:.40}", at=self.at)
        if sorted and self.values is None:
            raise LangError(
                f"{name}: sorted= is of integers between declared limits", at=self.at, hint="values=(0, NNZ)"
            )
        self.sorted = sorted


def _check_rank(source: Input, rank: int, hint: str) -> None:
    if source.rank != rank:
        raise ShapeError(
            f"the {source.what} {source.name} has {counted(rank, 'extent')}, got {source.rank}",
            at=source.at,
            hint=hint,
        )


class MatrixResult(MatrixAlgebra, Result):
    """A matrix, vector or scalar that is computed element by element."""

    def __init__(self, domain: Domain, dtype: ScalarType) -> None:
        super().__init__(domain, dtype, None, what=_WHAT.get(len(domain[0]), "Array"))


class MatrixReduction(MatrixAlgebra, Result, Reduction):
    """A matrix, vector or scalar that is accumulated."""

    def __init__(
        self, domain: Domain, reduction_domain: Domain, dtype: ScalarType, init: Expr | None = None
    ) -> None:
        what = _WHAT.get(len(domain[0]), "Array")
        Reduction.__init__(self, domain, reduction_domain, dtype, None, init, what=what)


MatrixAlgebra.makers = Makers(MatrixResult, MatrixReduction)


def _formula(left: Any, op: str, right: Any) -> str:
    return f"{shown(left)} {op} {shown(right)}"


@later.times.given
def times(left: Any, right: Any) -> Result:
    """`left * right`: of matrices and vectors the matrix product, of anything else element by element.

    A comparison, an array of more than two dimensions, and arrays that are no matrices multiply element by
    element.
    """
    text = _formula(left, "*", right)
    one, other = operands_of((left, right), text)
    if not (isinstance(one, Source) and isinstance(other, Source)) or not _multiply(one, other):
        return multiplied(left, right)
    if one.rank == other.rank == 1:
        raise LangError(
            f"{text}: the product of two vectors is ambiguous",
            at=caller_location(),
            hint=f"dot({one.label}, {other.label}), outer({one.label}, {other.label}) "
            f"or elementwise_mul({one.label}, {other.label}); Images of one dimension multiply by elements",
        )
    result = product(one, other, f"element by element: elementwise_mul({one.label}, {other.label})")
    if one.rank == other.rank == 2:
        _tell_of_product(one, other)
    return result


def multiplied(left: Any, right: Any, text: str = "") -> Result:
    """`left * right`, element by element."""
    written = text or _formula(left, "*", right)
    broadcast_shape(
        operands_of((left, right), written), written
    )  # refused under the name of what was written
    result: Result = lifted(lambda one, other: binary("*", one, other), (left, right), text or f"({written})")
    return result


def _multiply(left: Source, right: Source) -> bool:
    """Whether `*` is the matrix product: of matrices and vectors, and of a function beside one."""
    both = (left, right)
    if any(isinstance(each, Mask) or each.rank > 2 for each in both):
        return False
    return any(each.algebra == "matrix" for each in both)


class _Told:
    """Whether this process was told what `A * B` is."""

    yet = False


def _tell_of_product(left: Source, right: Source) -> None:
    if _Told.yet:
        return
    _Told.yet = True
    at = caller_location()
    one, other = left.label, right.label
    warnings.warn_explicit(
        f"{one} * {other} is the matrix product, as in PolyMage, not NumPy's product of elements; "
        f"write {one} @ {other} for the matrix product, elementwise_mul({one}, {other}) for that of elements",
        PolymatWarning,
        at.file if at else "<unknown>",
        at.line if at else 0,
    )


@later.matmul.given
def matmul(left: Any, right: Any) -> MatrixReduction:
    """`left @ right`: the matrix product, of more than two dimensions one of each pair of matrices.

    Signals are as vectors, and those of several channels, or spectra of frames, as matrices.
    """
    text = _formula(left, "@", right)
    one, other = operands_of((left, right), text, mixed=True)
    if isinstance(one, Source) and isinstance(other, Source):
        return product(one, other)
    raise LangError(
        f"{text}: @ multiplies matrices and vectors, not scalars",
        at=caller_location(),
        hint=f"{shown(left)} * {shown(right)}",
    )


@later.transposed.given
def transposed(source: Source, *axes: Any) -> Result:
    """The stage T(i, j) = A(j, i); dimension k of the result is `axes[k]`, or counted from the last one."""
    order = _order(source, axes[0] if axes and isinstance(axes[0], list | tuple) else axes)
    turned = order == tuple(range(source.rank))[::-1]
    text = f"{source.label}.T" if turned else f"{source.label}.transpose{order}"
    if source.algebra == "":
        check_plain(source, text)
    inverse = [order.index(dim) for dim in range(source.rank)]
    shape = tuple(source.shape[axis] for axis in order)
    make = makers_of((source,)).computed
    result: Result = pointwise(make, (source,), shape, lambda *at: source(*(at[k] for k in inverse)), text)
    return result


def _order(source: Source, axes: Sequence[Any]) -> tuple[int, ...]:
    rank = source.rank
    order = tuple(axis + rank if isinstance(axis, int) and -rank <= axis < 0 else axis for axis in axes)
    if not order:
        return tuple(range(rank))[::-1]
    if sorted(map(str, order)) != sorted(map(str, range(rank))):
        raise ShapeError(
            f"transpose: {described(source)} has {counted(rank, 'dimension')}, "
            f"got the axes {', '.join(map(str, axes))}",
            at=caller_location(),
            hint="each axis once",
        )
    return order


def product(left: Source, right: Source, otherwise: str = "") -> MatrixReduction:
    """The product of matrices and vectors, as NumPy's `@`: the inner extent is summed over, innermost.

    otherwise: what to do where the extents do not fit and neither would be the transposed one.
    """
    text = f"({_formula(left, '@', right)})"
    inner, other_inner = left.shape[-1], right.shape[max(right.rank - 2, 0)]
    if inner != other_inner:
        raise ShapeError(
            f"cannot multiply {described(left)} by {described(right)}: "
            f"inner extents {inner} and {other_inner} differ",
            at=caller_location(),
            hint=misfit_hint(left, right, otherwise) or extents_hint(inner, other_inner),
        )
    if left.rank > 2 or right.rank > 2:
        return _stacked_product(left, right, text)
    rows, columns = left.shape[:-1], right.shape[1:]

    def term(outer: Sequence[Variable], k: Variable) -> Expr:
        return binary("*", left(*outer[: len(rows)], k), right(k, *outer[len(rows) :]))

    return contraction((left, right), (*rows, *columns), inner, term, text)


def _stacked_product(left: Source, right: Source, text: str) -> MatrixReduction:
    """The products of stacks of matrices, whose dimensions before the last two are broadcast."""
    stacks = (left.shape[:-2], right.shape[:-2])
    before = joined(zip(stacks, (left, right), strict=True), text)
    rows, columns = left.shape[:-1][-1:], right.shape[1:][-1:]  # none of a vector

    def term(outer: Sequence[Variable], k: Variable) -> Expr:
        at, own = outer[: len(before)], outer[len(before) :]
        one, other = (repeated(stack, before, at) for stack in stacks)
        return binary("*", left(*one, *own[: len(rows)], k), right(*other, k, *own[len(rows) :]))

    return contraction((left, right), (*before, *rows, *columns), left.shape[-1], term, text)


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
