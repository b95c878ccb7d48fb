"""The functions of a program as others read them: with few parameters and few lines each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from polymat.codegen.c.ctree import CFunction, Structure
from polymat.codegen.given import with_structures
from polymat.codegen.program import Program
from polymat.codegen.shortened import in_parts, lines_over

MOST_ARGUMENTS = 12  # of a function, those of the library, which a test counts, as well
MOST_LINES = 60  # of a function, with copies of a statement for several points as one
SHORTER = (0.85, 0.7)  # shares of these lines: parts need some for what they are given

# Of each function, by its name: itself behind its parts, and the types of what these leave.
Parts: TypeAlias = Mapping[str, tuple[tuple[CFunction, ...], tuple[Structure, ...]]]


def within_limits(program: Program) -> Program:
    """The program with functions in parts where they would be too long, and structures of their parameters.

    Those that C programs call keep theirs.  What fills structures makes functions longer, which are cut once
    more where they are given none themselves.
    """
    once, over = _shortened(program)
    if not over:
        return once
    again, left = _shortened(once)
    return again if left < over else once


def _shortened(program: Program) -> tuple[Program, int]:
    """The program with functions in parts, and by how many lines its functions are too long then."""
    functions = program.file.functions
    taken = frozenset(each.name for each in functions)
    types = {each.name for each in program.file.structures}
    whole = {
        each.name
        for each in functions
        if any(not types.isdisjoint(of.ctype.split()) for of in each.parameters)
    }
    parts: Parts = {
        each.name: ((each,), ()) if each.name in whole else in_parts(each, MOST_LINES, taken)
        for each in functions
    }
    made, structures = _given(functions, parts)
    over = _over(parts, made)
    for share in SHORTER:
        long = [each for each in functions if over[each.name] and each.name not in whole]
        if not long:
            break
        again = {each.name: in_parts(each, int(MOST_LINES * share), taken) for each in long}
        trial = _given(functions, {**parts, **again})
        less = _over({**parts, **again}, trial[0])
        better = {name: found for name, found in again.items() if less[name] < over[name]}
        parts = {**parts, **better}
        made, structures = trial if len(better) == len(again) else _given(functions, parts)
        over = {**over, **{name: less[name] for name in better}}
    if made is functions:
        return program, 0
    left = [each for _, types in parts.values() for each in types]
    groups = tuple(tuple(each for name in names for each in _names(parts, name)) for names in program.groups)
    file = replace(program.file, functions=made, structures=(*program.file.structures, *left, *structures))
    return replace(program, file=file, groups=groups), sum(over.values())


def _given(
    functions: tuple[CFunction, ...], parts: Parts
) -> tuple[tuple[CFunction, ...], tuple[Structure, ...]]:
    """All parts, with structures of their parameters."""
    cut = tuple(part for each in functions for part in parts[each.name][0])
    return with_structures(functions if len(cut) == len(functions) else cut, MOST_ARGUMENTS)


def _over(parts: Parts, made: Sequence[CFunction]) -> dict[str, int]:
    """By how many lines the parts of each function are too long."""
    over = {each.name: lines_over(each, MOST_LINES) for each in made}
    return {name: sum(over[part.name] for part in found) for name, (found, _) in parts.items()}


def _names(parts: Parts, name: str) -> tuple[str, ...]:
    """The names of a function and its parts; of what is no function of C, its own."""
    return tuple(each.name for each in parts[name][0]) if name in parts else (name,)
