"""Rows of gathered elements whose terms are computed before, many at a time, for rows that are not alike.

The end of a loop that comes after another number of turns each time is one that a processor guesses wrong,
and what it has begun behind is in vain.  Rows that are each as long as the one before run as they are, with
loads one by one.  Of others the terms of several rows are computed first, by vectors that gather, and lie in
the first-level cache when they are summed up, without a branch for rows of few.  The sums are made of the
same terms in the same order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Braces,
    CBinary,
    CCall,
    CExpr,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Subscript,
    names_in,
)
from polymat.codegen.c.ctree import Cast as CCast
from polymat.codegen.c.needs import MIN_I64
from polymat.codegen.c.othernames import substituted
from polymat.dataclass import dataclass

UNLIKE = "_pm_unlike"  # whether rows are not as long as those before them
TERMS, KNOWN = "_pm_row_terms", "_pm_row_known"  # terms that are computed, and of which elements
READABLE = "_pm_readable"  # where the elements end whose terms may be computed
PIECE, COUNT = "_pm_row_piece", "_pm_row_count"  # of a row, no longer than what terms there are at a time
ROOM = Id("_PM_TERMS")
NOT_UNROLLED = ("GCC unroll 1",)  # the ends of loops that are unrolled take longer than few terms


@dataclass(frozen=True, slots=True)
class Leaf:
    """Elements of an array: neighbours, or at places that are neighbours.

    first: the first of them, or the first place.  array: where the places count from; None of neighbours.
    """

    first: Subscript
    array: CExpr | None = None
    places: str = ""

    def four(self, suffix: str, how: str = "at") -> CExpr:
        """Four of them, in a vector; how: "at" their places, or "near" where these may be neighbours."""
        if self.array is None:
            return CCall(f"_pm_four_from_{suffix}", (CUnary("&", self.first),))
        return CCall(f"_pm_four_{how}_{suffix}_{self.places}", (self.array, CUnary("&", self.first)))


@dataclass(frozen=True, slots=True)
class Leaves:
    """How elements of a product are found.

    arrays: those with elements of the type of the sum, by their names in C.  places: those with integers, and
    the suffixes of their types.  here: the variable of the loop.
    """

    suffix: str
    arrays: Collection[str]
    places: Mapping[str, str]
    here: str

    def of(self, value: CExpr) -> dict[CExpr, Leaf] | None:
        """The factors of a value, each once; None of what is no such product."""
        match value:
            case CBinary("*", left, right):
                before, after = self.of(left), self.of(right)
                if before is None or after is None or before.keys() & after.keys():
                    return None
                return before | after
            case Subscript(Id(name), index) if name in self.arrays:
                leaf = Leaf(value) if self.is_contiguous(index) else self._gathered(Id(name), index)
                return None if leaf is None else {value: leaf}
            case _:
                return None

    def _gathered(self, array: CExpr, index: CExpr) -> Leaf | None:
        match index:
            case CCast("ptrdiff_t", operand):
                return self._gathered(array, operand)
            case Subscript(Id(name), place) if name in self.places and self.is_contiguous(place):
                return Leaf(index, array, self.places[name])
            case _:
                return None

    def is_contiguous(self, index: CExpr) -> bool:
        """Whether an index grows with that of the loop."""
        match index:
            case Id(name):
                return name == self.here
            case CBinary("+", left, right) if self.here not in names_in([Evaluate(left)]):
                return self.is_contiguous(right)
            case CBinary("+" | "-", left, right) if self.here not in names_in([Evaluate(right)]):
                return self.is_contiguous(left)
            case _:
                return False


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a sum in C.

    ends: the name of the type of the array that says where rows begin, each where one ends.  limits: the
    address of its element for row 0, the first row, and behind the last.  readable: where the elements of all
    rows end.  same: what does not change between them, by name.  inside: whether what that array says are
    always indices of elements.
    """

    ends: str
    limits: tuple[CExpr, ...]
    readable: CExpr
    same: Collection[str]
    inside: bool = False

    @property
    def unlike(self) -> CExpr:
        """Whether they are not as long as each other."""
        return CCall(f"_pm_unlike_{self.ends}", self.limits)

    def beside(self, places: CExpr, suffix: str) -> CExpr:
        """Whether places in most rows are neighbours: those from an address on, of a type of that name."""
        return CCall(f"_pm_beside_{self.ends}_{suffix}", (*self.limits, places))


@dataclass(frozen=True, slots=True)
class GatheredRow:
    """A row of gathered elements in C: its first element, its end, and all of them."""

    first: CExpr
    end: CExpr
    all: Rows


def gathered(row: GatheredRow, variable: str, total: str, value: CExpr, leaves: Leaves) -> Stmt | None:
    """A row by terms that are computed before; None of terms that are no products, or others in each row.

    total: the vector that terms are added to.  value: a term at the index `leaves.here`.
    """
    found = leaves.of(value)
    if found is None or not names_in([value]) <= {*row.all.same, *leaves.arrays, *leaves.places, leaves.here}:
        return None
    piece, count, known = Id(PIECE), Id(COUNT), [Subscript(Id(KNOWN), Literal(str(k))) for k in range(2)]
    behind = CBinary("+", piece, count)
    missing = CBinary("||", CBinary("<", piece, known[0]), CBinary(">", behind, known[1]))
    whole = CCall(MIN_I64.function, (CBinary("+", piece, ROOM), Id(READABLE)))
    begun = Assign(known[0], "=", piece), Assign(known[1], "=", whole)
    computed = If(missing, (*begun, *_computed(variable, value, found, leaves)))
    place = CUnary("&", Subscript(Id(TERMS), CBinary("-", piece, known[0])))
    added = Assign(Id(total), "=", CCall(f"_pm_added_{leaves.suffix}", (Id(total), place, count)))
    size = Declare("const ptrdiff_t", COUNT, CCall(MIN_I64.function, (CBinary("-", row.end, piece), ROOM)))
    pieces = For(PIECE, row.first, CBinary("<", piece, row.end), ROOM, (size, computed, added), NOT_UNROLLED)
    return Block((Declare("const ptrdiff_t", READABLE, row.all.readable), pieces))


def _computed(variable: str, value: CExpr, found: Mapping[CExpr, Leaf], leaves: Leaves) -> tuple[Stmt, ...]:
    """The terms of the elements that are known next, four at a time, and of those that are left."""
    first, end = (Subscript(Id(KNOWN), Literal(str(k))) for k in range(2))
    four = Literal("4")
    behind = CBinary("+", first, CBinary("*", CBinary("/", CBinary("-", end, first), four), four))
    here = Declare("const ptrdiff_t", leaves.here, CCall("_pm_as_it_is", (Id(variable),)))
    target = Subscript(Id(TERMS), CBinary("-", Id(leaves.here), first))
    vectors = substituted(value, {whole: leaf.four(leaves.suffix) for whole, leaf in found.items()})
    stored = Evaluate(CCall(f"_pm_four_to_{leaves.suffix}", (CUnary("&", target), vectors)))
    in_fours, left = (CBinary("<", Id(variable), limit) for limit in (behind, end))
    alone = (here, Assign(target, "=", value))
    return (
        For(variable, first, in_fours, four, (here, stored), NOT_UNROLLED),
        For(variable, behind, left, Literal("1"), alone, NOT_UNROLLED),
    )


def none_known(ctype: str) -> tuple[Stmt, ...]:
    """Room for terms that are computed before, of which none is known yet."""
    nothing = Literal("0")
    known = Declare("ptrdiff_t", f"{KNOWN}[2]", Braces((nothing, nothing)))
    return (known, Declare(ctype, f"{TERMS}[{ROOM.name}]"))
