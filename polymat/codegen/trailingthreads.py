"""How threads take the outermost iterations of a recurrence by turns, each behind the one before.

Before each block of rows a thread waits until the one of the iteration before is far enough ahead; nothing
meets at a barrier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from polymat.codegen.c.ctree import (
    Block,
    Braces,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
)
from polymat.codegen.c.needs import FLOORDIV_I64, MAX_I64, MIN_I64, Need, Piece
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.trailingloops import TRAIL
from polymat.dataclass import dataclass
from polymat.graph.stage import Bounds
from polymat.lang.affine import Affine
from polymat.plan.followingsteps import MOST_TEAM
from polymat.poly.trailing import Trail

FIRST, LOW, BLOCKS = "_pm_first", "_pm_low", "_pm_blocks"  # the first iteration, and the blocks of each
WORK, TEAM, CHUNK, DONE = "_pm_operations", "_pm_team_size", "_pm_chunk", "_pm_done"
ZERO, ONE = Literal("0"), Literal("1")


@dataclass(frozen=True, eq=False)
class TrailingThreads:
    """Writes how the nest of a recurrence in some bounds is run by a team.

    size: a form over the sizes in C.  team: the threads that some work is worth, of so many.  work: of all
    iterations.  meeting: what it costs that a thread waits for another, in the same operations.
    """

    nest: NestFunction
    trailing: Trail
    bounds: Bounds
    size: Callable[[Affine], CExpr]
    needs: set[Need]
    team: Callable[[CExpr, CExpr], CExpr]
    work: CExpr
    meeting: float

    def statements(self) -> tuple[Stmt, ...]:
        """Run the nest, on the calling thread alone where others are not worth it."""
        self.needs.update({MAX_I64, MIN_I64, FLOORDIV_I64, Piece.PROGRESS, Piece.TRAILING})
        pragma = f"omp parallel for num_threads({TEAM}) if({TEAM} > 1) schedule(static, 1)"
        threads = For(CHUNK, ZERO, CBinary("<", Id(CHUNK), Id(TEAM)), ONE, self._thread(), (pragma,))
        done = Declare("_pm_progress", f"{DONE}[{MOST_TEAM}]", Braces((Braces((ZERO,)),)))
        return (Block((*self._blocks(), *self._shares(), done, threads)),)

    def _thread(self) -> tuple[Stmt, ...]:
        """What a thread does, of which there may be fewer than there were to be."""
        ahead = Literal(str(self.trailing.ahead))
        members = CCall("omp_get_num_threads", ())
        values = (Id(DONE), Id(CHUNK), members, Id(FIRST), Id(LOW), Id(BLOCKS), ahead)
        trail = Declare("const _pm_trail", TRAIL, Braces(values))
        run = CCall(self.nest.function.name, (*self.nest.arguments, CUnary("&", Id(TRAIL))))
        return (trail, If(CBinary("<", Id(CHUNK), members), (Evaluate(run),)))

    def _blocks(self) -> Iterator[Declare]:
        """The first iteration, and the blocks of rows in each."""
        (first, _), (low, high) = self.bounds[:2]
        yield Declare("const ptrdiff_t", FIRST, self.size(first))
        yield Declare("const ptrdiff_t", LOW, self._block(low))
        yield Declare("const ptrdiff_t", BLOCKS, CBinary("+", CBinary("-", self._block(high), Id(LOW)), ONE))

    def _block(self, row: Affine) -> CExpr:
        """The block that a row is in."""
        rows, place = self.trailing.rows, self.size(row - self.trailing.first)
        return place if rows == 1 else CCall(FLOORDIV_I64.function, (place, Literal(str(rows))))

    def _shares(self) -> Iterator[Declare]:
        """The threads that take part: no more than find a part of the rows each."""
        (first, last), _ = self.bounds[:2]
        waits = CBinary("*", CCall("_pm_extent", (self.size(last - first + 1),)), Cast("double", Id(BLOCKS)))
        lost = CBinary("*", Literal(repr(self.meeting)), waits)
        yield Declare("const double", WORK, CBinary("-", self.work, lost))
        apart = CBinary("/", Id(BLOCKS), Literal(str(self.trailing.ahead + 1)))
        limits = CCall(MIN_I64.function, (apart, Literal(str(MOST_TEAM))))
        crew = CCall(MIN_I64.function, (Id("_pm_threads"), CCall(MAX_I64.function, (limits, ONE))))
        yield Declare("const int", TEAM, self.team(Id(WORK), Cast("int", crew)))
