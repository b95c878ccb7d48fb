"""Stencil chains whose stages run in one loop: which do, how far each stays behind, and by how many rows.

In a rolling tile each stage would go over its rows by itself and hand them on through memory.  Here one loop
goes over the vectors of all rows of the tile at once, and a stage takes what the stages before it have just
computed out of registers: those at the same place, and shifted in registers those beside it.  Where it reads
further ahead than its producers are, it stays behind them by that many columns, its lag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.graph.aligned import Member
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, Const, Expr, Load, Parameter, Unary
from polymat.lang.traverse import walk
from polymat.machine.model import Machine
from polymat.memo import remembered
from polymat.plan.tileloops import RowLoop
from polymat.tilesize.register import SHIFTED_BITS
from polymat.tilesize.tileshape import KEPT_SHARE

MOST_ROWS = (4, 2)  # of the result side by side: each kept row is then loaded once for all of them
ROW_BYTES = (16384, 8192, 4096, 2048)  # of a row in a tile: long rows are what memory is fastest with
STREAMED_SHARE = 0.5  # of the last-level cache, above which results are written past it


def row_loop(stages: Mapping[str, Stage], members: Sequence[Member], machine: Machine) -> RowLoop | None:
    """The loop for a rolling group of these members, of as many rows as there are registers for, if any."""
    if machine.vector_bits < SHIFTED_BITS or not _are_alike(stages, members):
        return None
    lanes = machine.lanes(stages[members[0].stage].dtype.size)
    lags = _lags(stages, members, lanes)
    if lags is None:
        return None
    lead = min(lags[m.stage] - m.margins[1][0] for m in members)
    trail = max(lags[m.stage] + m.margins[1][1] for m in members)
    for count in MOST_ROWS:
        if _registers(stages, members, count) <= machine.vector_registers:
            return RowLoop(lanes, count, lags, lead, trail, int(STREAMED_SHARE * machine.l3_bytes))
    return None


def row_width(
    stages: Mapping[str, Stage],
    members: Sequence[Member],
    machine: Machine,
    rows: int,
    kept: Mapping[str, int],
) -> int:
    """How wide tiles are: rows as long as the second-level cache has room for the kept ones.

    kept: how many of each stage, beside those of a tile (`TilePlan.kept`).
    """
    size = stages[members[0].stage].dtype.size
    rings = sum(rows + kept.get(m.stage, 0) for m in members if m.scratch and sum(m.margins[0]) > 0)
    room = KEPT_SHARE * machine.l2_bytes
    return next((width for width in ROW_BYTES if rings * width <= room), ROW_BYTES[-1]) // size


def _are_alike(stages: Mapping[str, Stage], members: Sequence[Member]) -> bool:
    """Whether all stages are arithmetic on elements of one type, row by row, and who is read is not kept."""
    dtype = stages[members[0].stage].dtype
    return (
        dtype.kind == "f"
        and all(
            stage.dtype == dtype
            and len(stage.dims) == 2
            and m.dims == stage.dims
            and not any(m.scale(level) != 1 for level in range(2))
            and not (m.private or m.copied)
            and is_arithmetic(stage)
            and _is_by_rows(stage, stages)
            for m in members
            for stage in (stages[m.stage],)
        )
        and _nothing_read_is_kept(stages, members)
    )


def _nothing_read_is_kept(stages: Mapping[str, Stage], members: Sequence[Member]) -> bool:
    kept = {m.stage for m in members if not m.scratch}
    return not any(load.source.name in kept for stage in stages.values() for load in stage.loads())


@remembered
def is_arithmetic(stage: Stage) -> bool:
    """Whether a stage is one expression, everywhere, of what C has for vectors too."""
    if stage.is_reduction or len(stage.parts) != 1 or not stage.domain.is_box():
        return False
    nodes = list(walk(stage.parts[0].expr))
    if not all(_is_operation(node, stage) for node in nodes):
        return False
    return any(isinstance(node, Load) for node in nodes)


def _is_operation(node: Expr, stage: Stage) -> bool:
    match node:
        case Const():
            return node.dtype == stage.dtype or node.dtype.weak
        case Load() | Parameter() | Unary():
            return node.dtype == stage.dtype
        case Binary(op):
            return node.dtype == stage.dtype and op in ("+", "-", "*", "/")
        case _:
            return False


def _is_by_rows(stage: Stage, stages: Mapping[str, Stage]) -> bool:
    """Whether a stage reads along its rows; of other members, rows that are a fixed number of rows away."""
    rows = _rows_read(stage)
    return rows is not None and all((near if name in stages else fixed) for name, near, fixed in rows)


def reads_along(load: Load, inner: str) -> bool:
    """Whether a stage whose rows run along `inner` reads an array along the rows of that."""
    if not load.indices:
        return False
    *rows, column = load.indices
    return column - column.const == Affine.name(inner) and not any(inner in form.names() for form in rows)


@remembered
def _rows_read(stage: Stage) -> tuple[tuple[str, bool, bool], ...] | None:
    """Of each access: the array, whether its row is a fixed number away, and whether any array has that row.

    None where an access is not along the rows of the stage.
    """
    outer, inner = stage.dims
    found = []
    for load in stage.loads():
        rows = load.indices[:-1]
        if not reads_along(load, inner) or any(form.coefficient(outer) < 0 for form in rows):
            return None
        near = len(rows) == 1 and rows[0] - rows[0].const == Affine.name(outer)
        whole = all(isinstance(atom, str) for form in rows for atom, _ in form.terms)
        found.append((load.source.name, near, whole))
    return tuple(found)


def _lags(stages: Mapping[str, Stage], members: Sequence[Member], lanes: int) -> dict[str, int] | None:
    """How far each stage is behind; None where one reads more than a vector behind its producer."""
    lags: dict[str, int] = {}
    for member in members:
        reads = [
            (lags[load.source.name], load.indices[1].const)
            for load in stages[member.stage].loads()
            if load.source.name in stages
        ]
        lag = max((before + column for before, column in reads), default=0)
        lags[member.stage] = max(lag, 0)
        if any(lags[member.stage] - before - column > lanes for before, column in reads):
            return None
    return lags


def _registers(stages: Mapping[str, Stage], members: Sequence[Member], rows: int) -> int:
    """Vectors that are alive at the same time, roughly: from one turn to the next, and within a stage."""
    spans: dict[object, tuple[set[int], set[int]]] = {}
    most = 0
    for member in members:
        stage = stages[member.stage]
        own: dict[str, set[int]] = {}
        for load in stage.loads():
            name, *fixed = load.source.name, *load.indices[:-2]
            row = load.indices[-2].const if len(load.indices) > 1 else 0
            lines, columns = spans.setdefault((name, *fixed), (set(), set()))
            lines.add(row if name in stages else row + member.margins[0][1])
            columns.add(load.indices[-1].const)
            own.setdefault(name, set()).add(row)
        most = max(most, sum(rows + max(lines) - min(lines) for lines in own.values()))
    carried = sum(
        rows + (0 if key[0] in stages else max(lines) - min(lines))
        for key, (lines, columns) in spans.items()
        if isinstance(key, tuple) and len(columns) > 1
    )
    stored = sum(not member.scratch for member in members)
    return carried + 2 * rows * stored + most
