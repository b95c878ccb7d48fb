"""The functions of a program as others read them: with few parameters and few lines each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import CFunction
from polymat.codegen.c.render import function_text
from polymat.codegen.given import with_structures
from polymat.codegen.program import Program
from polymat.codegen.shortened import in_parts, is_parted

MOST_ARGUMENTS = 12  # of a function, those of the library, which a test counts, as well
MOST_LINES = 60  # of a function that runs others, and of any in the library
SHORTER = (0.85, 0.7)  # shares of these lines: parts need some for what they are given


def within_limits(program: Program) -> Program:
    """The program with functions in parts where they would be too long, and structures of their parameters.

    Those that C programs call keep theirs.
    """
    functions = program.file.functions
    parts = {each.name: in_parts(each, MOST_LINES) for each in functions if is_parted(each)}
    for share in (*SHORTER, 0.0):
        cut = tuple(each for f in functions for each in (parts[f.name][0] if f.name in parts else (f,)))
        made, structures = with_structures(functions if len(cut) == len(functions) else cut, MOST_ARGUMENTS)
        long = {each.name for each in made if lines(each) > MOST_LINES}
        again = [f for f in functions if f.name in parts and not long.isdisjoint(_names(parts[f.name][0]))]
        if not again or not share:
            break
        parts |= {each.name: in_parts(each, int(MOST_LINES * share)) for each in again}
    if made is functions:
        return program
    left = [each for _, types in parts.values() for each in types]
    owned = {name: _names(each) for name, (each, _) in parts.items()}
    groups = tuple(
        tuple(part for name in names for part in owned.get(name, (name,))) for names in program.groups
    )
    file = replace(program.file, functions=made, structures=(*left, *structures))
    return replace(program, file=file, groups=groups)


def _names(functions: Sequence[CFunction]) -> tuple[str, ...]:
    return tuple(each.name for each in functions)


def lines(function: CFunction) -> int:
    """The lines of a function, the comment before it left out."""
    comment = function.comment.count("\n") + 1 if function.comment else 0
    return function_text(function).count("\n") - comment
