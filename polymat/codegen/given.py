"""Functions of many parameters, which take most of them in a structure that their callers fill.

before:  nest(A, B, C, ..., M, N, begin, end);
after:   const given_nest for_nest = {A, B, C, ..., M, N};  nest(&for_nest, begin, end);

The structure is filled outside of all loops in which its values are the same.  Its pointers are as restricted
as the parameters were, and so is the pointer to it: gcc takes no promise from variables of a function, but
does from what a restricted parameter points to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    Declare,
    Evaluate,
    Field,
    For,
    Id,
    Return,
    Stmt,
    Structure,
    expressions,
    names_in,
)
from polymat.codegen.c.freenames import with_values
from polymat.codegen.c.scopes import (
    changed,
    declared,
    every,
    own_expressions,
    pragma_names,
    redeclared,
)
from polymat.codegen.fillers import GIVEN, Filler, Handed
from polymat.dataclass import dataclass
from polymat.memo import remembered

SELDOM = 4  # places that read a value of the structure where it lies, in a function that runs others


@dataclass(frozen=True, slots=True)
class Site:
    """A call: its arguments, whether it is all that its statement computes, and the names that last there.

    lasting: those that mean one value from the call of the function that it stands in to its end.
    """

    arguments: tuple[CExpr, ...]
    alone: bool
    lasting: frozenset[str]


def with_structures(
    functions: tuple[CFunction, ...], most: int
) -> tuple[tuple[CFunction, ...], tuple[Structure, ...]]:
    """The functions, of which none that others call has more parameters, and the types of what they take."""
    wide = {each.name: each for each in functions if each.static and len(each.parameters) > most}
    if not wide:
        return functions, ()
    calling = {f.name: [call for call in _calls(f, most) if call[0] in wide] for f in functions}
    sites: dict[str, list[Site]] = {name: [] for name in wide}
    for found in calling.values():
        for of, site in found:
            sites[of].append(site)
    handed: dict[str, Handed] = {}
    for name, function in wide.items():
        chosen = _chosen(function, sites[name], most)
        if chosen is not None:
            handed[name] = _handed(function, chosen)
    made = [_receiving(f, handed[f.name]) if f.name in handed else f for f in functions]
    filled = [Filler(f, handed).filled() if calling[f.name] else f for f in made]
    types = [handed[name].structure for name in handed]
    return tuple(filled), tuple(each for each in types if each.fields)


@remembered
def _calls(function: CFunction, most: int) -> tuple[tuple[str, Site], ...]:
    """The calls with more arguments in a function, by the names of those that are called."""
    found = [
        (node, node is _only_call(statement))
        for statement in every(function.body)
        for node in expressions(own_expressions(statement))
        if isinstance(node, CCall) and len(node.arguments) > most
    ]
    if not found:
        return ()
    own = {each.name for each in function.parameters} | declared(function.body)
    lasting = frozenset(own - changed(function.body) - redeclared(function.body))
    return tuple((node.function, Site(node.arguments, alone, lasting)) for node, alone in found)


def _only_call(statement: Stmt) -> CExpr | None:
    """What a statement computes, where that is all."""
    match statement:
        case Evaluate(value) | Assign(Id(), _, value) | Declare(_, _, value) | Return(value):
            return value
        case _:
            return None


def _chosen(function: CFunction, sites: Sequence[Site], most: int) -> tuple[int, ...] | None:
    """The parameters that go into the structure; None where too many would be left.

    Best are those with values that last as long as the function that calls it, next those that have a name.
    """
    every = range(len(function.parameters))
    lasting = [k for k in every if all(_name(site, k) in site.lasting for site in sites)]
    named = [k for k in every if all(_name(site, k) for site in sites)]
    for chosen in (lasting, named, every if all(site.alone for site in sites) else ()):
        if len(every) - len(chosen) < most:
            return tuple(chosen)
    return None


def _name(site: Site, number: int) -> str:
    value = site.arguments[number]
    return value.name if isinstance(value, Id) else ""


def _handed(function: CFunction, chosen: Sequence[int]) -> Handed:
    """What is handed in the structure: those parameters that the function needs."""
    loops = (each for each in every(function.body) if isinstance(each, For))
    used = names_in(function.body) | {name for each in loops for name in pragma_names(each)}
    fields = tuple(number for number in chosen if function.parameters[number].name in used)
    rest = tuple(number for number in range(len(function.parameters)) if number not in chosen)
    stem = function.name.removeprefix("_pm_")
    structure = Structure(f"_pm_given_{stem}", tuple(function.parameters[number] for number in fields))
    return Handed(structure, f"_pm_for_{stem}", fields, rest)


@remembered
def _receiving(function: CFunction, handed: Handed) -> CFunction:
    """The function with the values of the structure by the names of the parameters that it had."""
    fields, rest = handed.structure.fields, tuple(function.parameters[number] for number in handed.rest)
    if not fields:
        return replace(function, parameters=rest)
    lost, seldom = changed(function.body), _seldom_read(function)
    placed = {field.name: _of(field) for field in fields if field.name in seldom}
    read = (
        Declare(field.ctype if field.name in lost else _constant(field.ctype), field.name, _of(field))
        for field in fields
        if field.name not in placed
    )
    given = CParameter(f"const {handed.structure.name} *restrict ", GIVEN)
    body = with_values(function.body, placed) if placed else function.body
    return replace(function, parameters=(given, *rest), body=(*read, *body))


def _seldom_read(function: CFunction) -> set[str]:
    """The names that need no variable: that mean the same in all scopes, and are read in one place.

    That is outside of loops; in a function that runs others it is a few, anywhere.
    """
    statements = function.body
    counted = Counter(node.name for node in expressions(statements) if isinstance(node, Id))
    loops = [each for each in every(statements) if isinstance(each, For)]
    told = set[str]().union(*map(pragma_names, loops))
    most = SELDOM if function.runs_others else 1
    repeated = told if function.runs_others else told | names_in(loops)
    seldom = {name for name, count in counted.items() if count <= most}
    return seldom - repeated - changed(statements) - redeclared(statements)


def _of(field: CParameter) -> Field:
    return Field(Id(GIVEN), field.name)


def _constant(ctype: str) -> str:
    """The type of a variable that keeps its value."""
    if "*" in ctype:
        return ctype if ctype.rstrip().endswith("const") else f"{ctype}const "
    return ctype if ctype.startswith("const ") else f"const {ctype}"
