"""The functions of a program as others read them: with few parameters each."""

from __future__ import annotations

from dataclasses import replace

from polymat.codegen.given import with_structures
from polymat.codegen.program import Program

MOST_ARGUMENTS = 12  # of a function; as those of the library, which a test counts


def within_limits(program: Program) -> Program:
    """The program with structures where functions would have too many parameters, but those that C calls."""
    functions, structures = with_structures(program.file.functions, MOST_ARGUMENTS)
    if functions is program.file.functions:
        return program
    return replace(program, file=replace(program.file, functions=functions, structures=structures))
