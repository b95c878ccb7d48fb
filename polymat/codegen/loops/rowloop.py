"""All stages of a rolling tile in one loop over vectors of columns (`polymat.tilesize.rowloop`).

    before:  for each row: t[...] = ...;  for each row: y[...] = ... t ...
    after:   for x by 16: t0 = ...; t1 = ...; keep their rows; y0 = ... t0 and its neighbour before ...; ...

The function computes a whole tile that is not the first of its thread; the others run stage by stage.  It
computes columns beside the tile too, from whatever is there, and nobody reads them; it is therefore called
only where all that it loads lies inside the arrays, and stores no column of a result that is not the tile's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from polymat.codegen.c.ctree import (
    Assign,
    Binary,
    Braces,
    Call,
    CExpr,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Subscript,
    names_in,
    plus,
    substituted,
)
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.c.shared import shared_values
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.memory.storage import TILE
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Load
from polymat.lang.names import RESERVED_PREFIX
from polymat.lang.traverse import walk
from polymat.plan.tile import RowLoop, TilePlan

HERE = "_pm_here"  # the same at the ends of a row
AT = "_pm_at"  # the column of the loop: a stage computes the vector that begins its lag before
ROW, COLUMN, STOP = f"{TILE}0", f"{TILE}1", "_pm_stop1"  # where the tile begins and ends
WHOLE_FROM, WHOLE_TO = "_pm_whole_from", "_pm_whole_to"  # where the loop stores whole vectors
Rows = tuple[str, tuple[Affine, ...]]  # a row of an array outside the group, as forms of the tile's first row


@dataclass(slots=True)
class Stream:
    """A row of an array outside the group: the columns at which it is read, relative to the loop's."""

    number: int
    columns: set[int] = field(default_factory=set)

    def is_shifted(self, lanes: int) -> bool:
        """Whether its vectors are loaded once and shifted."""
        return 0 < max(self.columns) - min(self.columns) <= lanes

    @property
    def first(self) -> int:
        """The first of the columns."""
        return min(self.columns)

    def behind(self, lanes: int) -> int:
        """The column that the loop reads up to, relative to its own."""
        return self.first + 2 * lanes if self.is_shifted(lanes) else max(self.columns) + lanes

    @property
    def now(self) -> str:
        """C name of the vector that begins there."""
        return f"_pm_now{self.number}"

    @property
    def next(self) -> str:
        """C name of the vector behind it."""
        return f"_pm_next{self.number}"


class RowLoopWriter:
    """Writes the one loop of a tiled group, once for each way to store."""

    def __init__(
        self, bodies: BodyWriter, stages: Sequence[Stage], plan: TilePlan, loop: RowLoop, *, past_caches: bool
    ) -> None:
        types = RowTypes.of(stages[0].dtype, loop.lanes)
        assert types is not None, "a row loop has elements that vectors have"
        self.bodies, self.loop, self.types = bodies, loop, types
        self.members = {member.stage: member for member in plan.members}
        self.stages = {stage.name: stage for stage in stages}
        self.past_caches = past_caches
        self.streams: dict[Rows, Stream] = {}
        self.shifted: dict[tuple[str, int], str] = {}  # rows whose vector before is kept: its name
        self.point: dict[str, CExpr] = {name: Id(name) for name in (ROW, COLUMN, STOP, AT)}
        self.locals = 0

    # ---- what is read ----

    def body(self) -> tuple[Stmt, ...]:
        """The statements of the function that runs all stages of a rolling tile in one loop."""
        for name, stage in self.stages.items():
            for load in stage.loads():
                for k in range(self.loop.rows):
                    self._announce(name, load, k)
        inside = tuple(self._turn())
        kept = [Declare(self.types.vector, name, Braces((Literal("0"),))) for name in self._carried()]
        starts = [
            Declare(self.types.vector, s.now, self._load(row, self._start(s)))
            for row, s in self.streams.items()
            if s.is_shifted(self.loop.lanes)
        ]
        loop = For(
            AT,
            self._size(Affine.name(COLUMN) + self.loop.lead),
            Binary("<", Id(AT), self._size(self._end())),
            self.types.lanes_text,
            inside,
        )
        return (*self._bounds(), *kept, *starts, loop)

    def _end(self) -> Affine:
        """Where the loop ends; lines of the result are whole a vector later than they are computed."""
        return Affine.name(STOP) + self.loop.trail + (self.loop.lanes if self.past_caches else 0)

    def _start(self, stream: Stream) -> Affine:
        return Affine.name(COLUMN) + self.loop.lead + stream.first

    def _announce(self, name: str, load: Load, k: int) -> None:
        """Note that a stage reads an element in its k-th row."""
        source, column = load.source.name, load.indices[-1].const - self.loop.lags[name]
        if source not in self.stages:
            stream = self.streams.setdefault(self._row(name, load, k), Stream(len(self.streams)))
            stream.columns.add(column)
        elif (row := self._own_row(name, load, k)) >= 0 and column != -self.loop.lags[source]:
            self.shifted.setdefault((source, row), f"_pm_was{len(self.shifted)}")

    def _row(self, name: str, load: Load, k: int) -> Rows:
        first = Affine.name(ROW) + (self._behind(name) + k)
        moved = {self.stages[name].dims[0]: first}
        return load.source.name, tuple(form.substitute(moved) for form in load.indices[:-1])

    def _own_row(self, name: str, load: Load, k: int) -> int:
        """Which of the rows that a member computes in this tile is read; below 0: of those it has kept."""
        source = load.source.name
        return self._behind(name) + k + load.indices[0].const - self._behind(source)

    def _behind(self, name: str) -> int:
        """How many rows of the group a stage is ahead of the tile."""
        return self.members[name].margins[0][1]

    def _families(self) -> list[list[tuple[Rows, Stream]]]:
        """The rows that are read, in order: together those of one array that go along with the tile."""
        found: dict[Rows, dict[int, tuple[Rows, Stream]]] = {}
        for (name, forms), stream in self.streams.items():
            moving = [form for form in forms if ROW in form.names()]
            distance = moving[0].const if len(moving) == 1 else 0
            same = tuple(f - f.const if len(moving) == 1 and f is moving[0] else f for f in forms)
            found.setdefault((name, same), {})[distance] = ((name, forms), stream)
        return [[family[distance] for distance in sorted(family)] for family in found.values()]

    def reads(self) -> Iterator[tuple[str, CExpr, CExpr]]:
        """The arrays outside the group: where the loop reads first, and what it stays before."""
        for family in self._families():
            (name, low), (_, high) = family[0][0], family[-1][0]
            first = min(stream.first for _, stream in family)
            behind = max(stream.behind(self.loop.lanes) for _, stream in family)
            begin = Affine.name(COLUMN) + (self.loop.lead + first)
            yield (
                name,
                self._place(name, (*low, begin)),
                self._place(name, (*high, self._end() + (behind - 1))),
            )

    def _place(self, name: str, indices: tuple[Affine, ...]) -> CExpr:
        return self._at(name, indices).index

    def _at(self, name: str, indices: tuple[Affine, ...]) -> Subscript:
        element = self.bodies.at(name, indices, self.point)
        assert isinstance(element, Subscript), "an element of an array"
        return element

    # ---- one turn of the loop ----

    def _turn(self) -> Iterator[Stmt]:
        yield from self._requests()
        for row, stream in self.streams.items():
            if stream.is_shifted(self.loop.lanes):
                ahead = Affine.name(AT) + (stream.first + self.loop.lanes)
                yield Declare(f"const {self.types.vector}", stream.next, self._load(row, ahead))
        for name in self.stages:
            yield from self._stage(name)
        yield from self._stores()
        moves = [(was, self._value(*key)) for key, was in self.shifted.items()]
        if self.past_caches:
            moves += [(self._last(*key), self._value(*key)) for key in self._stored()]
        moves += [(s.now, s.next) for s in self.streams.values() if s.is_shifted(self.loop.lanes)]
        yield from (Assign(Id(to), "=", Id(value)) for to, value in moves)

    def _carried(self) -> list[str]:
        """The vectors of members that the next turn needs again."""
        own = list(self.shifted.values())
        return own + [self._last(*key) for key in self._stored()] if self.past_caches else own

    def _stored(self) -> list[tuple[str, int]]:
        """All rows of results."""
        return [(n, k) for n, m in self.members.items() if not m.scratch for k in range(self.loop.rows)]

    def _value(self, name: str, row: int) -> str:
        """C name of the vector of a row that a stage computes."""
        return f"_pm_{self.bodies.array(name)}_{row}"

    def _last(self, name: str, row: int) -> str:
        """C name of the one before."""
        return f"_pm_last_{self.bodies.array(name)}_{row}"

    def _requests(self) -> Iterator[Stmt]:
        """Ask for the next tile's rows of the arrays in memory, where the loop stands."""
        rows = self.loop.rows
        for family in self._families():
            for (name, forms), stream in family[-rows:]:
                further = tuple(form.substitute({ROW: Affine.name(ROW) + rows}) for form in forms)
                if further != forms:
                    yield self._request(name, (*further, Affine.name(AT) + stream.first), 0)
        if not self.past_caches:
            for name, k in self._stored():
                row = Affine.name(ROW) + (self._behind(name) + k + rows)
                yield self._request(name, (row, Affine.name(AT) - self.loop.lags[name]), 1)

    def _request(self, name: str, indices: tuple[Affine, ...], write: int) -> Stmt:
        address = self.bodies.address(name, indices, self.point)
        return Evaluate(Call("__builtin_prefetch", (address, Literal(str(write)))))

    def _stage(self, name: str) -> Iterator[Stmt]:
        """The vectors of all rows of a stage; the rows that the next tile needs are kept."""
        stage, member = self.stages[name], self.members[name]
        expr = stage.parts[0].expr
        for k in range(self.loop.rows):
            writer = self.bodies.writer({})
            for node in walk(expr):
                if isinstance(node, Load):
                    writer.ready[id(node)] = self._read(name, node, k)
            declared = shared_values(writer, expr, self.locals)
            self.locals += len(declared)
            yield from self._typed(declared)
            yield Declare(f"const {self.types.vector}", self._value(name, k), writer.value(expr, stage.dtype))
            if member.scratch and k >= self.loop.rows - sum(member.margins[0]):
                yield Evaluate(self.types.store(self._element(name, k), Id(self._value(name, k))))

    def _typed(self, declared: Sequence[Stmt]) -> Iterator[Stmt]:
        """Declarations with the type of a vector where their value is one: users' scalars are no such."""
        scalars: set[str] = set()
        for statement in declared:
            assert isinstance(statement, Declare), "shared values are declared"
            if any(name.startswith(RESERVED_PREFIX) for name in names_in([statement]) - scalars):
                yield replace(statement, ctype=f"const {self.types.vector}")
            else:
                scalars.add(statement.name)
                yield statement

    def _read(self, name: str, load: Load, k: int) -> CExpr:
        """The vector of an element that a stage reads in its k-th row."""
        source, column = load.source.name, load.indices[-1].const - self.loop.lags[name]
        if source not in self.stages:
            row = self._row(name, load, k)
            stream = self.streams[row]
            if stream.is_shifted(self.loop.lanes):
                return self.types.behind(Id(stream.now), Id(stream.next), column - stream.first)
            return self._load(row, Affine.name(AT) + column)
        own = self._own_row(name, load, k)
        if own < 0:
            return self.types.load(self._element(source, own, column + self.loop.lags[source]))
        now = Id(self._value(source, own))
        shift = column + self.loop.lags[source]
        return (
            self.types.behind(Id(self.shifted[source, own]), now, shift + self.loop.lanes) if shift else now
        )

    def _load(self, row: Rows, column: Affine) -> CExpr:
        name, forms = row
        return self.types.load(self.bodies.at(name, (*forms, column), self.point))

    def _element(self, name: str, row: int, column: int = 0) -> Subscript:
        """Where a stage's vector of a row begins, or `column` behind that."""
        indices = (
            Affine.name(ROW) + (self._behind(name) + row),
            Affine.name(AT) + (column - self.loop.lags[name]),
        )
        return self._at(name, indices)

    # ---- what is stored ----

    def _bounds(self) -> Iterator[Stmt]:
        """Which columns of the results are the tile's, and where the loop stores whole vectors of all."""
        lanes, begins, ends = self.loop.lanes, [], []
        for name in dict.fromkeys(name for name, _ in self._stored()):
            low, high = self.stages[name].box[1]
            lag, (begin, end) = self.loop.lags[name], _limits(self.bodies.array(name))
            yield Declare("const ptrdiff_t", begin, Call("_pm_max_i64", (Id(COLUMN), self._size(low))))
            yield Declare("const ptrdiff_t", end, Call("_pm_min_i64", (Id(STOP), self._size(high + 1))))
            begins.append(plus(Id(begin), lag + (lanes if self.past_caches else 0)))
            ends.append(plus(Id(end), lag - lanes))
        yield Declare("const ptrdiff_t", WHOLE_FROM, _extreme("max", begins))
        yield Declare("const ptrdiff_t", WHOLE_TO, _extreme("min", ends))
        if self.past_caches:
            for name, k in self._stored():
                at = Affine.name(COLUMN) + (self.loop.lead - self.loop.lags[name])
                row = Affine.name(ROW) + (self._behind(name) + k)
                first = self.bodies.address(name, (row, at), self.point)
                yield Declare("const int", self._turned(name, k), self.types.turn(first))

    def _turned(self, name: str, k: int) -> str:
        """C name of how many elements of a vector lie before the line that begins in it."""
        return f"_pm_turn_{self.bodies.array(name)}_{k}"

    def _stores(self) -> Iterator[Stmt]:
        """Store the rows of results: whole vectors, or at the ends of a row the columns that are its own."""
        whole: list[Stmt] = []
        parts: list[Stmt] = [Declare("const ptrdiff_t", HERE, self.types.here(Id(AT)))]
        for name, k in self._stored():
            value, back = self._stored_value(name, k)
            store = self.types.stream if self.past_caches else self.types.store
            whole.append(Evaluate(store(_further(self._element(name, k), back), value)))
            here: dict[CExpr, CExpr] = {Id(AT): Id(HERE)}
            element = substituted(_further(self._element(name, k), back), here)
            column = plus(Id(HERE), -self.loop.lags[name])
            column = column if back is None else Binary("+", column, back)
            limits = (Binary("-", Id(limit), column) for limit in _limits(self.bodies.array(name)))
            parts.append(Evaluate(self.types.store_part(element, value, *limits)))
        inside = Binary("&&", Binary(">=", Id(AT), Id(WHOLE_FROM)), Binary("<=", Id(AT), Id(WHOLE_TO)))
        yield If(inside, tuple(whole), tuple(parts))

    def _stored_value(self, name: str, k: int) -> tuple[CExpr, CExpr | None]:
        """What is stored of a row, and how far behind the stage's vector: of two vectors a line of memory."""
        value = Id(self._value(name, k))
        if not self.past_caches:
            return value, None
        turn = Id(self._turned(name, k))
        line = self.types.turned(Id(self._last(name, k)), value, turn)
        return line, Binary("-", turn, self.types.lanes_text)

    def _size(self, form: Affine) -> CExpr:
        return self.bodies.writer(self.point).affine(form)


def _further(element: Subscript, distance: CExpr | None) -> Subscript:
    return element if distance is None else replace(element, index=Binary("+", element.index, distance))


def _limits(array: str) -> tuple[str, str]:
    """C names of the first column of a result in the tile, and of the one behind the last."""
    return f"_pm_from_{array}", f"_pm_to_{array}"


def _extreme(function: str, values: Sequence[CExpr]) -> CExpr:
    result = values[0]
    for value in values[1:]:
        result = Call(f"_pm_{function}_i64", (result, value))
    return result
