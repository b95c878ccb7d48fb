"""Rows of gathered elements by vectors that gather, for rows that are not alike.

The end of a loop that comes after another number of turns each time is one that a processor guesses wrong.
A row that is no longer or shorter than the one before runs as it is, with loads one by one; another one by
gathers, of whose last vector some lanes stay empty.  The sums are made of the same terms in the same order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CCall,
    CExpr,
    CUnary,
    Declare,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Subscript,
    names_in,
)
from polymat.codegen.c.ctree import Cast as CCast
from polymat.codegen.c.ctree import Evaluate as Term
from polymat.codegen.c.othernames import substituted
from polymat.dataclass import dataclass

BEFORE = "_pm_before"  # how many elements the row before has
LANES = "_pm_lanes"


@dataclass(frozen=True, slots=True)
class Leaf:
    """Elements of an array: neighbours, or at places that are neighbours.

    first: the first of them, or the first place.  array: where the places count from; None of neighbours.
    """

    first: Subscript
    array: CExpr | None = None
    places: str = ""

    def four(self, suffix: str) -> CExpr:
        """Four of them, in a vector."""
        if self.array is None:
            return CCall(f"_pm_four_from_{suffix}", (CUnary("&", self.first),))
        return CCall(f"_pm_four_at_{suffix}_{self.places}", (self.array, CUnary("&", self.first)))

    def some(self, suffix: str, count: CExpr, rest: CExpr) -> CExpr:
        """Fewer of them, and the rest as it is given."""
        if self.array is None:
            return CCall(f"_pm_some_from_{suffix}", (CUnary("&", self.first), count, rest))
        return CCall(
            f"_pm_some_at_{suffix}_{self.places}", (self.array, CUnary("&", self.first), count, rest)
        )


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

    @property
    def ending(self) -> str:
        """Of numbers of the type in C."""
        return "f" if self.suffix == "f32" else ""

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
            case CBinary("+", left, right) if self.here not in names_in([Term(left)]):
                return self.is_contiguous(right)
            case CBinary("+" | "-", left, right) if self.here not in names_in([Term(right)]):
                return self.is_contiguous(left)
            case _:
                return False


@dataclass(frozen=True, slots=True)
class GatheredRow:
    """A row of gathered elements in C: its first element, the one behind its last four, and its end."""

    first: CExpr
    behind: CExpr
    end: CExpr

    def unlike(self) -> CExpr:
        """Whether it has another number of elements than the row before."""
        return CCall("_pm_unlike", (CBinary("-", self.end, self.first), CUnary("&", Id(BEFORE))))


def gathered(
    row: GatheredRow, blocks: For, total: Stmt, addition: Assign, leaves: Leaves
) -> tuple[Stmt, ...] | None:
    """A row by gathers: its fours, and what is left of it; None where a term is no product of elements.

    blocks: the loop over fours as it is, whose last statement adds them up.  total: what adds up their lanes.
    addition: what adds one term.
    """
    found = leaves.of(addition.value)
    if found is None:
        return None
    fours = replace(blocks, start=row.first, body=_in_vectors(blocks.body, addition.value, found, leaves))
    # -0.0 leaves every number as it is where it is added.
    rests = ("-0.0", *("1.0",) * (len(found) - 1))
    names = {whole: Id(f"{LANES}{k}") for k, whole in enumerate(found)}
    ends = [
        Declare(
            f"const _pm_four_{leaves.suffix}",
            names[whole].name,
            leaf.some(leaves.suffix, CBinary("-", row.end, row.behind), Literal(rest + leaves.ending)),
        )
        for (whole, leaf), rest in zip(found.items(), rests, strict=True)
    ]
    lanes = [{whole: Subscript(name, Literal(str(k))) for whole, name in names.items()} for k in range(3)]
    terms = [replace(addition, value=substituted(addition.value, lane)) for lane in lanes]
    here = Declare("const ptrdiff_t", leaves.here, row.behind)
    return (fours, total, Block((here, *ends, *terms)))


def _in_vectors(
    body: Sequence[Stmt], value: CExpr, found: Mapping[CExpr, Leaf], leaves: Leaves
) -> tuple[Stmt, ...]:
    """What is done with four terms, whose last statement adds them up, by gathers."""
    *before, added = body
    assert isinstance(added, Assign), "written by who calls"
    vectors = {whole: leaf.four(leaves.suffix) for whole, leaf in found.items()}
    return (*before, replace(added, value=substituted(value, vectors)))


def choice(row: GatheredRow, gathering: Sequence[Stmt], one_by_one: Sequence[Stmt]) -> Stmt:
    """By gathers where the row is not like the one before."""
    return If(row.unlike(), tuple(gathering), tuple(one_by_one))


def remembered() -> Stmt:
    """No row comes before the first."""
    return Declare("ptrdiff_t", BEFORE, Literal("-1"))
