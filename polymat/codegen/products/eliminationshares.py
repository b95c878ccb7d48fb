"""How the parts of a recurrence in blocks of steps are shared out to a team, each where that pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Cast,
    CBinary,
    CCall,
    CExpr,
    CParameter,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Ternary,
)
from polymat.codegen.c.needs import MIN_I64
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.ranges import Range
from polymat.codegen.memory.pads import Pad
from polymat.codegen.products.eliminationparts import ONE, ZERO, EliminationParts, length
from polymat.model.team import BLOCKS
from polymat.plan.blockedsteps import WITHIN

APART, PIECES, TEAM, LEAST = "_pm_apart", "_pm_most_pieces", "_pm_team_size", "_pm_least_work"
TEAM_PARAMETERS = (
    CParameter("const size_t", APART),
    CParameter("const ptrdiff_t", PIECES),
    CParameter("const int", TEAM),
    CParameter("const double", LEAST),
)
CHUNK, CUT = "_pm_chunk", "_pm_cut"
UNEVEN = 4  # pieces of a triangle, a thread


class SharesWriter(EliminationParts):
    """Writes what cuts a part into pieces for a team, or runs it whole where it is too small for that."""

    def sums(self, add: NestFunction) -> NestFunction:
        """A product in pieces of columns, of a triangle the largest first.

        Each piece copies its part of the right operand, and reads rows of the left one where they are.  Where
        it copies these as well, pieces are of the longer of both, and of rows where columns are too few.
        """
        triangle = self.found.trailing.triangle
        many: CExpr = Id(PIECES)
        if triangle is not None:
            many = CBinary("*", Literal(str(UNEVEN)), many)
        along_rows = self._goes_along_rows()
        bounds: list[CExpr] = [Id(self.steps.begin), Id(self.steps.end)]
        for part, chosen, block, rising in (
            (self.rows, along_rows, self.plan.blocks.rows, True),
            (self.columns, CUnary("!", along_rows), self.plan.blocks.columns, False),
        ):
            backwards = triangle is not None and triangle[0] == rising
            for cut, whole in zip(self._piece(part, block, backwards), (part.begin, part.end), strict=True):
                bounds.append(Ternary(chosen, cut, Id(whole)))
        work = CBinary("*", self._work(self.rows, self.columns), _double(self.steps))
        ranges = (self.steps, self.rows, self.columns)
        return self._shared(add, "share", ranges, work, many, bounds, self.pads())

    def _goes_along_rows(self) -> CExpr:
        """Whether pieces of a product are of its rows."""
        if self.copied[0] is not None:
            return CBinary(">=", length(self.rows), length(self.columns))
        panels = _units(self.columns, self.plan.blocks.columns)
        strips = _units(self.rows, self.plan.blocks.rows)
        return CBinary("&&", CBinary("<", panels, Id(PIECES)), CBinary(">", strips, panels))

    def lines(self, rows: NestFunction, block: int) -> NestFunction:
        """The rows beyond a block in pieces; block: so many of them run together."""
        work = CBinary("*", self._work(self.steps, self.rows), _double(self.steps))
        slow = CBinary("*", work, Literal(f"{0.5 * WITHIN * BLOCKS!r}"))
        bounds = [Id(self.steps.begin), Id(self.steps.end), *self._piece(self.rows, block, backwards=False)]
        return self._shared(rows, "lines", (self.steps, self.rows), slow, Id(PIECES), bounds, ())

    def bands(self, band: NestFunction) -> NestFunction:
        """The rows behind a whole block in bands of whole vectors of rows, on one thread as well."""
        work = CBinary(
            "*", self._work(self.steps, self.rows), CBinary("*", Literal("0.5"), _double(self.steps))
        )
        each = CBinary("*", Literal(str(self.plan.band)), Id(PIECES))
        full = CBinary("-", CBinary("+", length(self.rows), each), ONE)
        many = CBinary("*", CBinary("/", full, each), Id(PIECES))
        lines = self._piece(self.rows, self.plan.blocks.lanes, backwards=False)
        bounds = [Id(self.steps.begin), Id(self.steps.end), *lines]
        ranges = (self.steps, self.rows)
        return self._shared(band, "bands", ranges, work, many, bounds, self.pads(), always=True)

    def _work(self, one: Range, other: Range) -> CExpr:
        return CBinary("*", CBinary("*", Literal("2.0"), _double(one)), _double(other))

    def _shared(
        self,
        run: NestFunction,
        kind: str,
        ranges: Sequence[Range],
        work: CExpr,
        many: CExpr,
        bounds: Sequence[CExpr],
        pads: Sequence[Pad],
        *,
        always: bool = False,
    ) -> NestFunction:
        """A part cut along some of its ranges.

        many: pieces where there is enough work; always: and where there is not.  bounds: of a piece.
        pads: that it has for each thread.
        """
        small = CBinary("||", CBinary("==", Id(PIECES), ONE), CBinary("<", work, Id(LEAST)))
        given = [Id(pad.array) for pad in pads]
        others = run.arguments[len(given) :]
        own = [self._of_thread(pad, CCall("omp_get_thread_num", ())) for pad in pads]
        cut = Declare("const ptrdiff_t", CUT, many)

        def pieces(of_each: Sequence[CExpr], *pragmas: str) -> Stmt:
            piece = Evaluate(CCall(run.function.name, (*of_each, *others, *bounds)))
            return For(CHUNK, ZERO, CBinary("<", Id(CHUNK), Id(CUT)), ONE, (piece,), pragmas)

        loop = pieces(own, f"omp parallel for num_threads({TEAM}) schedule(dynamic, 1)")
        whole = [Id(name) for part in ranges for name in (part.begin, part.end)]
        alone = Evaluate(CCall(run.function.name, (*given, *others, *whole)))
        body: tuple[Stmt, ...] = (If(small, (alone,), (cut, loop)),)
        if always:
            body = (cut, If(small, (pieces(given),), (loop,)))
        nest = self.writer.as_nest((self.stage,), self.plan, body, kind, ranges)
        function = nest.function
        packed = [CParameter(f"{pad.ctype} *", pad.array) for pad in pads]
        parameters = (*packed, *TEAM_PARAMETERS, *function.parameters)
        arguments = (*given, *(Id(item.name) for item in TEAM_PARAMETERS), *nest.arguments)
        return replace(nest, function=replace(function, parameters=parameters), arguments=arguments)

    def _piece(self, part: Range, block: int, backwards: bool) -> tuple[CExpr, CExpr]:
        """Where the piece of a number begins and ends; backwards: they are numbered from the last one."""
        chunk = Id(CHUNK)
        if backwards:
            end = CBinary("-", Id(CUT), chunk)
            return self._cut(part, block, CBinary("-", end, ONE)), self._cut(part, block, end)
        return self._cut(part, block, chunk), self._cut(part, block, CBinary("+", chunk, ONE))

    def _cut(self, part: Range, block: int, at: CExpr) -> CExpr:
        """Where a piece begins: after whole register blocks, but for the end."""
        share = CBinary(
            "*", CBinary("/", CBinary("*", _units(part, block), at), Id(CUT)), Literal(str(block))
        )
        return CCall(MIN_I64.function, (CBinary("+", Id(part.begin), share), Id(part.end)))

    def _of_thread(self, pad: Pad, thread: CExpr) -> CExpr:
        begin = Cast("char *", Cast("void *", Id(pad.array)))
        at = CBinary("+", begin, CBinary("*", Cast("size_t", thread), Id(APART)))
        return Cast(f"{pad.ctype} *", Cast("void *", at))


def _units(part: Range, block: int) -> CExpr:
    """Register blocks along a range, the last of which may be a part of one."""
    return CBinary("/", CBinary("+", length(part), Literal(str(block - 1))), Literal(str(block)))


def _double(part: Range) -> CExpr:
    """How many steps, rows or columns a range has, as what work is estimated in."""
    return Cast("double", length(part))
