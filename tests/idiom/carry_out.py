"""Library calls carried out by NumPy, from what they say alone: strides, leading dimensions, triangles."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from polymat.graph.evaluate import Evaluator
from polymat.graph.pipeline import Pipeline
from polymat.idiom.call import Axis, Idiom, LibraryCall, Operand, Role, Stride
from tests.graph.products import points_of, value_of

Values = np.ndarray[Any, Any]
Block = tuple[int, int]


def carry_out(
    idiom: Idiom, pipeline: Pipeline, values: Mapping[str, Values], params: Mapping[str, Any], cut: int = 0
) -> Values:
    """The result's array, from the arrays of everything else.

    cut: 0, or the length of the blocks that each axis that may be cut is cut into.
    """
    given = {name: array for name, array in values.items() if name not in idiom.stages}
    result = np.zeros_like(values[idiom.product.name])
    _begin(idiom, result, given, params)
    arrays = {**given, idiom.product.name: result}
    if any(call.overwrites for call in idiom.calls):
        assert len(idiom.calls) == 1
        assert not idiom.start
    for call in idiom.calls:
        _Run(call, arrays, params, pipeline.extents).all(cut)
    for part in idiom.others:
        points = points_of(part.domain, {n: int(params[n]) for n in part.domain.params})
        count = len(next(iter(points.values()), np.zeros(1)))
        evaluator = Evaluator(arrays, {n: (0,) * a.ndim for n, a in arrays.items()}, params)
        result[tuple(points.values())] = evaluator.value(part.expr, points, count)
    return result


def _begin(idiom: Idiom, result: Values, given: Mapping[str, Values], params: Mapping[str, Any]) -> None:
    for term in idiom.start:
        points = points_of(term.domain, {n: int(params[n]) for n in term.domain.params})
        count = len(next(iter(points.values()), np.zeros(1)))
        value = value_of(term, points, count, given, params)
        np.add.at(result, tuple(points.values()), value if points else value.sum())


@dataclass(frozen=True)
class _Run:
    """One call being carried out."""

    call: LibraryCall
    arrays: Mapping[str, Values]
    params: Mapping[str, Any]
    extents: Mapping[str, Any]

    def all(self, cut: int) -> None:
        """All points of the batch, and all blocks of each axis that may be cut in turn."""
        cuts = self.call.cuts if cut else ()
        start = self.arrays[self.call.result.source].copy()
        for each in cuts or (None,):
            self.arrays[self.call.result.source][...] = start
            for point in self.batch():
                if each is None:
                    self.one(point)
                    continue
                length = self.length(each.role)
                for begin in range(0, length, cut):
                    block = (begin, min(begin + cut, length))
                    if each.pieces == "same":
                        self.one(point, (each.role, block))
                    else:
                        self.triangle(point, block)

    def batch(self) -> Iterator[dict[str, int]]:
        """The points of the batch."""
        names = [dim for axis in self.call.batch for dim in axis.dims]
        ranges = [
            range(self.value(low), self.value(low) + self.value(extent))
            for axis in self.call.batch
            for low, extent in zip(axis.low, axis.extents, strict=True)
        ]
        for values in itertools.product(*ranges):
            yield dict(zip(names, values, strict=True))

    def value(self, form: Any) -> int:
        return int(form.evaluate(self.params))

    def length(self, role: Role) -> int:
        return int(np.prod([self.value(extent) for extent in self.call.axis(role).extents]))

    def stride(self, stride: Stride) -> int:
        return stride.factor * int(np.prod([self.value(extent) for extent in stride.extents]))

    def view(self, operand: Operand, point: Mapping[str, int]) -> Values:
        """The operand as the routine sees it: rows x columns, made from its leading dimension."""
        array = self.arrays[operand.source]
        known: dict[str, Any] = {**self.params, **point}
        for role in ("m", "n", "k"):
            axis: Axis = self.call.axis(role)
            known |= {d: self.value(low) for d, low in zip(axis.dims, axis.low, strict=True)}
        shape = [self.length(role) for role in operand.roles]
        if 0 in shape:
            return np.zeros(shape, array.dtype)
        index = [form.evaluate(known) for form in operand.indices]
        flat = array.reshape(-1)
        offset = int(np.ravel_multi_index(index, array.shape)) if index else 0
        copied = self.call.routine in ("trmm", "trsm") and operand is self.call.operands[1]
        if len(shape) == 2 and not copied:  # a copy is made with any strides
            leading = self.stride(operand.leading)
            stored = shape[::-1] if operand.transposed else shape
            assert leading >= stored[1]
            view = as_strided(flat[offset:], stored, (leading * array.itemsize, array.itemsize))
            view = view.T if operand.transposed else view
        else:
            strides = [self.stride(s) * array.itemsize for s in operand.strides]
            view = as_strided(flat[offset:], shape, strides)
        return np.conj(view) if operand.conjugated else view

    def one(self, point: Mapping[str, int], block: tuple[Role, Block] | None = None) -> None:
        """One call, or one block of it that is the same routine."""
        to = self.view(self.call.result, point)
        views = [self.view(operand, point) for operand in self.call.operands]
        if block is not None:
            to = _sliced(self.call.result, to, *block)
            pairs = zip(self.call.operands, views, strict=True)
            views = [_sliced(operand, view, *block) for operand, view in pairs]
        self.write(to, self.full(views))

    def write(self, to: Values, value: Values) -> None:
        before = np.zeros_like(to) if self.call.overwrites else to
        to[...] = np.where(self.written(to), before + self.alpha() * value, to)

    def triangle(self, point: Mapping[str, int], block: Block) -> None:
        """One block along the triangle's axis: the routine on the triangle, a general product beside it."""
        begin, end = block
        here, earlier, later = slice(begin, end), slice(0, begin), slice(end, None)
        call, to = self.call, self.view(self.call.result, point)
        views = [self.view(operand, point) for operand in call.operands]
        if call.routine in ("syrk", "herk", "syr2k"):
            beside = earlier if call.triangle == "lower" else later
            rectangle = self.update([view[here] for view in views], [view[beside] for view in views])
            to[here, beside] += self.alpha() * rectangle
            self.write(to[here, here], self.full([view[here] for view in views]))
            return
        square, other = views
        lower = (call.triangle == "lower") != call.operands[0].transposed
        if call.side == "right":
            beside = later if lower else earlier
            self.write(to[:, here], self.full([square[here, here], other[:, here]]))
            to[:, here] += self.alpha() * (other[:, beside] @ square[beside, here])
        else:
            beside = earlier if lower else later
            self.write(to[here], self.full([square[here, here], other[here]]))
            to[here] += self.alpha() * (square[here, beside] @ other[beside])

    def update(self, rows: list[Values], columns: list[Values]) -> Any:
        """A rectangle of a rank-k or rank-2k update."""
        if self.call.routine == "syr2k":
            return rows[0] @ columns[1].T + rows[1] @ columns[0].T
        return rows[0] @ (columns[0].conj() if self.call.routine == "herk" else columns[0]).T

    def alpha(self) -> Any:
        if self.call.alpha is None:
            return 1
        evaluator = Evaluator(
            dict(self.arrays), {name: (0,) * a.ndim for name, a in self.arrays.items()}, self.params
        )
        return evaluator.value(self.call.alpha, {}, 1)[0]

    def written(self, to: Values) -> Values:
        """Which elements of the result the routine writes."""
        everything = np.ones(to.shape, bool)
        if self.call.row.triangle_of != "result":
            return everything
        stored = "lower" if self.call.triangle == "lower" else "upper"
        assert not self.call.result.transposed
        return np.tril(everything) if stored == "lower" else np.triu(everything)

    def stored_triangle(self, operand: Operand, view: Values, strict: bool) -> Values:
        """The triangle of op(X): that of the stored array, flipped when it is transposed."""
        lower = (self.call.triangle == "lower") != operand.transposed
        return np.tril(view, -1 if strict else 0) if lower else np.triu(view, 1 if strict else 0)

    def symmetric(self, operand: Operand, view: Values) -> Values:
        half = self.stored_triangle(operand, view, strict=True)
        return half + half.T + np.diag(np.diag(view))

    def triangular(self, operand: Operand, view: Values) -> Values:
        kept = self.stored_triangle(operand, view, strict=self.call.unit)
        return kept + np.eye(len(view), dtype=view.dtype) if self.call.unit else kept

    def full(self, views: list[Values]) -> Any:
        """What the routine adds or writes, without alpha; elements it does not read are left out."""
        call, operands = self.call, self.call.operands
        match call.routine:
            case "gemm" | "gemv" | "dot" | "dotc":
                return views[0] @ views[1]
            case "ger" | "gerc":
                return np.multiply.outer(views[0], views[1])
            case "syr":
                return np.multiply.outer(views[0], views[0])
            case "symm" | "symv":
                at = 1 if call.side == "right" else 0
                whole = self.symmetric(operands[at], views[at])
                return whole @ views[1] if at == 0 else views[0] @ whole
            case "syrk" | "herk" | "syr2k":
                return self.update(views, views)
            case "trmm" | "trmv":
                whole = self.triangular(operands[0], views[0])
                return views[1] @ whole if call.side == "right" else whole @ views[1]
            case "trsm" | "trsv":
                whole = self.triangular(operands[0], views[0])
                if call.side == "right":
                    return np.linalg.solve(whole.T, views[1].T).T
                return np.linalg.solve(whole, views[1])
            case "nrm2":
                return np.linalg.norm(views[0])
            case "axpy" | "scal":
                return views[0]


def _sliced(operand: Operand, view: Values, role: Role, block: Block) -> Values:
    """An operand of which one axis is cut."""
    return view[tuple(slice(*block) if each == role else slice(None) for each in operand.roles)]
