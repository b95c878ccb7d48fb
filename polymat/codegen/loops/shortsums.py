"""Sums of elements that indices find, between bounds that data give: the rows of a sparse matrix.

Most of them are short.  Four terms side by side are a vector, so that additions do not wait for each other
and what is contiguous is loaded at once; gathered elements are loaded one by one.  What is left runs term by
term.  A compiler's own loop in vectors takes longer to begin and to end than to run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias

from polymat.codegen.c.countingloops import counted_range
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Braces,
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
    Subscript,
    expressions,
    names_in,
    plus,
)
from polymat.codegen.c.ctree import Evaluate as Term
from polymat.codegen.c.elements import C_TYPES
from polymat.codegen.c.needs import MIN_I64, Need, Piece
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.shorthand import all_of
from polymat.codegen.loops.gatheredrows import (
    NOT_UNROLLED,
    UNLIKE,
    GatheredRow,
    Leaves,
    Rows,
    gathered,
    none_known,
)
from polymat.codegen.loops.innermost import with_changed
from polymat.codegen.loops.neighbourrows import BESIDE, near_terms
from polymat.codegen.loops.nestwriter import NestWriter
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.rowways import one_of
from polymat.codegen.loops.segmentloops import gathered_rows
from polymat.dataclass import dataclass
from polymat.graph.stage import Stage

SIDE_BY_SIDE = 4  # terms
FIRST, LAST, REST, HERE = "_pm_low", "_pm_high", "_pm_behind", "_pm_here"
SUM, LANE = "_pm_sum", "_pm_sum_lane"  # four terms, and with a number one of them
_ADDED = ("+", "-", "*")
GATHERED_BY = ("i32", "i64")  # places for which there are gathers

Gone: TypeAlias = Mapping[str, list[CExpr]]
"""When each of other ways is gone, by its name, the first of them first; none of one that no row may go."""


@dataclass(frozen=True, slots=True)
class ShortSums:
    """Sums of one type.

    suffix: its name, "f64" say.  arrays: those that have elements of that type.  given: those of them that
    are there before all rows.  places: those that have integers by which vectors gather, and the names of
    their types.  rows: None where nothing is known of these.
    """

    ctype: str
    suffix: str
    arrays: Collection[str]
    given: Collection[str] = ()
    places: Mapping[str, str] = field(default_factory=dict)
    rows: Rows | None = None

    @property
    def is_vector(self) -> bool:
        """Whether there are vectors of the type."""
        return self.suffix in C_TYPES

    @property
    def leaves(self) -> Leaves:
        """How what they are sums of is found in memory."""
        return Leaves(self.suffix, self.given, self.places, HERE)

    @property
    def near_leaves(self) -> Leaves:
        """How it is found of the elements of one row, behind which nothing is read."""
        return Leaves(self.suffix, self.arrays, self.places, HERE)


def in_short_sums(
    writer: NestWriter, stage: Stage, body: tuple[Stmt, ...], ranges: Sequence[Range]
) -> tuple[Stmt, ...]:
    """The loops of a sum between bounds from data with those of gathered elements a few terms at a time."""
    if stage.segments is None or stage.dtype.kind not in "fc":
        return body
    array, inputs = writer.bodies.array, writer.pipeline.inputs
    types = {load.source.name: writer.storage[load.source.name].dtype for load in stage.loads()}
    limited = {array(each.name) for each in inputs if each.values is not None}
    alike = {array(name) for name, dtype in types.items() if dtype == stage.dtype}
    places = {array(name): dtype.suffix for name, dtype in types.items()}
    seen = writer.checks.seen if writer.checks is not None else None
    sums = ShortSums(
        stage.dtype.c,
        stage.dtype.suffix,
        alike,
        given=alike & {array(each.name) for each in inputs},
        places={name: s for name, s in places.items() if s in GATHERED_BY and name in limited},
        rows=gathered_rows(stage, writer.bodies, ranges, seen),
    )
    return with_short_sums(body, sums, writer.needs)


def with_short_sums(statements: Sequence[Stmt], sums: ShortSums, needs: set[Need]) -> tuple[Stmt, ...]:
    """The statements with every loop around one sum of gathered elements as sums of four terms at a time.

    before:  for k: s += x[k] * y[at[k]]
    after:   for k by 4: v += x[k ...] * (y[at[k]], y[at[k + 1]], y[at[k + 2]], y[at[k + 3]]);
             the lanes of v += the rest of x[k] * y[at[k]], a lane each;  s += the lanes of v
    and where vectors gather the same with terms computed before, for rows that are not like others before;
    and with four elements loaded as they lie, for rows whose places are neighbours.
    """
    gone: Gone = {UNLIKE: [], BESIDE: []}

    def changed(statement: Stmt) -> Stmt | None:
        match statement:
            case For(body=(Assign(Id(total), "+=", value),)) if (
                (span := counted_range(statement)) is not None
                and total not in names_in([Term(value)])
                and _gathers(value)
            ):
                needs.add(Piece.GATHERED)
                return _several(statement, *span, sums, needs, gone)
            case _:
                return None

    found = with_changed(statements, changed)
    before = {UNLIKE: none_known(sums.ctype)}
    return one_of(found, [(way, all_of(when), before.get(way, ())) for way, when in gone.items() if when])


def _gathers(value: CExpr) -> bool:
    """Whether an element is read at an index that is read itself."""
    reads = [node for node in expressions([Term(value)]) if isinstance(node, Subscript)]
    inner = (node for read in reads for node in expressions([Term(read.index)]))
    return any(isinstance(node, Subscript) for node in inner)


def _several(loop: For, start: CExpr, high: CExpr, sums: ShortSums, needs: set[Need], gone: Gone) -> Stmt:
    """The sum in fours, and in other ways that rows may go, of which `gone` says when."""
    (addition,) = loop.body
    assert isinstance(addition, Assign), "matched by who calls"
    index, many = Id(loop.variable), Literal(str(SIDE_BY_SIDE))
    whole = CBinary("*", CBinary("/", CBinary("-", Id(LAST), Id(FIRST)), many), many)
    here = Declare("const ptrdiff_t", HERE, CCall("_pm_as_it_is", (index,)))
    value = substituted(addition.value, {index: Id(HERE)})
    begin, added, total = (_vector if sums.is_vector else _scalars)(value, sums)
    blocks = For(loop.variable, Id(FIRST), CBinary("<", index, Id(REST)), many, (here, *added), NOT_UNROLLED)
    left = replace(addition, value=value)
    lanes = replace(addition, value=total)
    one_by_one: tuple[Stmt, ...] = (Declare("const ptrdiff_t", REST, CBinary("+", Id(FIRST), whole)), blocks)
    if sums.is_vector:
        one_by_one += _rest_in_lanes(left, sums)
    else:
        condition = CBinary("<", index, Id(LAST))
        rest = replace(loop, start=Id(REST), condition=condition, body=(here, left), pragmas=NOT_UNROLLED)
        one_by_one += (lanes, rest)
    ways = _other_ways(one_by_one, left, lanes, sums, needs, gone)
    return Block(
        (
            Declare("const ptrdiff_t", FIRST, start),
            Declare("const ptrdiff_t", LAST, high),
            *begin,
            *ways,
        )
    )


def _other_ways(
    fours: tuple[Stmt, ...], left: Assign, lanes: Assign, sums: ShortSums, needs: set[Need], gone: Gone
) -> tuple[Stmt, ...]:
    """A row in fours, or in another way where that is gone.  left: what adds a term, lanes: what adds all."""
    behind, blocks, *rest = fours
    if not sums.is_vector or sums.rows is None or not isinstance(blocks, For):
        return fours
    row = GatheredRow(Id(FIRST), Id(LAST), sums.rows)
    gathering = gathered(row, blocks.variable, SUM, left.value, sums.leaves)
    near = near_terms(left.value, sums.rows, sums.near_leaves)
    if gathering is None and near is None:
        return fours
    ways = _rounded(fours, sums.suffix)
    if near is not None:
        needs.add(Piece.NEIGHBOURS)
        gone[BESIDE].append(near.most)
        added = (blocks.body[0], *near.asked, Assign(Id(SUM), "+=", near.four))
        loaded = _rounded((behind, replace(blocks, body=added), *rest), sums.suffix)
        ways = (If(Id(BESIDE), loaded, ways),)
    if gathering is not None:
        needs.add(MIN_I64)
        gone[UNLIKE].append(sums.rows.unlike)
        ways = (If(Id(UNLIKE), (gathering, lanes), ways),)
    return ways


def _rest_in_lanes(left: Assign, sums: ShortSums) -> tuple[Stmt, ...]:
    """Add what fours leave of a row to the lanes of their sum, and these to the total."""
    lanes = [Id(f"{LANE}{k}") for k in range(SIDE_BY_SIDE)]
    last: tuple[Stmt, ...] = ()
    for k in reversed(range(SIDE_BY_SIDE - 1)):
        at = plus(Id(REST), k)
        here = Declare("const ptrdiff_t", HERE, CCall("_pm_as_it_is", (at,)))
        last = (If(CBinary("<", at, Id(LAST)), (here, Assign(lanes[k], "+=", left.value), *last)),)
    begin = (
        Declare(sums.ctype, lane.name, Subscript(Id(SUM), Literal(str(k)))) for k, lane in enumerate(lanes)
    )
    a, b, c, d = lanes
    total = CBinary("+", CBinary("+", a, c), CBinary("+", b, d))
    return (*begin, *last, replace(left, value=total))


def _rounded(statements: Sequence[Stmt], suffix: str) -> tuple[Stmt, ...]:
    """The statements with each term rounded before it is added, so that all ways to a sum have its bits."""

    def changed(statement: Stmt) -> Stmt | None:
        match statement:
            case Assign(Id(name), "+=", value) if name == SUM:
                return replace(statement, value=CCall(f"_pm_four_rounded_{suffix}", (value,)))
            case Assign(Id(name), "+=", value) if name.startswith(LANE):
                return replace(statement, value=CCall(f"_pm_rounded_{suffix}", (value,)))
            case _:
                return None

    return with_changed(statements, changed)


_Parts = tuple[tuple[Stmt, ...], tuple[Stmt, ...], CExpr]
"""Where sums begin, what is added to them, and all of them together."""


def _vector(value: CExpr, sums: ShortSums) -> _Parts:
    """One sum in a vector; -0.0 is what leaves every number as it is where it is added."""
    nothing = Literal("-0.0f" if sums.suffix == "f32" else "-0.0")
    begin = Declare(f"_pm_four_{sums.suffix}", SUM, Braces((nothing,) * SIDE_BY_SIDE))
    added = Assign(Id(SUM), "+=", _lanes(value, sums))
    return (begin,), (added,), CCall(f"_pm_four_sum_{sums.suffix}", (Id(SUM),))


def _scalars(value: CExpr, sums: ShortSums) -> _Parts:
    """Several sums of what there are no vectors of."""
    each = [Id(f"{SUM}{k}") for k in range(SIDE_BY_SIDE)]
    total: CExpr = each[0]
    for other in each[1:]:
        total = CBinary("+", total, other)
    begin = tuple(Declare(sums.ctype, one.name, Literal("-0.0")) for one in each)
    added = tuple(Assign(one, "+=", term) for one, term in zip(each, _moved(value), strict=True))
    return begin, added, total


def _lanes(value: CExpr, sums: ShortSums) -> CExpr:
    """A value at four neighbouring indices."""
    match value:
        case CBinary(op, left, right) if op in _ADDED and (_is_of(left, sums) or _is_of(right, sums)):
            return CBinary(op, _lanes(left, sums), _lanes(right, sums))
        case Subscript(_, index) if _is_of(value, sums) and sums.leaves.is_contiguous(index):
            return CCall(f"_pm_four_from_{sums.suffix}", (CUnary("&", value),))
        case _:
            return CCall(f"_pm_four_of_{sums.suffix}", tuple(_moved(value)))


def _is_of(value: CExpr, sums: ShortSums) -> bool:
    """Whether C adds a value in the type of the sum: one of its parts is an element of that type."""
    match value:
        case CBinary(op, left, right) if op in _ADDED:
            return _is_of(left, sums) or _is_of(right, sums)
        case Subscript(Id(name)):
            return name in sums.arrays
        case _:
            return False


def _moved(value: CExpr) -> list[CExpr]:
    return [substituted(value, {Id(HERE): plus(Id(HERE), k)}) for k in range(SIDE_BY_SIDE)]
