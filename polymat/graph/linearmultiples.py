"""What a block of linear steps makes of each row: sources of rows, and multiples of crossing ones.

A source is the number of the row from before the block that a row goes on with, or none.  Multiples have a
place for each step of the block, whose crossing row is the one that they are of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.latesums import over
from polymat.graph.linearframe import BlockFrame
from polymat.graph.linearrows import LinearRows
from polymat.graph.stage import Ref, Stage
from polymat.lang.affine import Affine
from polymat.lang.condition import Condition
from polymat.lang.expr import Const, Expr, Load, SelectExpr
from polymat.lang.neutral import neutral
from polymat.lang.reduction import Op
from polymat.lang.traverse import rebuild, rebuild_indices
from polymat.lang.types import Long
from polymat.poly.domain import Domain

NONE = -1  # the source of a row that goes on with none


def stages_of_multiples(frame: BlockFrame) -> Iterator[Stage]:
    """The stages that a step of a block has beside those of its own slices."""
    found = frame.found
    inside = _Multiples(frame)
    yield from (inside.helper(each) for each in found.helpers)
    yield _crossing(frame)
    for name, parts in zip(frame.of_rows, (found.parts, found.finished), strict=False):
        yield _sources(frame, name, parts)
    yield inside.stage()


def _crossing(frame: BlockFrame) -> Stage:
    """The source of the crossing row of a step."""
    source = frame.mapped(frame.load(f"{frame.names.source} before", (frame.found.crossing,)))
    return frame.stage(frame.names.crossing, (), (), [(frame.known, source)], Long)


def _sources(frame: BlockFrame, name: str, parts: Sequence[LinearRows]) -> Stage:
    """The source of each row."""
    found = frame.found
    (row, _), bounds = found.dims, found.state.bounds[0]

    def leaf(node: Expr) -> Expr:
        if isinstance(node, Load) and found.is_own(node):
            return frame.load(f"{name} before", (node.indices[0],))
        return frame.in_panel(node)

    pieces = [
        (_rows(frame, part), Const(NONE, Long) if part.own is None else rebuild(part.own, leaf))
        for part in parts
    ]
    return frame.stage(name, (row,), (bounds,), pieces, Long)


def _rows(frame: BlockFrame, part: LinearRows) -> Domain:
    return over(part.rows, frame.known.params).assume(frame.known)


@dataclass(frozen=True, slots=True, eq=False)
class _Multiples:
    """Multiples of rows, and of what helpers make of them."""

    frame: BlockFrame

    def helper(self, stage: Stage) -> Stage:
        """What a helper is in the places of multiples."""
        frame, column = self.frame, stage.dims[0]
        bounds = (frame.rows_and_places()[1],)
        expr = frame.found.behind(stage)
        whole = Domain.box(frame.known.params, (column,), bounds)
        return frame.stage(
            frame.names.of_multiples[stage.name], (column,), bounds, self._by_place(whole, column, expr, expr)
        )

    def stage(self) -> Stage:
        """The multiples of the rows that were crossing ones, and of that which is one at this step."""
        frame = self.frame
        (row, column), bounds = frame.found.dims, frame.rows_and_places()
        low, high = bounds[1]
        place, pieces = Affine.name(column), []
        for part in frame.found.parts:
            whole = _rows(frame, part).extended([column]).at_least_zero([place - low, high - place])
            pieces += self._by_place(whole, column, part.expr, part.rest)
        return frame.stage(frame.names.multiples, (row, column), bounds, pieces)

    def _by_place(
        self, whole: Domain, column: str, expr: Expr, rest: Expr | None
    ) -> list[tuple[Domain, Expr]]:
        """Multiples of rows of earlier steps, of this one, and none of later ones.

        rest: the expression without the row that it goes on with, which is in its source.
        """
        frame, place = self.frame, Affine.name(column)
        here = Affine.name(frame.steps.name) - frame.first
        zero = neutral(Op.Sum, frame.found.state.dtype)
        return [
            (whole.at_least_zero([here - 1 - place]).assume(frame.known), self._earlier(expr, place)),
            (
                whole.at_least_zero([here - place, place - here]).assume(frame.known),
                zero if rest is None else self._now(rest, place),
            ),
            (whole.at_least_zero([place - here - 1]).assume(frame.known), zero),
        ]

    def _earlier(self, expr: Expr, place: Affine) -> Expr:
        """The multiple of a row of an earlier step: made of those that there were, as a slice is."""
        frame = self.frame

        def leaf(node: Expr) -> Expr:
            if not isinstance(node, Load) or not frame.found.is_own(node):
                return frame.in_panel(node)
            if node.source.name == frame.found.before:
                return frame.load(f"{frame.names.multiples} before", (node.indices[0], place))
            return self._of_helper(node, place)

        return rebuild(expr, leaf)

    def _now(self, rest: Expr, place: Affine) -> Expr:
        """The multiple of the crossing row of this step, which is one of itself from here on."""
        frame = self.frame
        zero = neutral(Op.Sum, frame.found.state.dtype)

        def leaf(node: Expr) -> Expr:
            if isinstance(node, Load) and frame.found.is_own(node):
                return self._of_helper(node, place)
            return frame.in_panel(node)

        def instead(node: Expr) -> Expr | None:
            """One in place of an element of a row that has a source; its multiples hold one that has none."""
            if not isinstance(node, Load) or not frame.found.is_own(node):
                return None
            if node.source.name != frame.found.before:
                return None
            (row, _) = rebuild_indices(node.indices, frame.mapped)
            has_source = Condition(frame.load(f"{frame.names.source} before", (row,)), ">=", 0)
            return SelectExpr(has_source, Const(zero.value + 1, zero.dtype), zero, zero.dtype)

        return rebuild(rest, leaf, instead=instead)

    def _of_helper(self, node: Load, place: Affine) -> Load:
        dtype = self.frame.found.state.dtype
        ref = Ref(self.frame.names.of_multiples[node.source.name], dtype, is_input=False)
        return replace(node, source=ref, indices=(place,))
