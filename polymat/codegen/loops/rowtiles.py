"""Which tiles of a rolling group run as one loop, and how (`polymat.codegen.loops.rowloopwriter`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polymat.codegen.c.ctree import (
    APART,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    Declare,
    Evaluate,
    Id,
    If,
    Literal,
    Stmt,
    names_in,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Piece
from polymat.codegen.c.rows import RowPart, RowTypes
from polymat.codegen.c.shorthand import all_of
from polymat.codegen.loops.rowloopwriter import RowLoopWriter
from polymat.codegen.loops.rowplaces import ROW, STOP
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.loops.streamedrows import PAST, exceeds
from polymat.codegen.memory.storage import Buffer
from polymat.dataclass import dataclass
from polymat.plan.tile import TilePlan
from polymat.plan.tileloops import RowLoop

ROW_STOP, FIRST = "_pm_stop0", "_pm_first"  # where a tile ends, and where the tiles of a thread begin


@dataclass(frozen=True, slots=True, eq=False)
class RowTiles:
    """The functions of tiles that run as one loop, the call, and what comes before and behind all tiles."""

    functions: tuple[CFunction, ...]
    condition: CExpr
    run: Stmt
    before: tuple[Stmt, ...]
    behind: tuple[Stmt, ...]

    def tile(self, calls: Sequence[Stmt]) -> tuple[Stmt, ...]:
        """One tile: the loop, or where that is not possible stage by stage."""
        return (If(self.condition, (self.run,), tuple(calls)),)


def row_tiles(writer: StageWriter, plan: TilePlan, number: int) -> RowTiles | None:
    """The code of the row loop of a group, if it has one; none for results that are written over inputs."""
    loop = plan.row_loop
    stages = [writer.pipeline.stage(member.stage) for member in plan.members]
    written = {member.stage for member in plan.members if not member.scratch}
    if loop is None or any(pair[1] in written for pair in writer.aliased):
        return None
    types = RowTypes.of(stages[0].dtype, loop.lanes)
    assert types is not None, "a row loop has elements that vectors have"
    writer.needs.update({*types.needs(RowPart.LINES), MIN_I64, MAX_I64, Piece.PLACE})
    read = {load.source.name for stage in writer.pipeline.stages for load in stage.loads()}
    streams = loop.streamed > 0 and not written & read
    functions, runs = [], []
    for past in (False, True) if streams else (False,):
        rows = RowLoopWriter(writer.bodies, stages, plan, loop, past_caches=past)
        function, arguments = _function(writer, plan, rows, f"_pm_rows{'_past' if past else ''}_{number}")
        functions.append(function)
        runs.append(Evaluate(CCall(function.name, arguments)))
    condition = all_of([*_whole(writer, plan, loop), *_inside(writer, rows)])
    if not streams:
        return RowTiles(tuple(functions), condition, runs[0], (), ())
    results = [writer.storage[name] for name in sorted(written)]
    known = Declare("const int", PAST, exceeds(writer.size, results, loop.streamed))
    behind = If(Id(PAST), (Evaluate(types.streamed()),))
    return RowTiles(tuple(functions), condition, If(Id(PAST), (runs[1],), (runs[0],)), (known,), (behind,))


def _function(
    writer: StageWriter, plan: TilePlan, rows: RowLoopWriter, name: str
) -> tuple[CFunction, tuple[CExpr, ...]]:
    body = rows.body()
    parameters, arguments = writer.passed(
        {m.stage for m in plan.members}, names_in(body), set(writer.storage)
    )
    parameters.append(CParameter("const ptrdiff_t", STOP))
    comment = f"{plan}: one tile, all stages in one loop"
    if rows.places.past_caches:
        comment += ", results past the caches"
    return CFunction(APART, name, tuple(parameters), body, comment), (*arguments, Id(STOP))


def _whole(writer: StageWriter, plan: TilePlan, loop: RowLoop) -> Iterator[CExpr]:
    """The tile is whole, and its rows are kept from the one before; of each stage all rows are there."""
    yield CBinary(">=", Id(ROW), Id(FIRST))
    yield CBinary("==", CBinary("-", Id(ROW_STOP), Id(ROW)), Literal(str(loop.rows)))
    for member in plan.members:
        low, high = writer.pipeline.stage(member.stage).box[0]
        behind = member.margins[0][1]
        yield CBinary(">=", Id(ROW), writer.size(low - behind))
        yield CBinary("<=", Id(ROW_STOP), writer.size(high + 1 - behind))


def _inside(writer: StageWriter, rows: RowLoopWriter) -> Iterator[CExpr]:
    """What the loop reads beside its columns is there: at the ends of an array it may not be."""
    for name, first, end in rows.reads():
        yield CBinary(">=", first, Literal("0"))
        yield CBinary("<=", end, _elements(writer, writer.storage[name]))


def _elements(writer: StageWriter, buffer: Buffer) -> CExpr:
    total: CExpr = Literal("1")
    for extent in buffer.extents:
        size = writer.size(extent)
        total = size if total == Literal("1") else CBinary("*", total, size)
    return total
