"""Where the one loop of a rolling tile (`polymat.codegen.loops.rowloopwriter`) finds its elements."""

from __future__ import annotations

from collections.abc import Sequence

from polymat.codegen.c.ctree import (
    CExpr,
    Id,
    Stmt,
    Subscript,
)
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.c.shorthand import request
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.memory.storage import TILE
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Load
from polymat.plan.tile import TilePlan
from polymat.plan.tileloops import RowLoop

AT = "_pm_at"  # the column of the loop: a stage computes the vector that begins its lag before
HERE = "_pm_here"  # the same at the ends of a row
ROW, COLUMN, STOP = f"{TILE}0", f"{TILE}1", "_pm_stop1"  # where the tile begins and ends
WHOLE_FROM, WHOLE_TO = "_pm_whole_from", "_pm_whole_to"  # where the loop stores whole vectors


class RowPlaces:
    """Where the elements of a row loop are, and what its vectors are called."""

    def __init__(
        self, bodies: BodyWriter, stages: Sequence[Stage], plan: TilePlan, loop: RowLoop, *, past_caches: bool
    ) -> None:
        types = RowTypes.of(stages[0].dtype, loop.lanes)
        assert types is not None, "a row loop has elements that vectors have"
        self.bodies, self.loop, self.types = bodies, loop, types
        self.members = {member.stage: member for member in plan.members}
        self.stages = {stage.name: stage for stage in stages}
        self.past_caches = past_caches
        self.point: dict[str, CExpr] = {name: Id(name) for name in (ROW, COLUMN, STOP, AT)}

    def behind(self, name: str) -> int:
        """How many rows of the group a stage is ahead of the tile."""
        return self.members[name].margins[0][1]

    def own_row(self, name: str, load: Load, k: int) -> int:
        """Which of the rows that a member computes in this tile is read; below 0: of those it has kept."""
        source = load.source.name
        return self.behind(name) + k + load.indices[0].const - self.behind(source)

    def end(self) -> Affine:
        """Where the loop ends; lines of the result are whole a vector later than they are computed."""
        return Affine.name(STOP) + self.loop.trail + (self.loop.lanes if self.past_caches else 0)

    def size(self, form: Affine) -> CExpr:
        """A form over the sizes and the tile's ends in C."""
        return self.bodies.writer(self.point).affine(form)

    def at(self, name: str, indices: tuple[Affine, ...]) -> Subscript:
        """An element of an array."""
        element = self.bodies.at(name, indices, self.point)
        assert isinstance(element, Subscript), "an element of an array"
        return element

    def place(self, name: str, indices: tuple[Affine, ...]) -> CExpr:
        """Where an element lies in its array."""
        return self.at(name, indices).index

    def element(self, name: str, row: int, column: int = 0) -> Subscript:
        """Where a stage's vector of a row begins, or `column` behind that."""
        indices = (
            Affine.name(ROW) + (self.behind(name) + row),
            Affine.name(AT) + (column - self.loop.lags[name]),
        )
        return self.at(name, indices)

    def stored(self) -> list[tuple[str, int]]:
        """All rows of results."""
        return [(n, k) for n, m in self.members.items() if not m.scratch for k in range(self.loop.rows)]

    def value(self, name: str, row: int) -> str:
        """C name of the vector of a row that a stage computes."""
        return f"_pm_{self.bodies.array(name)}_{row}"

    def last(self, name: str, row: int) -> str:
        """C name of the one before."""
        return f"_pm_last_{self.bodies.array(name)}_{row}"

    def request(self, name: str, indices: tuple[Affine, ...], *, write: bool) -> Stmt:
        """Ask for a line of memory, to read or to write it."""
        return request(self.bodies.address(name, indices, self.point), write=write)
