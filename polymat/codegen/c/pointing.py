"""Whether pointers to variables of a scope are left behind when the scope has ended."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from polymat.codegen.c.ctree import Declare, Stmt, names_in
from polymat.codegen.c.scopes import changed_by, every, own_expressions, variable
from polymat.dataclass import dataclass

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
    """A variable: its type, that of an element where it is an array."""

    ctype: str
    is_array: bool = False

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
        if isinstance(each, Declare):
            found[variable(each)] = KnownName(_element(each.ctype), "[" in each.name)
    return found


def _element(ctype: str) -> str:
    """The type of a variable without what says where it lies."""
    return ctype.rpartition(") ")[2] if ctype.startswith("_Alignas(") else ctype.removeprefix("static ")


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
    inside = known_in(statements, {})
    lost = {name for each in every(statements) for name in changed_by(each)}
    places = {name for name, each in inside.items() if each.is_array or name in lost}
    within = known_in([each for each in every(statements) if isinstance(each, Declare)], before)
    known = {**within, **inside}
    found = _pointing(statements, known, places) if places else set[str]()
    return any(name in left or (name in before and name not in inside) for name in found)


def _pointing(
    statements: Sequence[Stmt], known: Mapping[str, KnownName], places: Collection[str]
) -> set[str]:
    """The names of variables that may point to places: to arrays by their names, to others by addresses."""
    found, before = set[str](), -1
    while len(found) != before:
        before = len(found)
        for each in every(statements):
            names = names_in(own_expressions(each))
            taken = changed_by(each)
            at_places = {name for name in names & set(places) if known[name].is_array or name in taken}
            if not at_places and names.isdisjoint(found):
                continue
            lost = taken | ({variable(each)} if isinstance(each, Declare) else set())
            found |= {name for name in lost if name in known and known[name].holds_pointers}
            found |= {name for name in names if name in known and known[name].reaches_pointers}
    return found
