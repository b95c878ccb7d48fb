"""Every library call, transform or filter that a pipeline's stages, or small groups of them, could be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import TypeAlias

from polymat.dataclass import dataclass
from polymat.graph.pipeline import Pipeline
from polymat.graph.product import Product, product_of, product_of_group
from polymat.graph.stage import Stage
from polymat.graph.term import Term
from polymat.idiom.axpy import match_axpy, match_scal
from polymat.idiom.call import Idiom, LibraryCall
from polymat.idiom.dft import match_dft, reason_against_dft
from polymat.idiom.diagonal import with_diagonal
from polymat.idiom.dot import match_dot
from polymat.idiom.fir import match_fir
from polymat.idiom.gemm import match_gemm
from polymat.idiom.gemv import match_gemv
from polymat.idiom.ger import match_ger
from polymat.idiom.hermitian import match_hermitian
from polymat.idiom.layout import Extents
from polymat.idiom.lineup import lined_up
from polymat.idiom.nrm2 import match_nrm2
from polymat.idiom.reasons import reason_against
from polymat.idiom.recursive import match_recursion
from polymat.idiom.symm import match_symm
from polymat.idiom.syr2k import match_syr2k
from polymat.idiom.syrk import match_syrk
from polymat.idiom.transform import Filter, Transform
from polymat.idiom.trmm import match_trmm
from polymat.idiom.trsm import match_trsm
from polymat.idiom.unfiltered import is_sliding, reason_against_filter
from polymat.idiom.unlike import reason_against_products, reason_against_sum
from polymat.idiom.upsampled import match_upsampled
from polymat.options import Options
from polymat.poly.domain import Domain

TermMatcher: TypeAlias = Callable[[Term, Product, Extents], LibraryCall | None]
ProductMatcher: TypeAlias = Callable[[Product, Extents], Idiom | None]

# A structured routine is asked before the general one that would do more work.
PRODUCT_MATCHERS: tuple[ProductMatcher, ...] = (
    match_syr2k,
    match_symm,
    match_trmm,
    match_trsm,
    match_axpy,
    match_scal,
)
TERM_MATCHERS: tuple[TermMatcher, ...] = (match_syrk, match_gemm, match_gemv, match_dot, match_ger)

FEW = 8  # rows or columns: for fewer of them it is no pass over memory to compute an operand again
MOST_STAGES = 4  # of a group: a symmetric view, two products, their sum


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The stages that were looked at as one sum, and the library calls that they are, if any.

    last: the stage that is computed.  product: what all of them amount to, None where that is no sum of
    products.  extents: of the arrays.
    """

    stages: tuple[str, ...]
    last: Stage
    product: Product | None
    extents: Extents
    idiom: Idiom | None = None
    transform: Transform | None = None
    filter: Filter | None = None

    @property
    def reason(self) -> str:
        """Why it is nothing, in words; empty where it is something."""
        if self.idiom or self.transform or self.filter:
            return ""
        if self.product is None:
            return reason_against_products(self.last)
        return reason_against(self.product, self.extents)

    @property
    def no_filter(self) -> str:
        """Why a sum that slides along an array is no filter; empty for one that is, and for other sums."""
        if self.filter is not None or not is_sliding(self.last):
            return ""
        return reason_against_filter(self.last, self.product)

    @property
    def is_transform_like(self) -> bool:
        """Whether it is a transform, or has the waves of one."""
        against = reason_against_sum(self.last) if self.product is None else reason_against_dft(self.product)
        return self.transform is not None or bool(against)

    def __str__(self) -> str:
        names = "+".join(self.stages)
        signals = [f"{names} = {signal}" for signal in (self.transform, self.filter) if signal]
        return "; or ".join([str(self.idiom)] * bool(self.idiom) + signals) or f"{names}: {self.reason}"


def idiom_of(names: Sequence[str], pipeline: Pipeline) -> Found:
    """The library calls that compute the last of some stages, the others being seen by nobody else."""
    stages = tuple(pipeline.stage(name) for name in names)
    extents = pipeline.extents
    product = product_of_group(stages, pipeline.context)
    hermitian = match_hermitian(stages[0], pipeline.context) if len(stages) == 1 else None
    found = partial(Found, tuple(names), stages[-1], product, extents)
    if hermitian is not None:
        return found(transform=hermitian)
    if product is None:
        return found(match_nrm2(stages, pipeline.context, extents))
    idiom = match(product, extents) or _match_otherwise(product, extents)
    return found(idiom, match_dft(product), match_fir(product, extents) or match_upsampled(product, extents))


def is_called(
    stage: Stage, context: Domain, extents: Extents, sizes: Mapping[str, int], options: Options
) -> bool:
    """Whether a stage alone is what libraries or register blocks compute, as far as options leave them.

    Of recurrences these are recursive filters.

    Of products those are wanted whose elements are used many times, unless calls are wanted anyhow; filters
    of one dimension use each sample once a tap.
    """
    if stage.reads_itself and not stage.is_reduction:
        return options.kernels and match_recursion(stage, context, extents) is not None
    if options.fft != "never" and is_transform(stage, context):
        return True
    sums = stage.is_reduction and (options.kernels or options.blas != "never")
    product = product_of(stage, context) if sums else None
    if product is None:
        return False
    filtered = match_fir(product, extents) or match_upsampled(product, extents)
    if options.kernels and filtered is not None and len(filtered.axes) == 1:
        return True
    idiom = match(product, extents) or _match_otherwise(product, extents)
    if idiom is None:
        return False
    return options.blas == "always" or any(_reuses(call, sizes) for call in idiom.calls)


def _reuses(call: LibraryCall, sizes: Mapping[str, int]) -> bool:
    """Whether it multiplies matrices, of which neither has only a few rows or columns."""
    axes = (call.axis(role).extents for role in ("m", "n"))
    lengths = (prod(extent.evaluate(sizes) for extent in each) for each in axes)
    return call.row.level == 3 and all(length >= FEW for length in lengths)


def is_transform(stage: Stage, context: Domain) -> bool:
    """Whether a stage alone is a Fourier transform."""
    product = product_of(stage, context)
    found = None if product is None else match_dft(product)
    return (found or match_hermitian(stage, context)) is not None


def _match_otherwise(product: Product, extents: Extents) -> Idiom | None:
    """The calls for a product whose sums are made to run as its array elements do."""
    straight = lined_up(product)
    return None if straight is product else match(straight, extents)


def match(product: Product, extents: Extents) -> Idiom | None:
    """The library calls for a product; None when a term is none."""
    for form in dict.fromkeys((with_diagonal(product), product)):
        for matcher in PRODUCT_MATCHERS:
            idiom = matcher(form, extents)
            if idiom is not None:
                return idiom
    return None if product.is_recurrence else _term_by_term(product, extents)


def _term_by_term(product: Product, extents: Extents) -> Idiom | None:
    """One call a term; the addends, or terms without a sum that no routine knows, are what they add to."""
    calls = [(term, _first(term, product, extents)) for term in product.terms]
    found = tuple(call for _, call in calls if call is not None)
    called = tuple(term for term, call in calls if call is not None)
    rest = tuple(term for term, call in calls if call is None)
    if not found or any(term.reduced for term in rest):
        return None
    start = (*rest, *product.addends)
    return Idiom(replace(product, terms=called, addends=start), found, start)


def _first(term: Term, product: Product, extents: Extents) -> LibraryCall | None:
    calls = (matcher(term, product, extents) for matcher in TERM_MATCHERS)
    return next((call for call in calls if call is not None), None)
