"""The slices behind a block of linear steps: rows from before it, and multiples of gathered rows added up.

after(i, j) = before(source(i), j) + sum over m of multiples(i, m) * gathered(m, j)

The sum of a row has the steps that add to it alone.  Rows that all steps of the block add to are one product,
the few that some of them do are another sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polymat.graph.latesums import over
from polymat.graph.linearframe import ZERO, BlockFrame
from polymat.graph.linearreach import steps_by_row
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Accumulation, Stage
from polymat.graph.stepwise import ArrayView, StepSection
from polymat.lang import later
from polymat.lang.affine import Affine, Limits
from polymat.lang.condition import Condition
from polymat.lang.expr import Const, Expr, Load, SelectExpr, binary
from polymat.lang.neutral import neutral
from polymat.lang.reduction import Op
from polymat.lang.types import Long
from polymat.poly.domain import Domain


def gathered_rows(frame: BlockFrame) -> StepSection[Pipeline]:
    """The rows from before the block that were crossing ones; zeros for one that went on with none."""
    row, column = frame.found.dims
    bounds = (frame.places(), frame.later())
    source = frame.load(f"{frame.names.crossing} all", (Affine.name(row),))
    where = Domain.box(frame.around.params, (row, column), bounds)
    stage = frame.stage(frame.names.gathered, (row, column), bounds, [(where, _from_before(frame, source))])
    return frame.section((stage,), [(frame.names.gathered, ArrayView(frame.names.gathered))])


def slices_behind(frame: BlockFrame) -> StepSection[Pipeline]:
    """All slices behind the block, and its own."""
    sums = [(_sum(frame, name, rows, steps), rows) for name, rows, steps in _summed(frame)]
    state = state_behind(frame, sums)
    return frame.section((*(each for each, _ in sums), state), [(state.name, ArrayView(state.name))])


def state_behind(frame: BlockFrame, sums: Sequence[tuple[Stage, Domain]]) -> Stage:
    """The state behind a block, with sums of some rows; without any the state before it."""
    (row, column), state, params = frame.found.dims, frame.found.state, frame.around.params
    i, j = here = Affine.name(row), Affine.name(column)
    old: Expr = frame.load(frame.found.before, here)
    whole = Domain.box(params, (row, column), state.bounds)
    if not sums:
        return frame.stage(state.name, (row, column), state.bounds, [(whole, old)])
    if frame.found.finished:
        old = frame.load(frame.found.before, (_row(frame, frame.load(f"{frame.names.moved} last", (i,))), j))
    base = _from_before(frame, frame.load(f"{frame.names.source} last", (i,)))
    first, _ = frame.later()
    rest = whole.at_least_zero([j - first])
    pieces = [
        (whole.at_least_zero([frame.shift - 1 - j]), old),
        (
            whole.at_least_zero([j - frame.shift, first - 1 - j]),
            frame.load(f"{frame.names.panel} last", (i, j - frame.shift)),
        ),
    ]
    for stage, rows in sums:
        more = Load(stage.ref, here, state.dtype, state.at)
        some = rest.intersect(rows.extended([column]))
        pieces.append((some, binary("+", base, more)))
        rest = rest.subtract(some)
    return frame.stage(state.name, (row, column), state.bounds, [*pieces, (rest, base)])


def _from_before(frame: BlockFrame, source: Load) -> Expr:
    """The row of a number from before the block, or zeros for none."""
    dtype = frame.found.state.dtype
    value = frame.load(frame.found.before, (_row(frame, source), Affine.name(frame.found.dims[1])))
    return SelectExpr(Condition(source, ">=", 0), value, neutral(Op.Sum, dtype), dtype)


def _row(frame: BlockFrame, source: Expr) -> Affine:
    """A row by its number, or the first one in place of none."""
    value, (_, high) = binary("max", source, Const(0, Long)), frame.found.state.bounds[0]
    return Affine(((later.computed(value, 0, (Limits((ZERO,), (high,)),)), 1),))


def _summed(frame: BlockFrame) -> Iterator[tuple[str, Domain, Domain]]:
    """Names of sums, their rows, and the steps that each of these has: first where a row has all."""
    (row, _), state, params = frame.found.dims, frame.found.state, frame.around.params
    steps = over(steps_by_row(frame.found, frame.first, frame.known.params), params).assume(frame.around)
    rows = Domain.box(params, (row,), state.bounds[:1])
    dims = (row, frame.names.depth)
    whole = Domain.box(params, dims, (state.bounds[0], frame.places())).assume(frame.around)
    steps = steps.renamed(dims).intersect(whole)
    lacking = whole.subtract(steps)
    full = rows.assume(frame.around).subtract(lacking.onto((row,)))
    some = steps.onto((row,)).subtract(full)
    for name, part, steps_there in zip(frame.names.added, (full, some), (whole, steps), strict=True):
        if not part.is_empty():
            yield name, part, steps_there


def _sum(frame: BlockFrame, name: str, rows: Domain, steps: Domain) -> Stage:
    """The multiples of gathered rows, added up for some rows."""
    (row, column), state, params = frame.found.dims, frame.found.state, frame.around.params
    i, j, m = map(Affine.name, (row, column, frame.names.depth))
    bounds = (rows.limits(row) or state.bounds[0], frame.later())
    start = [(Domain.box(params, (row, column), bounds), neutral(Op.Sum, state.dtype))]
    made = frame.stage(name, (row, column), bounds, start)
    dims, wide = (row, column, frame.names.depth), (*bounds, frame.places())
    box = Domain.box(params, dims, wide)
    domain = box.intersect(steps.extended([column]).onto(dims))
    factors = (
        frame.load(f"{frame.names.multiples} last", (i, m)),
        frame.load(f"{frame.names.gathered} all", (m, j)),
    )
    item = Accumulation(
        dims=dims,
        bounds=wide,
        domain=domain,
        condition=None,
        target=(i, j),
        expr=binary("*", *factors),
        at=state.at,
    )
    return replace(made, op=Op.Sum, accumulations=(item,))
