"""A sum whose additions wait for each other, added up in several vectors.

A vector addition takes four cycles, and every processor can begin one or two in each: one accumulator leaves
most of that unused as long as the terms come from a cache.  C compilers keep a sum in one vector, so it is
written as a row of partial sums, which stays in registers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.countingloops import BEHIND, HIGH, LOW, between, counted_range, known_ends
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Braces,
    CBinary,
    CCall,
    CExpr,
    Declare,
    Evaluate,
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
from polymat.codegen.c.elements import C_TYPES, ELEMENT_BYTES
from polymat.codegen.c.vectorloops import VECTORS, Vectors

ROW_BYTES = 256  # of partial sums: four vectors of 512 bits, eight of 256
LEAST = 16  # rows of terms from which it pays (Zen 5: 1.3 times as fast at 1000 doubles, 1.9 at 2000)
SIZES = {ctype: ELEMENT_BYTES[suffix] for suffix, ctype in C_TYPES.items()}
# Functions of which C compilers make vector instructions.
VECTORISED = frozenset({"__builtin_fabs", "__builtin_fabsf"})
ROW, ROW_BEGIN, PLACE = "_pm_row", "_pm_row_begin", "_pm_place_in_row"


def with_accumulators(statements: Sequence[Stmt], types: Mapping[str, str] | None = None) -> tuple[Stmt, ...]:
    """The statements with every innermost loop around one sum run a row of terms at a time.

    before:  for k: s += x[k] * y[k]
    after:   for rows of terms: for p: row[p] += x[k + p] * y[k + p];  for p: s += row[p];  and the rest
    types: of the variables that are known.
    """
    known = dict(types or {})
    found: list[Stmt] = []
    for statement in statements:
        match statement:
            case Declare(ctype, name):
                known[name] = ctype
                found.append(statement)
            case For(pragmas=()):
                found.append(replace(statement, body=with_accumulators(statement.body, known)))
            case For():
                found.append(_in_rows(statement, known) or statement)
            case If(_, then, otherwise):
                then, otherwise = with_accumulators(then, known), with_accumulators(otherwise, known)
                found.append(replace(statement, then=then, otherwise=otherwise))
            case Block(body):
                found.append(Block(with_accumulators(body, known)))
            case _:
                found.append(statement)
    return tuple(found)


def _in_rows(loop: For, types: Mapping[str, str]) -> Stmt | None:
    """The loop over rows of terms, and the one over the rest; None for other loops, and short ones."""
    match loop:
        case For(body=(Assign(Id(total), "+=", value),), pragmas=(Vectors((("+", (summed,)),)),)) if (
            summed == total and (span := counted_range(loop)) is not None
        ):
            start, high = span
        case _:
            return None
    count, term = ROW_BYTES // SIZES.get(types.get(total, ""), ROW_BYTES), Evaluate(value)
    calls = {each.function for each in expressions([term]) if isinstance(each, CCall)}
    if count == 1 or not calls <= VECTORISED or total in names_in([term]) or _is_short(start, high, count):
        return None
    length = CBinary("-", Id(HIGH), Id(LOW))
    whole = CBinary("*", CBinary("/", length, Literal(str(count))), Literal(str(count)))
    is_long = CBinary(">=", length, Literal(str(LEAST * count)))
    behind = CBinary("+", Id(LOW), Ternary(is_long, whole, Literal("0")))
    return Block(
        (
            *known_ends((start, high)),
            Declare("const ptrdiff_t", BEHIND, behind),
            If(CBinary("<", Id(LOW), Id(BEHIND)), _rows(loop, types[total], count, total, value)),
            between(loop, Id(BEHIND), Id(HIGH)),
        )
    )


def _rows(loop: For, ctype: str, count: int, total: str, value: CExpr) -> tuple[Stmt, ...]:
    """The partial sums, the loop over whole rows, and their sum."""
    partial, variable = Subscript(Id(ROW), Id(PLACE)), loop.variable
    inside = CBinary("<", Id(PLACE), Literal(str(count)))
    here = Declare("const ptrdiff_t", variable, CBinary("+", Id(ROW_BEGIN), Id(PLACE)))
    terms = (here, Assign(partial, "+=", value))
    row = For(PLACE, Literal("0"), inside, Literal("1"), terms, (VECTORS,))
    last = CBinary("<", Id(ROW_BEGIN), Id(BEHIND))
    return (
        Declare(ctype, f"{ROW}[{count}]", Braces((Literal("0"),))),
        For(ROW_BEGIN, Id(LOW), last, Literal(str(count)), (row,)),
        For(PLACE, Literal("0"), inside, Literal("1"), (Assign(Id(total), "+=", partial),), loop.pragmas),
    )


def _is_short(start: CExpr, high: CExpr, count: int) -> bool:
    """Whether a loop of known length is too short."""
    match start, high:
        case Literal(low), Literal(end):
            return int(end) - int(low) < LEAST * count
        case _:
            return False
