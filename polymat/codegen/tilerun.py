"""How the entry runs the tiles of a group: on the calling thread, or shared out to a team.

A stage that is accumulated tile by tile starts from its own values; threads that may add to the same
elements add into copies of their own, which are added to the result in a fixed order.
"""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.ctree import (
    Cast,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
)
from polymat.codegen.c.needs import MIN_I64
from polymat.codegen.loops.nestfunction import Ahead, NestFunction
from polymat.codegen.loops.rowtiles import FIRST
from polymat.codegen.memory.pads import Pad, ThreadScratch
from polymat.dataclass import dataclass
from polymat.graph.stage import Stage

LAST = "_pm_last"  # where the tiles of a thread end


@dataclass(frozen=True, slots=True, eq=False)
class Private:
    """A stage that is accumulated tile by tile.

    copied: by every thread into a copy of its own; otherwise the tiles of different threads add to different
    elements.
    """

    stage: Stage
    copied: bool
    array: str
    ctype: str
    count: CExpr
    start: NestFunction
    clear: CFunction
    merge: CFunction

    @property
    def pad(self) -> Pad:
        """The copy of a thread."""
        size = CBinary("*", Literal(f"{float(self.stage.dtype.size)}"), self.count)
        return Pad(f"_pm_own_{self.stage.name}", self.ctype, size)


@dataclass(frozen=True, slots=True, eq=False)
class TileCode:
    """The functions of a tiled group, and how the entry runs it.

    hull: what its tiles cover along the first dimension, or all tiles by number, in steps of `size`.
    pads: what its stages and nests need beside the arrays, for one thread.  ahead: what is computed before.
    """

    number: int
    tiles: CFunction
    arguments: tuple[CExpr, ...]
    functions: tuple[CFunction, ...]
    hull: tuple[CExpr, CExpr]
    size: int
    pads: tuple[Pad, ...]
    privates: tuple[Private, ...]
    ahead: tuple[Ahead, ...] = ()

    @property
    def shared(self) -> ThreadScratch:
        """The memory of what is computed before the tiles, for all threads."""
        return ThreadScratch(self.number, tuple(each.pad for each in self.ahead), shared=True)

    @property
    def scratch(self) -> ThreadScratch:
        """The memory of each thread: pads, and copies of the arrays that it accumulates into."""
        return ThreadScratch(self.number, (*self.pads, *(private.pad for private in self.copied)))

    @property
    def copied(self) -> tuple[Private, ...]:
        """The arrays that every thread accumulates into a copy of its own."""
        return tuple(private for private in self.privates if private.copied)

    def run(self, shared: Sequence[Declare]) -> tuple[Stmt, ...]:
        """Run the tiles on the calling thread, or share them out; shared: the team and the pieces."""
        return (
            Declare("const ptrdiff_t", FIRST, self.hull[0]),
            Declare("const ptrdiff_t", LAST, self.hull[1]),
            *shared,
            *self.shared.declare(Literal("0")),
            If(CBinary("==", Id("_pm_pieces"), Literal("1")), self._serial(), self._shared()),
        )

    def alone(self) -> tuple[Stmt, ...]:
        """Run the tiles on the calling thread; of a group that has no pads."""
        ends = ((FIRST, self.hull[0]), (LAST, self.hull[1]))
        return (*(Declare("const ptrdiff_t", name, end) for name, end in ends), *self._serial())

    def _serial(self) -> tuple[Stmt, ...]:
        starts = [each.fill(Literal("0"), Literal("1")) for each in self.ahead]
        starts += [self._start(private) for private in self.privates]
        pads = ThreadScratch(self.number, self.pads).declare(Literal("0"))
        return (*starts, *pads, Evaluate(CCall(self.tiles.name, (*self.arguments, Id(FIRST), Id(LAST)))))

    def _start(self, private: Private) -> Stmt:
        return Evaluate(CCall(private.start.function.name, private.start.arguments))

    def _shared(self) -> tuple[Stmt, ...]:
        chunk, pieces = Id("_pm_chunk"), Id("_pm_pieces")
        size = Literal(str(self.size))
        span = CBinary("-", CBinary("+", CBinary("-", Id(LAST), Id(FIRST)), size), Literal("1"))
        tiles = Declare("const ptrdiff_t", "_pm_tiles", CBinary("/", span, size))
        bounds = [
            CBinary(
                "+", Id(FIRST), CBinary("*", CBinary("/", CBinary("*", Id("_pm_tiles"), at), pieces), size)
            )
            for at in (chunk, CBinary("+", chunk, Literal("1")))
        ]
        body = [*self.scratch.declare(chunk), *map(self._clear, self.copied)]
        own: dict[CExpr, CExpr] = {Id(private.array): Id(private.pad.array) for private in self.copied}
        arguments = tuple(own.get(argument, argument) for argument in self.arguments)
        stop = CCall(MIN_I64.function, (bounds[1], Id(LAST)))
        body.append(Evaluate(CCall(self.tiles.name, (*arguments, bounds[0], stop))))
        loop = self._chunks(body)
        before: list[Stmt] = [self._chunks([each.fill(chunk, pieces) for each in self.ahead])] * bool(
            self.ahead
        )
        before += [self._start(private) for private in self.privates if not private.copied]
        after = [s for private in self.copied for s in (self._start(private), self._merge(private))]
        return (tiles, *before, loop, *after)

    def _chunks(self, body: Sequence[Stmt]) -> For:
        """What threads do for each of the pieces."""
        bound = CBinary("<", Id("_pm_chunk"), Id("_pm_pieces"))
        team = "omp parallel for num_threads(_pm_team_size) schedule(static, 1)"
        return For("_pm_chunk", Literal("0"), bound, Literal("1"), tuple(body), (team,))

    def _clear(self, private: Private) -> Stmt:
        count = Cast("ptrdiff_t", private.count)
        return Evaluate(CCall(private.clear.name, (Id(private.pad.array), count)))

    def _merge(self, private: Private) -> Stmt:
        """Add the copies to the result in a fixed order."""
        copy = self.scratch.pointer(private.pad, Id("_pm_chunk"))
        call = CCall(private.merge.name, (Id(private.array), copy, Cast("ptrdiff_t", private.count)))
        bound = CBinary("<", Id("_pm_chunk"), Id("_pm_pieces"))
        return For("_pm_chunk", Literal("0"), bound, Literal("1"), (Evaluate(call),))
