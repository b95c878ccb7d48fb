"""Blocks of unrolled points and vectors inside the loops of schemes, with their sums in registers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product

from polymat.codegen.c.ctree import (
    CBinary,
    CExpr,
    For,
    Id,
    If,
    Literal,
    Stmt,
)
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.products.schemekernels import KernelCaller
from polymat.codegen.products.schemeloops import SchemeLoops
from polymat.codegen.products.schemeplace import ONE, LoopPlace, Span, is_whole
from polymat.codegen.products.schemesums import Sum, SumWriter
from polymat.errors import InternalError
from polymat.graph.stage import Stage
from polymat.plan.schemeplan import SchemePlan
from polymat.product.scheme import Atom, unrolled


class BlockWriter:
    """Writes blocks of one contraction.

    Where fewer points are left than a block has, single vectors and then single points are computed.
    adds, begins: as `SumWriter` has them.
    """

    def __init__(
        self,
        writer: StageWriter,
        stage: Stage,
        plan: SchemePlan,
        loops: SchemeLoops,
        *,
        adds: bool,
        begins: Mapping[str, CExpr],
    ) -> None:
        self.stage, self.plan, self.loops = stage, plan, loops
        types = RowTypes.of(stage.dtype, plan.lanes)
        if types is None:
            raise InternalError(f"bug in polymat: no vectors of {stage.dtype} for {stage.name}")
        if plan.vector is not None:
            writer.needs.update(types.needs())
        self.sums = SumWriter(writer, stage, plan, loops, types, adds=adds, begins=begins)
        called = plan.called
        self.caller = None if called is None else KernelCaller(writer, plan, called, loops, self.sums)

    def block(self, atoms: Sequence[Atom], place: LoopPlace) -> tuple[Stmt, ...]:
        """All sums of a block, whole or not."""
        sizes = unrolled(atoms)
        own = {dim: sizes.get(dim, 1) for dim in self.stage.dims}
        place = place.in_block(own)
        whole, fits = self._whole(atoms, own, place), is_whole(place, own)
        if fits is None:
            return whole
        dims = [dim for dim, size in own.items() if size > 1]
        return (If(fits, whole, self._rest(dims, atoms, own, place)),)

    def _whole(self, atoms: Sequence[Atom], sizes: Mapping[str, int], place: LoopPlace) -> tuple[Stmt, ...]:
        """The sums of a whole block, by the microkernel that the scheme calls."""
        if self.caller is None:
            return self._sums(atoms, sizes, place)
        return self.caller.block(atoms, place, lambda rest, left: self._sums(rest, sizes, left))

    def _rest(
        self, dims: Sequence[str], atoms: Sequence[Atom], sizes: Mapping[str, int], place: LoopPlace
    ) -> tuple[Stmt, ...]:
        """Less than a block: point by point, but for whole vectors."""
        if not dims:
            return self._sums(atoms, sizes, place)
        dim, *further = dims
        span = place.spans[dim]
        lanes = Literal(str(self.plan.lanes))
        done = CBinary("-", span.end, CBinary("%", CBinary("-", span.end, span.begin), lanes))
        parts = [(span.begin, self.plan.lanes), (done, 1)] if dim == self.plan.vector else [(span.begin, 1)]
        statements: list[Stmt] = []
        for begin, size in parts:
            at = Id(self.loops.fresh("at"))
            left = Span.of(at, size)
            body = self._rest(further, atoms, {**sizes, dim: size}, place.along(dim, left))
            inside = CBinary("<=", left.end, span.end)
            statements.append(For(at.name, begin, inside, Literal(str(size)), body))
        return tuple(statements)

    def _sums(self, atoms: Sequence[Atom], sizes: Mapping[str, int], place: LoopPlace) -> tuple[Stmt, ...]:
        """The sums of a block of so many points, each in a register of its own, and their stores."""
        vector = self.plan.vector
        single = vector is not None and sizes.get(vector, self.plan.lanes) < self.plan.lanes
        lanes = 1 if vector is None or single else self.plan.lanes
        sums = [
            Sum(Id(self.loops.fresh("sum")), at, lanes)
            for at in offsets(sizes, vector if lanes > 1 else None, lanes)
        ]

        def added(rest: Sequence[Atom], inner: LoopPlace) -> tuple[Stmt, ...]:
            return self._added(rest, sums, inner)

        count = next((k for k, atom in enumerate(atoms) if atom.in_block), len(atoms))
        return (
            *(self.sums.declare(each) for each in sums),
            *self.loops.around(atoms, count, place, added),
            *self.sums.stores(sums, place),
        )

    def _added(self, atoms: Sequence[Atom], sums: Sequence[Sum], place: LoopPlace) -> tuple[Stmt, ...]:
        """Add to each sum what the points of summed dimensions do."""
        found, lanes = unrolled(atoms), sums[0].lanes
        sizes = {dim: found.get(dim, 1) for dim in self.plan.contraction.summed}
        vector = self.plan.vector if lanes > 1 else None
        points, place = [*offsets(sizes, vector, lanes)], place.in_block(sizes)
        whole, fits = self.sums.add(sums, points, place), is_whole(place, sizes)
        if fits is None:
            return whole
        at = {dim: Id(self.loops.fresh("at")) for dim, size in sizes.items() if size > 1}
        inner = reduce(lambda left, dim: left.along(dim, Span.of(at[dim], 1)), at, place)
        first = [replace(each, is_first_lane=vector in sizes and lanes > 1) for each in sums]
        body = self.sums.add(first, [dict.fromkeys(sizes, 0)], inner)
        for dim, index in reversed(at.items()):
            span = place.spans[dim]
            body = (For(index.name, span.begin, CBinary("<", index, span.end), ONE, body),)
        return (If(fits, whole, body),)


def offsets(sizes: Mapping[str, int], vector: str | None, lanes: int) -> Iterator[dict[str, int]]:
    """The first points of all values of a block, in which one dimension goes by vectors."""
    ranges = [range(0, size, lanes if dim == vector else 1) for dim, size in sizes.items()]
    for found in product(*ranges):
        yield dict(zip(sizes, found, strict=True))
