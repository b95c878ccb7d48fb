"""The function that takes a step over some of its slices, for slices that wait for blocks of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from polymat.codegen.c.abi import Size
from polymat.codegen.c.ctree import (
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64, Need
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.steprows import BEGIN, END, FIRST, LAST, function_of_step, some_rows
from polymat.dataclass import dataclass
from polymat.lang.affine import Affine

WHOLE = "_pm_whole"  # whether the slices are those in front, and stages that have none are computed too
STRIP = "_pm_strip"  # the first of some slices behind the front


@dataclass(frozen=True, slots=True, eq=False)
class SliceNests:
    """The nest of a stage, and that of slices behind the front, if it has any.

    done: whether the strips of a stage before it compute its own too, so that slices beside strips are left.
    """

    nest: NestFunction
    strip: NestFunction | None
    done: bool = False


def slices_function(
    nests: Sequence[SliceNests],
    wide: int,
    size: Callable[[Affine], CExpr],
    unpack: Callable[[Sequence[Size]], list[Declare]],
    sizes: Sequence[Size],
    needs: set[Need],
) -> CFunction:
    """Of each nest the slices between given limits.

    wide: slices that loops of a fixed length run over.

    before:  if (whole) columns(begin, end)
    after:   else for (strip = begin; strip + 16 <= end; strip += 16) columns(strip, strip + 16);  the rest
    """
    needs.update({MIN_I64, MAX_I64})
    body: list[Stmt] = []
    for each in nests:
        nest = each.nest
        if each.strip is not None:
            behind = tuple(_strips(nest, None if each.done else each.strip, wide, size))
            body.append(If(Id(WHOLE), (some_rows(nest, [0], size),), behind))
        else:
            limits = [size(form) for part in nest.ranges for form in (part.low, part.high + 1)]
            body.append(If(Id(WHOLE), (Evaluate(CCall(nest.function.name, (*nest.arguments, *limits))),)))
    ends = [CParameter("const ptrdiff_t", name) for name in (BEGIN, END)]
    return function_of_step(body, [*ends, CParameter("const int", WHOLE)], unpack(sizes))


def _strips(
    nest: NestFunction, strip: NestFunction | None, wide: int, size: Callable[[Affine], CExpr]
) -> Iterator[Stmt]:
    """The slices behind the front: loops over them have as many turns as the C compiler knows."""
    (part,), width, rest = nest.ranges, Literal(str(wide)), f"{STRIP}_rest"
    first = CCall(MAX_I64.function, (size(part.low), Id(BEGIN)))
    last = CCall(MIN_I64.function, (size(part.high + 1), Id(END)))
    after = CBinary("+", Id(STRIP), width)
    whole = CBinary("*", CBinary("/", CBinary("-", Id(LAST), Id(FIRST)), width), width)
    one = Evaluate(CCall(nest.function.name, (*nest.arguments, Id(rest), Id(LAST))))
    yield Declare("const ptrdiff_t", FIRST, first)
    yield Declare("const ptrdiff_t", LAST, last)
    if strip is not None:
        call = Evaluate(CCall(strip.function.name, (*strip.arguments, Id(STRIP), after)))
        yield For(STRIP, Id(FIRST), CBinary("<=", after, Id(LAST)), width, (call,))
    yield Declare("const ptrdiff_t", rest, CBinary("+", Id(FIRST), whole))
    yield If(CBinary("<", Id(rest), Id(LAST)), (one,))
