"""A step that is linear in the slices behind it, as data: rows, what they go on with and what is added."""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.graph.stage import Stage
from polymat.graph.waited import Slices
from polymat.graph.waits import behind_front
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load
from polymat.poly.domain import Domain


@dataclass(frozen=True, slots=True, eq=False)
class LinearRows:
    """The definition of some rows of a slice behind a step.

    rows: these.  own: the part of the expression that is the row that they go on with, rest: what is added to
    it; None without.
    """

    rows: Domain
    expr: Expr
    own: Expr | None
    rest: Expr | None


@dataclass(frozen=True, slots=True, eq=False)
class LinearStep:
    """A step that is linear in the slices behind it.

    state: what it makes, by rows and slices.  before: the input that has that of the step before.
    helpers: stages with one value a slice.  parts: of the rows of a slice behind the step.
    finished: of one in front of it, which is made of rows alone; none where it stays as it is.
    crossing: the row whose multiples others get.
    """

    slices: Slices
    state: Stage
    before: str
    helpers: tuple[Stage, ...]
    parts: tuple[LinearRows, ...]
    finished: tuple[LinearRows, ...]
    crossing: Affine

    @property
    def dims(self) -> tuple[str, str]:
        """Rows and slices."""
        row, column = self.state.dims
        return row, column

    @property
    def front(self) -> Affine:
        """The slice that a step is about."""
        return Affine.name(self.slices.step) + self.slices.front

    def is_own(self, node: Expr) -> bool:
        """Whether a node is an element of the slice that is computed, of the state before or a helper."""
        if not isinstance(node, Load) or node.source.name not in self._places:
            return False
        column, rows = self.dims[1], [*node.indices]
        place = rows.pop(self._places[node.source.name])
        return place == Affine.name(column) and not any(column in form.names() for form in rows)

    def behind(self, helper: Stage) -> Expr:
        """The definition of a helper for slices behind the step."""
        (part,) = behind_front(helper, self.slices).parts
        return part.expr

    @property
    def _places(self) -> dict[str, int]:
        """Where indices of slices stand."""
        return {self.before: 1, **{each.name: 0 for each in self.helpers}}
