"""Recurrences that subtract products of earlier results step by step, so that many steps are one product.

    W(k, i, j) = W(k - 1, i, j) + scale * L(k, i) * R(k, j)

where i and j are beyond the steps so far.  Of steps b <= k < e all products for the results beyond step e,
the trailing part, may be added at once, behind all else that these steps compute: a product of matrices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product

from polymat.dataclass import dataclass
from polymat.graph.expansion import expand
from polymat.graph.monomials import Factor, Monomial
from polymat.graph.pipeline import Pipeline
from polymat.graph.recurrence import copies, recurrence_statements
from polymat.graph.stage import Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, binary
from polymat.poly.access import Access
from polymat.poly.delays import is_changed_later, least_value, meets
from polymat.poly.domain import Domain
from polymat.poly.order import Assignment, Order, one_after_other, respects_in_place, within

BEGIN, END = "_pm_begin0", "_pm_end0"  # the first of some steps, and the one after the last


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One operand of the products: factors over divisors, of a step and one dimension of the result."""

    factors: tuple[Factor, ...]
    divisors: tuple[Factor, ...] = ()

    @property
    def single(self) -> Factor | None:
        """The operand where it is the elements of an array as they lie."""
        return self.factors[0] if len(self.factors) == 1 and not self.divisors else None

    @property
    def expr(self) -> Expr:
        """The operand as an expression."""
        above = reduce(lambda x, y: binary("*", x, y), (factor.expr for factor in self.factors))
        return reduce(lambda x, y: binary("/", x, y), (factor.expr for factor in self.divisors), above)

    @property
    def all(self) -> tuple[Factor, ...]:
        """The elements that it is made of."""
        return (*self.factors, *self.divisors)

    def __str__(self) -> str:
        above = " * ".join(map(str, self.factors))
        return " / ".join([above, *map(str, self.divisors)])


@dataclass(frozen=True, slots=True)
class Trailing:
    """Which results wait: from `last step + begin` on along rows and columns (None: all of them).

    triangle: None, or whether a row has its columns up to (True) or from (False) that of its own number, plus
    a shift.
    """

    begins: tuple[int | None, int | None]
    triangle: tuple[bool, int] | None = None


@dataclass(frozen=True, eq=False)
class Elimination:
    """A recurrence with products that may wait; dims: steps, rows and columns.

    first: the step from which on it is computed in blocks of steps.  scale: of the products; None is 1.
    """

    stage: Stage
    first: int
    scale: Expr | None
    left: Side
    right: Side
    trailing: Trailing

    @property
    def dims(self) -> tuple[str, str, str]:
        """Steps, rows and columns."""
        step, row, column = self.stage.dims
        return step, row, column

    def begins(self, end: Affine) -> tuple[Affine, Affine]:
        """The first row and column of what waits for the steps before `end`."""
        lows = (low for low, _ in self.stage.box[1:])
        starts = zip(self.trailing.begins, lows, strict=True)
        row, column = (low if begin is None else end - 1 + begin for begin, low in starts)
        return row, column

    def inner(self) -> tuple[list[Domain], list[Domain]]:
        """The points of each part in steps BEGIN <= k < END that do not wait: in their own rows, and beyond.

        Parts that copy the step before have none: all steps of a result have one place.
        """
        quiet = quiet_parts(self.stage)
        row, _ = self.begins(Affine.name(END))
        before = [Affine.name(self.dims[1]) - row] if self.trailing.begins[0] is not None else None
        near, beyond = [], []
        for tag, part in enumerate(self.stage.parts):
            where = _of_block(self, part.domain)
            where = where.subtract(where) if tag in quiet else where
            waiting = _constructed(self, self.trailing, where.params)
            inner = where.subtract(waiting.extended([self.dims[0]]).onto(self.dims))
            far = inner.subtract(inner) if before is None else inner.at_least_zero(before)
            near.append(inner.subtract(far))
            beyond.append(far)
        return near, beyond


def quiet_parts(stage: Stage) -> frozenset[int]:
    """The parts, by number, that only copy the step before."""
    return frozenset(copy.tag for copy in copies(stage) if copy.dim == 0 and copy.steps == 1)


def goes_by_rows(found: Elimination, order: Order, pipeline: Pipeline) -> bool:
    """Whether in rows beyond a block all its steps may be computed one row after the other, in any order."""
    stage = found.stage
    near, beyond = (
        [domain.assume(_steps_of_block(found, pipeline)) for domain in domains] for domains in found.inner()
    )
    both = [one.union(other) for one, other in zip(near, beyond, strict=True)]
    statements = within(recurrence_statements(stage, pipeline.context), both)
    first, depth, quiet = order.among(near), len(order.parallel), quiet_parts(stage)
    either_way = (order.moved(beyond, 1, 0, sign) for sign in ("", "-"))
    schedules = (one_after_other(first, rows, depth) for rows in either_way)
    return all(respects_in_place(schedule, statements, quiet) for schedule in schedules)


def find_elimination(stage: Stage, pipeline: Pipeline) -> Elimination | None:
    """The products of a recurrence that may wait for the end of a block of steps, if there are any."""
    if len(stage.dims) != 3 or stage.accumulations or stage.dtype.kind != "f" or not stage.reads_itself:
        return None
    found = [(tag, *sides) for tag, part in enumerate(stage.parts) for sides in _products(stage, part)]
    if len(found) != 1:
        return None
    tag, scale, left, right = found[0]
    own = stage.parts[tag].domain.assume(pipeline.context)
    first = least_value(own, Affine.name(stage.dims[0]))
    if first is None:
        return None
    for trailing in _shapes(stage, own, first):
        made = Elimination(stage, first, scale, left, right, trailing)
        if _is_legal(made, tag, pipeline):
            return made
    return None


def _products(stage: Stage, part: Part) -> Iterator[tuple[Expr | None, Side, Side]]:
    """The product that a part adds to the result of the step before, if it does that."""
    step, row, column = stage.dims
    terms = expand(part.expr, stage.dims, stage.dtype, (stage.name,))
    if terms is None or len(terms) != 2:
        return
    before = (Affine.name(step) - 1, Affine.name(row), Affine.name(column))
    kept = [term for term in terms if _is_element(term, stage, before)]
    others = [term for term in terms if term not in kept]
    if len(kept) != 1 or len(others) != 1 or others[0].weights or others[0].guards:
        return
    sides = _sides(others[0], row, column)
    if sides is not None:
        yield (others[0].scale, *sides)


def _is_element(term: Monomial, stage: Stage, indices: tuple[Affine, ...]) -> bool:
    """Whether a term is an element of the stage, once."""
    if term.scale is not None or term.divisors or term.weights or term.guards or len(term.factors) != 1:
        return False
    (factor,) = term.factors
    return factor.source == stage.name and factor.indices == indices


def _sides(term: Monomial, row: str, column: str) -> tuple[Side, Side] | None:
    """What of a product depends on rows, or on steps alone, and what on columns."""
    factors: tuple[list[Factor], list[Factor]] = [], []
    divisors: tuple[list[Factor], list[Factor]] = [], []
    for kind, items in ((factors, term.factors), (divisors, term.divisors)):
        for item in items:
            names = item.names()
            if row in names and column in names:
                return None
            kind[column in names].append(item)
    moves = (any(row in f.names() for f in factors[0]), any(column in f.names() for f in factors[1]))
    if not all(moves) or any(f.dtype.kind != "f" for f in (*term.factors, *term.divisors)):
        return None
    left, right = (Side(tuple(factors[k]), tuple(divisors[k])) for k in (0, 1))
    return left, right


def _shapes(stage: Stage, own: Domain, first: int) -> Iterator[Trailing]:
    """Sets that the results beyond a step might be, those first that begin behind it along both sides."""
    step, row, column = (Affine.name(dim) for dim in stage.dims)
    begins: list[list[int | None]] = []
    for dim, (low, _) in zip((row, column), stage.box[1:], strict=True):
        begin = least_value(own, dim - step)
        behind = begin is not None and low.is_constant and first + begin >= low.const
        begins.append([begin, None] if behind else [None])
    shapes: list[tuple[bool, int] | None] = [None]
    for before, form in ((True, row - column), (False, column - row)):
        shift = least_value(own, form)
        if shift is not None:
            shapes.append((before, -shift if before else shift))
    yield from (Trailing((a, b), shape) for (a, b), shape in product(product(*begins), shapes))


def _constructed(made: Elimination, shape: Trailing, params: Sequence[str]) -> Domain:
    """The rows and columns of a shape, for steps that end at END."""
    _, row, column = made.dims
    lows = made.begins(Affine.name(END))
    bounds = [(low, high) for low, (_, high) in zip(lows, made.stage.box[1:], strict=True)]
    known = (*params, *(name for name in (END,) if name not in params))
    whole = Domain.box(known, (row, column), bounds)
    if shape.triangle is None:
        return whole
    before, shift = shape.triangle
    apart = Affine.name(row) - Affine.name(column) + shift
    return whole.at_least_zero([apart if before else -apart])


def _is_legal(made: Elimination, tag: int, pipeline: Pipeline) -> bool:
    """Whether the products of any steps BEGIN <= k < END may wait, in one place for all steps of a result."""
    end = Affine.name(END)
    context = _steps_of_block(made, pipeline)
    statements = recurrence_statements(made.stage, pipeline.context)
    blocks = [_of_block(made, each.domain).assume(context) for each in statements]
    last = blocks[tag].between(made.dims[0], end - 1, end).onto(made.dims[1:])
    shape = _constructed(made, made.trailing, last.params).assume(context)
    if not last.equals(shape):
        return False
    waiting = shape.extended([made.dims[0]]).onto(made.dims)
    waiting = _of_block(made, waiting)
    return waiting.is_subset(blocks[tag]) and not any(_conflicts(made, statements, blocks, waiting))


def _steps_of_block(made: Elimination, pipeline: Pipeline) -> Domain:
    """What is known of the steps of a block."""
    begin, end = Affine.name(BEGIN), Affine.name(END)
    known = [begin - made.first, end - 1 - begin, made.stage.box[0][1] + 1 - end]
    return pipeline.context.with_params([BEGIN, END]).at_least_zero(known)


def _of_block(made: Elimination, domain: Domain) -> Domain:
    """The points of a domain in the steps of a block."""
    return domain.between(made.dims[0], Affine.name(BEGIN), Affine.name(END))


def _conflicts(
    made: Elimination, statements: Sequence[Assignment], blocks: Sequence[Domain], waiting: Domain
) -> Iterator[bool]:
    """Whether anything reads a result before its products are added, or an operand after it has changed."""
    for statement, block in zip(statements, blocks, strict=True):
        inner = block.subtract(waiting)
        for read in statement.reads:
            yield meets(read.map.intersect_domain(inner.set).range(), waiting)
    quiet = quiet_parts(made.stage)
    changing = [block for tag, block in enumerate(blocks) if tag not in quiet]
    for factor in (*made.left.all, *made.right.all):
        if factor.source == made.stage.name:
            read_at = Access.of(waiting, factor.indices).image()
            yield meets(read_at, waiting)
            yield from (is_changed_later(read_at, block) for block in changing)
