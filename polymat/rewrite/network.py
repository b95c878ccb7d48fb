"""Products of many arrays: what sums of products, read by nobody but each other, amount to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.monomials import minus_one
from polymat.graph.stage import Bounds, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, Const, Expr, Load, Unary, Variable, binary
from polymat.lang.indices import index_variable
from polymat.lang.reduction import Op
from polymat.lang.traverse import has_loads, rebuild, walk
from polymat.lang.types import WEAK_INT, ScalarType, real_part
from polymat.poly.domain import Domain

MOST_FACTORS = 32  # of one product; what shares its parts may have 2**30


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """The sum, over all indices that the result has not, of scales times factors.

    result: the indices of the result, in its order.  bounds: the range of every index, which depends on sizes
    alone.  scales: what no index occurs in.  factors: array elements, and other expressions with some; what
    is divided by is a factor 1 / d, with which `times` divides.
    """

    result: tuple[str, ...]
    bounds: Mapping[str, tuple[Affine, Affine]]
    scales: tuple[Expr, ...]
    factors: tuple[Expr, ...]

    @property
    def summed(self) -> tuple[str, ...]:
        """The indices that are summed over."""
        return tuple(dim for dim in self.bounds if dim not in self.result)

    def names(self) -> tuple[frozenset[str], ...]:
        """The indices in each factor."""
        return tuple(frozenset(indices_in(factor, self.bounds)) for factor in self.factors)

    def with_factor(self, position: int, inner: Network) -> Network:
        """One factor, an element of an array, with what computes it put in its place.

        before:  sum over k of P(i, k) * C(k, j);  P(a, b) = sum over k of A(a, k) * B(k, b)
        after:   sum over k, k_ of A(i, k_) * B(k_, k) * C(k, j)
        """
        load = self.factors[position]
        assert isinstance(load, Load)
        names = {dim: str(form) for dim, form in zip(inner.result, load.indices, strict=True)}
        bounds = dict(self.bounds)
        for dim in inner.summed:
            names[dim] = _fresh(dim, bounds, inner.bounds)
            bounds[names[dim]] = inner.bounds[dim]
        put = tuple(renamed(factor, names) for factor in inner.factors)
        factors = (*self.factors[:position], *put, *self.factors[position + 1 :])
        return Network(self.result, bounds, (*self.scales, *inner.scales), factors)


def _fresh(dim: str, bounds: Mapping[str, object], others: Mapping[str, object]) -> str:
    name = dim
    while name in bounds or (name != dim and name in others):
        name += "_"
    return name


def network_of(stage: Stage) -> Network | None:
    """A stage as a product of array elements that is summed over a box of indices; None where it is none.

    What it is added to, or starts from, is no part of it: `starts_from_zero`.
    """
    if stage.reads_itself:
        return None
    if not stage.is_reduction:
        single = len(stage.parts) == 1 and stage.parts[0].condition is None and not stage.parts[0].fills
        if not single or not _is_box(stage.bounds, stage.domain.params):
            return None
        return _network(stage.parts[0].expr, stage.dims, stage.dims, stage.bounds, stage.dtype)
    if stage.op is not Op.Sum or len(stage.accumulations) != 1:
        return None
    item = stage.accumulations[0]
    if item.condition is not None or not item.is_aligned or not _is_box(item.bounds, item.domain.params):
        return None
    result = tuple(map(str, item.target))
    return _network(item.expr, result, item.dims, item.bounds, stage.dtype)


def _is_box(bounds: Bounds, params: tuple[str, ...]) -> bool:
    return all(name in params for pair in bounds for form in pair for name in form.names())


def _network(
    expr: Expr,
    result: tuple[str, ...],
    dims: tuple[str, ...],
    bounds: Bounds,
    dtype: ScalarType,
    *,
    divided: bool = True,
) -> Network | None:
    ranges = dict(zip(dims, bounds, strict=True))
    scales: list[Expr] = []
    factors: list[Expr] = []
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        if len(waiting) + len(factors) + len(scales) > MOST_FACTORS:
            return None
        match node:
            case Binary("*", left, right):
                waiting += [right, left]
            case Binary("/", left, right) if divided and _is_divided(node, left, right):
                waiting += [one_over(right, node.dtype), left]
            case Unary("-", operand):
                scales.append(minus_one(node.dtype))
                waiting.append(operand)
            case _ if not any(True for _ in indices_in(node, ranges)):
                scales.append(node)
            case _:
                # A product in another precision is another product, and waves are a transform's.
                if node.dtype not in (dtype, real_part(dtype)) or not has_loads(node):
                    return None
                factors.append(node)
    if divided and not _may_divide(factors, ranges):
        return _network(expr, result, dims, bounds, dtype, divided=False)
    return Network(result, ranges, tuple(scales), tuple(factors)) if factors else None


def _may_divide(factors: Sequence[Expr], ranges: Mapping[str, object]) -> bool:
    """Whether no order of the factors multiplies two that are 1 / d, or adds up such alone."""
    divisors = [factor for factor in factors if divisor_of(factor) is not None]
    others = {name for factor in factors if factor not in divisors for name in indices_in(factor, ranges)}
    return not divisors or (len(divisors) == 1 and {*indices_in(divisors[0], ranges)} <= others)


def _is_divided(node: Expr, left: Expr, right: Expr) -> bool:
    """Whether a quotient is a product with 1 / d, and not 1 / d itself."""
    alike = all(each.dtype.weak or each.dtype == node.dtype for each in (left, right))
    return node.dtype.kind in "fc" and alike and divisor_of(node) is None


def one_over(divisor: Expr, dtype: ScalarType) -> Expr:
    """The factor that divides by an expression."""
    return Binary("/", Const(1, WEAK_INT), divisor, dtype)


def divisor_of(factor: Expr) -> Expr | None:
    """Find what a factor 1 / d divides by; None for a factor that multiplies."""
    match factor:
        case Binary("/", Const(value=1), divisor):
            return divisor
        case _:
            return None


def times(one: Expr, other: Expr) -> Expr:
    """The product of two factors: a quotient, which is rounded once, where one of them is 1 / d."""
    for factor, rest in ((other, one), (one, other)):
        divisor = divisor_of(factor)
        if divisor is not None:
            return binary("/", rest, divisor)
    return binary("*", one, other)


def indices_in(expr: Expr, dims: Mapping[str, object]) -> Iterator[str]:
    """The names among `dims` that occur in an expression, with repetitions."""
    for node in walk(expr):
        if isinstance(node, Load):
            yield from (name for form in node.indices for name in form.names() if name in dims)
        elif isinstance(node, Variable) and node.name in dims:
            yield node.name


def renamed(expr: Expr, names: Mapping[str, str]) -> Expr:
    """An expression with other names for its indices."""
    values = {old: Affine.name(new) for old, new in names.items()}

    def leaf(node: Expr) -> Expr:
        if isinstance(node, Load):
            return replace(node, indices=tuple(form.substitute(values) for form in node.indices))
        if isinstance(node, Variable) and node.name in names:
            return index_variable(names[node.name], node.dtype)
        return node

    return rebuild(expr, leaf)


def is_whole(stage: Stage, network: Network) -> bool:
    """Whether the sums alone are the stage: they start from zero, and there is one for every element."""
    if not stage.is_reduction:
        return True
    zero = all(isinstance(part.expr, Const) and part.expr.value == 0 for part in stage.parts)
    return zero and tuple(network.bounds[dim] for dim in network.result) == stage.bounds


def covers_box(stage: Stage) -> bool:
    """Whether the domain of the sums has every point of its box."""
    if stage.is_reduction:
        item = stage.accumulations[0]
        return Domain.box(item.domain.params, item.dims, item.bounds).is_subset(item.domain)
    domain = stage.parts[0].domain
    return Domain.box(domain.params, stage.dims, stage.bounds).is_subset(domain)
