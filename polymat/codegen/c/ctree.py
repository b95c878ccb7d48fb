"""The C that is generated, as a tree; `render` is the only place that prints it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast, get_args

from polymat.codegen.c.needs import Need
from polymat.codegen.c.vectorloops import Pragma
from polymat.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Id:
    """A name."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A number as C text; `negative` ones are put in parentheses where needed."""

    text: str


@dataclass(frozen=True, slots=True)
class CUnary:
    """A prefix operator."""

    op: str
    operand: CExpr


@dataclass(frozen=True, slots=True)
class CBinary:
    """An infix operator."""

    op: str
    left: CExpr
    right: CExpr


@dataclass(frozen=True, slots=True)
class CCall:
    """A function call."""

    function: str
    arguments: tuple[CExpr, ...]


@dataclass(frozen=True, slots=True)
class Subscript:
    """array[index]."""

    array: CExpr
    index: CExpr


@dataclass(frozen=True, slots=True)
class Cast:
    """(ctype)operand; within: the least and the largest value that it can have, where these are known."""

    ctype: str
    operand: CExpr
    within: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Ternary:
    """condition ? then : otherwise."""

    condition: CExpr
    then: CExpr
    otherwise: CExpr


@dataclass(frozen=True, slots=True)
class Braces:
    """{items}: the initial value of an array or a structure."""

    items: tuple[CExpr, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """structure->name."""

    structure: CExpr
    name: str


CExpr = Id | Literal | CUnary | CBinary | CCall | Subscript | Cast | Ternary | Braces | Field
_EXPRESSIONS = frozenset(get_args(CExpr))  # `isinstance` would ask one after the other, a million times


@dataclass(frozen=True, slots=True)
class Declare:
    """A declaration: `ctype name = value;`."""

    ctype: str
    name: str
    value: CExpr | None = None


@dataclass(frozen=True, slots=True)
class Assign:
    """An assignment: `target op value;`."""

    target: CExpr
    op: str
    value: CExpr


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression as a statement."""

    expr: CExpr


@dataclass(frozen=True, slots=True)
class Return:
    """The end of a function: `return value;`, or `return;`."""

    value: CExpr | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A comment of one or more lines."""

    text: str


@dataclass(frozen=True, slots=True)
class For:
    """for (ptrdiff_t variable = start; condition; variable += step) body, under pragmas."""

    variable: str
    start: CExpr
    condition: CExpr
    step: CExpr
    body: tuple[Stmt, ...]
    pragmas: tuple[Pragma, ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    """if (condition) then else otherwise."""

    condition: CExpr
    then: tuple[Stmt, ...]
    otherwise: tuple[Stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Statements in a scope of their own."""

    body: tuple[Stmt, ...]


Stmt = Declare | Assign | Evaluate | Return | Note | For | If | Block


@dataclass(frozen=True, slots=True)
class CParameter:
    """A parameter of a function."""

    ctype: str
    name: str


INLINED = "inline __attribute__((always_inline)) void"  # a function that what its call knows makes another
APART = "__attribute__((noinline)) void"  # where a loop needs all registers: gcc is quicker with it alone


@dataclass(frozen=True, slots=True)
class CFunction:
    """A C function; `comment` is printed above it.

    runs_others: it has no loops over elements, whose registers a compiler sees together: it may be cut.
    """

    returns: str
    name: str
    parameters: tuple[CParameter, ...]
    body: tuple[Stmt, ...]
    comment: str = ""
    static: bool = True
    runs_others: bool = False


def exported(
    returns: str, name: str, parameters: Sequence[CParameter], body: Sequence[Stmt] = ()
) -> CFunction:
    """A function that is called from outside, and runs others."""
    return CFunction(returns, name, tuple(parameters), tuple(body), static=False, runs_others=True)


@dataclass(frozen=True, slots=True)
class Structure:
    """A type that has values of several names, each with its type."""

    name: str
    fields: tuple[CParameter, ...]


@dataclass(frozen=True, slots=True)
class Constants:
    """An array of numbers that are known."""

    ctype: str
    name: str
    values: tuple[CExpr, ...]


@dataclass(frozen=True, slots=True)
class File:
    """A translation unit: a comment, the prelude's needs, names that may be macros, functions, tables.

    texts: functions that are text already; they call nothing but the prelude.
    declared: functions of other files that it calls.  marks: texts that stand in the library, by name.
    structures: types of what some functions are given.
    """

    comment: str
    needs: frozenset[Need]
    undefine: tuple[str, ...]
    functions: tuple[CFunction, ...]
    tables: tuple[Constants, ...] = ()
    texts: tuple[str, ...] = ()
    declared: tuple[CFunction, ...] = ()
    marks: tuple[tuple[str, str], ...] = ()
    structures: tuple[Structure, ...] = ()


def plus(value: CExpr, distance: int) -> CExpr:
    """A value with a number added, subtracted where that is negative."""
    if not distance:
        return value
    return CBinary("+" if distance > 0 else "-", value, Literal(str(abs(distance))))


def names_in(statements: Iterable[Stmt | CExpr]) -> set[str]:
    """Every name that occurs in an expression."""
    found: set[str] = set()
    stack: list[object] = list(statements)
    while stack:
        node = stack.pop()
        if isinstance(node, Id):
            found.add(node.name)
        else:
            stack.extend(_parts(node))
    return found


def expressions(statements: Iterable[Stmt | CExpr]) -> Iterator[CExpr]:
    """Every expression in them, each before what it is made of, in the order of the text."""
    stack: list[object] = list(reversed(list(statements)))
    while stack:
        node = stack.pop()
        if type(node) in _EXPRESSIONS:
            yield cast("CExpr", node)
        stack.extend(reversed(_parts(node)))


def always_evaluated(statements: Iterable[Stmt]) -> Iterator[CExpr]:
    """The expressions that are computed whatever is chosen: no choices, no right sides of && and ||."""
    stack: list[object] = list(statements)
    while stack:
        node = stack.pop()
        if type(node) in _EXPRESSIONS:
            yield cast("CExpr", node)
        match node:
            case Ternary(condition):
                stack.append(condition)
            case CBinary("&&" | "||", left):
                stack.append(left)
            case _:
                stack.extend(_parts(node))


def _parts(node: object) -> Sequence[object]:
    """What a node of the tree consists of, names and texts left out."""
    kind = type(node)
    if kind is Id or kind is Literal:  # most nodes of long expressions
        return ()
    if kind is CBinary:
        return (node.left, node.right)  # type: ignore[attr-defined]
    found: list[object] = []
    for field in getattr(node, "__dataclass_fields__", ()):
        value = getattr(node, field)
        whole = type(value)
        if whole is tuple:
            found += value
        elif whole is not str and hasattr(whole, "__dataclass_fields__"):
            found.append(value)
    return found
