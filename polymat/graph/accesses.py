"""Accesses of a stage, each with the exact domain in which it happens."""

from __future__ import annotations

from collections.abc import Iterator

from polymat.lang.affine import Affine
from polymat.lang.condition import Condition
from polymat.lang.expr import Expr, Load, SelectExpr
from polymat.lang.indices import affine_names
from polymat.lang.traverse import children, condition_operands, conjuncts, walk
from polymat.memo import remembered
from polymat.poly.access import Access
from polymat.poly.domain import Domain


def loads_with_domains(domain: Domain, expr: Expr) -> Iterator[tuple[Domain, Load]]:
    """Every load and the points at which it is evaluated: affine Selects narrow their branches.

    Of loads of one element at the same points the first alone: isl is asked once about a sum over one window.
    """
    loads = _everywhere(expr)
    return _narrowed(domain, expr) if loads is None else ((domain, load) for load in loads)


@remembered
def _everywhere(expr: Expr) -> tuple[Load, ...] | None:
    """The loads of an expression without Selects, of each element the first; None of one with some."""
    found: dict[tuple[str, tuple[Affine, ...]], Load] = {}
    for node in walk(expr):
        if isinstance(node, SelectExpr):
            return None
        if isinstance(node, Load):
            found.setdefault((node.source.name, node.indices), node)
    return tuple(found.values())


def _narrowed(domain: Domain, expr: Expr) -> Iterator[tuple[Domain, Load]]:
    stack = [(domain, expr)]
    seen: dict[tuple[int, int], Domain] = {}  # with the domains, so that their identities stay distinct
    found: set[tuple[int, str, tuple[Affine, ...]]] = set()
    while stack:
        where, node = stack.pop()
        if (id(where), id(node)) in seen:
            continue
        seen[id(where), id(node)] = where
        if isinstance(node, Load):
            element = (id(where), node.source.name, node.indices)
            if element not in found:
                found.add(element)
                yield where, node
            stack.extend((where, child) for child in reversed(children(node)))
        elif isinstance(node, SelectExpr):
            yes, no = _branches(where, node.condition)
            stack.extend([(no, node.otherwise), (yes, node.then)])
            stack.extend((where, operand) for operand in reversed(condition_operands(node.condition)))
        else:
            stack.extend((where, child) for child in reversed(children(node)))


def _branches(domain: Domain, condition: Condition) -> tuple[Domain, Domain]:
    """Where a Select's branches are evaluated: affine parts of a conjunction narrow the first of them."""
    if _is_known(domain, condition):
        yes = domain.where(condition)
        return yes, domain.subtract(yes)
    yes = domain
    for part in conjuncts(condition):
        if _is_known(domain, part):
            yes = yes.where(part)
    return yes, domain


def _is_known(domain: Domain, condition: Condition) -> bool:
    names = affine_names(condition)
    return names is not None and names <= {*domain.params, *domain.dims}


def reads_of(domain: Domain, expr: Expr, name: str) -> tuple[Access, ...]:
    """The accesses of an expression to one array."""
    return tuple(
        Access.of(where, load.indices)
        for where, load in loads_with_domains(domain, expr)
        if load.source.name == name
    )
