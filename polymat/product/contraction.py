"""Contractions: stages that are sums of products of two arrays, and how their dimensions divide into groups.

A dimension of the result that only one operand has is a row (m) or a column (n) of a matrix product; what is
summed over is its depth (k); all other dimensions are loops around products.  Because indices are affine, the
position of an element is a sum of terms, one for each dimension, so that transposed, strided and shifted
accesses, and those of a convolution, are products of matrices with other strides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from polymat.graph.monomials import Factor
from polymat.graph.product import Product, Term, is_box, product_of
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr, Load
from polymat.lang.text import structure
from polymat.lang.traverse import walk
from polymat.lang.types import ALL_TYPES
from polymat.model.extents import extent
from polymat.poly.domain import Domain
from polymat.product.triangle import Triangle, triangle_of

ENOUGH_ROWS = 8  # that are worth a register block
OUTWEIGHED = 4  # times as large as an operand: a result that is written in its own order
_FLOATING = tuple(dtype for dtype in ALL_TYPES if dtype.kind in "fc")
SHORT_DEPTH = 3  # contiguous elements that are better read than longer but scattered ones


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """beta * array, read row by row like the result: what the sums are added to."""

    beta: Expr | None
    factor: Factor


@dataclass(frozen=True, eq=False)
class Contraction:
    """C(.., m, .., n) = scale * sum over k and `sums` of left(m, k, ..) * right(k, n, ..) + start.

    rows, columns, depth: the dimensions m, n and k; n is the last of the result.
    more_rows, more_columns: further dimensions of the result that only one operand has.
    outer: those that both operands have, or none.  sums: the other ones that are summed over.
    bounds: smallest and largest index of every dimension, as forms over the sizes.
    start: an array to add to; None where it is zero, or where `starts` says that it is something else: the
    stage's start values are then computed first.
    triangle: the part of one of the matrices that is summed or computed; None is all.
    mirror: what stands for the operand of the triangle in its other part, as in a symmetric matrix of which
    one triangle is stored; None is nothing.
    others: whether the stage has parts elsewhere, which loops compute.
    more: further sums of products, added to the result one after the other, as syr2k has one.
    result: the dimensions of the result in its order.
    """

    rows: str
    columns: str
    depth: str
    more_rows: tuple[str, ...]
    more_columns: tuple[str, ...]
    outer: tuple[str, ...]
    sums: tuple[str, ...]
    left: Factor
    right: Factor
    bounds: Mapping[str, tuple[Affine, Affine]]
    scale: Expr | None
    start: Start | None
    starts: bool
    triangle: Triangle | None = None
    mirror: Factor | None = None
    others: bool = False
    more: tuple[Contraction, ...] = ()
    result: tuple[str, ...] = ()

    @property
    def half(self) -> Triangle | None:
        """The triangle, where it saves half of the operations."""
        return self.triangle if self.mirror is None else None

    @property
    def windows(self) -> bool:
        """Whether neighbouring rows share elements, as the windows of a convolution do."""
        rows, summed = {self.rows, *self.more_rows}, {self.depth, *self.sums}
        forms = [set(form.names()) for form in self.left.indices]
        return bool(self.sums) and any(names & rows and names & summed for names in forms)

    @property
    def products(self) -> tuple[Contraction, ...]:
        """All sums of products, in the order in which they are added."""
        return (self, *self.more)

    @cached_property
    def apart(self) -> tuple[Contraction, ...]:
        """The contractions of a sum, each as if it were alone: starting from the one before is no work."""
        if not self.more:
            return (self,)
        return (replace(self, more=()), *(replace(each, starts=False) for each in self.more))

    @cached_property
    def extents(self) -> Mapping[str, Affine]:
        """How many indices each dimension has."""
        return {dim: high - low + 1 for dim, (low, high) in self.bounds.items()}

    def extent(self, dim: str) -> Affine:
        """How many indices a dimension has."""
        return self.extents[dim]

    def length(self, dim: str, estimates: Mapping[str, int]) -> float:
        """The extent of a dimension at the estimates."""
        return extent(self.extent(dim), estimates)


def contraction_of(stage: Stage, context: Domain, estimates: Mapping[str, int]) -> Contraction | None:
    """A stage as a contraction; None when it is none that register blocks are for.

    Of several dimensions that could be rows or depth, the longest is; the estimates decide no more than that.
    """
    if stage.dtype not in _FLOATING or not stage.is_reduction or len(stage.dims) < 2:
        return None
    product = product_of(stage, context)
    starts = product is None
    if product is None:  # the sums may start from anything
        product = product_of(_from_zero(stage), context)
    if product is None or product.is_recurrence:
        return None
    if not all(_is_product(term) for term in product.terms):
        return None
    found = _symmetric(stage, product, estimates) or _added_up(stage, product, estimates)
    return replace(found, starts=True, start=None) if found is not None and starts else found


def _symmetric(stage: Stage, product: Product, estimates: Mapping[str, int]) -> Contraction | None:
    """Two sums on either side of a diagonal that are one with a symmetric matrix."""
    if len(product.terms) != 2 or is_box(product.terms[0], product.context):
        return None
    found = _grouped(stage, product, product.terms[0], estimates)
    found = None if found is None else _triangular(found, product)
    return found if found is not None and found.mirror is not None else None


def _added_up(stage: Stage, product: Product, estimates: Mapping[str, int]) -> Contraction | None:
    """Every term as a product of its own, the further ones added to what is there."""
    products: list[Contraction] = []
    for term in product.terms:
        found = _grouped(stage, product, term, estimates)
        if found is not None and not is_box(term, product.context):
            found = _triangular(found, replace(product, terms=(term,)))
        elif product.others:
            return None
        if found is None:
            return None
        products.append(found if not products else replace(found, start=None, starts=True, others=False))
    return replace(products[0], more=tuple(products[1:])) if products else None


def _is_product(term: Term) -> bool:
    """Whether a term is summed over two array elements that each dimension moves along with a stride."""
    if not term.is_plain or len(term.factors) != 2 or not term.reduced:
        return False
    if not all(_is_linear(factor, term.dims) for factor in term.factors):
        return False
    return term.scale is None or not _has_loads(term.scale)


def _triangular(found: Contraction, product: Product) -> Contraction | None:
    """A contraction with a triangle; None where it is none.

    Each of its dimensions is one segment: where one operand alone has further ones, loops around the product
    run over these.
    """
    if found.sums:
        return None
    outer = (*found.outer, *found.more_rows, *found.more_columns)
    found = replace(found, outer=outer, more_rows=(), more_columns=())
    groups = (found.rows, found.columns, found.depth)
    term, context = product.terms[0], product.context
    for model in product.terms:
        box = Domain.box(term.domain.params, term.dims, model.box)
        triangle = triangle_of(term, box.assume(context), context, *groups)
        if triangle is None:
            continue
        found = replace(found, triangle=triangle, bounds=dict(zip(term.dims, model.box, strict=True)))
        if triangle.place == "result":
            return _in_result(found, triangle, product)
        whole = Domain.box(product.domain.params, product.dims, product.box).assume(context)
        if product.others or not product.domain.assume(context).equals(whole):
            return None
        return found if len(product.terms) == 1 else _mirrored(found, triangle, product, box)
    return None


def _in_result(found: Contraction, triangle: Triangle, product: Product) -> Contraction | None:
    """A triangle of the result; where that is not all of the product, loops compute the start values."""
    whole = Domain.box(product.domain.params, product.dims, product.box).at_least_zero([triangle.condition])
    if product.domain.assume(product.context).equals(whole.assume(product.context)):
        return replace(found, others=bool(product.others))
    return replace(found, start=None, starts=True)


def _mirrored(found: Contraction, triangle: Triangle, product: Product, box: Domain) -> Contraction | None:
    """Two sums on either side of a diagonal, with the same array as the other factor of both."""
    first, second = product.terms
    if len(second.reduced) != 1 or not second.domain.assume(product.context).equals(
        box.at_least_zero([triangle.rest.condition]).assume(product.context)
    ):
        return None
    scales = [None if term.scale is None else structure(term.scale) for term in (first, second)]
    values = {second.reduced[0]: Affine.name(found.depth)}
    factors = [factor.at(values) for factor in second.factors]
    same = found.right if triangle.place == "left" else found.left
    if scales[0] != scales[1] or same not in factors:
        return None
    factors.remove(same)
    names = {found.rows if triangle.place == "left" else found.columns, found.depth}
    mirror = factors[0]
    return replace(found, mirror=mirror) if mirror.names() & {*found.bounds} >= names else None


def _from_zero(stage: Stage) -> Stage:
    """The stage with sums that start from zero."""
    zero = Const(0, stage.dtype)
    return replace(stage, parts=tuple(replace(part, expr=zero) for part in stage.parts))


def _grouped(stage: Stage, product: Product, term: Term, estimates: Mapping[str, int]) -> Contraction | None:
    """The dimensions in their groups, and which operand is the left one."""
    columns = stage.dims[-1]
    operands = _operands(term, columns)
    if operands is None:
        return None
    left, right = operands
    bounds = dict(zip(term.dims, term.box, strict=True))

    names = (left.names(), right.names())
    only_left = [d for d in stage.dims[:-1] if d in names[0] and d not in names[1]]
    only_right = [d for d in stage.dims[:-1] if d in names[1] and d not in names[0]]
    lengths = {d: extent(bounds[d][1] - bounds[d][0] + 1, estimates) for d in term.dims}
    rows = _rows(stage, only_left, left, lengths)
    depth = _inner([d for d in term.reduced if d in names[0] and d in names[1]], (left, right), lengths)
    if rows is None or depth is None:
        return None
    start = _start(product, columns)
    more_rows, more_columns = (
        _in_order(stage, [d for d in dims if d not in (rows, columns)], factor, own, (rows, columns), lengths)
        for dims, factor, own in (
            (only_left, left, (rows, *term.reduced)),
            (only_right, right, (columns, *term.reduced)),
        )
    )
    return Contraction(
        rows=rows,
        columns=columns,
        depth=depth,
        more_rows=more_rows,
        more_columns=more_columns,
        outer=tuple(d for d in stage.dims[:-1] if d not in (*only_left, *only_right)),
        sums=tuple(d for d in term.reduced if d != depth),
        left=left,
        right=right,
        bounds=bounds,
        scale=term.scale,
        start=start,
        starts=bool(product.addends) and start is None,
        result=stage.dims,
    )


def _operands(term: Term, columns: str) -> tuple[Factor, Factor] | None:
    """The left factor and the right one, which alone moves along the columns."""
    first, second = term.factors
    held = [columns in factor.names() for factor in (first, second)]
    if held[0] == held[1]:
        return None
    return (first, second) if held[1] else (second, first)


def _rows(stage: Stage, dims: Sequence[str], left: Factor, lengths: Mapping[str, float]) -> str | None:
    """The dimension whose indices are rows: the last that fills register blocks, so that results are local.

    Where the left operand is the larger array, the one that it is contiguous along.
    """
    enough = [dim for dim in dims if lengths[dim] >= ENOUGH_ROWS]
    result, operand = (_elements(forms, lengths) for forms in (map(Affine.name, stage.dims), left.indices))
    return enough[-1] if enough and operand <= result else _inner(dims, (left,), lengths)


def _elements(indices: Iterable[Affine], lengths: Mapping[str, float]) -> float:
    """How many elements indices reach, at most."""
    return prod(reach(form, lengths) for form in indices)


def reach(form: Affine, lengths: Mapping[str, float]) -> float:
    """How many values an index takes, at most, where its dimensions have these lengths."""
    return 1.0 + sum(abs(form.coefficient(d)) * (lengths[d] - 1.0) for d in form.names() if d in lengths)


def _in_order(
    stage: Stage,
    dims: Sequence[str],
    factor: Factor,
    own: Sequence[str],
    inner: Sequence[str],
    lengths: Mapping[str, float],
) -> tuple[str, ...]:
    """Segments in the order of memory: of the operand, where that has shorter pieces than the result has.

    Where the result is several times as large as the operand, all of it in its own order: writing it is what
    such a product waits for.
    own: dimensions of the operand that are within a segment.  inner: those of the result.
    """

    def place(dim: str) -> int:
        return max((at for at, form in enumerate(factor.indices) if form.coefficient(dim)), default=-1)

    def piece(positions: Sequence[Sequence[str]], within: Sequence[str]) -> float:
        count = 1.0
        for names in reversed(positions):
            if not names or any(name not in within for name in names):
                break
            count *= prod(lengths[name] for name in names)
        return count

    of_operand = piece([[n for n in form.names() if n in lengths] for form in factor.indices], own)
    of_result = piece([[dim] for dim in stage.dims], inner)
    read, written = (_elements(forms, lengths) for forms in (factor.indices, map(Affine.name, stage.dims)))
    if written >= OUTWEIGHED * read:
        return tuple(dims)
    if of_operand < of_result:
        return tuple(sorted(dims, key=place))
    return tuple(sorted(dims, key=lambda dim: factor.indices[-1].coefficient(dim) == 1))


def _inner(dims: Sequence[str], factors: Sequence[Factor], lengths: Mapping[str, float]) -> str | None:
    """The dimension along which operands are read: one with contiguous elements where it is long enough.

    A short one may do: it often continues in the next dimension, as the channels of a row of pixels do.
    """
    if not dims:
        return None
    contiguous = [f.indices[-1].coefficient(d) == 1 for f in factors for d in dims if f.indices]
    last = [d for d, unit in zip([d for _ in factors for d in dims], contiguous, strict=True) if unit]
    longest = max(dims, key=lambda d: lengths[d])
    enough = min(lengths[longest] / 2, SHORT_DEPTH)
    return next((d for d in last if lengths[d] >= enough), longest)


def _start(product: Product, columns: str) -> Start | None:
    """The one array that the sums are added to, when its rows are contiguous like the result's."""
    if len(product.addends) != 1:
        return None
    addend = product.addends[0]
    everywhere = product.domain.assume(product.context)
    if not addend.is_plain or len(addend.factors) != 1 or not everywhere.is_subset(addend.domain):
        return None
    factor = addend.factors[0]
    if factor.conjugated or not factor.indices or factor.source == product.name:
        return None
    inner, last = factor.indices[:-1], factor.indices[-1]
    if any(columns in form.names() for form in inner) or last.coefficient(columns) != 1:
        return None
    if not _is_linear(factor, product.dims) or (addend.scale is not None and _has_loads(addend.scale)):
        return None
    return Start(addend.scale, factor)


def _is_linear(factor: Factor, dims: tuple[str, ...]) -> bool:
    """Whether no dimension is inside a floor division, so that each has a stride."""
    return all(
        form.coefficient(dim) != 0 for form in factor.indices for dim in dims if dim in list(form.names())
    ) and all(list(form.names()).count(dim) <= 1 for form in factor.indices for dim in dims)


def _has_loads(expr: Expr) -> bool:
    return any(isinstance(node, Load) for node in walk(expr))
