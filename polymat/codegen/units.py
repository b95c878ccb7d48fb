"""A program as C text: one translation unit, or several that are compiled at the same time.

The stages of a long group are functions that are compiled by themselves, for the sake of registers: they may
as well lie in another file.  What keeps state, and what is exported, stays in the program's own.  Measured
(gcc 12, two processors): sixty stencils took 2.05 s instead of 3.52 in two files, 2.3 in three, 2.4 in four.
The files take as long as each other: of every other function, one file of a pyramid's got all long ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Sequence
from dataclasses import replace

from polymat.codegen.c.apart import Files
from polymat.codegen.c.ctree import APART, CFunction, File, names_in
from polymat.codegen.c.needs import UserKernel
from polymat.codegen.c.render import function_text, unit
from polymat.codegen.c.scopes import called_by
from polymat.codegen.prelude import parts, prelude, stateless, user_text

_NAME = re.compile(r"\w+")
LEAST_FUNCTIONS = 16  # one file more costs as much as two or three of them
QUICKER = 0.5  # of a compiler's time for stages, character by character: what runs them has few loops


def render(file: File, *, whole: bool = True) -> str:
    """The text of a translation unit; whole: with what may be compiled apart.

    Its comment says in which line the program's own part begins, behind what that uses of the library.
    """
    head = prelude(file.needs, whole=whole)
    library = replace(file, comment=_located(file.comment, 0), tables=(), declared=(), functions=(), marks=())
    begins = unit(library, head).count("\n") + 2  # an empty line lies between them
    text, own = unit(replace(file, comment=_located(file.comment, begins)), head), user_text(file.needs)
    return f"{text}\n{own}" if own else text


def _located(comment: str, line: int) -> str:
    title, *rest = comment.split("\n")
    where = f"The program's own part begins in line {line}; before it stands what it uses of the library."
    return "\n".join([title, where, *rest])


def files(file: File) -> Files:
    """A program as the texts of several files that are compiled at the same time."""
    own, shared = split(file), parts(file.needs)
    if len(own) == 1 and not len(shared):
        return Files((render(file),))
    return Files(tuple(render(part, whole=False) for part in own)) + shared


def split(file: File) -> tuple[File, ...]:
    """The program's file and one of functions that it calls; itself alone where these are few."""
    families = _families(file.functions)
    if len(families) < LEAST_FUNCTIONS:
        return (file,)
    needs = stateless(file.needs)
    everywhere = _words(prelude(needs))
    texts = _in_every_file(file.texts, _words(prelude(file.needs)) - everywhere)
    known = everywhere.union(*map(_words, texts))
    alone = {need.kernel.name for need in file.needs if isinstance(need, UserKernel)}
    moved = [each for each in families if _may_move(each, known, alone)]
    if len(moved) < LEAST_FUNCTIONS:
        return (file,)
    names = _balancing(file.functions, moved)
    own = tuple(function for function in file.functions if function.name not in names)
    others = tuple(map(_seen, (function for function in file.functions if function.name in names)))
    read = names_in(statement for function in others for statement in function.body)
    tables = tuple(table for table in file.tables if table.name in read)
    types = {word for each in others for parameter in each.parameters for word in parameter.ctype.split()}
    structures = tuple(each for each in file.structures if each.name in types)
    comment = f"Functions of {file.comment.splitlines()[0]}"
    other = replace(file, comment=comment, needs=needs, functions=others, tables=tables, marks=())
    other = replace(other, structures=structures, texts=texts)
    declared = tuple(function for function in others if not function.static)
    return (replace(file, functions=own, declared=declared), other)


def _words(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))


def _in_every_file(texts: Sequence[str], alone: frozenset[str]) -> tuple[str, ...]:
    """The texts that use none of polymat's names in `alone`, which stand in the program's own file."""
    names = frozenset(name for name in alone if name.lower().startswith("_pm_"))
    return tuple(text for text in texts if _words(text).isdisjoint(names))


def _balancing(functions: Sequence[CFunction], movable: Sequence[Sequence[CFunction]]) -> set[str]:
    """The names of those that go, so that both files take the compiler as long, or nearly."""
    lengths = {each.name: len(function_text(each)) for each in functions}
    families = [
        ({each.name for each in family}, sum(lengths[each.name] for each in family)) for family in movable
    ]
    stays, gone = QUICKER * (sum(lengths.values()) - sum(length for _, length in families)), 0
    going: set[str] = set()
    for names, length in sorted(families, key=lambda family: -family[1]):
        if stays <= gone:
            stays += length
        else:
            gone += length
            going |= names
    return going


def _seen(function: CFunction) -> CFunction:
    """A function of another file; parts of it are its own."""
    if function.returns != APART:
        return function
    return replace(function, static=False, returns=f"_PM_SHARED {APART}")


def _families(functions: Sequence[CFunction]) -> list[tuple[CFunction, ...]]:
    """The functions that are compiled by themselves, each behind those that nobody else calls."""
    callers = Counter(name for function in functions for name in called_by(function))
    families: dict[str, tuple[CFunction, ...]] = {}
    for function in functions:  # each stands behind those that it calls
        names = called_by(function)
        called = [families[name] for name in families if name in names]
        own = [each for each in called if callers[each[-1].name] == 1 and each[-1].returns != APART]
        families[function.name] = (*(part for each in own for part in each), function)
    return [family for family in families.values() if family[-1].returns == APART]


def _may_move(family: Sequence[CFunction], known: Container[str], alone: Collection[str]) -> bool:
    """Whether what it calls is in every file; alone: what is in one."""
    own = {function.name for function in family}
    called = frozenset[str]().union(*map(called_by, family)) - own
    inside = all(name in known for name in called if name.startswith("_pm_"))
    return inside and called.isdisjoint(alone)
