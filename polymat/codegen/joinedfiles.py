"""Several programs as parts of one file: one for each order of products, or for each section of steps."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import CFunction, File
from polymat.codegen.c.needs import Need
from polymat.codegen.c.othernames import called_otherwise
from polymat.codegen.program import Program

EXPORTED = ("_pm_entry", "_pm_work")
_UNROLLED = "-fno-unroll-loops"  # where every loop is a register block's


def is_exported(function: CFunction) -> bool:
    """Whether the launcher calls it."""
    return function.name in EXPORTED


def as_part(file: File, ending: str, *, all_names: bool = True, taken: Collection[str] = ()) -> File:
    """The functions of a program without what C programs call, with an ending behind their names.

    all_names: behind those of functions that are not exported, too, a longer one where it makes a name that
    is taken: a stage may be called out_2, too.
    """
    kept = file.functions[:-1]
    names = {f.name: f"{f.name}_{ending}" for f in kept if is_exported(f)}
    if all_names:
        others = [f.name for f in kept if not is_exported(f)]
        while any(f"{name}_{ending}" in taken for name in others):
            ending += "_"
        names |= {name: f"{name}_{ending}" for name in others}
    functions = (replace(f, name=names.get(f.name, f.name), static=True) for f in kept)
    bodies = (replace(f, body=called_otherwise(f.body, names)) for f in functions)
    return replace(file, functions=tuple(bodies))


def joined_file(
    files: Sequence[File], needs: set[Need], functions: Sequence[CFunction], comment: str
) -> File:
    """One file with what stands in several, once, and these functions alone."""
    return replace(
        files[0],
        comment=comment,
        needs=frozenset(needs),
        undefine=tuple(dict.fromkeys(name for each in files for name in each.undefine)),
        functions=tuple(functions),
        tables=tuple({table.name: table for each in files for table in each.tables}.values()),
        texts=tuple(dict.fromkeys(text for each in files for text in each.texts)),
    )


def joined_flags(programs: Sequence[Program]) -> tuple[str, ...]:
    """The compiler flags that any of several programs needs."""
    every = dict.fromkeys(flag for program in programs for flag in program.flags)
    unrolled = all(_UNROLLED in program.flags for program in programs)
    return tuple(flag for flag in every if flag != _UNROLLED or unrolled)
