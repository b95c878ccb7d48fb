"""Loops of a stage in explicit vectors, or in blocks, where that pays and is possible."""

from __future__ import annotations

import sys

from polymat.codegen.c.ctree import (
    CBinary,
    CCall,
    CExpr,
    Evaluate,
    Id,
    Stmt,
    expressions,
)
from polymat.codegen.c.needs import FLOORDIV_I64, MAX_I64, MIN_I64, Helper, Need, Piece
from polymat.codegen.c.rows import RowPart, RowTypes
from polymat.codegen.c.shorthand import all_of
from polymat.codegen.loops.bufferedrows import COPIES, FENCE, with_buffers
from polymat.codegen.loops.bytelookups import with_byte_lookups
from polymat.codegen.loops.dividedfirst import SPREADS, divided_first
from polymat.codegen.loops.extremes import masked, with_extremes
from polymat.codegen.loops.fewlookups import with_few_lookups
from polymat.codegen.loops.lanesums import LEAST_LANES, with_lane_sums
from polymat.codegen.loops.linestogether import lines_together
from polymat.codegen.loops.lookups import lookups_last
from polymat.codegen.loops.narrowplaces import with_narrow_places
from polymat.codegen.loops.nestwriter import NestWriter
from polymat.codegen.loops.quotients import split_by_quotient
from polymat.codegen.loops.registerextremes import with_register_extremes
from polymat.codegen.loops.registerrows import with_register_rows
from polymat.codegen.loops.remainders import split_by_remainder
from polymat.codegen.loops.requests import Requests
from polymat.codegen.loops.sharedplaces import with_shared_places
from polymat.codegen.loops.shifted import with_shifts
from polymat.codegen.loops.singlesums import with_single_sums
from polymat.codegen.loops.stepreads import StepReads
from polymat.codegen.loops.streamedrows import STREAMS, exceeds, with_streams
from polymat.codegen.loops.wordrows import with_words
from polymat.dataclass import dataclass
from polymat.graph.stage import Stage
from polymat.lang.expr import CastExpr
from polymat.lang.sharing import written_size
from polymat.plan.loops import LoopPlan

# Operations of one point of a map.  Above the first number, arithmetic takes far longer than storing the
# result, whatever way it goes to memory; above the second, the C compiler takes long for every copy of them.
_MOST_STREAMED, _MOST_SHIFTED = 200, 1000
# Of one point whose operations stand in a loop for each element of a word.
_MOST_IN_WORDS = 100
_LARGEST_IN_WORDS = 2  # bytes of an element


def in_blocks(writer: NestWriter, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The loops with those blocked whose index is divided."""
    found = split_by_quotient(split_by_remainder(body))
    if found != body:
        writer.needs.update({FLOORDIV_I64, MIN_I64, MAX_I64})
    return found


def in_rows(writer: NestWriter, stage: Stage, plan: LoopPlan, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The loops of a map with its rows in explicit vectors, where that pays and is possible.

    Rows that are read at j // k are spread out first, also where the C compiler makes the vectors.
    """
    body = _past_caches(writer, stage, plan, body) if plan.streamed and plan.lanes > 1 else body
    if (rows := _Rows.of(writer, stage, plan)) is None:
        return body
    body = divided_first(body, rows.types, writer.needs)
    if plan.lanes == 1:
        return body
    if plan.lines > 1:
        body = lines_together(body, writer.bodies.index_name(plan.order[1]), plan.lines)
    names = rows.scalars, rows.distinct | SPREADS, rows.same
    found = with_shifts(body, rows.types, *names, shifting=plan.lines == 1)
    if found is None:
        return body
    parts = {e.function for e in expressions(found) if isinstance(e, CCall)} & {rows.types.storing_parts}
    writer.needs.update({*rows.types.needs(*((RowPart.LINES,) if parts else ())), MIN_I64})
    return found


@dataclass(frozen=True, slots=True)
class _Rows:
    """The vectors of a stage's rows, and the scalars of that type.

    distinct: the arrays that it reads and does not write over.  same: the states among those that it may
    write over, of steps whose stages have loops of their own.
    """

    types: RowTypes
    scalars: set[str]
    distinct: set[str]
    same: set[str]

    @staticmethod
    def of(writer: NestWriter, stage: Stage, plan: LoopPlan) -> _Rows | None:
        """None where not all that a stage reads has its type, or a point takes very much."""
        types = RowTypes.of(stage.dtype, plan.lanes)
        read = {load.source.name for load in stage.loads()}
        if types is None or any(writer.storage[name].dtype != stage.dtype for name in read):
            return None
        if _written_size(stage) > _MOST_SHIFTED:
            return None
        over = _over(writer, stage)
        distinct = {writer.bodies.array(name) for name in read - over}
        same = {writer.bodies.array(name) for name in read & over if writer.pipeline.apart}
        scalars = {
            writer.names.get("scalar", s.name) for s in writer.pipeline.scalars if s.dtype == stage.dtype
        }
        return _Rows(types, scalars, distinct - {writer.bodies.array(stage.name)}, same)


def _written_size(stage: Stage) -> int:
    return max(written_size(part.expr) for part in stage.parts)


def _over(writer: NestWriter, stage: Stage) -> set[str]:
    """The arrays that a stage may be written over."""
    return {first for first, second in writer.aliased if second == stage.name}


def _past_caches(
    writer: NestWriter, stage: Stage, plan: LoopPlan, body: tuple[Stmt, ...]
) -> tuple[Stmt, ...]:
    """The loops with rows written past the caches: by vectors of whole lines, or by parts of rows."""
    if _written_size(stage) > _MOST_STREAMED:
        return body
    target, buffer = writer.bodies.array(stage.name), writer.storage[stage.name]
    read = {load.source.name for load in stage.loads()}
    same = {writer.bodies.array(name) for name in read & _over(writer, stage)}
    alone = writer.fences is None

    def past(stores: str) -> CExpr:
        apart = (CBinary("!=", Id(array), Id(target)) for array in sorted(same))  # what is read is in a cache
        return all_of((exceeds(writer.size, [buffer], plan.streamed, stores), *apart))

    if (rows := _Rows.of(writer, stage, plan)) is not None:
        types, names = rows.types, (rows.scalars, rows.distinct, same)
        lines = with_streams(body, types, *names, past(STREAMS), fence=alone)
        if lines is not None:
            writer.needs.update({*types.needs(RowPart.LINES), MIN_I64, Piece.PLACE})
            if writer.fences is not None:
                writer.fences[types.suffix] = Evaluate(types.streamed())
            return lines
    found = with_buffers(body, target, buffer.dtype, past(COPIES), fence=alone)
    if found is None:
        return body
    writer.needs.update({MIN_I64, MAX_I64, Piece.PLACE, Piece.PAST})
    if writer.fences is not None:
        writer.fences["past"] = FENCE
    return found


def with_lookups(writer: NestWriter, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The loops of a map that read small elements where data say, those of bytes or of few by permutations.

    Of others the places come first, several reads of larger elements at one place share it, and places of
    four bytes are short.
    """
    arrays = {writer.bodies.array(name): buffer.dtype for name, buffer in writer.storage.items()}
    body = with_few_lookups(with_byte_lookups(body, arrays, writer.needs), arrays, writer.needs)
    body = lookups_last(body, arrays, writer.needs)
    buffers = {writer.bodies.array(name): buffer for name, buffer in writer.storage.items()}
    return with_narrow_places(with_shared_places(body, arrays), buffers, writer.size)


def in_words(writer: NestWriter, stage: Stage, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The loops of a map from small integers to such by floating point, over words of several elements."""
    is_small = stage.dtype.kind in "iu" and stage.dtype.size <= _LARGEST_IN_WORDS
    if not is_small or stage.dims == () or sys.byteorder != "little":  # the lowest bits are the first element
        return body
    values = [part.expr for part in stage.parts]
    if not all(isinstance(value, CastExpr) and value.operand.dtype.kind == "f" for value in values):
        return body
    if max(map(written_size, values)) > _MOST_IN_WORDS:
        return body
    arrays = {
        writer.bodies.array(name): buffer.dtype
        for name, buffer in writer.storage.items()
        if buffer.dtype.kind in "iu" and buffer.dtype.size == stage.dtype.size
    }
    found = with_words(body, arrays)
    if found != body:
        writer.needs.add(Piece.WORDS)
    return found


def in_registers(
    writer: NestWriter, stage: Stage, plan: LoopPlan, body: tuple[Stmt, ...]
) -> tuple[Stmt, ...]:
    """The loops with rows of results in registers, where there are any.

    Of sums between bounds from data, and of minima and maxima of rows side by side.
    """
    types = RowTypes.of(stage.dtype, plan.lanes)
    if types is None or plan.kind != "row" or types.lanes < LEAST_LANES:
        return body
    arrays = _of_its_type(writer, stage)
    if stage.segments is None:
        return _compared_in_registers(writer, body, types, arrays)
    found = with_register_rows(body, types, arrays)
    if found is None:
        return body
    writer.needs.update({*types.needs(RowPart.TOTAL), MIN_I64})
    return found


def _compared_in_registers(
    writer: NestWriter, body: tuple[Stmt, ...], types: RowTypes, arrays: set[str]
) -> tuple[Stmt, ...]:
    found = with_register_extremes(body, types, arrays)
    if found is None:
        return body
    writer.needs.update(_of_extremes(types))
    return found


def _of_extremes(types: RowTypes) -> set[Need]:
    """What minima and maxima in vectors need."""
    both = {Helper(op, types.suffix) for op in ("min", "max")}
    return {*types.needs(RowPart.TOTAL, RowPart.EXTREMES), MIN_I64, *both}


def _of_its_type(writer: NestWriter, stage: Stage) -> set[str]:
    """The arrays that a stage reads whose elements have its own type."""
    read = {load.source.name for load in stage.loads()}
    return {writer.bodies.array(name) for name in read if writer.storage[name].dtype == stage.dtype}


def in_lanes(
    writer: NestWriter, stage: Stage, plan: LoopPlan, body: tuple[Stmt, ...], requests: Requests | None = None
) -> tuple[Stmt, ...]:
    """The loops of a sum with those around one or several sums in explicit vectors.

    requests: of blocks of several.
    """
    types = RowTypes.of(stage.dtype, plan.lanes)
    if types is None or types.lanes < LEAST_LANES:
        return body
    arrays = _of_its_type(writer, stage)
    if (several := with_lane_sums(body, types, arrays, requests)) is not None:
        writer.needs.update(types.needs(RowPart.SUMS))
    body = several or body
    steps = StepReads.of(stage, writer.pipeline, writer.bodies)
    if (single := with_single_sums(body, types, arrays, steps)) is not None:
        turned = {e.function for e in expressions(single) if isinstance(e, CCall)} & {types.turning}
        parts = (RowPart.TOTAL, RowPart.BACKWARDS) if turned else (RowPart.TOTAL,)
        writer.needs.update(types.needs(*parts))
    body = single or body
    if (compared := with_extremes(body, types, arrays)) is not None:
        called = {e.function for e in expressions(compared) if isinstance(e, CCall)}
        short = {each for op in ("min", "max") if (each := masked(op, types.suffix)).function in called}
        writer.needs.update(_of_extremes(types) | short)
    return compared or body
