"""Which operations of an expression are computed once, and its size with the others written out."""

from __future__ import annotations

import math
from collections.abc import Sequence

from polymat.lang.condition import Condition
from polymat.lang.expr import Binary, Call, Const, Expr, Load, SelectExpr, Variable
from polymat.lang.indices import affine_names
from polymat.lang.traverse import (
    children,
    comparisons,
    conjuncts,
    fold,
    loads_in,
    postorder_with_operands,
    unconditional,
    walk,
)
from polymat.memo import remembered

CHEAP_NODES = 12  # of both branches of a Select: some ten cycles, as a wrong guess costs
MAX_DEPTH = 100  # operations inside each other, after which a part gets a name
_CHEAP_OPS = frozenset(("+", "-", "*", "min", "max"))


@remembered
def computed_once(expr: Expr) -> tuple[Expr, ...]:
    """The operations that get a name, operands first: those used several times, and parts of deep nests.

    All may be computed whatever the Selects choose: a Select on indices protects loads from reading outside
    an array, so what reads elements that are read in its branches alone is not among them.
    """
    order, operands, uses = postorder_with_operands(expr)
    allowed = _allowed(expr, order)
    depth: dict[int, int] = {}
    chosen: list[Expr] = []
    for node, parts in zip(order, operands, strict=True):
        key = id(node)
        if not parts:
            depth[key] = 1
            continue
        inside = 1 + max([depth[id(part)] for part in parts])
        worth = inside > MAX_DEPTH or uses[key] > 1
        if worth and node is not expr and (allowed is None or key in allowed):
            chosen.append(node)
            inside = 0
        depth[key] = inside
    return tuple(chosen)


def _allowed(expr: Expr, order: Sequence[Expr]) -> set[int] | None:
    """By identity, the nodes that may be computed whatever the Selects choose; None where no Select is."""
    if not any(isinstance(node, SelectExpr) for node in order):
        return None
    reached = _unprotected(expr)
    elements = {(id(node.source), node.indices) for node in reached.values() if isinstance(node, Load)}
    safe: set[int] = set()
    for node in order:
        is_known = not isinstance(node, Load) or (id(node.source), node.indices) in elements
        if is_known and all(id(part) in safe for part in children(node)):
            safe.add(id(node))
    return safe | reached.keys()


def _unprotected(expr: Expr) -> dict[int, Expr]:
    """By identity, the nodes that are not in a branch of a Select on indices alone."""
    found: dict[int, Expr] = {}
    stack = [expr]
    while stack:
        node = stack.pop()
        if id(node) not in found:
            found[id(node)] = node
            stack.extend(evaluated(node))
    return found


def evaluated(expr: Expr) -> tuple[Expr, ...]:
    """The direct operands that may be evaluated wherever the node is: not branches that indices choose."""
    return unconditional(expr) if isinstance(expr, SelectExpr) and _is_on_indices(expr) else children(expr)


def _is_on_indices(select: SelectExpr) -> bool:
    """Whether a Select compares indices and sizes: its branches may read what exists there alone.

    One comparison of a conjunction is enough: the bounds of `then` are checked where it holds.
    """
    return any(affine_names(part) is not None for part in conjuncts(select.condition))


def is_on_indices(condition: Condition) -> bool:
    """Whether any of its comparisons is one of indices and sizes."""
    return any(affine_names(part) is not None for part in comparisons(condition))


def is_extreme(node: Expr) -> bool:
    """Whether it is a minimum or maximum of floating-point values, none of which is a constant bound."""
    if not isinstance(node, Binary) or node.op not in ("min", "max") or node.dtype.kind != "f":
        return False
    return not isinstance(node.left, Const) and not isinstance(node.right, Const)


@remembered
def has_nested_extremes(expr: Expr) -> bool:
    """Whether minima or maxima as in `is_extreme` are taken of such."""
    depths: dict[int, int] = {}
    for node, parts in zip(*postorder_with_operands(expr)[:2], strict=True):
        inside = max([depths[id(part)] for part in parts], default=0)
        depths[id(node)] = inside + is_extreme(node)
    return depths[id(expr)] > 1


@remembered
def loaded_ahead(expr: Expr) -> tuple[Load, ...]:
    """The loads that only branches of Selects on data make: made before, they run on vectors.

    A C compiler must not load what the program might not; gcc then writes such a loop element by element.
    All may be made whatever the Selects choose, as in `computed_once`; not those at computed places, which no
    vectors load, and not those of what is computed once.
    """
    if not any(isinstance(node, SelectExpr) for node in walk(expr)):
        return ()
    once = computed_once(expr)  # of which the expression consists as well: all are walked through as one

    def certain(node: Expr) -> tuple[Expr, ...]:
        return (*unconditional(node), *once) if node is expr else unconditional(node)

    elements = {(node.source.name, node.indices) for node in loads_in(expr, certain)}
    loads = [node for node in loads_in(expr, evaluated) if not children(node)]
    return tuple(node for node in loads if (node.source.name, node.indices) not in elements)


def written_at_most(expr: Expr) -> float:
    """A bound of `written_size` that is found quickly; infinite where an operation is used twice.

    A part has a name of its own for each so many operations at most.
    """
    order, operands, uses = postorder_with_operands(expr)
    if any(parts and uses[id(node)] > 1 for node, parts in zip(order, operands, strict=True)):
        return math.inf
    return (1 + sum(uses.values())) * (1 + 1 / MAX_DEPTH)


@remembered
def is_cheap_choice(select: SelectExpr) -> bool:
    """Whether both branches of a Select on data cost less than a wrong guess which is taken."""
    if _is_on_indices(select):
        return False
    nodes = [*walk(select.then), *walk(select.otherwise)]
    return len(nodes) <= CHEAP_NODES and all(_is_cheap(node) for node in nodes)


@remembered
def is_choice_of_parts(select: SelectExpr) -> bool:
    """Whether a Select on data chooses among complex numbers that take no function, nor a division."""
    if select.dtype.kind != "c" or _is_on_indices(select):
        return False
    return all(map(_is_made_of_parts, (*walk(select.then), *walk(select.otherwise))))


def _is_made_of_parts(node: Expr) -> bool:
    """Whether a node is a few operations of real numbers."""
    match node:
        case Binary(op):
            return op in _CHEAP_OPS
        case Call(function):
            return function in ("conj", "real", "imag")
        case _:
            return not isinstance(node, SelectExpr) or not _is_on_indices(node)


def _is_cheap(node: Expr) -> bool:
    """Whether a node costs a few cycles, wherever it is computed."""
    match node:
        case Load():
            return not children(node)
        case Binary(op):
            return op in _CHEAP_OPS and node.dtype.kind in "iuf"
        case SelectExpr():
            return not _is_on_indices(node)
        case Call(function):
            return function == "abs" and node.dtype.kind in "iuf"
        case _:
            return node.dtype.kind in "iuf"


@remembered
def written_size(expr: Expr) -> int:
    """Number of operations and operands that are written out: what is computed once counts once."""
    once = {id(node) for node in computed_once(expr)}
    total = 0

    def size(node: Expr, parts: tuple[int, ...]) -> int:
        nonlocal total
        whole = 1 + sum(parts)
        if id(node) not in once:
            return whole
        total += whole
        return 1

    return fold(expr, size) + total


@remembered
def fixed_along(expr: Expr, dim: str, inner: str) -> tuple[Expr, ...]:
    """The largest parts of an expression that are the same along a dimension and move with `inner`.

    With those that `computed_once` names, operands first.  All may be computed whatever the Selects choose.
    """
    order, operands, _ = postorder_with_operands(expr)
    allowed = _allowed(expr, order)
    changing: set[int] = set()
    moving: set[int] = set()
    inside: set[int] = set()  # of what changes, the operands that do not, and the whole
    for node, parts in zip(order, operands, strict=True):
        names = {name for form in node.indices for name in form.names()} if isinstance(node, Load) else set()
        names |= {node.name} if isinstance(node, Variable) else set()
        if dim in names or any(id(part) in changing for part in parts):
            changing.add(id(node))
            inside.update(id(part) for part in parts)
        if (isinstance(node, Load) and inner in names) or any(id(part) in moving for part in parts):
            moving.add(id(node))
    named = inside | {id(node) for node in computed_once(expr)} | {id(expr)}
    return tuple(
        node
        for node in order
        if id(node) in named & moving
        and id(node) not in changing
        and (allowed is None or id(node) in allowed)
        and not any(isinstance(each, Load) and children(each) for each in walk(node))
    )
