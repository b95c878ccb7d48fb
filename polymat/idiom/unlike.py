"""Why a sum, one with the weights of a Fourier transform say, is no sum of products of elements, in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from polymat.dataclass import dataclass
from polymat.graph.stage import Accumulation, Stage
from polymat.idiom.phase import waves_of
from polymat.lang.expr import Binary, Call, CastExpr, Const, Expr, Load, SelectExpr, Unary
from polymat.lang.expressiontext import expr_text
from polymat.lang.indices import affine_names
from polymat.lang.reduction import Op
from polymat.lang.traverse import children, fold, walk
from polymat.lang.types import ScalarType, real_part

_LONGEST = 60  # characters of an expression in a sentence


def reason_against_sum(stage: Stage) -> str:
    """Why a sum that has no normal form as products is no transform; empty for one without its waves."""
    items = stage.accumulations if stage.is_reduction and stage.operation is Op.Sum else ()
    reading = [_Reading.of(item, stage.dtype) for item in items]
    if not any(has_wave(i.expr, r.summed, r.results) for i, r in zip(items, reading, strict=True)):
        return ""
    return reason_against_products(stage)


def reason_against_products(stage: Stage) -> str:
    """Why a stage is no sum of products of array elements."""
    if stage.is_reduction and stage.operation is not Op.Sum:
        return f"its values are combined by Op.{stage.operation.name}, and libraries add"
    if stage.segments is not None:
        dims = ", ".join(each.dim for each in stage.segments.dims)
        return f"the bounds of {dims} are data, and libraries sum over sizes"
    reading = [(item.expr, _Reading.of(item, stage.dtype)) for item in stage.accumulations]
    reading += [(part.expr, _Reading((), stage.dims, stage.dtype)) for part in stage.parts]
    found = (fold(expr, each.value).against for expr, each in reading)
    default = "it is no sum of a few products of array elements, or starts from something else"
    return next((reason for reason in found if reason), default)


def has_wave(expr: Expr, summed: Collection[str], results: Collection[str]) -> bool:
    """Whether a phase of an exponential, cosine or sine has a summed index and one of the result in it."""
    return any(
        not names.isdisjoint(summed) and not names.isdisjoint(results)
        for node in walk(expr)
        if isinstance(node, Call)
        for names in _phase_names(node)
    )


def shortened(expr: Expr) -> str:
    """An expression as it was written, cut where it is long."""
    text = expr_text(expr)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _phase_names(node: Call) -> list[set[str]]:
    found = waves_of([node]) if node.function in ("exp", "cos", "sin") else None
    waves = () if found is None else found.waves
    return [{name for name, _ in powers} for phase, _ in waves for powers, _ in phase.terms]


@dataclass(frozen=True, slots=True)
class _Judged:
    """moves: whether an element at the indices is below.  against: the first reason found, or nothing."""

    moves: bool = False
    against: str = ""


@dataclass(frozen=True, slots=True)
class _Reading:
    """summed, results: the indices.  dtype: of the result."""

    summed: Collection[str]
    results: Collection[str]
    dtype: ScalarType

    @staticmethod
    def of(item: Accumulation, dtype: ScalarType) -> _Reading:
        results = {name for form in item.target for name in form.names()}
        return _Reading(item.reduced_dims, results, dtype)

    def value(self, node: Expr, parts: Sequence[_Judged]) -> _Judged:
        """Of a node from its operands', bottom up."""
        if isinstance(node, Load):
            names = {name for form in node.indices for name in form.names()}
            moves = not names.isdisjoint({*self.summed, *self.results})
            return _Judged(moves, self._precision(node) if moves else "")
        against = next((part.against for part in parts if part.against), "")
        if against or not any(part.moves for part in parts):
            return _Judged(bool(against), against)
        return _Judged(True, self._operation(node) or self._precision(node))

    def _fits(self, node: Expr) -> bool:
        return real_part(node.dtype) == real_part(self.dtype)

    def _precision(self, node: Expr) -> str:
        """What keeps a value from being of the precision of the result."""
        if self._fits(node):
            return ""
        wide = node
        if isinstance(node, Binary):
            wide = next((part for part in children(node) if not self._fits(part)), node)
        differs = f"{shortened(wide)} is {wide.dtype} and the result {self.dtype}"
        if isinstance(wide, Load):
            return f"{differs}: convert it in a stage before"
        single = self.dtype if wide.dtype.kind == "c" else real_part(self.dtype)
        return differs if wide is node else f"{differs}: write Cast({single}, ...) around it"

    def _operation(self, node: Expr) -> str:
        """What is done to an element that makes it no factor of a product."""
        match node:
            case Unary("-") | CastExpr() | Call("conj") | Binary("+" | "-" | "*" | "/"):
                return ""
            case Binary("**", _, Const(2)):
                return ""
            case SelectExpr(condition) if affine_names(condition) is not None:
                return ""
            case Call("real" | "imag") if has_wave(node, self.summed, self.results):
                function = node.function.capitalize()
                return f"{shortened(node)} is summed: take {function} of the sum, in a stage behind"
            case _:
                return f"{shortened(node)} is no array element: compute it in a stage before"
