"""The names that statements take from around them, and statements with others in their place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from polymat.codegen.c.ctree import Block, CExpr, CUnary, Declare, For, Id, If, Stmt, names_in
from polymat.codegen.c.othernames import made_anew, with_parts
from polymat.codegen.c.scopes import assigned_in, changed_by, inner, own_expressions, pragma_names, variable
from polymat.dataclass import dataclass
from polymat.memo import remembered


@dataclass(frozen=True, slots=True)
class Free:
    """Names that statements use but do not declare, and those of them that they change.

    assigned: those of which they assign elements.  told: those that they tell the compiler about, in pragmas.
    """

    used: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()

    def __or__(self, other: Free) -> Free:
        return Free(
            self.used | other.used,
            self.changed | other.changed,
            self.assigned | other.assigned,
            self.told | other.told,
        )

    def without(self, names: Set[str]) -> Free:
        """These but for some names."""
        return Free(self.used - names, self.changed - names, self.assigned - names, self.told - names)


def free_names(statements: Iterable[Stmt]) -> Free:
    """The names that they take from around them."""
    own, found = set[str](), Free()
    for statement in statements:
        found |= free_of(statement).without(own)
        if isinstance(statement, Declare):
            own.add(variable(statement))
    return found


@remembered
def free_of(statement: Stmt) -> Free:
    """The names that one statement takes from around it."""
    told = frozenset(pragma_names(statement)) if isinstance(statement, For) else frozenset[str]()
    changed, assigned = map(frozenset, (changed_by(statement), assigned_in(statement)))
    found = Free(told | _read(statement), changed, assigned, told)
    for scope in inner(statement):
        within = free_names(scope)
        found |= within.without({statement.variable}) if isinstance(statement, For) else within
    return found


def _read(statement: Stmt) -> set[str]:
    """The names in its own expressions, but for the variable of a loop in its head."""
    if isinstance(statement, For):
        return names_in([statement.start]) | (
            names_in([statement.condition, statement.step]) - {statement.variable}
        )
    return names_in(own_expressions(statement))


def with_values(statements: Sequence[Stmt], values: Mapping[str, CExpr]) -> tuple[Stmt, ...]:
    """The statements with other expressions in place of names that they take from around them."""
    found: list[Stmt] = []
    for statement in statements:
        concerned = values and not free_of(statement).used.isdisjoint(values)
        found.append(_with_values(statement, values) if concerned else statement)
        if isinstance(statement, Declare) and variable(statement) in values:
            values = {name: value for name, value in values.items() if name != variable(statement)}
    return tuple(found)


def _with_values(statement: Stmt, values: Mapping[str, CExpr]) -> Stmt:
    def placed(expr: CExpr) -> CExpr:
        match expr:
            case Id(name):
                return values.get(name, expr)
            case CUnary("&", CUnary("*", operand)):
                return operand
            case _:
                return expr

    match statement:
        case For(variable=name):
            start = made_anew(statement.start, placed)
            values = {each: value for each, value in values.items() if each != name}
            condition, step = made_anew(statement.condition, placed), made_anew(statement.step, placed)
            body = with_values(statement.body, values)
            return replace(statement, start=start, condition=condition, step=step, body=body)
        case Block(body):
            return Block(with_values(body, values))
        case If(condition, then, otherwise):
            condition = made_anew(condition, placed)
            return If(condition, with_values(then, values), with_values(otherwise, values))
        case _:
            return with_parts(statement, placed)
