"""Whether pointers to variables of a scope are left behind when the scope has ended."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from polymat.codegen.c.ctree import Braces, Declare, Stmt, names_in
from polymat.codegen.c.scopes import changed_by, every, own_expressions, variable
from polymat.dataclass import dataclass
from polymat.memo import remembered

_Touched: TypeAlias = tuple[frozenset[str], frozenset[str], frozenset[str]]

WIDTHS = ("8_t", "16_t", "32_t", "64_t")
NUMBERS = frozenset(
    (
        "_Bool",
        "bool",
        "char",
        "short",
        "int",
        "long",
        "unsigned",
        "signed",
        "float",
        "double",
        "_Complex",
        "void",
        "size_t",
        "ptrdiff_t",
        *(f"{stem}{width}" for stem in ("int", "uint") for width in WIDTHS),
    )
)  # words of types of what points nowhere


@dataclass(frozen=True, slots=True)
class KnownName:
    """A variable: its type, that of an element where it is an array.

    is_table: of more than one dimension.  is_copied: made of other pointers, to what may be changed by them.
    is_lent: its address lies in a structure, so that who is handed that may change it.
    """

    ctype: str
    is_array: bool = False
    is_table: bool = False
    is_copied: bool = False
    is_lent: bool = False

    @property
    def is_read(self) -> bool:
        """Whether it points to what nothing changes that is made of it."""
        return self.ctype.startswith("const ") and not self.is_copied

    @property
    def holds_pointers(self) -> bool:
        """Whether what it is may point somewhere: all but numbers may."""
        return "*" in self.ctype or not _is_number(self.ctype)

    @property
    def reaches_pointers(self) -> bool:
        """Whether pointers may lie where it points."""
        if self.is_array or "*" not in self.ctype:
            return self.is_array and self.holds_pointers
        return self.ctype.count("*") > 1 or not _is_number(self.ctype)


def known_in(statements: Sequence[Stmt], before: Mapping[str, KnownName]) -> dict[str, KnownName]:
    """The variables behind some statements."""
    found = dict(before)
    for each in statements:
        make_known(each, found)
    return found


def make_known(statement: Stmt, known: dict[str, KnownName]) -> None:
    """Add the variable of a statement, if it declares one, to those that are known before it."""
    if isinstance(statement, Declare):
        kind, copied = _element(statement.ctype), _is_copied(statement, known)
        known[variable(statement)] = KnownName(kind, "[" in statement.name, "][" in statement.name, copied)
        if isinstance(statement.value, Braces):
            lent = touched_by(statement)[1] & known.keys()
            known.update({name: replace(known[name], is_lent=True) for name in lent})


def _is_copied(pointer: Declare, known: Mapping[str, KnownName]) -> bool:
    """Whether what a pointer points to may be changed by another one: that it is made of."""
    if "*" not in pointer.ctype:
        return False
    made_of = [known.get(name) for name in touched_by(pointer)[0]]
    sources = [each for each in made_of if each is None or "*" in each.ctype]
    is_read = pointer.ctype.startswith("const ") and pointer.ctype.rstrip().endswith("const")
    return not (is_read and sources and all(each and each.is_read for each in sources))


def _element(ctype: str) -> str:
    """The type of a variable without what says where it lies."""
    return ctype.rpartition(") ")[2] if ctype.startswith("_Alignas(") else ctype.removeprefix("static ")


# Of words of types alone.
@lru_cache(maxsize=256)
def _is_number(ctype: str) -> bool:
    return NUMBERS.issuperset(set(ctype.replace("*", " ").split()) - {"const", "restrict"})


def leaves_pointers(
    statements: Sequence[Stmt], before: Mapping[str, KnownName], left: Collection[str]
) -> bool:
    """Whether a pointer to a variable of theirs may be in one that is left, or in one from before them.

    before: what is known before the first of them.  left: which of theirs are used behind them.

    yes:  double local[9]; double *const a = local;        with a left
    no:   double local[9]; double *const a = local; f(a);  with none left
    """
    inside = known_in([each for each in statements if isinstance(each, Declare)], {})
    names, lost, own = (
        frozenset[str]().union(*sets) for sets in zip(*map(_touched_in, statements), strict=True)
    )
    places = {name for name, each in inside.items() if each.is_array or name in lost}
    if not places:
        return False
    near = {name: before[name] for name in names | lost | own if name in before}  # few of many
    outer = any(name in own or _may_point(each, name in lost) for name, each in near.items())
    if not outer and not any(name not in inside or _may_point(inside[name], True) for name in left):
        return False
    touched = [each for statement in statements for each in _touched_within(statement)]
    within = known_in([each for each in every(statements) if isinstance(each, Declare)], near)
    known = {**within, **inside}
    found = _pointing(touched, known, places)
    return any(name in left or (name in before and name not in inside) for name in found)


def _may_point(known: KnownName, is_changed: bool) -> bool:
    """Whether a variable that is used may point somewhere behind the statements, or what it points to may."""
    return known.reaches_pointers or (is_changed and known.holds_pointers)


def _pointing(touched: Sequence[_Touched], known: Mapping[str, KnownName], places: Set[str]) -> set[str]:
    """The names of variables that may point to places: to arrays by their names, to others by addresses."""
    found, before = set[str](), -1
    while len(found) != before:
        before = len(found)
        for names, taken, own in touched:
            at_places = {name for name in names & places if known[name].is_array or name in taken}
            if not at_places and names.isdisjoint(found):
                continue
            found |= {name for name in taken | own if name in known and known[name].holds_pointers}
            found |= {name for name in names if name in known and known[name].reaches_pointers}
    return found


@remembered
def _touched_in(statement: Stmt) -> _Touched:
    """All names of `touched_by` in a statement and in scopes within it."""
    names, lost, own = (
        frozenset[str]().union(*sets) for sets in zip(*_touched_within(statement), strict=True)
    )
    return names, lost, own


@remembered
def _touched_within(statement: Stmt) -> tuple[_Touched, ...]:
    """Of a statement, and of all in scopes within it."""
    return tuple(map(touched_by, every([statement])))


@remembered
def touched_by(statement: Stmt) -> _Touched:
    """The names in a statement, scopes within it left out, those that it changes, and what it declares."""
    own = frozenset((variable(statement),)) if isinstance(statement, Declare) else frozenset[str]()
    return frozenset(names_in(own_expressions(statement))), frozenset(changed_by(statement)), own
