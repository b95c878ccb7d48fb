"""The loop over points that take all steps by themselves: threads take pieces of them as they come."""

from __future__ import annotations

from collections.abc import Iterator

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Cast,
    CBinary,
    CCall,
    CExpr,
    Declare,
    Evaluate,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    Ternary,
    names_in,
    plus,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64
from polymat.codegen.loops.steppedblocks import POINTS
from polymat.codegen.nestshares import TEAM, WORK
from polymat.codegen.sectionloops import SectionLoops, call, less
from polymat.dataclass import dataclass
from polymat.graph.pointsteps import PointSteps

PIECES_PER_THREAD = 16  # of points, some of which leave off long before others
ENDS = "_pm_ends"  # the arrays: inputs at the first step, and then outputs at the last one
LOW, EXTENT, PIECES, PIECE = "_pm_low", "_pm_extent_of_all", "_pm_pieces", "_pm_piece"
ZERO, ONE = Literal("0"), Literal("1")


@dataclass(frozen=True, eq=False)
class PointLoops(SectionLoops):
    """Writes the loops of a section; inputs, outputs: how many it has."""

    points: PointSteps
    inputs: int
    outputs: int

    def statements(self) -> tuple[Stmt, ...]:
        """All steps of all points, where there are any steps."""
        self.needs.update({MAX_I64, MIN_I64})
        low, high = self.points.span[0]
        begin, end = self.ends(((low,), (high,)))
        return (
            Declare("void *", f"{ENDS}[{self.inputs + self.outputs}]"),
            *self._arrays(self.first, range(self.inputs)),
            *self._arrays(self.last, range(self.inputs, self.inputs + self.outputs)),
            Declare("const ptrdiff_t", LOW, begin),
            Declare("const ptrdiff_t", EXTENT, less(end, Id(LOW))),
            *self._team(),
            self._loop(),
        )

    def _arrays(self, step: str, places: range) -> Iterator[Stmt]:
        """Note where some arrays are at a step."""
        here = Declare("const ptrdiff_t", self.step, Id(step))
        kept = [
            Assign(Subscript(Id(ENDS), _number(k)), "=", Subscript(Id("_pm_given"), _number(k)))
            for k in places
        ]
        yield Block((*([here] if self.step in names_in([self.given]) else []), self.given, *kept))

    def _team(self) -> Iterator[Stmt]:
        """The threads that all steps are worth, and how many pieces these share."""
        count = Cast("double", plus(less(Id(self.last), Id(self.first)), 1))
        yield from self.work(Id(self.first), count)
        crew = call(MAX_I64.function, call(MIN_I64.function, Id(EXTENT), Id("_pm_threads")), ONE)
        yield Declare("const int", TEAM, self.team(Id(WORK), Cast("int", crew)))
        many = call(MIN_I64.function, Id(EXTENT), CBinary("*", Id(TEAM), Literal(str(PIECES_PER_THREAD))))
        yield Declare("const ptrdiff_t", PIECES, Ternary(CBinary(">", Id(TEAM), ONE), many, ONE))

    def _loop(self) -> For:
        arguments = (Id(ENDS), Id("_pm_here"), Id("_pm_scalars"), Id(self.first), Id(self.last))
        limits = (_cut(Id(PIECE)), _cut(plus(Id(PIECE), 1)))
        run = Evaluate(CCall(f"{POINTS}_s{self.number}", (*arguments, *limits)))
        shared = f"omp parallel for num_threads({TEAM}) if({TEAM} > 1) schedule(dynamic)"
        step = Declare("const ptrdiff_t", self.step, Id(self.first))
        body = (step, self.here, run)
        return For(PIECE, ZERO, CBinary("<", Id(PIECE), Id(PIECES)), ONE, body, (shared,))


def _cut(piece: CExpr) -> CExpr:
    """The first index of a piece."""
    return CBinary("+", Id(LOW), CBinary("/", CBinary("*", Id(EXTENT), piece), Id(PIECES)))


def _number(k: int) -> Literal:
    return Literal(str(k))
