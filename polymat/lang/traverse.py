"""Walks over expressions: iterative (users write sums of thousands of terms), a shared node once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias, TypeVar, cast

from polymat.errors import InternalError
from polymat.lang import later
from polymat.lang.affine import Affine, Computed, computed_in
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
    binary,
    call,
)
from polymat.lang.table import Lookup
from polymat.lang.types import promote
from polymat.memo import remembered, remembers

T = TypeVar("T")
# All there are: a `match` over a Node that leaves one out is an error of types.
Node: TypeAlias = Const | Parameter | Variable | Load | Unary | Binary | Call | SelectExpr | CastExpr | Lookup
Compare = Callable[[Condition], Condition | None]
Operands = Callable[[Expr], tuple[Expr, ...]]


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct operands, including those of a Select's condition and the values in indices."""
    kind = type(expr)
    if kind is Binary:  # most nodes of long expressions, which are asked some forty times
        return (expr.left, expr.right)  # type: ignore[attr-defined]
    if kind is Const or kind is Parameter or kind is Variable:
        return ()
    match expr:
        case Load(_, indices):
            return tuple(atom.value for atom in computed_in(indices))
        case Unary(_, operand) | Call(_, operand) | CastExpr(operand) | Lookup(_, operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case SelectExpr(condition, then, otherwise):
            return (*condition_operands(condition), then, otherwise)
        case _:
            return ()


def condition_operands(condition: Condition) -> tuple[Expr, ...]:
    """The expressions that a condition compares."""
    if condition.combines:
        return condition_operands(condition.left) + condition_operands(condition.right)
    return (condition.left, condition.right)


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """The conditions that all hold where the whole one does."""
    if condition.op == "&":
        return conjuncts(condition.left) + conjuncts(condition.right)
    return (condition,)


def comparisons(condition: Condition) -> tuple[Condition, ...]:
    """The comparisons that a condition combines."""
    if condition.combines:
        return comparisons(condition.left) + comparisons(condition.right)
    return (condition,)


def unconditional(expr: Expr) -> tuple[Expr, ...]:
    """The direct operands that are evaluated whatever is chosen: of a Select those of its condition alone."""
    return condition_operands(expr.condition) if isinstance(expr, SelectExpr) else children(expr)


def walk(expr: Expr, operands: Operands = children) -> Iterator[Expr]:
    """Every node, parents first, left to right; a node that is shared comes once."""
    return iter(_walked(expr)) if operands is children and remembers() else _walking(expr, operands)


@remembered
def _walked(expr: Expr) -> tuple[Expr, ...]:
    return tuple(_walking(expr, children))


def _walking(expr: Expr, operands: Operands) -> Iterator[Expr]:
    stack, seen = [expr], set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        stack.extend(reversed(operands(node)))


def loads_in(expr: Expr, operands: Operands = children) -> list[Load]:
    """The elements of arrays that are read, in the order of `walk`."""
    return [node for node in walk(expr, operands) if isinstance(node, Load)]


def has_loads(expr: Expr) -> bool:
    """Whether elements of arrays are read."""
    return any(isinstance(node, Load) for node in walk(expr))


def names_of(values: Iterable[Expr]) -> dict[str, None]:
    """The names that values depend on, in their order: of variables, parameters, and in indices."""
    names: dict[str, None] = {}
    for node in (node for value in values for node in walk(value)):
        if isinstance(node, Variable | Parameter):
            names[node.name] = None
        elif isinstance(node, Load):
            names.update((name, None) for form in node.indices for name in form.names())
    return names


def postorder(expr: Expr, operands: Operands = children) -> tuple[list[Expr], dict[int, int]]:
    """Every distinct node after its operands, left to right, and by identity how often it is an operand."""
    order, _, uses = postorder_with_operands(expr) if operands is children else _ordered(expr, operands)
    return order, dict(uses)


# Every distinct node after its operands, the operands of each, and by identity how often it is one.
Ordered: TypeAlias = tuple[list[Expr], list[tuple[Expr, ...]], dict[int, int]]


@remembered
def postorder_with_operands(expr: Expr) -> Ordered:
    """Every distinct node after its operands, the operands of each, and how often it is one.

    It is not to be changed: who asks again gets the same.
    """
    return _ordered(expr, children)


def _ordered(expr: Expr, operands: Operands) -> Ordered:
    order: list[Expr] = []
    each: list[tuple[Expr, ...]] = []
    uses = {id(expr): 0}
    stack: list[tuple[Expr, tuple[Expr, ...] | None]] = [(expr, None)]
    entered: set[int] = set()
    while stack:
        node, known = stack.pop()
        if known is not None:
            order.append(node)
            each.append(known)
        elif id(node) not in entered:
            entered.add(id(node))
            parts = operands(node)
            if not parts:
                order.append(node)
                each.append(parts)
                continue
            stack.append((node, parts))
            for part in reversed(parts):
                stack.append((part, None))
                uses[id(part)] = uses.get(id(part), 0) + 1
    return order, each, uses


def fold(expr: Expr, combine: Callable[[Node, tuple[T, ...]], T], operands: Operands = children) -> T:
    """Evaluate bottom-up: `combine(node, results of operands(node))`, once for every distinct node.

    A result is dropped after its last use: it may be a large array.
    """
    order, each, uses = postorder_with_operands(expr) if operands is children else _ordered(expr, operands)
    waiting = dict(uses)
    results: dict[int, T] = {}
    for node, parts in zip(cast(list[Node], order), each, strict=True):
        if not parts:
            results[id(node)] = combine(node, ())
            continue
        results[id(node)] = combine(node, tuple([results[id(part)] for part in parts]))
        for part in parts:
            place = id(part)
            if waiting[place] == 1:
                del results[place]
            else:
                waiting[place] -= 1
    return results[id(expr)]


def rebuild(
    expr: Expr,
    leaf: Callable[[Expr], Expr],
    compare: Compare | None = None,
    instead: Callable[[Expr], Expr | None] | None = None,
) -> Expr:
    """Map the leaves (Const, Parameter, Variable, Load); types are found anew.

    The values that indices of a Load are made of are mapped by themselves: `leaf` need not care for them.

    compare: what to put in the place of a comparison, None for the same one of mapped leaves.  instead: what
    to put in the place of a whole node, None for the same one of mapped leaves.
    """

    def remake(node: Expr, parts: tuple[Expr, ...]) -> Expr:
        other = None if instead is None else instead(node)
        if other is not None:
            return other
        match node:
            case Unary(op):
                return Unary(op, parts[0], parts[0].dtype)
            case Binary(op):
                return binary(op, parts[0], parts[1])
            case Call(function):
                return call(function, parts[0])
            case CastExpr(_, dtype):
                return CastExpr(parts[0], dtype)
            case Lookup(table, _, dtype):
                return Lookup(table, parts[0], dtype)
            case SelectExpr(condition):
                *compared, then, otherwise = parts
                remade = _with_operands(condition, iter(compared), compare)
                return SelectExpr(remade, then, otherwise, promote(then.dtype, otherwise.dtype))
            case Load(_, indices) if parts:
                return _with_values(leaf(node), computed_in(indices), parts)
            case _:
                return leaf(node)

    return fold(expr, remake)


def _with_values(load: Expr, before: tuple[Computed, ...], values: tuple[Expr, ...]) -> Load:
    """A load with other values in its indices, in place of those that had the same place before."""
    by_place = {atom.place: value for atom, value in zip(before, values, strict=True)}
    if not isinstance(load, Load) or {atom.place for atom in computed_in(load.indices)} != by_place.keys():
        raise InternalError(
            f"bug in polymat: a load at computed indices was rewritten to {type(load).__name__}"
        )
    return replace(load, indices=_with_computed(load.indices, by_place))


def _with_computed(indices: tuple[Affine, ...], by_place: dict[int, Expr]) -> tuple[Affine, ...]:
    made = {
        atom: Affine(((later.computed(by_place[atom.place], atom.place, atom.ranges), 1),))
        for atom in computed_in(indices)
    }
    return tuple(form.with_computed(made) for form in indices)


def rebuild_indices(indices: tuple[Affine, ...], change: Callable[[Expr], Expr]) -> tuple[Affine, ...]:
    """Map the values that indices are made of."""
    found = computed_in(indices)
    by_place = {atom.place: change(atom.value) for atom in found}
    return _with_computed(indices, by_place) if found else indices


def rebuild_condition(
    condition: Condition, leaf: Callable[[Expr], Expr], compare: Compare | None = None
) -> Condition:
    """Map the leaves of a condition's expressions, or whole comparisons as `rebuild` does."""
    operands = (rebuild(operand, leaf) for operand in condition_operands(condition))
    return _with_operands(condition, operands, compare)


def _with_operands(
    condition: Condition, operands: Iterator[Expr], compare: Compare | None = None
) -> Condition:
    if condition.combines:
        left = _with_operands(condition.left, operands, compare)
        return Condition(left, condition.op, _with_operands(condition.right, operands, compare))
    first, second = next(operands), next(operands)
    instead = None if compare is None else compare(condition)
    return Condition(first, condition.op, second) if instead is None else instead
