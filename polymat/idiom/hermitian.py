"""Real signals from half of their spectra, written as sums with each value and its conjugate."""

from __future__ import annotations

from polymat.graph.fourier import half_spectrum
from polymat.graph.monomials import Factor
from polymat.graph.product import Product
from polymat.graph.stage import Accumulation, Ref, Stage
from polymat.graph.term import Term
from polymat.idiom.layout import axis
from polymat.idiom.transform import FourierAxis, Transform
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Load
from polymat.lang.reduction import Op
from polymat.poly.domain import Domain


def match_hermitian(stage: Stage, context: Domain) -> Transform | None:
    """A transform from complex to real values, for each point of a batch.

    x(b, i) = sum over j up to N // 2 of w(j) Re(X(b, j) exp(2 pi i i j / N)), where w is 1 for what is
    its own conjugate, j = 0 and 2 j = N, and else 2: FFTW's c2r, which ignores the imaginary parts of those.
    """
    if stage.op is not Op.Sum or len(stage.accumulations) != 1 or not _starts_at_zero(stage):
        return None
    (item,) = stage.accumulations
    if item.condition is not None or not stage.dims or len(item.dims) != len(stage.dims) + 1:
        return None
    *batch, output, index = item.dims
    (first, last), (low, high) = item.box[-2:]
    length = last + 1
    if item.target != tuple(map(Affine.name, (*batch, output))) or first != Affine() or low != Affine():
        return None
    if high != length.floordiv(2) or not _is_box(item, context):
        return None
    element = half_spectrum(item.expr, output, index, length)
    if not isinstance(element, Load) or not isinstance(element.source, Ref):
        return None
    if element.indices != tuple(map(Affine.name, (*batch, index))) or element.source.name == stage.name:
        return None
    term = Term((index,), item.domain, item.box, None, (Factor(element.source, element.indices),))
    box = item.box[:-1]
    product = Product(
        stage.name, stage.dtype, item.dims[:-1], stage.domain, box, (), (), (), (stage.name,), context
    )
    axes = (FourierAxis(output, index, length, half=True),)
    places = tuple(axis((dim,), term) for dim in batch)
    return Transform(product, "hermitian", 1, axes, term.factors[0], 1.0, None, places)


def _starts_at_zero(stage: Stage) -> bool:
    """Whether the sum is all that there is."""
    (part, *others) = stage.parts
    zero = isinstance(part.expr, Const) and part.expr.value == 0
    return zero and not others and (part.fills or part.condition is None)


def _is_box(item: Accumulation, context: Domain) -> bool:
    whole = Domain.box(item.domain.params, item.dims, list(item.box)).assume(context)
    return whole.is_subset(item.domain)
