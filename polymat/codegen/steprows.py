"""The function that computes some rows of a step, for steps that follow each other over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from polymat.codegen.c.abi import Size
from polymat.codegen.c.ctree import (
    Block,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    CUnary,
    Declare,
    Evaluate,
    Id,
    If,
    Literal,
    Stmt,
    names_in,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Need
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.ranges import Range
from polymat.graph.skewed import Skews
from polymat.lang.affine import Affine

ROWS = "_pm_rows"
# Where the rows of a step begin and end behind its front, and against its direction.
BEGIN, END, FROM, UNTIL = "_pm_begin", "_pm_end", "_pm_from", "_pm_until"
FIRST, LAST = "_pm_first", "_pm_last"
BEYOND: CExpr = CBinary("/", Id("PTRDIFF_MAX"), Literal("2"))  # all rows
BEFORE: CExpr = CUnary("-", BEYOND)
LIMITS = (BEGIN, END, FROM, UNTIL)


def rows_function(
    nests: Sequence[NestFunction],
    order: Skews,
    size: Callable[[Affine], CExpr],
    unpack: Callable[[Sequence[Size]], list[Declare]],
    sizes: Sequence[Size],
    needs: set[Need],
) -> CFunction:
    """Of each nest of a step the rows between given limits, each as far behind as it has to be.

    before:  for all rows: B;  for all rows: A
    after:   for rows begin .. end: B;  for rows begin - 1 .. end - 1: A
    """
    needs.update({MIN_I64, MAX_I64})
    body: list[Stmt] = []
    for place, nest in enumerate(nests):
        body.append(_run(place, nest, order, size))
    used = names_in(body)
    unpacked = [each for each in unpack(sizes) if each.name in used]
    limits = [*LIMITS, *(name for level in range(1, len(order.along)) for name in _inner(level))]
    parameters = (
        CParameter("void *const *", "_pm_arrays"),
        CParameter("const ptrdiff_t *", "_pm_sizes"),
        CParameter("const void *", "_pm_scalars"),
        *(CParameter("const ptrdiff_t", name) for name in limits),
    )
    known = used | names_in(unpacked)
    silent = [Evaluate(Cast("void", Id(p.name))) for p in parameters if p.name not in known]
    return CFunction("void", ROWS, parameters, (*unpacked, *silent, *body))


def _inner(level: int) -> tuple[str, str]:
    return f"{BEGIN}{level}", f"{END}{level}"


def _run(place: int, nest: NestFunction, order: Skews, size: Callable[[Affine], CExpr]) -> Stmt:
    outer, *others = nest.ranges
    lag, against = order.along[0].lags[place], order.against.lags[place]
    low = _all(MAX_I64.function, [size(outer.low), _less(BEGIN, lag), _less(FROM, -against)])
    high = _all(MIN_I64.function, [size(outer.high + 1), _less(END, lag), _less(UNTIL, -against)])
    declared, limits = _declared("", low, high)
    for level, part in enumerate(others, 1):
        more, ends = _part(level, part, order.along[level].lags[place], size)
        declared, limits = [*declared, *more], [*limits, *ends]
    call = Evaluate(CCall(nest.function.name, (*nest.arguments, *limits)))
    some: CExpr = CBinary("<", limits[0], limits[1])
    for first, last in zip(limits[2::2], limits[3::2], strict=True):
        some = CBinary("&&", some, CBinary("<", first, last))
    return Block((*declared, If(some, (call,))))


def _part(
    level: int, part: Range, lag: int, size: Callable[[Affine], CExpr]
) -> tuple[list[Declare], list[CExpr]]:
    begin, end = _inner(level)
    low = _all(MAX_I64.function, [size(part.low), _less(begin, lag)])
    high = _all(MIN_I64.function, [size(part.high + 1), _less(end, lag)])
    return _declared(str(level), low, high)


def _declared(suffix: str, low: CExpr, high: CExpr) -> tuple[list[Declare], list[CExpr]]:
    names = f"{FIRST}{suffix}", f"{LAST}{suffix}"
    declared = [
        Declare("const ptrdiff_t", name, value) for name, value in zip(names, (low, high), strict=True)
    ]
    return declared, [Id(name) for name in names]


def _all(function: str, values: Sequence[CExpr]) -> CExpr:
    return reduce(lambda one, other: CCall(function, (one, other)), values)


def _less(name: str, number: int) -> CExpr:
    if number == 0:
        return Id(name)
    return CBinary("-" if number > 0 else "+", Id(name), Literal(str(abs(number))))
