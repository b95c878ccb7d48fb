"""Expressions as the user would write them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from polymat.lang.condition import Condition
from polymat.lang.expr import (
    Binary,
    Call,
    CastExpr,
    Const,
    Expr,
    Load,
    Parameter,
    SelectExpr,
    Unary,
    Variable,
)
from polymat.lang.table import Lookup
from polymat.lang.traverse import condition_operands, fold, postorder
from polymat.lang.types import ScalarType

_PRECEDENCE = {
    **{"|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4},
    **{"+": 5, "-": 5, "*": 6, "/": 6, "//": 6, "%": 6, "neg": 7, "**": 8},
}
_LOOSEST, _ATOM = 0, 9
_SUM = _PRECEDENCE["+"]

LONGEST = 4000  # characters

Piece = tuple[str, int]  # text and how tightly it binds


def expr_text(expr: Expr) -> str:
    """Render an expression in the language's own syntax, with as few parentheses as needed."""
    return fold(expr, _short_piece)[0]


def whole_lines(expr: Expr) -> list[str]:
    """An expression in full, however often its parts are used: one line, or before it those that name parts.

    before:  a node of a chain of squares, whose text would double with each
    after:   %1 = x(i) * x(i);  %2 = %1 * %1;  %2 * %2
    """
    short = expr_text(expr)
    if len(short) < LONGEST:
        return [short]
    _, uses = postorder(expr)
    lines: list[str] = []

    def piece(node: Expr, parts: tuple[Piece, ...]) -> Piece:
        found = _piece(node, parts)
        if not parts or uses[id(node)] < 2:
            return found
        lines.append(f"%{len(lines) + 1} = {found[0]}")
        return f"%{len(lines)}", _ATOM

    last, _ = fold(expr, piece)
    return [*lines, last]


def _short_piece(expr: Expr, parts: tuple[Piece, ...]) -> Piece:
    """Cut what nobody reads: a value used in many places would give a text of exponential length."""
    text, binds = _piece(expr, parts)
    return (text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}...", binds)


def _piece(expr: Expr, parts: tuple[Piece, ...]) -> Piece:
    match expr:
        case Const(value):
            text = repr(value)
            return text, _LOOSEST if text.startswith("-") else _ATOM
        case Parameter() | Variable():
            return expr.name, _ATOM
        case Load(source, indices):
            return f"{source.label}({', '.join(str(i) for i in indices)})", _ATOM
        case Unary():
            level = _PRECEDENCE["neg"]
            return f"-{_wrap(parts[0], level)}", level
        case Binary("min" | "max" | "atan2" | "hypot" as op):
            return f"{op.capitalize()}({parts[0][0]}, {parts[1][0]})", _ATOM
        case Binary("^", _, Const(ones)) if ones == _all_bits(expr.dtype):
            return f"~{_wrap(parts[0], _PRECEDENCE['neg'])}", _PRECEDENCE["neg"]
        case Binary(op):
            level = _PRECEDENCE[op]
            left, right = _wrap(parts[0], level + (op == "**")), _wrap(parts[1], level + (op != "**"))
            return f"{left} {op} {right}", level
        case Call(function):
            return f"{function.capitalize()}({parts[0][0]})", _ATOM
        case Lookup(table):
            return f"{table!r}[{parts[0][0]}]", _ATOM
        case CastExpr(_, dtype) if dtype.weak:  # the extent of an array
            return parts[0]
        case CastExpr(_, dtype):
            return f"Cast({dtype}, {parts[0][0]})", _ATOM
        case SelectExpr(condition):
            compared = [_compared(piece) for piece in parts[:-2]]
            return f"Select({_compose(condition, compared)}, {parts[-2][0]}, {parts[-1][0]})", _ATOM
        case _:
            return object.__repr__(expr), _ATOM


def _all_bits(dtype: ScalarType) -> int:
    return int(np.iinfo(dtype.dtype).max) if dtype.kind == "u" else -1


def _compared(piece: Piece) -> str:
    """A side of a comparison: operations on bits stand in parentheses, as conditions have `&`, too."""
    text, binds = piece
    return f"({text})" if _LOOSEST < binds < _SUM else text


def _wrap(piece: Piece, level: int) -> str:
    text, binds = piece
    return f"({text})" if binds < level else text


def condition_text(condition: Condition) -> str:
    """Render a condition: `i < N & A(i) > 0`."""
    operands = condition_operands(condition)
    return _compose(condition, [_compared(fold(operand, _short_piece)) for operand in operands])


def _compose(condition: Condition, operands: list[str]) -> str:
    """Consume the texts of the operands from the front, in the order of `condition_operands`."""
    if condition.combines:
        left = _compose(condition.left, operands)
        return f"({left} {condition.op} {_compose(condition.right, operands)})"
    return f"{operands.pop(0)} {condition.op} {operands.pop(0)}"


def structure(expr: Expr, called: Mapping[str, str] | None = None) -> str:
    """Text that two expressions share when they are built alike, types included.

    Nodes are numbered, so the text is as long as there are distinct nodes, however deep or shared they are.
    called: what stands for the names of arrays; without it each array is itself alone.
    """
    numbers: dict[str, int] = {}
    number_nodes(expr, numbers, called)
    return "; ".join(numbers)


def number_nodes(
    expr: Expr, numbers: dict[str, int], called: Mapping[str, str] | None = None
) -> dict[int, int]:
    """Numbers of all nodes by identity, the same for those that are built alike.

    numbers: those given so far, by what a node is and the numbers of its operands, for nodes of several
    expressions.  called: as in `structure`.
    """
    found: dict[int, int] = {}

    def number(node: Expr, parts: tuple[int, ...]) -> int:
        found[id(node)] = numbers.setdefault(f"{_node_text(node, called)} {parts}", len(numbers))
        return found[id(node)]

    fold(expr, number)
    return found


def _node_text(expr: Expr, called: Mapping[str, str] | None) -> str:
    match expr:
        case Load(source, indices):
            array = repr(source) if called is None else called[source.name]
            return f"{array}({', '.join(map(str, indices))}) {expr.dtype}"
        case Unary(op) | Binary(op) | Call(op):
            return f"{op} {expr.dtype}"
        case CastExpr():
            return f"Cast {expr.dtype}"
        case Lookup(table):
            return repr(table)
        case SelectExpr(condition):
            holes = [f"#{k}" for k in range(len(condition_operands(condition)))]
            return f"Select {_compose(condition, holes)} {expr.dtype}"
        case Const(value):
            return f"{value!r} {expr.dtype}"
        case _:
            return repr(expr)


# The printer needs the nodes, so it gives them their text here and not where they are defined.
Expr.__str__ = Expr.__repr__ = expr_text  # type: ignore[method-assign,assignment]
Condition.__str__ = Condition.__repr__ = condition_text  # type: ignore[method-assign,assignment]
