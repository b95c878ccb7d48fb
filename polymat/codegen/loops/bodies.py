"""What runs at one point of a stage, as C statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from polymat.codegen.c.affineforms import affine_expr
from polymat.codegen.c.cexpr import ExpressionWriter, extreme
from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import (
    Assign,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CUnary,
    Id,
    If,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.literals import literal
from polymat.codegen.c.needs import Helper, Need
from polymat.codegen.c.sharedvalues import shared_values, values_beside
from polymat.codegen.loops.alternating import chosen_turn
from polymat.codegen.loops.nestloops import Body, Point
from polymat.codegen.memory.places import place_of
from polymat.codegen.memory.storage import Buffer
from polymat.graph.pipeline import Pipeline
from polymat.graph.planesbeside import Planes
from polymat.graph.stage import Accumulation, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr
from polymat.lang.names import RESERVED_PREFIX
from polymat.lang.reduction import Op
from polymat.lang.sharing import has_nested_extremes
from polymat.lang.types import Long, ScalarType

LOCAL_WORDS = {Op.Sum: "sum", Op.Mul: "product", Op.Min: "least", Op.Max: "largest"}


class BodyWriter:
    """Writes statement bodies for the stages of one pipeline.

    alone: points run one after the other, never in vectors.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        storage: Mapping[str, Buffer],
        names: Names,
        needs: set[Need],
        *,
        alone: bool = False,
    ) -> None:
        self.pipeline = pipeline
        self.storage = storage
        self.names = names
        self.needs = needs
        self.alone = alone

    def one_by_one(self) -> BodyWriter:
        """Writes the same of points that run one after the other."""
        return BodyWriter(self.pipeline, self.storage, self.names, self.needs, alone=True)

    def writer(self, values: Point, expr: Expr | None = None) -> ExpressionWriter:
        """Writes expressions at a point, given by the C values of its dimensions; expr: that one."""

        def index(name: str) -> CExpr:
            return values[name] if name in values else Id(self.names.get("size", name))

        masked = expr is not None and has_nested_extremes(expr)
        return ExpressionWriter(index, self.scalar, self.element, self.needs, alone=self.alone, masked=masked)

    def constant(self, value: Const) -> CExpr:
        """A number."""
        return literal(value.value, value.dtype)

    def scalar(self, name: str) -> CExpr:
        """A run-time parameter as a value; integers count in 64 bits."""
        if any(size.name == name for size in self.pipeline.sizes):
            return Id(self.names.get("size", name))
        value = Id(self.names.get("scalar", name))
        dtype = next(s.dtype for s in self.pipeline.scalars if s.name == name)
        return Cast(Long.c, value) if dtype.kind in "iu" and dtype != Long else value

    def element(self, name: str, indices: tuple[CExpr, ...]) -> CExpr:
        """array[row-major index]."""
        return Subscript(Id(self.array(name)), place_of(self.storage[name], indices, self.size))

    def at(self, name: str, indices: Sequence[Affine], point: Point) -> CExpr:
        """The element of an array at affine indices of a point."""
        writer = self.writer(point)
        return self.element(name, tuple(writer.affine(form) for form in indices))

    def address(self, name: str, indices: Sequence[Affine], point: Point) -> CExpr:
        """The address of the same element."""
        return CUnary("&", self.at(name, indices, point))

    def loop_point(self, dims: Iterable[str]) -> dict[str, CExpr]:
        """The point that the loop variables of these dimensions stand at."""
        return {dim: Id(self.index_name(dim)) for dim in dims}

    def value(self, expr: Expr, dtype: ScalarType, *, exact: bool = False) -> CExpr:
        """An expression without indices as a value of a type; exact: converted to it."""
        return self.writer({}).value(expr, dtype, exact=exact)

    def array(self, name: str) -> str:
        """C name of an array."""
        buffer = self.storage[name]
        return self.names.get("pad" if buffer.copy else "array", buffer.of or buffer.name)

    def index_name(self, name: str) -> str:
        """C name of a loop index, size or range bound."""
        if name.startswith(RESERVED_PREFIX):
            return name
        is_size = any(size.name == name for size in self.pipeline.sizes)
        return self.names.get("size" if is_size else "index", name)

    def size(self, form: Affine) -> CExpr:
        """A form over the sizes."""
        return affine_expr(form, lambda n: Id(self.names.get("size", n)), self.needs)

    def step(self, name: str, forms: Sequence[Affine], dim: str) -> CExpr:
        """How many elements lie between those that affine indices name at neighbours along a dimension."""
        buffer = self.storage[name]
        there = [Affine() if buffer.is_single(k) else form for k, form in enumerate(forms)]
        return self.step_among(buffer.extents, there, dim)

    def step_among(self, extents: Sequence[Affine], forms: Sequence[Affine], dim: str) -> CExpr:
        """How far neighbours along a dimension lie apart in an array of these extents, in elements."""
        total: CExpr = Literal("0")
        for position, form in enumerate(forms):
            coefficient = form.coefficient(dim)
            if coefficient == 0:
                continue
            stride: CExpr = Literal(str(coefficient))
            for extent in extents[position + 1 :]:
                factor = self.size(extent)
                stride = factor if stride == Literal("1") else CBinary("*", stride, factor)
            total = stride if total == Literal("0") else CBinary("+", total, stride)
        return total

    def _target(self, stage: Stage, point: Point) -> CExpr:
        return self.element(stage.name, tuple(point[d] for d in stage.dims))

    def _evaluate(
        self,
        points: Sequence[Point],
        stage: Stage,
        expr: Expr,
        *,
        exact: bool = False,
        ahead: bool = False,
        first: int = 0,
        planes: Planes | None = None,
    ) -> tuple[list[Stmt], list[CExpr]]:
        """Declarations of shared values, and the value at each point.

        exact: converted to the stage's type before it is combined with anything, as NumPy does.  ahead: what
        branches alone load is loaded before.  first: how many declarations there are already.  planes: those
        that follow each other among the points.
        """
        declared: list[Stmt] = []
        values = []
        common: ExpressionWriter | None = None
        for number, point in enumerate(points):
            writer = self.writer(point, expr)
            if planes is not None and number % planes.count == 0:
                common = self.writer(point, expr)
                declared += values_beside(common, expr, planes.dim, stage.dims[-1], first + len(declared))
            if common is not None:
                writer.ready = dict(common.ready)
            declared += shared_values(writer, expr, first + len(declared), ahead=ahead)
            values.append(writer.value(expr, stage.dtype, exact=exact))
        return declared, values

    def local_name(self, stage: Stage, copy: int, copies: int) -> str:
        """C name of an accumulator: one for each of the points that run together."""
        name = f"{stage.name}_{LOCAL_WORDS[stage.operation]}"
        return self.names.get("sum", f"{name}_{copy}" if copies > 1 else name)

    def local_names(self, stage: Stage, copies: int) -> list[str]:
        """All accumulators."""
        return [self.local_name(stage, copy, copies) for copy in range(copies)]

    def store(
        self, stage: Stage, *exprs: Expr, turns: str = "", ahead: bool = False, planes: Planes | None = None
    ) -> Body:
        """`stage[point] = expr`; nothing where that is what the place of the element holds already.

        turns: the dimension along which several expressions take turns.  ahead: as in `shared_values`.
        planes: those of which the points are, plane by plane.
        """

        def one(points: Sequence[Point], expr: Expr) -> tuple[Stmt, ...]:
            declared, values = self._evaluate(points, stage, expr, ahead=ahead, planes=planes)
            targets = [self._target(stage, point) for point in points]
            pairs = zip(targets, values, strict=True)
            return (*declared, *(Assign(t, "=", v) for t, v in pairs if t != v))

        def body(points: Sequence[Point]) -> tuple[Stmt, ...]:
            *others, last = (one(points, expr) for expr in exprs)
            for turn in reversed(range(len(others))):
                last = (If(chosen_turn(points[0][turns], len(exprs), turn), others[turn], last),)
            return last

        return body

    def set_local(self, stage: Stage, expr: Expr) -> Body:
        """`local = expr`."""

        def body(points: Sequence[Point]) -> tuple[Stmt, ...]:
            declared, values = self._evaluate(points, stage, expr)
            names = self.local_names(stage, len(points))
            return (*declared, *(Assign(Id(n), "=", v) for n, v in zip(names, values, strict=True)))

        return body

    def store_local(self, stage: Stage) -> Body:
        """`stage[point] = local`."""

        def body(points: Sequence[Point]) -> tuple[Stmt, ...]:
            names = self.local_names(stage, len(points))
            targets = [self._target(stage, point) for point in points]
            return tuple(Assign(t, "=", Id(n)) for t, n in zip(targets, names, strict=True))

        return body

    def add_local(self, stage: Stage) -> Body:
        """`stage[point] op= local`."""

        def body(points: Sequence[Point]) -> tuple[Stmt, ...]:
            names = self.local_names(stage, len(points))
            targets = [self._target(stage, point) for point in points]
            return tuple(self.combine(stage, t, Id(n)) for t, n in zip(targets, names, strict=True))

        return body

    def update_local(self, stage: Stage, expr: Expr) -> Body:
        """`local op= expr`."""

        def body(points: Sequence[Point]) -> tuple[Stmt, ...]:
            declared, values = self._evaluate(points, stage, expr, exact=True)
            names = self.local_names(stage, len(points))
            return (*declared, *(self.combine(stage, Id(n), v) for n, v in zip(names, values, strict=True)))

        return body

    def update_at(self, stage: Stage, *accumulations: Accumulation) -> Body:
        """`stage[target] op= expr`, of several one after the other.

        What one of them adds to an element is combined before it is added.
        """

        def body(points: Sequence[Point]) -> tuple[Stmt, ...]:
            declared: list[Stmt] = []
            updates: list[Stmt] = []
            for item in accumulations:
                more, values = self._evaluate(points, stage, item.expr, exact=True, first=len(declared))
                declared += more
                gathered: dict[CExpr, list[CExpr]] = {}
                for point, value in zip(points, values, strict=True):
                    gathered.setdefault(self.at(stage.name, item.target, point), []).append(value)
                updates += [self._combine_all(stage, target, found) for target, found in gathered.items()]
            return (*declared, *updates)

        return body

    def _combine_all(self, stage: Stage, target: CExpr, values: list[CExpr]) -> Stmt:
        if len(values) > 1 and stage.operation in (Op.Sum, Op.Mul):
            total = values[0]
            for value in values[1:]:
                total = CBinary(stage.operation.value, total, value)
            return self.combine(stage, target, total)
        total = values[0]
        for value in values[1:]:
            total = self._helper(stage, total, value)
        return self.combine(stage, target, total)

    def combine(self, stage: Stage, target: CExpr, value: CExpr) -> Stmt:
        """`target op= value`."""
        op = stage.operation
        if op in (Op.Sum, Op.Mul):
            return Assign(target, f"{op.value}=", value)
        return Assign(target, "=", self._helper(stage, target, value))

    def _helper(self, stage: Stage, left: CExpr, right: CExpr) -> CExpr:
        op, dtype = stage.operation.value, stage.dtype
        helper = Helper(extreme(op, dtype) if self.alone else op, dtype.suffix)
        self.needs.add(helper)
        return CCall(helper.function, (left, right))
