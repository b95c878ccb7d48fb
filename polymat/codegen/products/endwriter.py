"""The reader of a product that its register blocks compute: its expression, and what these are handed."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from polymat.codegen.c.ctree import Braces, CExpr, Declare, Id, Literal, Stmt
from polymat.codegen.c.literals import literal
from polymat.codegen.c.render import expression
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.products.blockshape import End
from polymat.errors import InternalError
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, Const, Expr, Load, Parameter, Unary
from polymat.lang.traverse import has_loads
from polymat.product.ends import Kind, operand_kind

END = "_pm_end"


class EndWriter:
    """Writes the end that a reader of a product is, and what register blocks are handed of it."""

    def __init__(
        self, bodies: BodyWriter, product: Stage, reader: Stage, extents: Mapping[str, tuple[Affine, ...]]
    ) -> None:
        self.bodies = bodies
        self.product = product
        self.reader = reader
        self.extents = extents
        self.arrays: list[Load] = []
        self.numbers: list[Parameter] = []
        value = self._text(reader.parts[0].expr)
        kinds = tuple(self._kind(load) for load in self.arrays)
        self.end = End(value, kinds, len(self.numbers))

    def statements(self) -> tuple[Stmt, ...]:
        """The declaration of what register blocks are handed."""
        suffix, writer = self.reader.dtype.suffix, self.bodies
        own = tuple(map(Affine.name, self.reader.dims))
        arrays = [self._address(load) for load in self.arrays] or [Literal("NULL")]
        numbers = [writer.value(number, self.reader.dtype) for number in self.numbers] or [Literal("0")]
        items = (
            Id(f"_PM_END_{suffix}_{self.end.title}"),
            Id(writer.array(self.reader.name)),
            writer.step(self.reader.name, own, self.reader.dims[-2]),
            Braces(tuple(arrays)),
            Braces(tuple(numbers)),
        )
        return (Declare(f"const _pm_end_{suffix}", END, Braces(items)),)

    def _kind(self, load: Load) -> Kind:
        kind = operand_kind(load, self.reader, self.extents)
        if kind is None:
            raise InternalError(f"bug in polymat: {load} is not read in registers")
        return kind

    def _address(self, load: Load) -> CExpr:
        """Where the array has the element at the first point of the result's array."""
        origin: dict[str, CExpr] = {dim: Literal("0") for dim in self.reader.dims}
        return self.bodies.address(load.source.name, load.indices, origin)

    def _text(self, expr: Expr) -> str:
        match expr:
            case Const(value):
                return expression(literal(value, self.reader.dtype), 99)
            case Parameter():
                if expr not in self.numbers:
                    self.numbers.append(expr)
                return f"s{self.numbers.index(expr)}"
            case Load() if expr.source.name == self.product.name:
                return "x"
            case Load():
                if expr not in self.arrays:
                    self.arrays.append(expr)
                return f"e{self.arrays.index(expr)}"
            case Unary(op, operand):
                return f"({op}{self._text(operand)})"
            case Binary("min" | "max" as op, left, right):
                return self._extreme(op, left, right)
            case Binary(op, left, right):
                return f"({self._text(left)} {op} {self._text(right)})"
            case _:
                raise InternalError(f"bug in polymat: {expr} is not computed in registers")

    def _extreme(self, op: str, left: Expr, right: Expr) -> str:
        """By one comparison beside a finite constant; else NaN on either side is the result."""
        left, right = (left, right) if has_loads(left) else (right, left)
        plain = isinstance(right, Const) and isfinite(float(right.value.real))
        name = f"_pm_{op}{'_of' if plain else '_any'}_{self.reader.dtype.suffix}"
        other = self._text(right) if has_loads(right) else self._everywhere(right)
        return f"{name}({self._text(left)}, {other})"

    def _everywhere(self, expr: Expr) -> str:
        """A number in all lanes; subtracting 0 leaves every number what it is."""
        return f"({self._text(expr)} - (_pm_vector_{self.reader.dtype.suffix}){{0}})"
