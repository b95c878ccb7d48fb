"""Sums of elements that indices find, between bounds that data give: the rows of a sparse matrix.

Most of them are short.  Such a sum runs in a few scalar sums side by side, so that additions do not wait for
each other, and term by term where it is shorter than that repays; a loop in vectors takes longer to begin and
to end than to run.  Several sums in an array are what gcc keeps in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
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
    plus,
    substituted,
)
from polymat.codegen.c.ctree import Evaluate as Term
from polymat.codegen.loops.innermost import with_changed

SIDE_BY_SIDE = 4  # sums
LEAST_TERMS = 8
FIRST, LAST, REST, SUM = "_pm_low", "_pm_high", "_pm_behind", "_pm_sum"


def with_short_sums(statements: Sequence[Stmt], ctype: str) -> tuple[Stmt, ...]:
    """The statements with every loop around one sum of gathered elements as several sums; ctype: of sums.

    before:  for k: s += x[k] * y[at[k]]
    after:   if there are 8: for k by 4: s0 += x[k] * y[at[k]], s1 += x[k + 1] * y[at[k + 1]], ...
             s += s0 + s1 + s2 + s3;  for the rest of k: s += x[k] * y[at[k]]
    """

    def changed(statement: Stmt) -> Stmt | None:
        match statement:
            case For(
                variable, start, CBinary("<", Id(name), high), Literal("1"), (Assign(Id(total), "+=", value),)
            ) if name == variable and total not in names_in([Term(value)]) and _gathers(value):
                return _several(replace(statement, pragmas=()), start, high, ctype)
            case _:
                return None

    return with_changed(statements, changed)


def _gathers(value: CExpr) -> bool:
    """Whether an element is read at an index that is read itself."""
    reads = [node for node in expressions([Term(value)]) if isinstance(node, Subscript)]
    inner = (node for read in reads for node in expressions([Term(read.index)]))
    return any(isinstance(node, Subscript) for node in inner)


def _several(loop: For, start: CExpr, high: CExpr, ctype: str) -> Stmt:
    (addition,) = loop.body
    assert isinstance(addition, Assign), "matched by who calls"
    index, sums = Id(loop.variable), [Id(f"{SUM}{k}") for k in range(SIDE_BY_SIDE)]
    length = CBinary("-", Id(LAST), Id(FIRST))
    many = Literal(str(SIDE_BY_SIDE))
    whole = CBinary("*", CBinary("/", length, many), many)
    is_long = CBinary(">=", length, Literal(str(LEAST_TERMS)))
    terms = tuple(
        Assign(each, "+=", substituted(addition.value, {index: plus(index, k)}))
        for k, each in enumerate(sums)
    )
    blocks = For(loop.variable, Id(FIRST), CBinary("<", index, Id(REST)), many, terms)
    together: CExpr = sums[0]
    for other in sums[1:]:
        together = CBinary("+", together, other)
    return Block(
        (
            Declare("const ptrdiff_t", FIRST, start),
            Declare("const ptrdiff_t", LAST, high),
            Declare("const ptrdiff_t", REST, CBinary("+", Id(FIRST), Ternary(is_long, whole, Literal("0")))),
            If(
                CBinary("<", Id(FIRST), Id(REST)),
                (
                    *(Declare(ctype, each.name, Literal("0")) for each in sums),
                    blocks,
                    replace(addition, value=together),
                ),
            ),
            replace(loop, start=Id(REST), condition=CBinary("<", index, Id(LAST))),
        )
    )
