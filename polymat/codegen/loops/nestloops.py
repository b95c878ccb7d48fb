"""From a stage and its plan to statements with schedules, and from isl's loops to C loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Block,
    CBinary,
    CCall,
    CExpr,
    CUnary,
    Declare,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Ternary,
)
from polymat.codegen.c.needs import FLOORDIV_I64, Helper, Need
from polymat.codegen.c.vectorloops import Pragma
from polymat.dataclass import dataclass
from polymat.errors import InternalError
from polymat.poly.ast import Guard, Identifier, Instance, Integer, Loop, LoopExpr, Nest, Operation
from polymat.poly.domain import Domain

Point = Mapping[str, CExpr]
Body = Callable[[Sequence[Point]], tuple[Stmt, ...]]
JAM = "_pm_jam"


@dataclass(frozen=True, slots=True, eq=False)
class NestStatement:
    """A statement of a nest: code that runs at each point of a domain.

    `body` gets the C value of each dimension, for one point or for the several that are run together
    (unroll and jam).  ranged: the dimensions that run along the ranges of the nest, in their order.  result:
    the dimensions that say which element of the result is computed, for statements that can be jammed.
    """

    domain: Domain
    schedule: tuple[str, ...]
    body: Body
    ranged: tuple[str | None, ...] = ()
    result: tuple[str, ...] = ()


class LoopWriter:
    """Turns loop nests into C; `pragmas` gives those of the loop at a schedule depth, innermost or not.

    copies: how many points along the jammed dimension each statement instance stands for.
    """

    def __init__(
        self,
        statements: Sequence[NestStatement],
        name: Callable[[str], str],
        pragmas: Callable[[int, bool], tuple[Pragma, ...]],
        needs: set[Need],
        copies: int = 1,
    ) -> None:
        self.statements = statements
        self.name = name
        self.pragmas = pragmas
        self.needs = needs
        self.copies = copies

    def block(self, nests: Sequence[Nest]) -> tuple[Stmt, ...]:
        """C statements for a sequence of nests; two that declare one name get scopes of their own."""
        made: list[Stmt] = []
        known: set[str] = set()
        for nest in nests:
            written = self._nest(nest)
            names = {item.name for item in written if isinstance(item, Declare)}
            made += [Block(written)] if names & known else written
            known |= names
        return tuple(made)

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
        return dict(zip(self.statements[tag].domain.dims, values, strict=True))

    def _loop(self, loop: Loop) -> tuple[Stmt, ...]:
        variable = self.name(loop.iterator)
        body = self.block(loop.body)
        if loop.step == Integer(0):
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
            case Integer(value):
                return Literal(str(value))
            case Identifier(name):
                plain = Id(self.name(name))
                return CBinary("+", plain, Literal(str(copy))) if name == JAM and copy else plain
            case Operation(op, operands):
                return self._operation(op, [self.expression(operand, copy) for operand in operands])

    def _operation(self, op: str, operands: list[CExpr]) -> CExpr:
        if op == "neg":
            return CUnary("-", operands[0])
        if op == "select":
            return Ternary(*operands)
        if op in ("min", "max"):
            helper = Helper(op, "i64")
            self.needs.add(helper)
            result = operands[0]
            for operand in operands[1:]:
                result = CCall(helper.function, (result, operand))
            return result
        if op == "floordiv":
            self.needs.add(FLOORDIV_I64)
            return CCall(FLOORDIV_I64.function, tuple(operands))
        spelled = {"and": "&&", "or": "||", "div": "/", "mod": "%"}.get(op, op)
        if len(operands) != 2:
            raise InternalError(f"bug in polymat: {op} with {len(operands)} operands in a loop bound")
        return CBinary(spelled, operands[0], operands[1])


def contains_loop(nests: Sequence[Nest]) -> bool:
    """Whether there is a loop that runs more than once."""
    for nest in nests:
        if isinstance(nest, Loop) and (nest.step != Integer(0) or contains_loop(nest.body)):
            return True
        if isinstance(nest, Guard) and (contains_loop(nest.then) or contains_loop(nest.otherwise)):
            return True
    return False


def jammed(nests: Sequence[Nest], positions: Sequence[int]) -> tuple[Nest, ...] | None:
    """The nests with JAM as index `positions[tag]` of each statement; None when another index depends on it.

    Where a range is no longer than a block, isl writes the value itself, there and in what depends on it.
    """
    return _jammed(nests, positions, frozenset())


def _jammed(
    nests: Sequence[Nest], positions: Sequence[int], running: frozenset[str]
) -> tuple[Nest, ...] | None:
    found: list[Nest | None] = []
    for nest in nests:
        match nest:
            case Loop():
                runs = nest.step != Integer(0)
                body = _jammed(nest.body, positions, running | {nest.iterator} if runs else running)
                fixed = runs or not _mentions(nest.start, {JAM})
                found.append(replace(nest, body=body) if body is not None and fixed else None)
            case Guard(condition, then, otherwise):
                both = _jammed(then, positions, running), _jammed(otherwise, positions, running)
                known = both[0] is not None and both[1] is not None
                found.append(Guard(condition, both[0] or (), both[1] or ()) if known else None)
            case Instance(tag, indices):
                found.append(_jammed_instance(tag, indices, positions[tag], running))
    kept = [nest for nest in found if nest is not None]
    return tuple(kept) if len(kept) == len(found) else None


def _jammed_instance(
    tag: int, indices: Sequence[LoopExpr], position: int, running: frozenset[str]
) -> Instance | None:
    others = [index for k, index in enumerate(indices) if k != position]
    if any(_mentions(index, {JAM}) for index in others):
        return None
    if position < 0:
        return Instance(tag, tuple(indices))
    is_replaced = not _mentions(indices[position], {JAM})
    if is_replaced and not all(_mentions(index, running) for index in others):
        return None
    return Instance(tag, tuple(Identifier(JAM) if k == position else e for k, e in enumerate(indices)))


def _mentions(expr: LoopExpr, names: Set[str]) -> bool:
    if isinstance(expr, Operation):
        return any(_mentions(operand, names) for operand in expr.operands)
    return isinstance(expr, Identifier) and expr.name in names


def _strict(condition: LoopExpr) -> LoopExpr:
    """`i <= n - 1` as `i < n`, and `i <= n` as `i < n + 1`, so that wrapping cannot make it endless."""
    if not isinstance(condition, Operation) or condition.op != "<=":
        return condition
    left, bound = condition.operands
    if isinstance(bound, Integer):
        return Operation("<", (left, Integer(bound.value + 1)))
    if isinstance(bound, Operation) and bound.op == "-" and bound.operands[1] == Integer(1):
        return Operation("<", (left, bound.operands[0]))
    return Operation("<", (left, Operation("+", (bound, Integer(1)))))
