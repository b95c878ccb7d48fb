"""What the one loop of a rolling tile (`polymat.codegen.loops.rowloopwriter`) stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    CBinary,
    CCall,
    CExpr,
    Declare,
    Evaluate,
    Id,
    If,
    Stmt,
    Subscript,
    plus,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64
from polymat.codegen.c.othernames import substituted
from polymat.codegen.loops.rowplaces import AT, COLUMN, HERE, ROW, STOP, WHOLE_FROM, WHOLE_TO, RowPlaces
from polymat.lang.affine import Affine


class RowStores:
    """Stores the rows of results: whole vectors or lines of memory, at the ends of a row parts of them."""

    def __init__(self, places: RowPlaces) -> None:
        self.places = places

    def bounds(self) -> Iterator[Stmt]:
        """Which columns of the results are the tile's, and where the loop stores whole vectors of all."""
        lanes, begins, ends = self.places.loop.lanes, [], []
        for name in dict.fromkeys(name for name, _ in self.places.stored()):
            low, high = self.places.stages[name].box[1]
            lag, (begin, end) = self.places.loop.lags[name], _limits(self.places.bodies.array(name))
            yield Declare(
                "const ptrdiff_t", begin, CCall(MAX_I64.function, (Id(COLUMN), self.places.size(low)))
            )
            yield Declare(
                "const ptrdiff_t", end, CCall(MIN_I64.function, (Id(STOP), self.places.size(high + 1)))
            )
            begins.append(plus(Id(begin), lag + (lanes if self.places.past_caches else 0)))
            ends.append(plus(Id(end), lag - lanes))
        yield Declare("const ptrdiff_t", WHOLE_FROM, _extreme("max", begins))
        yield Declare("const ptrdiff_t", WHOLE_TO, _extreme("min", ends))
        if self.places.past_caches:
            for name, k in self.places.stored():
                at = Affine.name(COLUMN) + (self.places.loop.lead - self.places.loop.lags[name])
                row = Affine.name(ROW) + (self.places.behind(name) + k)
                first = self.places.bodies.address(name, (row, at), self.places.point)
                yield Declare("const int", self._turned(name, k), self.places.types.turn(first))

    def _turned(self, name: str, k: int) -> str:
        """C name of how many elements of a vector lie before the line that begins in it."""
        return f"_pm_turn_{self.places.bodies.array(name)}_{k}"

    def requests(self) -> Iterator[Stmt]:
        """Ask for the next tile's rows of the results, where the loop stands."""
        rows = self.places.loop.rows
        if not self.places.past_caches:
            for name, k in self.places.stored():
                row = Affine.name(ROW) + (self.places.behind(name) + k + rows)
                yield self.places.request(
                    name, (row, Affine.name(AT) - self.places.loop.lags[name]), write=True
                )

    def stores(self) -> Iterator[Stmt]:
        """Store the rows of results: whole vectors, or at the ends of a row the columns that are its own."""
        whole: list[Stmt] = []
        parts: list[Stmt] = [Declare("const ptrdiff_t", HERE, self.places.types.here(Id(AT)))]
        for name, k in self.places.stored():
            value, back = self._stored_value(name, k)
            store = self.places.types.stream if self.places.past_caches else self.places.types.store
            whole.append(Evaluate(store(_further(self.places.element(name, k), back), value)))
            here: dict[CExpr, CExpr] = {Id(AT): Id(HERE)}
            element = substituted(_further(self.places.element(name, k), back), here)
            column = plus(Id(HERE), -self.places.loop.lags[name])
            column = column if back is None else CBinary("+", column, back)
            limits = (CBinary("-", Id(limit), column) for limit in _limits(self.places.bodies.array(name)))
            parts.append(Evaluate(self.places.types.store_part(element, value, *limits)))
        inside = CBinary("&&", CBinary(">=", Id(AT), Id(WHOLE_FROM)), CBinary("<=", Id(AT), Id(WHOLE_TO)))
        yield If(inside, tuple(whole), tuple(parts))

    def _stored_value(self, name: str, k: int) -> tuple[CExpr, CExpr | None]:
        """What is stored of a row, and how far behind the stage's vector: of two vectors a line of memory."""
        value = Id(self.places.value(name, k))
        if not self.places.past_caches:
            return value, None
        turn = Id(self._turned(name, k))
        line = self.places.types.turned(Id(self.places.last(name, k)), value, turn)
        return line, CBinary("-", turn, self.places.types.lanes_text)


def _further(element: Subscript, distance: CExpr | None) -> Subscript:
    return element if distance is None else replace(element, index=CBinary("+", element.index, distance))


def _limits(array: str) -> tuple[str, str]:
    """C names of the first column of a result in the tile, and of the one behind the last."""
    return f"_pm_from_{array}", f"_pm_to_{array}"


def _extreme(function: str, values: Sequence[CExpr]) -> CExpr:
    result = values[0]
    for value in values[1:]:
        result = CCall(f"_pm_{function}_i64", (result, value))
    return result
