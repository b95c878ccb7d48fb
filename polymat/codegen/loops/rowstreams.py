"""What one loop of a rolling tile (`polymat.codegen.loops.rowloopwriter`) reads and keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from polymat.codegen.c.ctree import (
    CExpr,
    Id,
    Stmt,
)
from polymat.codegen.loops.rowplaces import AT, COLUMN, ROW, RowPlaces
from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.lang.expr import Load

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


class RowReads:
    """Which rows the loop reads, and the vectors that it keeps of them from one turn to the next.

    streams: rows of arrays outside the group.  shifted: rows of the group whose vector before is kept, and
    its name.
    """

    def __init__(self, places: RowPlaces) -> None:
        self.places = places
        self.streams: dict[Rows, Stream] = {}
        self.shifted: dict[tuple[str, int], str] = {}
        for name, stage in places.stages.items():
            for load in stage.loads():
                for k in range(places.loop.rows):
                    self._announce(name, load, k)

    def _announce(self, name: str, load: Load, k: int) -> None:
        """Note that a stage reads an element in its k-th row."""
        source, column = load.source.name, load.indices[-1].const - self.places.loop.lags[name]
        if source not in self.places.stages:
            stream = self.streams.setdefault(self._row(name, load, k), Stream(len(self.streams)))
            stream.columns.add(column)
        elif (row := self.places.own_row(name, load, k)) >= 0 and column != -self.places.loop.lags[source]:
            self.shifted.setdefault((source, row), f"_pm_was{len(self.shifted)}")

    def _row(self, name: str, load: Load, k: int) -> Rows:
        first = Affine.name(ROW) + (self.places.behind(name) + k)
        moved = {self.places.stages[name].dims[0]: first}
        return load.source.name, tuple(form.substitute(moved) for form in load.indices[:-1])

    def start(self, stream: Stream) -> Affine:
        """The column of a stream's first vector."""
        return Affine.name(COLUMN) + self.places.loop.lead + stream.first

    def _families(self) -> list[list[tuple[Rows, Stream]]]:
        """The rows that are read, in order: together those of one array that go along with the tile."""
        found: dict[Rows, dict[int, tuple[Rows, Stream]]] = {}
        for (name, forms), stream in self.streams.items():
            moving = [form for form in forms if ROW in form.names()]
            distance = moving[0].const if len(moving) == 1 else 0
            same = tuple(f - f.const if len(moving) == 1 and f is moving[0] else f for f in forms)
            found.setdefault((name, same), {})[distance] = ((name, forms), stream)
        return [[family[distance] for distance in sorted(family)] for family in found.values()]

    def reach(self) -> Iterator[tuple[str, CExpr, CExpr]]:
        """The arrays outside the group: where the loop reads first, and what it stays before."""
        for family in self._families():
            (name, low), (_, high) = family[0][0], family[-1][0]
            first = min(stream.first for _, stream in family)
            behind = max(stream.behind(self.places.loop.lanes) for _, stream in family)
            begin = Affine.name(COLUMN) + (self.places.loop.lead + first)
            yield (
                name,
                self.places.place(name, (*low, begin)),
                self.places.place(name, (*high, self.places.end() + (behind - 1))),
            )

    def requests(self) -> Iterator[Stmt]:
        """Ask for the next tile's rows of the arrays in memory, where the loop stands."""
        rows = self.places.loop.rows
        for family in self._families():
            for (name, forms), stream in family[-rows:]:
                further = tuple(form.substitute({ROW: Affine.name(ROW) + rows}) for form in forms)
                if further != forms:
                    yield self.places.request(name, (*further, Affine.name(AT) + stream.first), write=False)

    def read(self, name: str, load: Load, k: int) -> CExpr:
        """The vector of an element that a stage reads in its k-th row."""
        source, column = load.source.name, load.indices[-1].const - self.places.loop.lags[name]
        if source not in self.places.stages:
            row = self._row(name, load, k)
            stream = self.streams[row]
            if stream.is_shifted(self.places.loop.lanes):
                return self.places.types.behind(Id(stream.now), Id(stream.next), column - stream.first)
            return self.load(row, Affine.name(AT) + column)
        own = self.places.own_row(name, load, k)
        if own < 0:
            return self.places.types.load(
                self.places.element(source, own, column + self.places.loop.lags[source])
            )
        now = Id(self.places.value(source, own))
        shift = column + self.places.loop.lags[source]
        return (
            self.places.types.behind(Id(self.shifted[source, own]), now, shift + self.places.loop.lanes)
            if shift
            else now
        )

    def load(self, row: Rows, column: Affine) -> CExpr:
        """The vector that begins in a column of a row."""
        name, forms = row
        return self.places.types.load(self.places.bodies.at(name, (*forms, column), self.places.point))
