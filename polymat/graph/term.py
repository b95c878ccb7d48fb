"""One product in a sum: array elements, a scale, and the points at which it is added."""

from __future__ import annotations

from functools import partial, reduce

from polymat.dataclass import dataclass
from polymat.graph.monomials import Factor
from polymat.graph.stage import Bounds
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr, binary
from polymat.lang.types import WEAK_INT
from polymat.memo import remembered
from polymat.poly.domain import Domain


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """The sum over the reduced dimensions of one product.

    reduced: the dimensions summed over; none for a term that is added once.
    domain: the exact points (dims of the result, then the reduced ones) at which the product is added.
    box: smallest and largest index per dimension of the domain, as forms over the sizes; it encloses it.
    scale: of constants, parameters and elements at fixed indices; None is 1.  Where the domain is empty
    such an element may not exist.
    factors, divisors: the array elements multiplied and divided by.
    weights: further factors, expressions of indices without array elements.
    """

    reduced: tuple[str, ...]
    domain: Domain
    box: Bounds
    scale: Expr | None
    factors: tuple[Factor, ...]
    divisors: tuple[Factor, ...] = ()
    weights: tuple[Expr, ...] = ()

    @property
    def dims(self) -> tuple[str, ...]:
        """The result's dimensions and the reduced ones."""
        return self.domain.dims

    @property
    def is_plain(self) -> bool:
        """Whether it is a product of array elements and a scale alone."""
        return not self.divisors and not self.weights

    @property
    def expr(self) -> Expr:
        """The expression that a term adds at one point of its domain."""
        values = [] if self.scale is None else [self.scale]
        values += [*self.weights, *(factor.expr for factor in self.factors)]
        value = reduce(partial(binary, "*"), values or [Const(1, WEAK_INT)])
        return reduce(partial(binary, "/"), [factor.expr for factor in self.divisors], value)

    def range_of(self, dim: str) -> tuple[Affine, Affine]:
        """Smallest and largest index of one dimension."""
        return self.box[self.dims.index(dim)]


@remembered
def is_box(term: Term, context: Domain) -> bool:
    """Whether a term is added at every point of its box."""
    whole = Domain.box(term.domain.params, term.dims, term.box).assume(context)
    return whole.is_subset(term.domain)
