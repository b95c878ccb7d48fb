"""Where structures with arguments of a function are filled: outside of all loops that do not change them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Block,
    Braces,
    CCall,
    CExpr,
    CFunction,
    CUnary,
    Declare,
    Field,
    For,
    Id,
    If,
    Stmt,
    Structure,
    expressions,
    names_in,
)
from polymat.codegen.c.othernames import with_parts
from polymat.codegen.c.scopes import changed, declared, own_expressions, pragma_names
from polymat.dataclass import dataclass

GIVEN = "_pm_args"  # the parameter that points to a structure, whose values last


@dataclass(frozen=True, slots=True)
class Handed:
    """How a function is given its arguments: those of some numbers in a structure, and the rest as they were.

    variable: what callers name it.
    """

    structure: Structure
    variable: str
    fields: tuple[int, ...]
    rest: tuple[int, ...]


class Filler:
    """Rewrites the calls in one function.

    before:  for (i) { for (j) { nest(A, B, i, j); } }
    after:   const given for_nest = {A, B};  for (i) { for (j) { nest(&for_nest, i, j); } }
    """

    def __init__(self, function: CFunction, handed: Mapping[str, Handed]) -> None:
        self.function, self.handed = function, handed
        self.unsteady = changed(function.body)
        self.filled_with: dict[str, list[tuple[CExpr, ...]]] = {}

    def filled(self) -> CFunction:
        """The function with structures in its calls."""
        body, waiting = self._scope(self.function.body, ())
        return replace(self.function, body=(*waiting, *body))

    def _scope(
        self, statements: Sequence[Stmt], known: Collection[str]
    ) -> tuple[tuple[Stmt, ...], list[Declare]]:
        """The statements of a scope, and the declarations that may stand before it.

        known: names that it has from its head.
        """
        own = {*declared(statements), *known}
        found: list[Stmt] = []
        outside: list[Declare] = []
        for statement in statements:
            rewritten, wanted = self._statement(statement, found)
            for each in wanted:
                if self._is_bound(each, own):
                    found += [] if each in found else [each]
                elif each not in outside:
                    outside.append(each)
            found.append(rewritten)
        return tuple(found), outside

    def _is_bound(self, filling: Declare, own: Collection[str]) -> bool:
        """Whether the values of a structure may be others outside of the scope that has these names."""
        assert isinstance(filling.value, Braces)
        return not self._is_steady(filling.value.items) or not names_in([filling]).isdisjoint(own)

    def _is_steady(self, values: Sequence[CExpr]) -> bool:
        """Whether these values are the same all over the scope of their names."""
        return all(map(self._is_lasting, values))

    def _is_lasting(self, value: CExpr) -> bool:
        match value:
            case Id(name):
                return name not in self.unsteady
            case Field(Id(name)):
                return name == GIVEN
            case _:
                return False

    def _statement(self, statement: Stmt, before: Sequence[Stmt]) -> tuple[Stmt, list[Declare]]:
        """A statement with structures in its calls, and what has to be declared before it.

        before: what its scope has by then.
        """
        wanted: list[Declare] = []
        match statement:
            case For():
                known = {statement.variable, *pragma_names(statement)}
                body, wanted = self._scope(statement.body, known)
                statement = replace(statement, body=body)
            case Block():
                body, wanted = self._scope(statement.body, ())
                statement = replace(statement, body=body)
            case If():
                then, wanted = self._scope(statement.then, ())
                otherwise, more = self._scope(statement.otherwise, ())
                wanted += [each for each in more if each not in wanted]
                statement = replace(statement, then=then, otherwise=otherwise)
        return self._calls(statement, wanted, before), wanted

    def _calls(self, node: Stmt, wanted: list[Declare], before: Sequence[Stmt]) -> Stmt:
        """The calls of a statement's own expressions with structures; wanted: gets what fills them."""

        def written(part: CExpr) -> CExpr:
            if not isinstance(part, CCall) or part.function not in self.handed:
                return part
            handed = self.handed[part.function]
            rest = tuple(part.arguments[number] for number in handed.rest)
            values = tuple(part.arguments[number] for number in handed.fields)
            if not values:
                return replace(part, arguments=rest)
            filling = self._filling(handed, values, before)
            if filling not in wanted:
                wanted.append(filling)
            return replace(part, arguments=(CUnary("&", Id(filling.name)), *rest))

        own = expressions(own_expressions(node))
        if not any(isinstance(each, CCall) and each.function in self.handed for each in own):
            return node
        return with_parts(node, written)

    def _filling(self, handed: Handed, values: tuple[CExpr, ...], before: Sequence[Stmt]) -> Declare:
        """A structure with these values: another one where they may have changed since it was filled."""
        known = self.filled_with.setdefault(handed.variable, [])
        for number in range(1, len(known) + 2):
            name = handed.variable if number == 1 else f"{handed.variable}_{number}"
            filling = Declare(f"const {handed.structure.name}", name, Braces(values))
            if number > len(known):
                known.append(values)
            elif known[number - 1] != values or (not self._is_steady(values) and filling in before):
                continue
            break
        return filling
