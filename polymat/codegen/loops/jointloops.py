"""Several sums in one pair of loops, which load once what the sums share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CExpr,
    Declare,
    Id,
    Stmt,
    Subscript,
    expressions,
)
from polymat.codegen.c.othernames import substituted
from polymat.codegen.loops.nestloops import Body, NestStatement, Point
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.statements import PHASE, Statements
from polymat.dataclass import dataclass
from polymat.graph.stage import Stage
from polymat.poly.isltext import decode


@dataclass(frozen=True, slots=True, eq=False)
class JointPart:
    """One of the sums: an accumulator a point, or rows that are added up in memory."""

    stage: Stage
    statements: Statements
    ranges: Sequence[Range]


@dataclass(frozen=True, slots=True, eq=False)
class _Update:
    """What a sum adds at a point, and the dimensions that the two loops run along."""

    statement: NestStatement
    loops: tuple[str, str]


def joint_statements(parts: Sequence[JointPart], names: Names, types: Mapping[str, str]) -> Statements:
    """All sums in the same loops: accumulators begin, everything is added at each point, accumulators end.

    types: the element type of each array, by its C name.
    """
    around: list[NestStatement] = []
    updates: list[_Update] = []
    levels: list[tuple[str, ...]] = []
    for part in parts:
        for item in part.statements.items:
            if len(item.schedule) == 2:
                updates.append(_Update(item, _dims(item.schedule)))
            elif item.schedule[1] == "1":
                updates.append(_Update(item, _dims(item.schedule[::2])))
            else:
                around.append(item)
        levels.append(part.statements.levels)
    first = updates[0]
    schedule = (first.statement.schedule[0], "1", first.statement.schedule[-1])
    merged = replace(first.statement, schedule=schedule, body=_merged(updates, names, types), result=())
    last = [item for item in around if item.schedule[1] != "0"]
    begins = [item for item in around if item.schedule[1] == "0"]
    local = tuple(stage for part in parts for stage in part.statements.locals)
    outer, inner = levels[0][0], levels[0][-1]
    return Statements((merged, *begins, *last), (outer, PHASE, inner), local)


def _dims(schedule: Sequence[str]) -> tuple[str, str]:
    outer, inner = (decode(text) for text in schedule)
    return outer, inner


def _merged(updates: Sequence[_Update], names: Names, types: Mapping[str, str]) -> Body:
    """One body for all: what more than one of them loads is loaded first."""

    def body(points: Sequence[Point]) -> tuple[Stmt, ...]:
        texts = []
        for update in updates:
            renamed = dict(zip(update.loops, updates[0].loops, strict=True))
            own = [{dim: point[renamed[dim]] for dim in update.loops} for point in points]
            texts.append(update.statement.body(own))
        loaded: dict[CExpr, CExpr] = {}
        declared = []
        for k, (array, load) in enumerate(_shared(texts)):
            name = names.get("element", f"{array}_{k}")
            loaded[load] = Id(name)
            declared.append(Declare(f"const {types[array]}", name, load))
        return (*declared, *(s for text in texts for s in _scoped(substituted(text, loaded))))

    return body


def _shared(texts: Sequence[tuple[Stmt, ...]]) -> list[tuple[str, Subscript]]:
    """Array and element of those that more than one reads and none assigns, in the order of the first."""
    written = {s.target for text in texts for s in text if isinstance(s, Assign)}
    found = [dict.fromkeys(e for e in expressions(text) if isinstance(e, Subscript)) for text in texts]
    return [
        (load.array.name, load)
        for load in dict.fromkeys(load for each in found for load in each)
        if load not in written and isinstance(load.array, Id) and sum(load in each for each in found) > 1
    ]


def _scoped(text: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """In a scope of its own where it declares names."""
    return (Block(text),) if any(isinstance(statement, Declare) for statement in text) else text
