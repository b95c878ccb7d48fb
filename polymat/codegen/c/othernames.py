"""Trees of C with other expressions, or names, in place of some."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from polymat.codegen.c.ctree import CCall, CExpr, Id, Stmt
from polymat.codegen.c.scopes import own_expressions

T = TypeVar("T")


def substituted(node: T, values: Mapping[CExpr, CExpr]) -> T:
    """A statement or expression with other expressions in place of some; itself where it has none of them."""
    kinds = frozenset(map(type, values))  # most nodes are of others, and need not be looked up

    def changed(part: Any) -> Any:
        if type(part) in kinds and part in values:
            return values[part]
        return _rebuilt(part, changed)

    return cast("T", changed(node)) if values else node


def called_otherwise(node: T, names: Mapping[str, str]) -> T:
    """A statement or expression with other names for some functions; itself where it has none of them."""

    def changed(part: Any) -> Any:
        match new := _rebuilt(part, changed):
            case CCall(function) if function in names:
                return replace(new, function=names[function])
            case Id(name) if name in names:
                return replace(new, name=names[name])
            case _:
                return new

    return cast("T", changed(node))


def with_parts(statement: Stmt, made: Callable[[CExpr], CExpr]) -> Stmt:
    """A statement with its own expressions made anew from the inside; scopes within it stay as they are."""
    own = {id(each) for each in own_expressions(statement)}
    fields: Any = statement.__dataclass_fields__
    named = {name: value for name in fields if id(value := getattr(statement, name)) in own}
    parts = {name: made_anew(value, made) for name, value in named.items()}
    return cast("Stmt", _changed(statement, parts))


def made_anew(expr: CExpr, made: Callable[[CExpr], CExpr]) -> CExpr:
    """An expression made anew from the inside; the one that is given, where nothing in it changes."""

    def remade(node: Any) -> Any:
        new = _rebuilt(node, remade)
        return made(new) if isinstance(new, CExpr) else new

    return cast("CExpr", remade(expr))


def _rebuilt(node: Any, change: Callable[[Any], Any]) -> Any:
    """A node, or a tuple of them, of changed parts; itself where these stay as they are."""
    kind = type(node)
    if kind is tuple:
        items = tuple(map(change, node))
        return node if all(map(operator.is_, items, node)) else items
    fields = getattr(kind, "__dataclass_fields__", None)
    if fields is None:
        return node
    parts = {name: change(part) for name in fields if type(part := getattr(node, name)) is not str}
    return _changed(node, parts)


def _changed(node: Any, parts: Mapping[str, Any]) -> Any:
    """A node with other parts; itself where they are those that it has."""
    same = all(getattr(node, name) is part for name, part in parts.items())
    return node if same else replace(node, **parts)
