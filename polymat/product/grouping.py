"""How the dimensions of a product divide into rows, columns, depth, and loops around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from math import prod

from polymat.graph.monomials import Factor
from polymat.graph.product import Product
from polymat.graph.stage import Stage
from polymat.graph.term import Term
from polymat.lang.affine import Affine
from polymat.lang.traverse import has_loads
from polymat.model.extents import extent
from polymat.product.contraction import Contraction, Start, sides

ENOUGH_ROWS = 8  # that are worth a register block
OUTWEIGHED = 4  # times as large as an operand: a result that is written in its own order
SHORT_DEPTH = 3  # contiguous elements that are better read than longer but scattered ones


def grouped(stage: Stage, product: Product, term: Term, estimates: Mapping[str, int]) -> Contraction | None:
    """The dimensions in their groups, and which operand is the left one."""
    columns = stage.dims[-1]
    operands = _operands(term, columns)
    if operands is None:
        return None
    left, right = operands
    bounds = dict(zip(term.dims, term.box, strict=True))
    within = sides(left.names(), right.names(), frozenset(stage.dims))
    only_left, only_right = ([dim for dim in stage.dims[:-1] if dim in side] for side in within[:2])
    lengths = {d: extent(bounds[d][1] - bounds[d][0] + 1, estimates) for d in term.dims}
    rows = _rows(stage, only_left, left, lengths)
    depth = _inner([d for d in term.reduced if d in within[2]], operands, lengths)
    if rows is None or depth is None:
        return None
    start = _start(product, columns)
    more_rows, more_columns = (
        _in_order(stage, [d for d in dims if d != own[0]], factor, own, (rows, columns), lengths)
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
    nearest = sorted(dims, key=partial(_place, left), reverse=True)  # of several that are as long
    result, operand = (_elements(forms, lengths) for forms in (map(Affine.name, stage.dims), left.indices))
    return enough[-1] if enough and operand <= result else _inner(nearest, (left,), lengths)


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
        return tuple(sorted(dims, key=partial(_place, factor)))
    return tuple(sorted(dims, key=lambda dim: factor.indices[-1].coefficient(dim) == 1))


def _place(factor: Factor, dim: str) -> int:
    """Which of its indices a factor has a dimension in."""
    return max((at for at, form in enumerate(factor.indices) if form.coefficient(dim)), default=-1)


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
    if not is_linear(factor, product.dims) or (addend.scale is not None and has_loads(addend.scale)):
        return None
    return Start(addend.scale, factor)


def is_linear(factor: Factor, dims: tuple[str, ...]) -> bool:
    """Whether no dimension is inside a floor division, so that each has a stride."""
    return all(
        form.coefficient(dim) != 0 for form in factor.indices for dim in dims if dim in list(form.names())
    ) and all(list(form.names()).count(dim) <= 1 for form in factor.indices for dim in dims)
