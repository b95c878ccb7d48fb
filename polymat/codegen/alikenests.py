"""Nests of a group that do the same, but for the names of what they are given: one C function for all.

The steps of a band are copies of each other, and the C compiler takes as long for each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import CFunction, Id, Stmt
from polymat.codegen.loops.nestfunction import NestFunction

GIVEN = "_pm_given"  # with a number: a parameter, whatever it is called
ALSO = "of the same form, with other arrays: "  # in a comment, before what else a function computes


def with_one_function(nests: Sequence[NestFunction]) -> tuple[list[NestFunction], list[CFunction]]:
    """The nests, of which those alike call the function of the first of them, and all functions.

    before:  b2(const double *b1, ...) { ... };  b3(const double *b2, ...) { the same }
    after:   b2(const double *b1, ...) { ... }, called for both
    """
    alike = Counter(_signature(nest.function) for nest in nests)
    known: dict[object, CFunction] = {}
    called: list[NestFunction] = []
    functions: list[CFunction] = []
    for nest in nests:
        own = nest.function
        is_alone = nest.helpers or alike[_signature(own)] == 1
        shape = None if is_alone else _without_names(own)
        first = own if is_alone else known.setdefault(shape, own)
        if first is own:
            functions += nest.functions
            called.append(nest)
        else:
            also = _also(first, own)
            functions[functions.index(first)] = known[shape] = also
            called.append(replace(nest, function=replace(own, name=first.name)))
    return called, functions


def _without_names(function: CFunction) -> object:
    """What a function is, with numbers as the names of its parameters."""
    names = {each.name: f"{GIVEN}{number}" for number, each in enumerate(function.parameters)}
    return _signature(function), _spelled(function.body, names)


def _signature(function: CFunction) -> tuple[str, ...]:
    """The types of a function and its parameters."""
    return function.returns, *(each.ctype for each in function.parameters)


def _spelled(statements: Sequence[Stmt], names: Mapping[str, str]) -> tuple[object, ...]:
    """Statements node by node, equal for those that differ in these names alone.

    names: what stands for the names of some values.
    """
    found: list[object] = []
    stack: list[object] = [tuple(statements)]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            found.append(len(node))
            stack.extend(node)
        elif isinstance(node, Id):
            found += (Id, names.get(node.name, node.name))
        elif hasattr(node, "__dataclass_fields__"):
            found.append(type(node))
            stack.extend([getattr(node, field) for field in node.__dataclass_fields__])
        else:
            found.append(node)
    return tuple(found)


def _also(first: CFunction, other: CFunction) -> CFunction:
    """A function whose comment says what else it computes."""
    name, _, _ = other.comment.partition("\n")
    before = first.comment
    comment = f"{before}, {name}" if ALSO in before else f"{before}\n{ALSO}{name}"
    return replace(first, comment=comment)
