"""From a stage and its plan to statements with schedules, and from isl's loops to C loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from polymat.codegen.ctree import Binary, Call, CExpr, Declare, For, Id, If, Literal, Stmt, Ternary, Unary
from polymat.errors import InternalError
from polymat.poly.ast import Guard, Instance, Loop, LoopExpr, Name, Nest, Number, Operation
from polymat.poly.domain import Domain

Point = Mapping[str, CExpr]
Body = Callable[[Sequence[Point]], tuple[Stmt, ...]]
JAM = "_pm_jam"


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """What runs at each point of a domain.

    `body` gets the C value of each dimension, for one point or for the several that are run together
    (unroll and jam).  ranged: the dimensions that run along the ranges of the nest, in their order.  result:
    the dimensions that say which element of the result is computed, for statements that can be jammed.
    """

    domain: Domain
    schedule: tuple[str, ...]
    body: Body
    ranged: tuple[str | None, ...] = ()
    result: tuple[str, ...] = ()

    @property
    def block_position(self) -> int | None:
        """Which of the dimensions blocks run along: that of the first range; None of a statement without."""
        dim = self.ranged[0] if self.ranged else None
        return None if dim is None else self.domain.dims.index(dim)


class LoopWriter:
    """Turns loop nests into C; `pragmas` gives those of the loop at a schedule depth, innermost or not.

    copies: how many points along the jammed dimension each statement instance stands for.
    """

    def __init__(
        self,
        statements: Sequence[Statement],
        name: Callable[[str], str],
        pragmas: Callable[[int, bool], tuple[str, ...]],
        needs: set[str],
        copies: int = 1,
    ) -> None:
        self.statements = statements
        self.name = name
        self.pragmas = pragmas
        self.needs = needs
        self.copies = copies

    def block(self, nests: Sequence[Nest]) -> tuple[Stmt, ...]:
        """C statements for a sequence of nests."""
        return tuple(statement for nest in nests for statement in self._nest(nest))

    def _nest(self, nest: Nest) -> tuple[Stmt, ...]:
        match nest:
            case Instance(tag, indices):
                return self.statements[tag].body([self._point(tag, indices, k) for k in range(self.copies)])
            case Guard(condition, then, otherwise):
                return (If(self.expression(condition), self.block(then), self.block(otherwise)),)
            case Loop():
                return self._loop(nest)

    def _point(self, tag: int, indices: Sequence[LoopExpr], copy: int) -> Point:
        values = [self.expression(index, copy) for index in indices]
        along = self.statements[tag].block_position if self.copies > 1 else None
        if along is not None:  # where there is one block only, isl knows its first point as a number
            values[along] = self.expression(Name(JAM), copy)
        return dict(zip(self.statements[tag].domain.dims, values, strict=True))

    def _loop(self, loop: Loop) -> tuple[Stmt, ...]:
        variable = self.name(loop.iterator)
        body = self.block(loop.body)
        if loop.step == Number(0):
            return (Declare("const ptrdiff_t", variable, self.expression(loop.start)), *body)
        innermost = not contains_loop(loop.body)
        return (
            For(
                variable,
                self.expression(loop.start),
                self.expression(_strict(loop.condition)),
                self.expression(loop.step),
                body,
                self.pragmas(loop.depth, innermost),
            ),
        )

    def expression(self, expr: LoopExpr, copy: int = 0) -> CExpr:
        """A loop bound, guard or index in C, for one of the jammed points."""
        match expr:
            case Number(value):
                return Literal(str(value))
            case Name(name):
                plain = Id(self.name(name))
                return Binary("+", plain, Literal(str(copy))) if name == JAM and copy else plain
            case Operation(op, operands):
                return self._operation(op, [self.expression(operand, copy) for operand in operands])

    def _operation(self, op: str, operands: list[CExpr]) -> CExpr:
        if op == "neg":
            return Unary("-", operands[0])
        if op == "select":
            return Ternary(*operands)
        if op in ("min", "max"):
            self.needs.add(f"{op}_i64")
            result = operands[0]
            for operand in operands[1:]:
                result = Call(f"_pm_{op}_i64", (result, operand))
            return result
        if op == "floordiv":
            self.needs.add("floordiv_i64")
            return Call("_pm_floordiv_i64", tuple(operands))
        spelled = {"and": "&&", "or": "||", "div": "/", "mod": "%"}.get(op, op)
        if len(operands) != 2:
            raise InternalError(f"bug in polymat: {op} with {len(operands)} operands in a loop bound")
        return Binary(spelled, operands[0], operands[1])


def contains_loop(nests: Sequence[Nest]) -> bool:
    """Whether there is a loop that runs more than once."""
    for nest in nests:
        if isinstance(nest, Loop) and (nest.step != Number(0) or contains_loop(nest.body)):
            return True
        if isinstance(nest, Guard) and (contains_loop(nest.then) or contains_loop(nest.otherwise)):
            return True
    return False


def indices_mention(nests: Sequence[Nest], name: str, positions: Sequence[int | None]) -> bool:
    """Whether an index depends on a name, but for the one at `positions[tag]` of each statement."""
    for nest in nests:
        match nest:
            case Loop():
                if indices_mention(nest.body, name, positions) or (
                    nest.step == Number(0) and _mentions(nest.start, name)
                ):
                    return True
            case Guard(_, then, otherwise):
                if indices_mention((*then, *otherwise), name, positions):
                    return True
            case Instance(tag, indices):
                if any(_mentions(e, name) for k, e in enumerate(indices) if k != positions[tag]):
                    return True
    return False


def _mentions(expr: LoopExpr, name: str) -> bool:
    if isinstance(expr, Operation):
        return any(_mentions(operand, name) for operand in expr.operands)
    return isinstance(expr, Name) and expr.name == name


def _strict(condition: LoopExpr) -> LoopExpr:
    """`i <= n - 1` as `i < n`, and `i <= n` as `i < n + 1`, so that wrapping cannot make it endless."""
    if not isinstance(condition, Operation) or condition.op != "<=":
        return condition
    left, bound = condition.operands
    if isinstance(bound, Number):
        return Operation("<", (left, Number(bound.value + 1)))
    if isinstance(bound, Operation) and bound.op == "-" and bound.operands[1] == Number(1):
        return Operation("<", (left, bound.operands[0]))
    return Operation("<", (left, Operation("+", (bound, Number(1)))))
