"""Where pieces of ranges that threads share begin and end, of one range and of a grid over two, in C."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from polymat.codegen.c.ctree import Cast, CBinary, CCall, CExpr, Declare, Id, Literal, Stmt
from polymat.codegen.c.formulas import FormulaWriter
from polymat.codegen.c.needs import MIN_I64, Need, Piece
from polymat.codegen.loops.nestfunction import PIECES, NestFunction, RangeGrid, Work
from polymat.lang.affine import Affine
from polymat.product.gridcuts import area, even

DOWN, ACROSS = "_pm_down", "_pm_across"
ROW, ROW_END = "_pm_row", "_pm_row_end"
Ends = tuple[CExpr, CExpr]
_ZERO, _ONE = Literal("0"), Literal("1")


def piece_of(
    work: Work,
    block: int,
    ends: Ends,
    piece: Ends,
    needs: set[Need],
    balance: tuple[str, CExpr] | None = None,
) -> Ends:
    """The begin and the end of a piece of a range.

    work, block, balance: as in `NestFunction`.  ends: of the range.  piece: its number, and how many there
    are.
    """
    number, count = piece
    at = partial(_begin, work, block, ends, count, needs, balance)
    return at(number), at(CBinary("+", number, _ONE))


def _begin(
    work: Work,
    block: int,
    ends: Ends,
    count: CExpr,
    needs: set[Need],
    balance: tuple[str, CExpr] | None,
    position: CExpr,
) -> CExpr:
    """Where the piece of that number begins; those of a triangle's rows have the same area."""
    first, last = ends
    if balance is not None:
        suffix, counted = balance
        needs.add(Piece.SHARES)
        return CCall(f"_pm_share_{suffix}", (counted, first, last, position, count))
    length, unit = CBinary("-", last, first), Literal(str(block))
    if work not in ("rising", "falling"):
        asked: dict[str, CExpr] = {"length": length, "unit": unit, "part": position, "parts": count}
        begin = CBinary("+", first, FormulaWriter("ptrdiff_t", asked).expr(even))
        return begin if block == 1 else CCall(MIN_I64.function, (begin, last))
    rising = work == "rising"
    part = position if rising else CBinary("-", count, position)
    asked = {"length": length, "part": part, "parts": count}
    lines = FormulaWriter("double", {name: Cast("double", each) for name, each in asked.items()}).expr(area)
    return CBinary("+" if rising else "-", first if rising else last, Cast("ptrdiff_t", lines))


def in_grid(
    nest: NestFunction,
    grid: RangeGrid,
    ends: Ends,
    chunk: CExpr,
    size: Callable[[Affine], CExpr],
    needs: set[Need],
) -> tuple[tuple[Stmt, ...], tuple[Stmt, ...], tuple[CExpr, ...]]:
    """How pieces of a nest are laid out; of one of them the rows, and then the limits of both ranges.

    ends: of the first range.  chunk: the number of the piece.  size: a form over the sizes in C.
    """
    needs.update({Piece.GRID, Piece.MATH, Piece.PLACE, MIN_I64})
    first, last = ends
    low, high = size(nest.ranges[1].low), size(nest.ranges[1].high + 1)
    rows = (CBinary("-", last, first), Literal(str(nest.block)), grid.high)
    columns = (CBinary("-", high, low), Literal(str(grid.block)), grid.wide)
    down = CCall("_pm_grid_down", (Id(PIECES), *rows, *columns))
    laid = (
        Declare("const ptrdiff_t", DOWN, down),
        Declare("const ptrdiff_t", ACROSS, CBinary("/", Id(PIECES), Id(DOWN))),
    )
    begin, end = piece_of(nest.work, nest.block, ends, (CBinary("/", chunk, Id(ACROSS)), Id(DOWN)), needs)
    part = (Declare("const ptrdiff_t", ROW, begin), Declare("const ptrdiff_t", ROW_END, end))
    column = CBinary("%", chunk, Id(ACROSS))
    across = _across(grid, (low, high), (column, Id(ACROSS)), needs)
    return laid, part, (Id(ROW), Id(ROW_END), *across)


def _across(grid: RangeGrid, ends: Ends, piece: Ends, needs: set[Need]) -> Ends:
    """The limits of a piece along the second range."""
    work = grid.work
    if work == "even" or work == "rising" or work == "falling":
        return piece_of(work, grid.block, ends, piece, needs)
    low, high = ends
    number, count = piece
    before = Literal(str(int(work == "before")))
    rows = [row if low == _ZERO else CBinary("-", row, low) for row in (Id(ROW), Id(ROW_END))]
    length = high if low == _ZERO else CBinary("-", high, low)

    def at(position: CExpr) -> CExpr:
        place = (before, *rows, length, Literal(str(grid.block)), position, count)
        within = CCall("_pm_grid_within", place)
        return within if low == _ZERO else CBinary("+", low, within)

    return at(number), at(CBinary("+", number, _ONE))
