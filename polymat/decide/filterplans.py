"""Filters around register blocks as plans: which stages are such filters, and the predicted time."""

from __future__ import annotations

from polymat.decide.callplans import CallPlanner
from polymat.graph.flat import flat_stage
from polymat.graph.group import Group
from polymat.graph.product import Product
from polymat.idiom.operands import fills_box
from polymat.idiom.transform import Filter
from polymat.lang.affine import Affine
from polymat.lang.types import real_part
from polymat.model.extents import extent
from polymat.plan.library import FilterPlan
from polymat.tilesize.filterblock import MOST_KINDS, filter_block
from polymat.tilesize.filterprice import filter_seconds
from polymat.tilesize.plain import plan_stage
from polymat.tilesize.register import unrolled

# Of the time of loops, at most, whose price does not tell all: those of a filter add short rows of products,
# each to one result, those of a recursion wait for one result after the other, also where something else is
# inside.  At worst filters in blocks do the same.
QUICKER = 0.9


class FilterPlanner:
    """Plans of filters for groups of one pipeline."""

    def __init__(self, calls: CallPlanner) -> None:
        self.calls = calls
        self.machine = calls.machine
        self.threads = calls.threads

    def plan(self, stages: tuple[str, ...]) -> FilterPlan | None:
        """The plan of a group that is a filter along contiguous samples; None of any other."""
        if not self.calls.options.kernels or not self.calls.is_hidden(stages):
            return None
        found = self.calls.find(stages).filter
        if found is None or not _is_row(found):
            return None
        flat = flat_stage(found.product, self.calls.pipeline)
        if flat is None:
            return None
        loops = plan_stage(Group(stages), flat, self.calls.pipeline.context)
        if not loops.adds_up:
            return None
        loops = unrolled(flat, loops)
        (axis,) = found.axes
        block = filter_block(self.machine, real_part(flat.dtype).size)
        relative = self.calls.prices.in_operations(self._seconds(found), found.product)
        relative = min(relative, QUICKER * loops.slowdown(self.threads))
        return FilterPlan(
            group=Group(stages),
            kind="filter",
            order=(),
            parallel=self._parallel(found),
            vector=axis.output,
            reason=f"{found}, register blocks of {block.rows * block.lanes} results",
            stage=flat,
            within=stages[:-1],
            relative=relative,
            alone=relative,
            filter=found,
            loops=loops,
            lanes=block.lanes,
            rows=block.rows,
            taps=block.taps,
            width=block.width,
        )

    def _parallel(self, found: Filter) -> str:
        """Rows where there are enough of them, else the results of one."""
        dims = [
            axis.dims[0]
            for axis in found.batch
            if self._length(found.product, axis.dims[0]) >= 4 * self.threads
        ]
        return dims[0] if dims else found.axes[0].output

    def _seconds(self, found: Filter) -> float:
        """The time of register blocks."""
        (axis,) = found.axes
        rows = 1.0
        for dim in found.product.dims[:-1]:
            rows *= self._length(found.product, dim)
        low, high = found.product.terms[0].range_of(axis.tap)
        taps = extent(high - low + 1, self.calls.sizes)
        results = self._length(found.product, axis.output)
        samples = results * axis.step / axis.up
        dtype = found.product.dtype
        return filter_seconds(
            self.machine,
            dtype,
            self.threads,
            taps=taps,
            results=results,
            samples=samples,
            rows=rows,
            step=axis.step,
            up=axis.up,
            plain=found.scale is None and not found.start,
        )

    def _length(self, product: Product, dim: str) -> float:
        low, high = product.box[product.dims.index(dim)]
        return max(1.0, extent(high - low + 1, self.calls.sizes))


def _is_row(found: Filter) -> bool:
    """Whether one dimension is filtered along which signal and result are contiguous."""
    product = found.product
    if len(found.axes) != 1 or product.dtype.kind not in "fc" or product.others:
        return False
    (axis,) = found.axes
    if product.dtype.kind == "c" and (axis.up > 1 or found.scale is not None):
        return False
    last = product.dims[-1] == axis.output and axis.tap in found.signal.indices[-1].names()
    return last and axis.up <= MOST_KINDS and _adds_a_row(found) and fills_box(product)


def _adds_a_row(found: Filter) -> bool:
    """Whether the sums are added to nothing, or to elements of one array that are contiguous as they are."""
    if not found.start:
        return True
    term, product = found.start[0], found.product
    if len(found.start) > 1 or not term.is_plain or term.scale is not None or len(term.factors) != 1:
        return False
    (factor,) = term.factors
    if factor.dtype != product.dtype or not factor.indices or factor.source == product.name:
        return False
    output = found.axes[0].output
    alone = factor.indices[-1] - Affine.name(output)
    if any(output in form.names() for form in (*factor.indices[:-1], alone)):
        return False
    return product.domain.assume(product.context).is_subset(term.domain)
