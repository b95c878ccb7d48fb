"""Loops over turns of rows, found and written with the rows as lanes of vectors (`LaneTurn`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import Assign, Block, For, If, Literal, Stmt
from polymat.codegen.c.rows import RowPart, RowTypes
from polymat.codegen.loops.lanereads import lane_reads
from polymat.codegen.loops.nestwriter import NestWriter
from polymat.codegen.loops.turnvectors import LEAST_LANES, LaneTurn
from polymat.dataclass import dataclass
from polymat.graph.stage import Stage
from polymat.plan.loops import LoopPlan
from polymat.poly.staggered import ROWS


def in_turns(writer: NestWriter, stage: Stage, plan: LoopPlan, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The loops of a recurrence with rows that take turns as lanes of vectors, where that pays."""
    types = RowTypes.of(stage.dtype, plan.lanes)
    if types is None or not LEAST_LANES <= types.lanes <= ROWS:
        return body
    over = {first for first, second in writer.aliased if second == stage.name}
    alike = {name for name, buffer in writer.storage.items() if buffer.dtype == stage.dtype}
    arrays = {writer.bodies.array(name) for name in alike - over}
    found = with_turn_vectors(body, types, ROWS, arrays)
    if found is None:
        return body
    writer.needs.update(types.needs(RowPart.APART))
    return found


def with_turn_vectors(
    statements: Sequence[Stmt], types: RowTypes, turns: int, arrays: Collection[str]
) -> tuple[Stmt, ...] | None:
    """The statements with loops over turns of so many rows in vectors; None where that gains nothing.

    arrays: those of the vectors' type that share no memory with others.
    """
    found = _Turns(types, turns, frozenset(arrays))
    made = found.each(statements)
    return made if found.changed else None


@dataclass(slots=True)
class _Turns:
    """Rewrites loops; changed: whether there was one."""

    types: RowTypes
    turns: int
    arrays: frozenset[str]
    changed: bool = False

    def each(self, statements: Sequence[Stmt]) -> tuple[Stmt, ...]:
        return tuple(self._one(statement) for statement in statements)

    def _one(self, statement: Stmt) -> Stmt:
        match statement:
            case For(body=body):
                turn = self._turn(statement)
                self.changed = self.changed or turn is not None
                return replace(statement, body=self.each(body)) if turn is None else turn.loop(statement)
            case If(_, then, otherwise):
                return replace(statement, then=self.each(then), otherwise=self.each(otherwise))
            case Block(body):
                return Block(self.each(body))
            case _:
                return statement

    def _turn(self, loop: For) -> LaneTurn | None:
        body = [each for each in loop.body if isinstance(each, Assign) and each.op == "="]
        if len(body) < len(loop.body) or len(body) != self.turns or loop.step != Literal("1") or loop.pragmas:
            return None
        targets, values = (
            lane_reads([each.target for each in body]),
            lane_reads([each.value for each in body]),
        )
        if targets is None or values is None or len(targets[1]) != 1:
            return None
        turn = LaneTurn(self.types, self.turns, loop.variable, targets[1][0], *values)
        return turn if turn.is_possible(self.arrays) and turn.pays() else None
