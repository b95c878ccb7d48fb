"""Loops that run to a size which may be small: a version of their function for each small value of it.

before:  static void nest(arrays, K, begin, end) { loops }
after:   static inline void nest_of_any(arrays, K, begin, end) { loops }
         static void nest(arrays, K, begin, end)
         { if (K == 3) { nest_of_any(arrays, 3, begin, end); return; } nest_of_any(arrays, K, begin, end); }

The C compiler, which puts the one into each of its calls, writes loops of a known number of turns out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.cnames import Names
from polymat.codegen.c.countingloops import HIGH, counted_range
from polymat.codegen.c.ctree import (
    INLINED,
    CBinary,
    CCall,
    CFunction,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Return,
    Stmt,
)
from polymat.codegen.c.scopes import every, inner

MOST_FUNCTIONS = 16  # of a program, of which each may be compiled several times


def for_short_sizes(
    groups: Sequence[Sequence[CFunction]], names: Names, short: Mapping[str, Sequence[int]]
) -> list[list[CFunction]]:
    """The functions of each group, with versions where the program has few.

    short: the values that are likely of sizes.
    """
    few = sum(map(len, groups)) <= MOST_FUNCTIONS
    known = {names.get("size", name): values for name, values in short.items() if few}
    return [[each for function in group for each in in_versions(function, known)] for group in groups]


def in_versions(function: CFunction, short: Mapping[str, Sequence[int]]) -> tuple[CFunction, ...]:
    """The function, behind the one that its versions are of where it has any.

    short: by names in C.  What is compiled by itself, of large groups, is not compiled several times.
    """
    given = [each.name for each in function.parameters]
    size = next((name for name in _ends(function.body) if name in short and name in given), None)
    if size is None or function.runs_others or function.returns != "void":
        return (function,)
    whole = replace(function, returns=INLINED, name=f"{function.name}_of_any", comment="")

    def run(value: Id | Literal) -> Evaluate:
        return Evaluate(CCall(whole.name, tuple(value if name == size else Id(name) for name in given)))

    versions = [
        If(CBinary("==", Id(size), Literal(str(value))), (run(Literal(str(value))), Return()))
        for value in short[size]
    ]
    return whole, replace(function, body=(*versions, run(Id(size))))


def _ends(body: Iterable[Stmt], *, around: bool = False) -> Iterator[str]:
    """The names of what innermost loops run to from 0 that are entered again and again."""
    for each in body:
        match each:
            case For(body=within) if any(isinstance(other, For) for other in every(within)):
                yield from _ends(within, around=True)
            case For() if around:
                match counted_range(each):
                    case (Literal("0"), Id(name)):
                        yield name
            case Declare(_, name, Id(end)) if around and name == HIGH:
                yield end
            case _:
                for scope in inner(each):
                    yield from _ends(scope, around=around)
