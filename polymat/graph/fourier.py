"""Sums that are discrete Fourier transforms as the language writes them, for the interpreter.

A sum of N terms for each of N results is out of reach where N is a million, and NumPy has the transform.
"""

from __future__ import annotations

from polymat.dataclass import dataclass
from polymat.graph.stage import Accumulation
from polymat.lang.affine import Affine
from polymat.lang.expr import Binary, Call, Expr, Load, Parameter, Variable
from polymat.lang.expressiontext import structure
from polymat.lang.fouriertransforms import half_wave, wave
from polymat.lang.makers import index_expression
from polymat.lang.traverse import walk
from polymat.lang.types import Complex, ComplexFloat

_SPECTRA = (Complex, ComplexFloat)  # of literals there is no wave that the language writes


@dataclass(frozen=True, slots=True, eq=False)
class FourierSum:
    """target(j) += sum over index < length of element exp(sign 2 pi i j index / length), for j < outputs.

    half: elements are given up to length // 2, the others are their conjugates, and the result is real.
    """

    sign: int
    index: str
    length: Affine
    outputs: Affine
    element: Expr
    half: bool = False


def fourier_sum(item: Accumulation) -> FourierSum | None:
    """An accumulation as the sum that a transform is translated to; None for anything else."""
    if len(item.dims) != 2 or item.condition is not None or not isinstance(item.expr, Binary):
        return None
    (output, index), ((first, last), (low, high)) = item.dims, item.bounds
    if item.target != (Affine.name(output),) or first != Affine() or low != Affine() or item.expr.op != "*":
        return None
    element, weight = item.expr.left, item.expr.right
    if weight.dtype.kind == "f":
        half = half_spectrum(item.expr, output, index, last + 1)
        if half is None or high != (last + 1).floordiv(2) or _uses(half, output):
            return None
        return FourierSum(1, index, last + 1, last + 1, half, half=True)
    if output in high.names() or weight.dtype not in _SPECTRA or _uses(element, output):
        return None
    leaves: dict[str, Expr] = {n.name: n for n in walk(weight) if isinstance(n, Parameter | Variable)}
    if not {*high.names(), output, index} <= set(leaves):
        return None
    length = index_expression(high + 1, leaves)
    text = structure(weight)
    for sign in (-1, 1):
        if text == structure(wave(sign, leaves[output], leaves[index], length, weight.dtype)):
            return FourierSum(sign, index, high + 1, last + 1, element)
    return None


def half_spectrum(value: Expr, output: str, index: str, length: Affine) -> Expr | None:
    """The element of half a spectrum whose share in a real signal is the value; None for another one."""
    match value:
        case Binary("*", Call("real", Binary("*") as product)) if product.left.dtype in _SPECTRA:
            pass
        case _:
            return None
    leaves: dict[str, Expr] = {n.name: n for n in walk(value) if isinstance(n, Parameter | Variable)}
    if not {*length.names(), output, index} <= set(leaves):
        return None
    count = index_expression(length, leaves)
    expected = half_wave(product.left, leaves[output], leaves[index], count)
    return product.left if structure(value) == structure(expected) else None


def _uses(expr: Expr, name: str) -> bool:
    for node in walk(expr):
        if isinstance(node, Variable) and node.name == name:
            return True
        if isinstance(node, Load) and any(name in form.names() for form in node.indices):
            return True
    return False
