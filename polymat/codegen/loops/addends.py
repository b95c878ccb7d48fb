"""Several addends of a sum in memory, or values of an extreme: each element is loaded and stored once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polymat.codegen.c.countingloops import counted_range, in_groups
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CCall,
    CExpr,
    Declare,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Subscript,
    Ternary,
    expressions,
    names_in,
)
from polymat.codegen.c.needs import Helper
from polymat.codegen.c.othernames import substituted

REST = "_pm_rest"
VALUE = "_pm_value"  # of an extreme, from which the further ones of several are found pair by pair
# The functions that compare two floating-point numbers: the type in C, and which of the two stays.
COMPARING = {
    Helper(operation, suffix).function: (element, sign)
    for operation, sign in (("max", ">"), ("min", "<"))
    for suffix, element in (("f64", "double"), ("f32", "float"))
}


def added_together(statements: Sequence[Stmt], count: int) -> tuple[Stmt, ...]:
    """The statements with `count` iterations of the loops around rows run together (unroll and jam).

    before:  for k: for j: c[j] += a[k] * b[k, j]
    after:   for k by 2: for j: c[j] += a[k] * b[k, j] + a[k + 1] * b[k + 1, j]; and the rest as before

    Of the greatest or least of floating-point numbers, the values are compared pair by pair, each result a
    variable: a C compiler makes vectors of these, and none of a chain of calls.
    """
    return tuple(found for statement in statements for found in _statement(statement, count))


def _statement(statement: Stmt, count: int) -> Iterator[Stmt]:
    match statement:
        case For(variable, body=(For() as row,), pragmas=()) if (
            span := counted_range(statement)
        ) is not None and _can_jam(row, variable):
            yield in_groups(statement, span, count, (_jammed(row, variable, count),), REST)
        case For():
            yield replace(statement, body=added_together(statement.body, count))
        case If():
            then, otherwise = statement.then, statement.otherwise
            yield replace(
                statement, then=added_together(then, count), otherwise=added_together(otherwise, count)
            )
        case Block(body):
            yield Block(added_together(body, count))
        case _:
            yield statement


def _can_jam(row: For, variable: str) -> bool:
    """Whether all iterations of the loop around add to the same elements, and read no others of the array.

    Or compare with them, one element in an iteration of the row.
    """
    if row.variable == variable or variable in _names((row.start, row.condition, row.step)):
        return False
    targets = []
    for statement in row.body:
        compares = len(row.body) == 1 and _compared(statement) is not None
        if not isinstance(statement, Assign) or not (statement.op == "+=" or compares):
            return False
        targets.append(statement.target)
    written = {target.array for target in targets if isinstance(target, Subscript)}
    if len(written) != 1 or len(set(targets)) < len(targets) or variable in _names(targets):
        return False
    values = [expression for s in row.body if isinstance(s, Assign) for expression in expressions((s,))]
    reads = [e for e in values if isinstance(e, Subscript) and e.array in written and e not in targets]
    return not reads


def _compared(statement: Stmt) -> tuple[str, CExpr] | None:
    """The function and the value that an element is compared with; None of any other statement."""
    match statement:
        case Assign(target, "=", CCall(name, (same, value))) if name in COMPARING and same == target:
            return None if target in expressions((value,)) else (name, value)
    return None


def _jammed(row: For, variable: str, count: int) -> For:
    match row.body:
        case (Assign() as only,) if (compared := _compared(only)) is not None:
            return replace(row, body=_compares(only.target, *compared, variable, count))
    body = []
    for statement in row.body:
        assert isinstance(statement, Assign)
        total = statement.value
        for k in range(1, count):
            later: dict[CExpr, CExpr] = {Id(variable): CBinary("+", Id(variable), Literal(str(k)))}
            total = CBinary("+", total, substituted(statement.value, later))
        body.append(replace(statement, value=total))
    return replace(row, body=tuple(body))


def _compares(target: CExpr, name: str, value: CExpr, variable: str, count: int) -> tuple[Stmt, ...]:
    """An element compared with `count` values, neighbours first: equal ones and NaN in their order."""
    element, sign = COMPARING[name]
    body: list[Stmt] = []

    def named(value: CExpr) -> CExpr:
        body.append(Declare(f"const {element}", f"{VALUE}_{len(body)}", value))
        return Id(f"{VALUE}_{len(body) - 1}")

    def chosen(one: CExpr, other: CExpr) -> CExpr:
        further = named(Ternary(CBinary(sign, one, other), one, other))
        return named(Ternary(CBinary("==", one, one), further, one))

    shifts = [CBinary("+", Id(variable), Literal(str(k))) for k in range(1, count)]
    values = [named(value), *(named(substituted(value, {Id(variable): shift})) for shift in shifts)]
    while len(values) > 1:
        pairs = [chosen(one, other) for one, other in zip(values[::2], values[1::2], strict=False)]
        values = [*pairs, *values[2 * len(pairs) :]]
    found = chosen(named(target), values[0])
    return (*body, Assign(target, "=", found))


def _names(parts: Sequence[CExpr]) -> set[str]:
    return names_in([Assign(part, "=", part) for part in parts])
