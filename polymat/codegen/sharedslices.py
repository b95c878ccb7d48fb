"""The loop over the slices of a section, of which none needs another one: threads take them as they come."""

from __future__ import annotations

from collections.abc import Callable

from polymat.codegen.c.abi import OK
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Cast,
    CBinary,
    CCall,
    CExpr,
    Declare,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Ternary,
)
from polymat.codegen.nestshares import TEAM, WORK
from polymat.dataclass import dataclass

FIRST, LAST, COUNT, WITHIN = "_pm_first", "_pm_last", "_pm_slices", "_pm_within"


@dataclass(frozen=True, eq=False)
class SharedSlices:
    """Writes the loop of one section.

    slice: the C name of the one that runs, from low to high.  given: what declares the arguments and the
    sizes of one.  team: the threads that some work is worth, of so many.
    """

    number: int
    slice: str
    low: CExpr
    high: CExpr
    given: tuple[Declare, Declare]
    team: Callable[[CExpr, CExpr], CExpr]

    def statements(self, state: str) -> tuple[Stmt, ...]:
        """Run all slices; a slice that fails says so in the state, and none begins afterwards.

        Several threads compute a slice each, or one computes all, with the whole team in each of them.
        """
        one = Literal("1")
        count = CCall("_pm_extent", (CBinary("+", CBinary("-", Id(LAST), Id(FIRST)), one),))
        crew = Ternary(CBinary("<", Id(COUNT), Id("_pm_threads")), _int(Id(COUNT)), Id("_pm_threads"))
        alone = CBinary(">", Id(TEAM), one)
        return (
            Declare("const ptrdiff_t", FIRST, self.low),
            Declare("const ptrdiff_t", LAST, self.high),
            Declare("const double", COUNT, count),
            Declare("double", WORK, Literal("0.0")),
            self._estimate(),
            Declare("const int", TEAM, self.team(Id(WORK), crew)),
            Declare("const int", WITHIN, Ternary(alone, one, Id("_pm_threads"))),
            self._loop(state),
        )

    def _estimate(self) -> Block:
        """The operations of all slices, each as the one in the middle."""
        middle = CBinary("/", CBinary("+", Id(FIRST), Id(LAST)), Literal("2"))
        _, here = self.given
        one = CCall(f"_pm_work_s{self.number}", (Id("_pm_here"),))
        return Block(
            (
                Declare("const ptrdiff_t", self.slice, middle),
                here,
                Assign(Id(WORK), "=", CBinary("*", Id(COUNT), one)),
            )
        )

    def _loop(self, state: str) -> For:
        """All slices; the largest state of all threads stays, each of which begins with the least."""
        arguments = (Id("_pm_given"), Id("_pm_here"), Id("_pm_scalars"), Id(WITHIN))
        call = Assign(Id(state), "=", CCall(f"_pm_entry_s{self.number}", arguments))
        fine = CBinary("<=", Id(state), Literal(str(OK)))
        shared = (
            f"omp parallel for num_threads({TEAM}) if({TEAM} > 1) schedule(dynamic) reduction(max : {state})"
        )
        upto = CBinary("<=", Id(self.slice), Id(LAST))
        return For(self.slice, Id(FIRST), upto, Literal("1"), (If(fine, (*self.given, call)),), (shared,))


def _int(value: CExpr) -> CExpr:
    return Cast("int", value)
