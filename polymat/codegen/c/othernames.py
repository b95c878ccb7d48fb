"""Trees of C with other expressions, or names, in place of some."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Set
from dataclasses import replace
from typing import Any, TypeVar, cast

from polymat.codegen.c.ctree import CCall, CExpr, Id, Stmt
from polymat.codegen.c.scopes import own_expressions

T = TypeVar("T")


def substituted(node: T, values: Mapping[CExpr, CExpr]) -> T:
    """A statement or expression with other expressions in place of some; itself where it has none of them."""
    kinds = frozenset(map(type, values))  # most nodes are of others, and need not be looked up
    return cast("T", _substituted(node, values, kinds)) if values else node


def _substituted(node: Any, values: Mapping[CExpr, CExpr], kinds: Set[type]) -> Any:
    kind = type(node)
    if kind in kinds and node in values:
        return values[node]
    if kind is tuple:
        items = tuple(_substituted(part, values, kinds) for part in node)
        return node if all(map(operator.is_, items, node)) else items
    fields = getattr(kind, "__dataclass_fields__", None)
    if fields is None:
        return node
    return _changed(node, {name: _substituted(getattr(node, name), values, kinds) for name in fields})


def called_otherwise(node: T, names: Mapping[str, str]) -> T:
    """A statement or expression with other names for some functions; itself where it has none of them."""
    if isinstance(node, tuple):
        items = tuple(called_otherwise(part, names) for part in node)
        return node if all(map(operator.is_, items, node)) else cast("T", items)
    fields = getattr(node, "__dataclass_fields__", None)
    if fields is None:
        return node
    parts = {name: called_otherwise(getattr(node, name), names) for name in fields}
    if isinstance(node, CCall):
        parts["function"] = names.get(node.function, node.function)
    elif isinstance(node, Id):
        parts["name"] = names.get(node.name, node.name)
    return cast("T", _changed(node, parts))


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
        if isinstance(node, tuple):
            parts = tuple(map(remade, node))
            return node if all(map(operator.is_, parts, node)) else parts
        if not isinstance(node, CExpr):
            return node
        return made(_changed(node, {name: remade(getattr(node, name)) for name in node.__dataclass_fields__}))

    return cast("CExpr", remade(expr))


def _changed(node: Any, parts: Mapping[str, Any]) -> Any:
    """A node with other parts; itself where they are those that it has."""
    same = all(getattr(node, name) is part for name, part in parts.items())
    return node if same else replace(node, **parts)
