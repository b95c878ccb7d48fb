"""Library calls of `polymat.idiom` as C: BLAS on the part of the axes that is given at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, For, Id, Literal, Stmt
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.routines.cblas import INT_LIMIT
from polymat.idiom.call import Axis, LibraryCall, Operand, Role
from polymat.lang.affine import Affine
from polymat.lang.expr import Const
from polymat.lang.types import real_part

ZERO = Literal("0")


class CallWriter:
    """One library call on the part of the result that `bounds` gives, by dimension; the rest is whole.

    Of an axis of several dimensions the innermost ones count as one where they lie in memory as one; there is
    a loop over the others, as over the dimensions of the batch.
    """

    def __init__(self, writer: StageWriter, call: LibraryCall, bounds: Mapping[str, Range]) -> None:
        self.writer = writer
        self.call = call
        self.bounds = bounds
        self.axes = {dim: (axis, k) for axis in _all_axes(call) for k, dim in enumerate(axis.dims)}
        self.merged: dict[Role, tuple[str, ...]] = {role: self._merged(axis) for role, axis in call.axes}

    # ---- axes ----

    def begin(self, dim: str) -> CExpr:
        """The first index along a dimension."""
        if dim in self.bounds:
            return Id(self.bounds[dim].begin)
        axis, position = self.axes[dim]
        return self.writer.size(axis.low[position])

    def extent(self, dim: str) -> CExpr:
        """How many indices there are along a dimension."""
        if dim in self.bounds:
            return CBinary("-", Id(self.bounds[dim].end), Id(self.bounds[dim].begin))
        axis, position = self.axes[dim]
        return self.writer.size(axis.extents[position])

    def extent_of(self, role: Role) -> CExpr:
        """How many steps of an axis one call covers."""
        dims = self.merged[role]
        return reduce(partial(CBinary, "*"), map(self.extent, dims)) if dims else Literal("1")

    def _merged(self, axis: Axis) -> tuple[str, ...]:
        count = min(1, len(axis.dims))
        while count < len(axis.dims) and self._is_one(axis.dims[-count - 1], axis.dims[-count]):
            count += 1
        return axis.dims[len(axis.dims) - count :]

    def _is_one(self, outer: str, inner: str) -> bool:
        """Whether the inner dimension runs over the whole axis behind the outer one's, in every operand."""
        if inner in self.bounds:
            return False
        operands = [o for o in (self.call.result, *self.call.operands) if _runs(o, inner) or _runs(o, outer)]
        return all(self._follows(operand, outer, inner) for operand in operands)

    def _follows(self, operand: Operand, outer: str, inner: str) -> bool:
        before, behind = Affine.name(outer), Affine.name(inner)
        if before not in operand.indices or behind not in operand.indices:
            return False
        position = operand.indices.index(behind)
        buffer = self.writer.storage[operand.source]
        axis, k = self.axes[inner]
        whole = axis.low[k] == buffer.origin[position] and axis.extents[k] == buffer.extents[position]
        return whole and operand.indices.index(before) == position - 1

    # ---- operands ----

    def address(self, operand: Operand, at: Mapping[str, CExpr]) -> CExpr:
        """The first element of an operand; `at`: begins of dimensions, where they are others."""
        bodies = self.writer.bodies
        point = {dim: self.begin(dim) for dim in self.axes} | bodies.loop_point(self.looped) | dict(at)
        return bodies.address(operand.source, operand.indices, point)

    def step(self, operand: Operand, role: Role) -> CExpr:
        """Elements between neighbours along an axis."""
        if not self.merged[role]:
            return Literal("1")
        dim = self._moving(operand, role)
        return self.writer.bodies.step(operand.source, operand.indices, dim)

    def _moving(self, operand: Operand, role: Role) -> str:
        """The dimension by which an operand runs over an axis: rows of a square may be named as columns."""
        roles = (role, *(other for other in self.merged if other not in operand.roles))
        named = (dims[-1] for other in roles if (dims := self.merged[other]))
        return next((dim for dim in named if _runs(operand, dim)), self.merged[role][-1])

    def leading(self, operand: Operand) -> CExpr:
        """The leading dimension of a matrix, the increment of a vector."""
        if len(operand.roles) < 2:
            return self.step(operand, operand.roles[0])
        return self.step(operand, operand.roles[1 if operand.transposed else 0])

    @property
    def alpha(self) -> CExpr:
        """The expression that a call of BLAS multiplies the product by."""
        if self.call.alpha is None:
            return Literal("1")
        dtype = real_part(self.call.dtype) if self.call.routine == "herk" else self.call.dtype
        return self.writer.bodies.value(self.call.alpha, dtype, exact=True)

    # ---- the call in its loops ----

    @property
    def looped(self) -> list[str]:
        """The dimensions that there is a loop over, outermost first."""
        taken = {dim for dims in self.merged.values() for dim in dims}
        return [dim for dim in self.axes if dim not in taken]

    def in_loops(self, body: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """Statements for each point of the dimensions that a call does not cover."""
        result = tuple(body)
        for dim in reversed(self.looped):
            variable = self.writer.bodies.index_name(dim)
            begin, end = self.begin(dim), CBinary("+", self.begin(dim), self.extent(dim))
            result = (For(variable, begin, CBinary("<", Id(variable), end), Literal("1"), result),)
        return result

    def refusals(self) -> list[CExpr]:
        """When the call is not to be made: nothing to do, beyond 32 bits, a scale of 0 that hides a NaN."""
        extents = [self.extent_of(role) for role in self.merged]
        found: list[CExpr] = [CBinary("<=", extent, ZERO) for extent in extents]
        operands = (self.call.result, *self.call.operands)
        strides = [self.leading(operand) for operand in operands if operand.roles]
        limited = [limit for limit in (*extents, *strides) if not _is_small(limit)]
        found += [CBinary(">", limit, Literal(str(INT_LIMIT))) for limit in limited]
        alpha = self.call.alpha
        if alpha is not None and not (isinstance(alpha, Const) and alpha.value != 0):
            found.append(CBinary("==", self.alpha, ZERO))
        return found


def _is_small(number: CExpr) -> bool:
    """Whether it is known to have 32 bits."""
    return isinstance(number, Literal) and int(number.text) <= INT_LIMIT


def _all_axes(call: LibraryCall) -> list[Axis]:
    """Batch first: the order of the loops."""
    return [*call.batch, *(axis for _, axis in call.axes)]


def _runs(operand: Operand, dim: str) -> bool:
    return any(dim in form.names() for form in operand.indices)


def pointer_call(routine: str, arguments: Sequence[CExpr]) -> CCall:
    """A call through the table of routines."""
    return CCall(f"_pm_{routine}", tuple(arguments))
