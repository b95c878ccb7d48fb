"""Rows of a signature in Python: their values, their text, and the sizes that shapes determine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.codegen.c.abi import Row, Signature, Size
from polymat.dataclass import dataclass
from polymat.errors import InternalError

# With every size below it, products of a size with an element's bytes and small sums stay far from 2**63.
SIZE_LIMIT = 2**48
_INT64 = range(-(2**63), 2**63)


def row_value(row: Row, symbols: Mapping[int, int]) -> int | None:
    """The value of a row; None where the launcher's 64-bit arithmetic would overflow."""
    total = row.const
    for symbol, coefficient in merged(row):
        product = coefficient * symbols[symbol]
        total += product
        if product not in _INT64 or total not in _INT64:
            return None
    return total // row.divisor


def merged(row: Row) -> tuple[tuple[int, int], ...]:
    """The terms of a row with one coefficient, not zero, a symbol."""
    coefficients: dict[int, int] = {}
    for symbol, coefficient in row.terms:
        coefficients[symbol] = coefficients.get(symbol, 0) + coefficient
    return tuple((symbol, coefficient) for symbol, coefficient in coefficients.items() if coefficient)


@dataclass(frozen=True, slots=True)
class Inversion:
    """How a size follows from an extent: extent = floor((rest + coefficient * size) / rest.divisor)."""

    coefficient: int
    rest: Row

    def size(self, extent: int, symbols: Mapping[int, int]) -> int | None:
        """The size whose row can be `extent`; None on overflow."""
        numerator = row_value(Row(self.rest.const, self.rest.terms), symbols)
        if numerator is None or extent * self.rest.divisor not in _INT64:
            return None
        low = extent * self.rest.divisor - numerator
        if low not in _INT64 or -low not in _INT64:
            return None
        return -(-low // self.coefficient) if self.coefficient > 0 else -low // -self.coefficient


def invert(signature: Signature, index: int) -> Inversion:
    """Solve the row of the dimension that a size is bound to for that size."""
    size = signature.sizes[index]
    row = signature.inputs[size.array].extents[size.dim]
    terms = dict(merged(row))
    coefficient = terms.pop(index, 0)
    if coefficient == 0:
        raise InternalError(f"bug in polymat: {signature.name}: {size.name} is not in its dimension's row")
    return Inversion(coefficient, Row(row.const, tuple(terms.items()), row.divisor))


def evaluation_order(signature: Signature) -> tuple[int, ...]:
    """All symbols, derived ones as early as possible, so that every row finds its symbols computed."""
    order: list[int] = []
    for index, size in enumerate(signature.sizes):
        if size.array >= 0:
            unknown = [symbol for symbol, _ in invert(signature, index).rest.terms if symbol not in order]
            if unknown:
                text = symbol_text(signature, unknown[0])
                raise InternalError(f"bug in polymat: {signature.name}: size {size.name} needs {text} first")
        order.append(index)
        _append_derived(signature, order)
    _append_derived(signature, order)
    if len(order) != len(signature.sizes) + len(signature.derived):
        raise InternalError(f"bug in polymat: {signature.name}: derived sizes form a circle")
    return tuple(order)


def _append_derived(signature: Signature, order: list[int]) -> None:
    first = len(signature.sizes)
    for symbol, row in enumerate(signature.derived, first):
        if symbol not in order and all(used in order for used, _ in merged(row)):
            order.append(symbol)


def symbol_text(signature: Signature, symbol: int) -> str:
    """The name of a size, or the formula of a derived symbol."""
    if symbol < len(signature.sizes):
        return signature.sizes[symbol].name
    return f"({row_text(signature, signature.derived[symbol - len(signature.sizes)])})"


def row_text(signature: Signature, row: Row) -> str:
    """A row as the user would write it: `2*N - 1`, `(N + 1)//2`."""
    text = ""
    for symbol, coefficient in merged(row):
        name = symbol_text(signature, symbol)
        factor = name if abs(coefficient) == 1 else f"{abs(coefficient)}*{name}"
        text += _signed(factor, coefficient, first=not text)
    if row.const or not text:
        text += _signed(str(abs(row.const)), row.const, first=not text)
    if row.divisor == 1:
        return text
    return f"({text})//{row.divisor}" if " " in text else f"{text}//{row.divisor}"


def _signed(text: str, value: int, *, first: bool) -> str:
    if first:
        return f"-{text}" if value < 0 else text
    return f" - {text}" if value < 0 else f" + {text}"


def shape_text(signature: Signature, rows: Sequence[Row]) -> str:
    """A shape in symbols, written as NumPy writes shapes."""
    extents = [row_text(signature, row) for row in rows]
    return f"({extents[0]},)" if len(extents) == 1 else f"({', '.join(extents)})"


def origin_text(signature: Signature, size: Size) -> str:
    """Where the value of a size came from."""
    if size.array < 0:
        return "which is passed by name" if size.by_name else "which strides show"
    return f"which {signature.inputs[size.array].name}'s dimension {size.dim} sets"
