"""Loops that take several steps of a section together, and what all of these are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CCall,
    CExpr,
    Declare,
    Evaluate,
    For,
    Id,
    Literal,
    Stmt,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Need
from polymat.codegen.loops.work import times_extents, total_of
from polymat.codegen.nestshares import WORK
from polymat.codegen.steprows import ROWS
from polymat.dataclass import dataclass
from polymat.graph.stepwise import Steps
from polymat.lang.affine import Affine

FROM, UPTO = "_pm_from", "_pm_upto"  # the first and the last of the steps that are taken together


@dataclass(frozen=True, eq=False)
class SectionLoops:
    """Writes the loops of one section.

    step: the C name of the step, which `first` holds when the loops begin, and behind them the first step
    that is not done; last: of the last step.  given, here: what declares arguments and sizes of a step.
    size: a form over the sizes in C.  team: the threads that some work is worth, of so many.
    """

    number: int
    step: str
    first: str
    last: str
    given: Stmt
    here: Stmt
    size: Callable[[Affine], CExpr]
    needs: set[Need]
    team: Callable[[CExpr, CExpr], CExpr]

    def ends(self, span: tuple[Sequence[Affine], Sequence[Affine]]) -> tuple[CExpr, CExpr]:
        """Where indices begin, and the one behind the last."""
        lows, highs = span
        first = reduce(partial(call, MIN_I64.function), map(self.size, lows))
        return first, reduce(partial(call, MAX_I64.function), (self.size(form + 1) for form in highs))

    def bytes_of(self, arrays: Iterable[tuple[int, Sequence[Affine]]]) -> CExpr:
        """The bytes of all elements of some arrays; of each those of an element, and its extents."""
        return total_of([times_extents(each, extents, self.size) for each, extents in arrays])

    def steps(self, *limits: CExpr) -> For:
        """Some steps one after the other, of each the part between limits."""
        arguments = (Id("_pm_given"), Id("_pm_here"), Id("_pm_scalars"), *limits)
        run = Evaluate(CCall(f"{ROWS}_s{self.number}", arguments))
        inside = CBinary("<=", Id(self.step), Id(UPTO))
        return For(self.step, Id(FROM), inside, Literal("1"), (self.given, self.here, run))

    def work(self, step: CExpr, count: CExpr | None = None) -> Iterator[Stmt]:
        """The work of a step, or of so many."""
        one: CExpr = CCall(f"_pm_work_s{self.number}", (Id("_pm_here"),))
        found = one if count is None else CBinary("*", count, one)
        yield Declare("double", WORK, Literal("0.0"))
        here = Declare("const ptrdiff_t", self.step, step)
        yield Block((here, self.here, Assign(Id(WORK), "=", found)))


def times(low: CExpr, high: CExpr, every: int) -> CExpr:
    """How often steps from one to another run that are taken so many at a time."""
    count = CBinary("+", CBinary("-", high, low), Literal(str(every)))
    return count if every == 1 else CBinary("/", count, Literal(str(every)))


def last_of_block(
    steps: Steps | None, last: CExpr, name: Callable[[str], str], needs: set[Need]
) -> tuple[Stmt, ...]:
    """Say which step is the last one of a block; nothing where steps come one by one.

    name: of a size, in C.
    """
    if steps is None or not steps.end:
        return ()
    needs.add(MIN_I64)
    there = CBinary("+", Id(name(steps.name)), Literal(str(steps.every - 1)))
    return (Declare("const ptrdiff_t", name(steps.end), CCall(MIN_I64.function, (there, last))),)


def runs_on(steps: Steps, name: str, low: CExpr, last: str) -> CExpr:
    """Whether a step is to run: one of those that there are, if these are as many as they have to be."""
    inside: CExpr = CBinary("<=", Id(name), Id(last))
    count = CBinary("-", Id(last), low)
    for sign, number in ((">=", steps.least), ("<", steps.below)):
        if number:
            inside = CBinary("&&", inside, CBinary(sign, count, Literal(str(number - 1))))
    return inside


def call(function: str, *arguments: CExpr) -> CExpr:
    """A call of a function by its name."""
    return CCall(function, arguments)


def less(one: CExpr, other: CExpr) -> CExpr:
    """A difference."""
    return CBinary("-", one, other)
