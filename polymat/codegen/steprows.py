"""The function that computes some rows of a step, for steps that follow each other over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polymat.codegen.c.abi import Size
from polymat.codegen.c.ctree import (
    Block,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    Declare,
    Evaluate,
    Id,
    If,
    Stmt,
    names_in,
    plus,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Need
from polymat.codegen.c.shorthand import all_of
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.ranges import Range
from polymat.graph.skewed import Skews
from polymat.lang.affine import Affine

ROWS = "_pm_rows"
# Where the rows of a step begin and end behind its front.
BEGIN, END = "_pm_begin", "_pm_end"
FIRST, LAST = "_pm_first", "_pm_last"


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
        body.append(some_rows(nest, [each.lags[place] for each in order.along], size))
    limits = [f"{end}{level or ''}" for level in range(len(order.along)) for end in (BEGIN, END)]
    return function_of_step(body, [CParameter("const ptrdiff_t", name) for name in limits], unpack(sizes))


def function_of_step(
    body: Sequence[Stmt], limits: Sequence[CParameter], arguments: Sequence[Declare]
) -> CFunction:
    """`_pm_rows`, with what it is given beside the arguments of a step: which part of the step it computes.

    arguments: what unpacks those; the ones are there that the body needs.
    """
    used = names_in(body)
    unpacked = [each for each in arguments if each.name in used]
    parameters = (
        CParameter("void *const *", "_pm_arrays"),
        CParameter("const ptrdiff_t *", "_pm_sizes"),
        CParameter("const void *", "_pm_scalars"),
        *limits,
    )
    known = used | names_in(unpacked)
    silent = [Evaluate(Cast("void", Id(p.name))) for p in parameters if p.name not in known]
    return CFunction("void", ROWS, parameters, (*unpacked, *silent, *body), runs_others=True)


def some_rows(nest: NestFunction, lags: Sequence[int], size: Callable[[Affine], CExpr]) -> Stmt:
    """Run a nest between given limits along its ranges, behind these by so much."""
    declared: list[Declare] = []
    limits: list[CExpr] = []
    for level, part in enumerate(nest.ranges):
        more, ends = _part(level, part, lags[level], size)
        declared, limits = [*declared, *more], [*limits, *ends]
    call = Evaluate(CCall(nest.function.name, (*nest.arguments, *limits)))
    some = [CBinary("<", first, last) for first, last in zip(limits[::2], limits[1::2], strict=True)]
    return Block((*declared, If(all_of(some), (call,))))


def _part(
    level: int, part: Range, lag: int, size: Callable[[Affine], CExpr]
) -> tuple[list[Declare], list[CExpr]]:
    suffix = str(level or "")
    low = CCall(MAX_I64.function, (size(part.low), plus(Id(f"{BEGIN}{suffix}"), -lag)))
    high = CCall(MIN_I64.function, (size(part.high + 1), plus(Id(f"{END}{suffix}"), -lag)))
    names = f"{FIRST}{suffix}", f"{LAST}{suffix}"
    declared = [
        Declare("const ptrdiff_t", name, value) for name, value in zip(names, (low, high), strict=True)
    ]
    return declared, [Id(name) for name in names]
