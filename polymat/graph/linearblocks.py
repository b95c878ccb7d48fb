"""Linear steps in blocks: in the slices that the block is about step by step, in all others as one product.

before:  for each step: all slices
after:   for each block of steps: the steps in its own slices, and beside these what they make of each row:
         source, the row from before the block that it goes on with, if any, and of the crossing rows the
         multiples that are added to that;  then those rows, gathered, and for all slices behind the block
         after(i, j) = before(source(i), j) + sum over m of multiples(i, m) * gathered(m, j)

A crossing row becomes one of the gathered ones at its step, with a multiple of one in itself; from then on
multiples are changed by the steps as any slice is.
"""

from __future__ import annotations

from dataclasses import replace

from polymat.graph.latesums import over
from polymat.graph.linearbehind import gathered_rows, slices_behind, state_behind
from polymat.graph.linearframe import BlockFrame, block_frame
from polymat.graph.linearmultiples import stages_of_multiples
from polymat.graph.linearrows import LinearStep
from polymat.graph.pipeline import Pipeline
from polymat.graph.stage import Stage
from polymat.graph.stepwise import ArrayView, Steps, StepSection, Stepwise
from polymat.lang.affine import Affine
from polymat.lang.expr import CastExpr, Expr, Load, Variable
from polymat.lang.traverse import rebuild, rebuild_indices
from polymat.lang.types import Int, Long
from polymat.poly.domain import Domain
from polymat.poly.finished import in_coordinates


def in_linear_blocks(
    section: StepSection[Pipeline], found: LinearStep, every: int, taken: set[str]
) -> list[StepSection[Pipeline]]:
    """A section whose steps run in blocks of so many, an odd number, and the steps that are left.

    Of the two planes of the state a block reads one and writes the other, as a step does.  taken: names of
    everything around.
    """
    frame = block_frame(section, found, every, taken)
    return [_blocks(frame), _rest(frame)]


def _whole(frame: BlockFrame) -> Affine:
    (first,), (last,) = {*frame.steps.first}, {*frame.steps.last}
    return (last - first + 1).floordiv(frame.every).scale(frame.every)


def _blocks(frame: BlockFrame) -> StepSection[Pipeline]:
    """All whole blocks."""
    (first,) = {*frame.steps.first}
    steps = Steps(frame.names.begin, (first,), (first + _whole(frame) - 1,), frame.names.end, frame.every)
    views = tuple(
        replace(view, step=frame.first - 1) if array.name == frame.found.before else view
        for array, view in zip(frame.level.inputs, frame.old.inputs, strict=True)
    )
    (out,) = frame.old.outputs
    return StepSection(_block(frame), views, (replace(out, step=frame.stop),), steps)


def _rest(frame: BlockFrame) -> StepSection[Pipeline]:
    """The steps behind them, one by one."""
    (first,) = {*frame.steps.first}
    return replace(frame.old, steps=replace(frame.steps, first=(first, first + _whole(frame))))


def _block(frame: BlockFrame) -> Stepwise[Pipeline]:
    sections = (_begun(frame), _stepped(frame), gathered_rows(frame), slices_behind(frame))
    whole = replace(
        frame.level,
        sizes=frame.sizes(within=False),
        stages=(state_behind(frame, ()),),
        context=frame.around,
        states={},
        newest={},
        notes=(),
    )
    return Stepwise(whole, tuple(frame.held.values()), sections)


def _begun(frame: BlockFrame) -> StepSection[Pipeline]:
    """The slices of the block, and each row as its own source."""
    row, column = frame.found.dims
    rows, bounds = frame.found.state.bounds[0], frame.rows_and_places()
    params = frame.around.params
    here = Domain.box(params, (row, column), bounds)
    i, j = Affine.name(row), Affine.name(column)
    slices = frame.stage(
        *(frame.names.panel, (row, column), bounds),
        [(here, frame.load(frame.found.before, (i, j + frame.shift)))],
    )
    number = CastExpr(Variable(Int, row), Long)
    whole = Domain.box(params, (row,), [rows])
    own = [frame.stage(each, (row,), (rows,), [(whole, number)], Long) for each in frame.of_rows]
    outputs = [(each.name, ArrayView(each.name, frame.first - 1)) for each in (slices, *own)]
    return frame.section((slices, *own), outputs)


def _stepped(frame: BlockFrame) -> StepSection[Pipeline]:
    """The steps in the slices of the block, with sources and multiples."""
    own = {frame.found.state.name, *(each.name for each in frame.found.helpers)}
    stages = [
        _placed(frame, stage) if stage.name in own else _beside(frame, stage) for stage in frame.level.stages
    ]
    stages += stages_of_multiples(frame)
    made = (frame.names.panel, frame.names.multiples, *frame.of_rows)
    states = {each: frame.arrays[f"{each} before"][0].name for each in made}
    step = Affine.name(frame.steps.name)
    outputs = [(each, ArrayView(each, step)) for each in (*made, frame.names.crossing)]
    steps = Steps(frame.steps.name, (frame.first,), (frame.stop,))
    return frame.section(stages, outputs, steps, states)


def _beside(frame: BlockFrame, stage: Stage) -> Stage:
    """A stage without slices, of the slices of the block."""
    parts = tuple(replace(part, expr=frame.mapped(part.expr)) for part in stage.parts)
    sums = tuple(
        replace(
            item,
            expr=frame.mapped(item.expr),
            target=rebuild_indices(item.target, frame.mapped),
        )
        for item in stage.accumulations
    )
    return replace(stage, parts=parts, accumulations=sums)


def _placed(frame: BlockFrame, stage: Stage) -> Stage:
    """A stage with slices, of those of the block, by their places in it."""
    column = stage.dims[-1]
    place = Affine.name(column)
    bounds = (*stage.bounds[:-1], frame.rows_and_places()[1])
    forms = [*map(Affine.name, stage.dims[:-1]), place - frame.shift]

    def leaf(node: Expr) -> Expr:
        if isinstance(node, Load) and frame.found.is_own(node):
            if node.source.name == frame.found.before:
                return frame.load(f"{frame.names.panel} before", (node.indices[0], place))
            return node
        return frame.in_panel(node)

    whole = Domain.box(frame.known.params, stage.dims, bounds)
    pieces = []
    for part in stage.parts:
        here = over(part.domain.assume(frame.level.context), frame.known.params)
        inside = in_coordinates(here, stage.dims, forms).intersect(whole).assume(frame.known)
        pieces.append((inside, rebuild(part.expr, leaf)))
    name = frame.names.panel if stage is frame.found.state else stage.name
    return frame.stage(name, stage.dims, bounds, pieces, stage.dtype)
