"""Which names statements of C declare, change and read, and where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CCall,
    CExpr,
    CFunction,
    CUnary,
    Declare,
    For,
    Id,
    If,
    Stmt,
    Subscript,
    expressions,
)
from polymat.memo import remembered

_WORD = re.compile(r"[A-Za-z_]\w*")


def variable(declaration: Declare) -> str:
    """The name that it declares: `x` of `double x[4]`."""
    return declaration.name.partition("[")[0]


def declared(statements: Iterable[Stmt]) -> set[str]:
    """The names that they declare themselves, those of scopes within them left out."""
    return {variable(each) for each in statements if isinstance(each, Declare)}


def inner(statement: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The statements of each scope in it."""
    match statement:
        case For(body=body) | Block(body):
            return (body,)
        case If(then=then, otherwise=otherwise):
            return (then, otherwise)
        case _:
            return ()


def every(statements: Iterable[Stmt]) -> Iterator[Stmt]:
    """All of them, and those in scopes within, each before what it consists of."""
    for statement in statements:
        yield statement
        for scope in inner(statement):
            yield from every(scope)


def redeclared(statements: Sequence[Stmt]) -> set[str]:
    """The names that scopes within them declare: the same name is not the same variable there."""
    found: set[str] = set()
    for statement in statements:
        if isinstance(statement, For):
            found.add(statement.variable)
        for scope in inner(statement):
            found |= declared(scope) | redeclared(scope)
    return found


def changed(statements: Iterable[Stmt]) -> set[str]:
    """The names of variables that are assigned to, or whose address is taken, in any scope."""
    return {name for each in every(statements) for name in changed_by(each)}


@remembered
def changed_by(statement: Stmt) -> Set[str]:
    """The names of those that it changes itself, scopes within it left out."""
    found: set[str] = set()
    if isinstance(statement, Assign) and isinstance(statement.target, Id):
        found.add(statement.target.name)
    for value in expressions(own_expressions(statement)):
        if isinstance(value, CUnary) and value.op == "&" and isinstance(value.operand, Id):
            found.add(value.operand.name)
    return found


def assigned_in(statement: Stmt) -> Set[str]:
    """The names of those of which it assigns an element itself: a place that a pointer says, or a lane."""
    match statement:
        case Assign(Subscript(Id(name))):
            return {name}
        case _:
            return set()


@remembered
def called_by(function: CFunction) -> frozenset[str]:
    """The names of the functions that it calls."""
    return frozenset(node.function for node in expressions(function.body) if isinstance(node, CCall))


def pragma_names(loop: For) -> set[str]:
    """The words of what is said to the compiler about a loop: variables may be among them."""
    return {word for pragma in loop.pragmas for word in _WORD.findall(str(pragma))}


def own_expressions(statement: Stmt) -> tuple[CExpr, ...]:
    """The expressions of a statement, those of scopes within it left out."""
    match statement:
        case For(_, start, condition, step):
            return (start, condition, step)
        case If(condition):
            return (condition,)
        case Assign(target, _, value):
            return (target, value)
        case Block():
            return ()
        case _:
            found = [getattr(statement, name) for name in ("value", "expr") if hasattr(statement, name)]
            return tuple(each for each in found if each is not None)
