"""Blocks of the steps of a circle: some rows of outer steps, and some columns of inner ones."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.circlesteps import circle_steps
from polymat.graph.placedreads import SharedArrays
from polymat.graph.splice import free_name
from polymat.lang.affine import Affine, extremes
from polymat.poly.domain import Domain
from polymat.poly.finished import at_values


@dataclass(frozen=True, slots=True, eq=False)
class StepBlocks:
    """Blocks of steps, in their order.

    rows: the first and the last outer step of one, by name.  columns: those of inner steps plus `skew` times
    the outer one; empty where there is one dimension of steps.  first, last: where columns begin and end in
    some rows.  known: of the sizes and these names.
    """

    steps: tuple[str, ...]
    rows: tuple[str, str]
    columns: tuple[str, ...]
    skew: int
    first: tuple[Affine, ...]
    last: tuple[Affine, ...]
    known: Domain

    @property
    def names(self) -> tuple[str, ...]:
        """The sizes that say where a block is."""
        return tuple(dict.fromkeys((*self.rows, *self.columns)))

    def column(self, made: Sequence[Affine]) -> Affine:
        """The column of a block of an inner step."""
        return made[1] + made[0].scale(self.skew)

    def places(self, made: Sequence[Affine]) -> list[Affine]:
        """Row and column, or the row alone."""
        return [made[0], self.column(made)] if self.columns else [made[0]]

    def inside(self, domain: Domain, made: Sequence[Affine]) -> Domain:
        """The points of a domain whose steps lie in the block."""
        pairs = zip(self.places(made), (self.rows, self.columns), strict=False)
        ends = ((place, Affine.name(low), Affine.name(high)) for place, (low, high) in pairs)
        return domain.at_least_zero([each for at, low, high in ends for each in (at - low, high - at)])

    def before(self, domain: Domain, made: Sequence[Affine]) -> Domain:
        """The points of a domain whose operand, made at these steps, lies in an earlier block."""
        lows = zip(self.places(made), (self.rows, self.columns), strict=False)
        parts = [domain.at_least_zero([Affine.name(ends[0]) - 1 - place]) for place, ends in lows]
        return parts[0] if len(parts) == 1 else parts[0].union(parts[1])


def one_row(blocks: StepBlocks, taken: Set[str]) -> StepBlocks:
    """The columns of a block in one of its rows, which has a name of its own."""
    here = free_name(f"{blocks.steps[0]}_here", {*taken, *blocks.names, *blocks.steps})
    low, high = map(Affine.name, blocks.rows)
    known = blocks.known.with_params([here])
    known = known.at_least_zero([Affine.name(here) - low, high - Affine.name(here)])
    return replace(blocks, rows=(here, here), known=known)


def at_its_step(blocks: StepBlocks) -> StepBlocks:
    """The columns of a block in one of its rows, which is that of the step."""
    step = blocks.steps[0]
    known = at_values(blocks.known, {blocks.rows[0]: Affine.name(step)})
    return replace(blocks, rows=(step, step), known=known)


def step_blocks(shared: SharedArrays, skew: int, taken: Set[str]) -> StepBlocks | None:
    """Blocks of some rows and columns, where these begin and end with forms of the rows."""
    known_names, names = {*taken}, list[str]()
    for step in shared.steps:
        for word in ("from", "upto"):
            names.append(free_name(f"{step}_{word}", known_names))
            known_names.add(names[-1])
    rows = (names[0], names[1])
    low, high = map(Affine.name, rows)
    row, context = shared.steps[0], shared.whole.context
    known = at_values(context, {row: low}).with_params(names)
    other = at_values(context, {row: high}).over(known.params)
    known = known.intersect(other).at_least_zero([high - low])
    if known.at_least_zero([high - low - 1]).is_empty():
        return None
    if shared.inner is None:
        return StepBlocks(shared.steps, rows, (), 0, (), (), known)
    span = _inner_span(shared)
    if span is None:
        return None
    ends = [extremes(form + Affine.name(row).scale(skew), {row: (low, high)}) for form in span]
    first, last = ends[0][0], ends[1][1]
    begin, end = map(Affine.name, names[2:])
    known = known.at_least_zero([begin - first, end - begin, last - end])
    return StepBlocks(shared.steps, rows, tuple(names[2:]), skew, (first,), (last,), known)


def _inner_span(shared: SharedArrays) -> tuple[Affine, Affine] | None:
    """The first and the last inner step of a row."""
    circles = {stage.circle for stage in shared.whole.stages}
    (circle, *others) = sorted(circles)
    found = circle_steps(shared.whole, circle) if circle and not others else None
    return None if found is None else (found.first, found.last)
