"""The stages of a product of several arrays in one order: two at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from polymat.dataclass import dataclass
from polymat.graph.orders import Work
from polymat.graph.stage import Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load
from polymat.lang.expressiontext import expr_text
from polymat.poly.domain import Domain
from polymat.rewrite.chains import Chain
from polymat.rewrite.contractiontime import ContractionTime, bits
from polymat.rewrite.madestages import element, made_stage, order_of
from polymat.rewrite.network import divisor_of, is_whole, one_over, renamed, times
from polymat.rewrite.subsets import Tree, cheapest_order, members

MANY = 4  # terms of each sum, for which one more pass over the results is little


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """A part of a product that is computed: its value at `dims`, in that order."""

    value: Expr
    dims: tuple[str, ...]
    text: str


class ProductOrder:
    """The indices of a chain's factors as bits, and the seconds of each step."""

    def __init__(self, chain: Chain, time: ContractionTime) -> None:
        network = chain.network
        self.time = time
        self.dims = [*network.bounds]
        self.extents = [high - low + 1 for low, high in network.bounds.values()]
        self.factors = [bits(names, self.dims) for names in network.names()]
        self.result = bits(network.result, self.dims)
        self._kept: dict[int, int] = {}

    def kept(self, factors: int) -> int:
        """The indices that a product of some factors has, after what nobody else has is summed over."""
        known = self._kept.get(factors)
        if known is None:
            inside, outside = 0, self.result
            for bit, indices in enumerate(self.factors):
                if factors >> bit & 1:
                    inside |= indices
                else:
                    outside |= indices
            known = self._kept[factors] = inside & outside
        return known

    def pair(self, one: int, other: int) -> float:
        """The seconds of the product of two products."""
        return self.time.seconds((self.kept(one), self.kept(other)), self.kept(one | other))

    def is_near(self, one: int, other: int) -> bool:
        """Whether two products have an index in common."""
        return bool(self.kept(one) & self.kept(other))

    def best(self) -> tuple[float, Tree]:
        """The least seconds, and the order that takes them."""
        before = sum(
            self.time.seconds((indices,), self.kept(1 << bit))
            for bit, indices in enumerate(self.factors)
            if self.kept(1 << bit) != indices
        )
        seconds, tree = cheapest_order(len(self.factors), self.pair, self.is_near)
        return before + seconds, tree

    def work(self, tree: Tree) -> Work:
        """The cost of the steps of an order as a function of the sizes."""
        if isinstance(tree, int):
            indices = self.factors[tree]
            summed = self.kept(1 << tree) != indices
            return Work((self._step((indices,), self.kept(1 << tree)),) if summed else ())
        inner = [step for each in tree for step in self.work(each).steps]
        pair = [self.kept(members(each)) for each in tree]
        return Work((*inner, self._step(pair, self.kept(members(tree)))))

    def _step(self, factors: Sequence[int], result: int) -> tuple[float, tuple[Affine, ...]]:
        loops = reduce(or_, factors, result)
        extents = (form for bit, form in enumerate(self.extents) if loops >> bit & 1)
        return self.time.weight(factors, result), tuple(extents)


class Writer:
    """Writes the stages of a chain in an order."""

    def __init__(self, chain: Chain, order: ProductOrder, taken: set[str]) -> None:
        self.taken = taken
        self.root = chain.root
        self.network = chain.network
        self.own = chain.within[-1][1]
        self.order = order
        self.made: list[Stage] = []

    def stages(self, tree: Tree) -> tuple[list[Stage], str]:
        """The stages, the root last, and the order in words."""
        assert not isinstance(tree, int)  # there are two factors at least
        one, other = (self._step(each) for each in tree)
        text = _side_by_side(one, other)
        value = reduce(times, self.network.scales[::-1], times(one.value, other.value))
        result = self.network.result
        every = tuple(dict.fromkeys((*result, *one.dims, *other.dims)))
        if is_whole(self.root, self.own) and (every == result or self._is_across(one, other)):
            if every != result:
                order, summed = self._dims(one, other, {*result})
                value = self._stage(value, order, summed, text).value
            value = renamed(value, dict(zip(result, self.root.dims, strict=True)))
            part = Part(self.root.domain, None, value, self.root.at)
            return [*self.made, replace(self.root, parts=(part,), op=None, accumulations=())], text
        bounds = tuple(self.network.bounds[dim] for dim in every)
        last = self.root.accumulations[0]
        domain = Domain.box(last.domain.params, every, bounds)
        item = replace(last, dims=every, bounds=bounds, domain=domain, expr=value)
        return [*self.made, replace(self.root, accumulations=(item,))], text

    def _is_across(self, one: _Step, other: _Step) -> bool:
        """Whether the last product walks its operands across their rows, so that a pass behind it is less.

        A product of matrices does not: its columns are those of either operand.
        """
        result, time = self.network.result, self.order.time
        order, summed = self._dims(one, other, {*result})
        if not result or order[-1] == result[-1]:
            return False
        own = [
            any(d in step.dims and d not in rest.dims for d in result)
            for step, rest in ((one, other), (other, one))
        ]
        if all(own) and not (result[-1] in one.dims and result[-1] in other.dims):
            return False
        return time.points(bits(summed, self.order.dims)) >= MANY

    def _step(self, tree: Tree) -> _Step:
        """The value of a part of the product, after the stages that it needs."""
        if isinstance(tree, int):
            return self._factor(tree)
        one, other = (self._step(each) for each in tree)
        order, summed = self._dims(one, other, self._names(self.order.kept(members(tree))))
        return self._stage(times(one.value, other.value), order, summed, f"({_side_by_side(one, other)})")

    def _dims(self, one: _Step, other: _Step, kept: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The indices of a product in the order in which it is kept, and those that are summed over.

        Of a product of matrices what both have is outside, then come rows and columns; any other lies as its
        larger operand does.
        """
        summed = tuple(d for d in dict.fromkeys((*one.dims, *other.dims)) if d not in kept)
        shared = [dim for dim in one.dims if dim in other.dims and dim in kept]
        own = [[d for d in step.dims if d in kept and d not in shared] for step in (one, other)]
        if all(own):
            own.sort(key=self._place)
            return (*shared, *own[0], *own[1]), summed
        larger = max(one, other, key=lambda step: self.order.time.points(bits(step.dims, self.order.dims)))
        rest = other if larger is one else one
        return tuple(dict.fromkeys(d for d in (*larger.dims, *rest.dims) if d in kept)), summed

    def _place(self, dims: list[str]) -> int:
        """Where the indices of an operand are in the result: rows first, its last one last, sums between."""
        result = self.network.result
        if result and result[-1] in dims:
            return len(result) + 1
        return min((result.index(dim) for dim in dims if dim in result), default=len(result))

    def _factor(self, number: int) -> _Step:
        """An operand, after what it alone is summed over, or is computed from."""
        expr = self.network.factors[number]
        names = self.network.names()[number]
        dims = tuple(dict.fromkeys(d for d in (*order_of(expr), *self.order.dims) if d in names))
        kept = self._names(self.order.kept(1 << number))
        divisor = divisor_of(expr)
        if divisor is None or len(kept) < len(dims):
            return self._operand(expr, dims, kept)
        inner = self._operand(divisor, dims, kept)
        text = inner.text if isinstance(divisor, Load) else f"({inner.text})"
        return replace(inner, value=one_over(inner.value, expr.dtype), text=f"/ {text}")

    def _operand(self, expr: Expr, dims: tuple[str, ...], kept: set[str]) -> _Step:
        """An array as it is, and a stage of anything else."""
        text = expr.source.name if isinstance(expr, Load) else expr_text(expr)
        if isinstance(expr, Load) and len(kept) == len(dims):
            return _Step(expr, dims, text)
        summed = tuple(dim for dim in dims if dim not in kept)
        return self._stage(expr, tuple(dim for dim in dims if dim in kept), summed, text)

    def _names(self, indices: int) -> set[str]:
        return {dim for bit, dim in enumerate(self.order.dims) if indices >> bit & 1}

    def _stage(self, value: Expr, dims: tuple[str, ...], summed: tuple[str, ...], text: str) -> _Step:
        """A new stage of that value, summed over some indices."""
        stage = made_stage(value, dims, summed, self.network.bounds, self.root, self.taken)
        self.made.append(stage)
        return _Step(element(stage), dims, text)


def _side_by_side(one: _Step, other: _Step) -> str:
    """The factors of a product in words, what is divided by behind the other one."""
    first, second = (other, one) if divisor_of(one.value) is not None else (one, other)
    return f"{first.text} {second.text}"
