"""Library calls as values: what a matcher found, complete enough to be written without the stages.

Everything is row-major.  An axis is a loop of the routine (BLAS's m, n, k); an operand says for its element
at given values of all axes where it lies.  A block of the result is a call with an axis cut: see `Cut`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Literal, TypeAlias

from polymat.dataclass import dataclass
from polymat.graph.product import Product
from polymat.graph.stage import Part
from polymat.graph.term import Term
from polymat.idiom.routines import ROUTINES, Routine
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr
from polymat.lang.types import ScalarType
from polymat.model.extents import extent

Role: TypeAlias = Literal["m", "n", "k"]
Triangle: TypeAlias = Literal["lower", "upper"]
Side: TypeAlias = Literal["left", "right"]
Pieces: TypeAlias = Literal["same", "triangle"]


@dataclass(frozen=True, slots=True)
class Axis:
    """Some index names that count as one, the last fastest; without names it is one iteration.

    low: first index of each name; extents: of each; the axis has the product of them.
    """

    dims: tuple[str, ...]
    low: tuple[Affine, ...]
    extents: tuple[Affine, ...]

    def length(self, sizes: Mapping[str, int]) -> float:
        """How many iterations it has at some sizes."""
        return prod((extent(form, sizes) for form in self.extents), start=1.0)

    def __str__(self) -> str:
        return "*".join(self.dims) or "1"


@dataclass(frozen=True, slots=True)
class Stride:
    """Elements from one step of an axis to the next: factor * product of array extents."""

    factor: int
    extents: tuple[Affine, ...] = ()

    @property
    def is_unit(self) -> bool:
        """Whether the elements follow each other in memory, whatever the sizes."""
        return self.factor == 1 and not self.extents


@dataclass(frozen=True, slots=True)
class Operand:
    """One array of a call: its element at given index values is `source(indices)`.

    roles: the axes it runs over, rows before columns, as in the routine's formula (A is m x k, B is k x n).
    strides: one a role.  Indices of further (batch) names only move the first element.
    transposed: whether the row, not the column, is the role with unit stride: the array's rows are the
    formula's columns, and the other stride is the leading dimension.
    conjugated: whether the formula takes complex conjugates: in gemm and gemv only if it is transposed too.
    """

    source: str
    indices: tuple[Affine, ...]
    roles: tuple[Role, ...]
    strides: tuple[Stride, ...]
    transposed: bool = False
    conjugated: bool = False

    @property
    def is_conjugate_alone(self) -> bool:
        """Whether it is conjugated and not transposed, which BLAS has not."""
        return self.conjugated and not self.transposed

    @property
    def leading(self) -> Stride:
        """The leading dimension of a matrix, the increment of a vector.

        It is 0 for an array without elements, where libraries ask for at least 1.
        """
        if len(self.strides) < 2:
            return self.strides[0] if self.strides else Stride(1)
        return self.strides[1] if self.transposed else self.strides[0]

    def __str__(self) -> str:
        text = f"{self.source}({', '.join(map(str, self.indices))})"
        text = f"conj({text})" if self.conjugated else text
        return f"{text}^T" if self.transposed else text


@dataclass(frozen=True, slots=True)
class Cut:
    """An axis of the result that may be cut into blocks b .. e - 1, computed independently of each other.

    pieces: "same": the block is the same routine with that axis shorter.
    "triangle": the axis is that of the triangle.  The block b .. e - 1 is the routine on the part of the
    triangle between b and e, and a general product (gemm, gemv) on the rectangle beside it.
    """

    role: Role
    pieces: Pieces = "same"


@dataclass(frozen=True, slots=True, eq=False)
class LibraryCall:
    """One call of a BLAS routine for each point of the batch; its row in `ROUTINES` says what it computes.

    operands: A and B, A and x, x and y in the order of the routine's formula.  For trmm and trsm: T, then B
    (or x), which a library overwrites with the result: the result begins as a copy of B, the same element
    for element.
    mirrored: of syrk, whether the other triangle of the result is a copy of the one computed.
    triangle: of the array as it is stored (of the result for syrk, herk and syr2k), else None; no other
    element of a triangular or symmetric array is read.  unit: its diagonal is 1 and not read.
    alpha: None is 1.  Libraries skip the product when it is 0, the definition does not: 0 * NaN is NaN.
    batch: further loops around the call; an operand may not depend on them.
    """

    routine: str
    dtype: ScalarType
    result: Operand
    operands: tuple[Operand, ...]
    axes: tuple[tuple[Role, Axis], ...]
    alpha: Expr | None = None
    batch: tuple[Axis, ...] = ()
    side: Side | None = None
    triangle: Triangle | None = None
    unit: bool = False
    cuts: tuple[Cut, ...] = ()
    mirrored: bool = False

    def axis(self, role: Role) -> Axis:
        """The axis of a role; one iteration where the routine has none."""
        return dict(self.axes).get(role, Axis((), (), ()))

    @property
    def row(self) -> Routine:
        """The row of the table of routines that this call is of."""
        return ROUTINES[self.routine]

    @property
    def overwrites(self) -> bool:
        """Whether it computes the result from nothing, instead of adding to it."""
        return self.row.overwrites

    def __str__(self) -> str:
        sizes = " ".join(f"{role}={axis}" for role, axis in self.axes)
        flags = [self.side, self.triangle, "unit" if self.unit else None]
        flags.append("mirrored" if self.mirrored else None)
        shown = "".join(f", {flag}" for flag in flags if flag)
        batch = f" for each {', '.join(map(str, self.batch))}" if self.batch else ""
        return f"{self.routine}({', '.join(map(str, self.operands))}; {sizes}{shown}){batch}"


@dataclass(frozen=True, slots=True, eq=False)
class Idiom:
    """Some stages as library calls one after the other, each adding to the result of those before.

    product: the normal form of the stages.
    calls: in an order in which they may run.
    start: what the result holds before the first call, the sum of these terms; () is zero.  A call that
    overwrites the result comes first, and there is no start.
    """

    product: Product
    calls: tuple[LibraryCall, ...]
    start: tuple[Term, ...] = ()

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages it stands for, producers first, the result last."""
        return self.product.stages

    @property
    def others(self) -> tuple[Part, ...]:
        """The parts of the result elsewhere (above a triangle's diagonal), computed apart."""
        return self.product.others

    def __str__(self) -> str:
        return f"{'+'.join(self.stages)} = {'; '.join(map(str, self.calls))}"
