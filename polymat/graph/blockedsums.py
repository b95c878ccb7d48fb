"""Sums in circles at the borders of blocks: what of a sum is known before any point of a block is computed.

before:  t(i, j) = min over k of t(i, k) + t(k + 1, j), for each i and j
after:   in a block of i and j: first the minimum over those k whose operands lie in finished blocks, for all
         i and j at once; then the rest, point by point
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.accesses import loads_with_domains
from polymat.graph.pipeline import Pipeline
from polymat.graph.placedreads import Element, SharedArrays
from polymat.graph.stage import Accumulation, Stage, loads_of
from polymat.graph.stepblocks import StepBlocks, at_its_step, one_row, step_blocks
from polymat.graph.stepwise import ArrayView
from polymat.lang.affine import Affine, computed_in, extremes
from polymat.lang.expr import Binary, CastExpr, Const, Load, Parameter, Unary
from polymat.lang.reduction import Op
from polymat.lang.traverse import walk
from polymat.poly.domain import Domain
from polymat.poly.finished import Interval, common_interval, in_coordinates, is_full, with_steps

SKEWS = (0, 1, -1)  # by which columns may follow the rows: of diagonals that a matrix lies in
JOINED = (Op.Sum, Op.Min, Op.Max)


@dataclass(frozen=True, slots=True, eq=False)
class EarlySum:
    """A part of a sum that a block computes before its points.

    blocks: those that it belongs to.  number: of the innermost pipeline.  stage, item: the sum.  term: what
    tells its terms apart, a form of the dimensions; between: the terms that all results of a block have in
    finished blocks, by that form.  operands: the elements that it reads, by the loads.  ranges: of the
    dimensions that the stage has beside the steps.
    """

    blocks: StepBlocks
    number: int
    stage: Stage
    item: Accumulation
    term: Affine
    between: Interval
    operands: Mapping[Load, Element]
    ranges: tuple[tuple[Affine, Affine], ...]

    @property
    def reduced(self) -> str:
        """The dimension along which it is summed up."""
        return self.item.reduced_dims[0]

    @property
    def streamed(self) -> tuple[Load, ...]:
        """The loads of which each result has a row of its own: a block reads several at a time."""
        return tuple(load for load, names in self._links() if self._results() <= names)

    @property
    def is_shared(self) -> bool:
        """Whether each operand goes into several results, so that a block reads it once for all of these."""
        return not self.streamed

    @property
    def goes_by_rows(self) -> bool:
        """Whether it multiplies rows of their own, one for each step, by what all steps read."""
        if self.blocks.columns or self.item.dims[:-1] or len(self.streamed) == len(self.operands):
            return False
        moved = [self._moved(self.operands[load]) for load in self.streamed]
        steps = {*self.blocks.steps}
        return all(
            abs(last.coefficient(self.reduced)) == 1
            and steps.isdisjoint(last.names())
            and not any(self.reduced in form.names() for form in others)
            for *others, last in moved
        )

    def _results(self) -> set[str]:
        return {*self.blocks.steps, *self.item.dims[:-1]}

    def _links(self) -> Iterator[tuple[Load, set[str]]]:
        """The dimensions that the place of each operand depends on."""
        for load, each in self.operands.items():
            yield load, {name for form in self._moved(each) for name in form.names()}

    def _moved(self, element: Element) -> list[Affine]:
        solved = in_block(self.blocks, self.reduced, self.term)
        return [form.substitute(solved) for form in element.indices]

    def taken(self, terms: Domain) -> Domain:
        """Those of some terms of the sum that are in it."""
        lows, highs = self.between
        return terms.at_least_zero(
            [*(self.term - form for form in lows), *(form - self.term for form in highs)]
        )


def find_blocks(shared: SharedArrays, taken: Set[str]) -> tuple[StepBlocks, tuple[EarlySum, ...]] | None:
    """The blocks of a section and the sums that have terms in finished ones; None where none has.

    taken: names that sizes of blocks cannot have.
    """
    for skew in SKEWS if shared.inner is not None else (0,):
        blocks = step_blocks(shared, skew, taken)
        if blocks is None or not _are_in_order(shared, blocks):
            continue
        found = [*_sums(shared, blocks)]
        if found:
            rows = [_of_a_row(shared, each, taken) for each in found] if blocks.columns else []
            return blocks, (*found, *(each for each in rows if each is not None))
    return None


def _of_a_row(shared: SharedArrays, each: EarlySum, taken: Set[str]) -> EarlySum | None:
    """What a row of a block may sum up before its points, beside that which its block has."""
    blocks = one_row(each.blocks, taken)
    pipeline = [*shared.innermost()][each.number][0]
    found = _early(shared, blocks, each.number, pipeline, each.stage, each.item, each.operands, beside=each)
    if found is None:
        return None
    here = {blocks.rows[0]: Affine.name(blocks.steps[0])}
    lows, highs = (tuple(form.substitute(here) for form in side) for side in found.between)
    ranges = tuple((low.substitute(here), high.substitute(here)) for low, high in found.ranges)
    return replace(found, blocks=at_its_step(blocks), between=(lows, highs), ranges=ranges)


def _are_in_order(shared: SharedArrays, blocks: StepBlocks) -> bool:
    """Whether no point reads what a later block of columns makes; of rows none does."""
    if not blocks.columns:
        return True
    own = blocks.column([*map(Affine.name, blocks.steps)])
    for pipeline, given in shared.innermost():
        views = _views(pipeline, given)
        for stage in pipeline.stages:
            for item in stage.definitions():
                domain = item.domain.assume(pipeline.context)
                for expr in item.values():
                    for where, load in loads_with_domains(domain, expr):
                        if not _is_earlier(shared, blocks, views, load, where, own):
                            return False
    return True


def _is_earlier(
    shared: SharedArrays,
    blocks: StepBlocks,
    views: Mapping[str, ArrayView],
    load: Load,
    where: Domain,
    own: Affine,
) -> bool:
    """Whether what a point reads is not in a later column than its own, at any point."""
    if not load.source.is_input:
        return True
    element = shared.element(views, load)
    if element is None or computed_in(element.indices):
        return False
    if not element.made:
        return True
    return where.at_least_zero([blocks.column(element.made) - own - 1]).is_empty()


def _views(pipeline: Pipeline, given: Sequence[ArrayView]) -> dict[str, ArrayView]:
    return {array.name: view for array, view in zip(pipeline.inputs, given, strict=True)}


def _sums(shared: SharedArrays, blocks: StepBlocks) -> Iterator[EarlySum]:
    for number, (pipeline, given) in enumerate(shared.innermost()):
        views = _views(pipeline, given)
        for stage in pipeline.stages:
            for item in stage.accumulations if stage.op in JOINED else ():
                operands = _operands(shared, views, stage, item)
                found = operands and _early(shared, blocks, number, pipeline, stage, item, operands)
                if found:
                    yield found
                    break


def _operands(
    shared: SharedArrays, views: Mapping[str, ArrayView], stage: Stage, item: Accumulation
) -> dict[Load, Element] | None:
    """The elements that a sum reads; None where it is none of plain arithmetic along one dimension."""
    kinds = (Binary, Unary, CastExpr, Const, Load)
    plain = all(isinstance(node, kinds) and not isinstance(node, Parameter) for node in walk(item.expr))
    own = tuple(dim for dim in item.dims if dim not in item.reduced_dims)
    aligned = item.target == tuple(map(Affine.name, own)) and len(own) == len(stage.dims)
    if not plain or not aligned or len(item.reduced_dims) != 1 or item.dims[-1] != item.reduced_dims[0]:
        return None
    found: dict[Load, Element] = {}
    for load in loads_of(item):
        element = shared.element(views, load)
        if element is None or computed_in(element.indices):
            return None
        found[load] = element
    return found if any(each.made for each in found.values()) else None


def _early(
    shared: SharedArrays,
    blocks: StepBlocks,
    number: int,
    pipeline: Pipeline,
    stage: Stage,
    item: Accumulation,
    operands: Mapping[Load, Element],
    beside: EarlySum | None = None,
) -> EarlySum | None:
    """What of a sum lies in finished blocks for all results of a block; beside: another part of it."""
    made = [*map(Affine.name, blocks.steps)]
    own = item.dims[:-1]
    terms = with_steps(item.domain.assume(pipeline.context), blocks.steps)
    terms = blocks.inside(terms.with_params(blocks.known.params), made).assume(blocks.known)
    results = terms.onto((*blocks.steps, *own))
    if beside is None and not is_full(results):
        return None
    before = terms if beside is None else terms.subtract(beside.taken(terms))
    for element in operands.values():
        if element.made:
            before = before.intersect(blocks.before(terms, element.made))
    term = _term(blocks, item.dims[-1], [*operands.values()])
    forms = [*blocks.places(made), *map(Affine.name, own)]
    by_results = in_coordinates(results, results.dims, forms)
    by_terms = in_coordinates(before, terms.dims, [*forms, term])
    ranges = tuple(
        by_results.onto([dim]).limits(dim) or _range(blocks, bounds)
        for dim, bounds in zip(own, stage.box, strict=True)
    )
    found = EarlySum(blocks, number, stage, item, term, ((), ()), operands, ranges)
    if not found.is_shared and not found.goes_by_rows:
        return None
    between = common_interval(by_results, by_terms, _outside(shared, blocks, found))
    return None if between is None else replace(found, between=between)


def _term(blocks: StepBlocks, reduced: str, elements: Sequence[Element]) -> Affine:
    """The form by which operands depend on as few of rows and columns as can be."""
    forms = [Affine.name(reduced)]
    for element in elements:
        if element.made:
            forms += [form for form in blocks.places(element.made) if abs(form.coefficient(reduced)) == 1]

    def links(form: Affine) -> int:
        solved = in_block(blocks, reduced, form)
        moved = [[index.substitute(solved) for index in each.indices] for each in elements]
        return sum(
            any(index.coefficient(step) for index in indices) for indices in moved for step in blocks.steps
        )

    return min(forms, key=links)


def in_block(blocks: StepBlocks, reduced: str, term: Affine) -> dict[str, Affine]:
    """The steps and the dimension of a sum by row, column and term, which have the same names then."""
    values = {}
    if blocks.columns:
        row, column = map(Affine.name, blocks.steps)
        values[blocks.steps[1]] = column - row.scale(blocks.skew)
    sign = term.coefficient(reduced)
    rest = (term - Affine.name(reduced).scale(sign)).substitute(values)
    values[reduced] = (Affine.name(reduced) - rest).scale(sign)
    return values


def _range(blocks: StepBlocks, bounds: tuple[Affine, Affine]) -> tuple[Affine, Affine]:
    """All that a dimension of a stage may be in a block."""
    ends = {blocks.steps[0]: tuple(map(Affine.name, blocks.rows))}
    values = {}
    if blocks.columns:
        row, column = map(Affine.name, blocks.steps)
        values[blocks.steps[1]] = column - row.scale(blocks.skew)
        ends[blocks.steps[1]] = tuple(map(Affine.name, blocks.columns))
    known = {name: (low, high) for name, (low, high) in ends.items()}
    low, high = (form.substitute(values) for form in bounds)
    return extremes(low, known)[0], extremes(high, known)[1]


def _outside(shared: SharedArrays, blocks: StepBlocks, found: EarlySum) -> Domain:
    """The terms of which some operand is no element of its array, at any row and column of a block."""
    arrays = {array.name: array.extents for array in shared.arrays()}
    dims = (*blocks.steps, *found.item.dims)
    ends = [tuple(map(Affine.name, each)) for each in (blocks.rows, blocks.columns) if each]
    sides = [*((low, high) for low, high in ends), *found.ranges]
    whole = Domain.box(blocks.known.params, dims[:-1], sides).extended([found.reduced])
    whole = whole.assume(blocks.known)
    solved, outside = in_block(blocks, found.reduced, found.term), whole.subtract(whole)
    for element in found.operands.values():
        for form, extent in zip(element.indices, arrays[element.array], strict=True):
            index = form.substitute(solved)
            outside = outside.union(whole.at_least_zero([-index - 1]))
            outside = outside.union(whole.at_least_zero([index - extent]))
    return outside.onto([found.reduced])
