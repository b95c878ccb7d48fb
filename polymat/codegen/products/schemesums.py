"""The sums of a block of a scheme: their registers, what is added to them, and where they are stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from polymat.codegen.c.ctree import (
    Assign,
    Braces,
    CBinary,
    CExpr,
    Declare,
    Evaluate,
    Id,
    If,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.c.shorthand import all_of
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.products.schemeloops import SchemeLoops
from polymat.codegen.products.schemeplace import ONE, ZERO, LoopPlace, moved
from polymat.dataclass import dataclass
from polymat.graph.monomials import Factor
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.plan.schemeplan import SchemePlan
from polymat.product.schemefit import operands


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum in a register: its variable, its first point in the block, and its lanes.

    is_first_lane: whether single values are added, to its first lane.
    """

    variable: Id
    at: Mapping[str, int]
    lanes: int
    is_first_lane: bool = False

    def lane(self, number: int) -> CExpr:
        """One of its lanes."""
        return Subscript(self.variable, Literal(str(number)))


class SumWriter:
    """Writes what blocks of one contraction compute.

    adds: whether all sums are added to what the result holds.  begins: otherwise the first indices of summed
    dimensions with loops outside of blocks, in whose first turns alone the result holds nothing yet.
    """

    def __init__(
        self,
        writer: StageWriter,
        stage: Stage,
        plan: SchemePlan,
        loops: SchemeLoops,
        types: RowTypes,
        *,
        adds: bool,
        begins: Mapping[str, CExpr],
    ) -> None:
        self.stage, self.plan, self.loops, self.types = stage, plan, loops, types
        self.bodies, self.copies, self.adds, self.begins = writer.bodies, loops.copies, adds, begins
        self.own = tuple(Affine.name(dim) for dim in stage.dims)

    def declare(self, total: Sum) -> Stmt:
        """The register of a sum, which starts from zero."""
        if total.lanes > 1:
            return Declare(self.types.vector, total.variable.name, Braces((ZERO,)))
        return Declare(self.types.ctype, total.variable.name, ZERO)

    def add(
        self, sums: Sequence[Sum], points: Sequence[Mapping[str, int]], place: LoopPlace
    ) -> tuple[Stmt, ...]:
        """Straight code for some points of the summed dimensions: every element is loaded once."""
        values = _Values(self, place)
        for at in points:
            for each in sums:
                vector = self.plan.vector if each.lanes > 1 and not each.is_first_lane else None
                point = place.point({**each.at, **at})
                found = operands(self.plan.contraction)
                factors = [values.of(factor, point, vector) for factor in found]
                target = each.lane(0) if each.is_first_lane else each.variable
                values.statements.append(Assign(target, "+=", CBinary("*", *factors)))
        return tuple(values.statements)

    def value(
        self, factor: Factor, point: Mapping[str, CExpr], vector: str | None, place: LoopPlace
    ) -> CExpr:
        """An element of an operand, or neighbours along the vector: loaded, or gathered."""
        element = self.copies.element(factor, point, place)
        if vector is None:
            return element
        if self.copies.step(factor, vector, place) == ONE:
            return self.types.load(element)
        lanes = (moved(point, {vector: lane}) for lane in range(self.plan.lanes))
        return Braces(tuple(self.copies.element(factor, at, place) for at in lanes))

    def stores(self, sums: Sequence[Sum], place: LoopPlace) -> tuple[Stmt, ...]:
        """Write sums to the result where it holds nothing yet, else add them."""
        begun = [
            CBinary("==", place.spans[dim].begin, begin)
            for dim, begin in self.begins.items()
            if place.spans[dim].begin != begin
        ]
        written, added = (
            tuple(stmt for each in sums for stmt in self._store(each, place, adds=adds))
            for adds in (False, True)
        )
        if begun:
            return (If(all_of(begun), written, added),)
        return added if self.adds else written

    def _store(self, total: Sum, place: LoopPlace, *, adds: bool) -> tuple[Stmt, ...]:
        """Write a sum to the result, or add it."""
        point, vector = place.point(total.at), self.plan.vector
        if total.lanes == 1:
            return (self.put(point, total.variable, adds=adds),)
        if vector not in self.stage.dims:
            lanes = [total.lane(number) for number in range(total.lanes)]
            value = reduce(lambda one, other: CBinary("+", one, other), lanes)
            return (self.put(point, value, adds=adds),)
        if self.bodies.step(self.stage.name, self.own, vector or "") == ONE:
            element = self.result(point)
            value = self._scaled(total.variable)
            value = CBinary("+", self.types.load(element), value) if adds else value
            return (Evaluate(self.types.store(element, value)),)
        return tuple(
            self.put(moved(point, {vector or "": number}), total.lane(number), adds=adds)
            for number in range(total.lanes)
        )

    def put(self, point: Mapping[str, CExpr], value: CExpr, *, adds: bool) -> Stmt:
        """Write a value to the result, or add it."""
        return Assign(self.result(point), "+=" if adds else "=", self._scaled(value))

    def result(self, point: Mapping[str, CExpr]) -> CExpr:
        """The element of the result at a point."""
        return self.bodies.at(self.stage.name, self.own, dict(point))

    def _scaled(self, value: CExpr) -> CExpr:
        scale = self.plan.contraction.scale
        if scale is None:
            return value
        return CBinary("*", self.bodies.value(scale, self.stage.dtype, exact=True), value)


class _Values:
    """The elements that a block has loaded, in variables."""

    def __init__(self, writer: SumWriter, place: LoopPlace) -> None:
        self.writer, self.place = writer, place
        self.statements: list[Stmt] = []
        self._known: dict[tuple[CExpr, bool], Id] = {}

    def of(self, factor: Factor, point: Mapping[str, CExpr], vector: str | None) -> Id:
        """An element, or a vector of neighbours."""
        vector = vector if vector in factor.names() else None
        key = (self.writer.copies.element(factor, point, self.place), vector is not None)
        if key not in self._known:
            self._known[key] = Id(self.writer.loops.fresh("value"))
            types = self.writer.types
            ctype = types.ctype if vector is None else types.vector
            value = self.writer.value(factor, point, vector, self.place)
            self.statements.append(Declare(f"const {ctype}", self._known[key].name, value))
        return self._known[key]
