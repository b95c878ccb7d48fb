"""Schemes as users write them: what `polymat.product.scheme` prints is read back as what it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import get_args

from polymat.dataclass import dataclass
from polymat.product.scheme import (
    AnyAtom,
    GroupAtom,
    Kind,
    Pack,
    Scheme,
    SchemeLoop,
    Sequence2,
    contradiction,
)

MOST_SIZE = 2**31 - 1  # of a tile: what an index of 32 bits counts
_TOKEN = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[\[\](),:|*])")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KINDS: dict[str, Kind] = {kind: kind for kind in get_args(Kind)}
_ALSO = {
    "Tvar": "T",
    "Texct": "Texact",
    "Text": "Texact",
    "Texctg": "T",
    "Textg": "T",
    "Pack": "pack",
    "Seq": "seq",
}  # of the papers
_SIZED = ("T", "Texact", "U")


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a text is no scheme, or a scheme none of a stage, and what to do about it."""

    problem: str
    hint: str


class _MisreadError(Exception):
    """Where reading ends: the misfit is its argument."""


def read_scheme(text: str) -> Scheme | Misfit:
    """The scheme that a text says, `[R(j), T(k, 256), pack(B), R(i), R(k), U(i, 6), V(j, 4)]` say."""
    try:
        atoms = tuple(_with_kernel([*_Reader(text).atoms()]))
    except _MisreadError as wrong:
        return wrong.args[0]  # type: ignore[no-any-return]
    problem = contradiction(atoms)
    if problem:
        return Misfit(problem, "atoms stand in the order of loops, outermost first")
    return Scheme(atoms)


def _with_kernel(atoms: Sequence[AnyAtom]) -> Iterator[AnyAtom]:
    """Atoms in which a call behind those of a block is one of a microkernel."""
    for before, atom in zip((None, *atoms), atoms, strict=False):
        is_call = isinstance(atom, GroupAtom) and atom.word == "Call" and len(atom.names) == 1
        if isinstance(atom, GroupAtom) and is_call and before is not None and before.in_block:
            yield GroupAtom("kernel", atom.names)
        else:
            yield atom


class _Reader:
    """Reads one text, token by token."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def atoms(self) -> Iterator[AnyAtom]:
        """All atoms, between brackets."""
        self._take("[")
        yield from self._atoms()
        while self._next() == ",":
            self._take(",")
            yield from self._atoms()
        self._take("]")
        if self.text[self.at :].strip():
            self._fail("nothing", "a scheme ends with its bracket")

    def _atoms(self) -> Iterator[AnyAtom]:
        """An atom; Tpar(i, 32) and Tfused(i: 32, j: 64) are tiles that threads share."""
        word = self._next()
        if word not in ("Tpar", "Tfused"):
            yield self._atom()
            return
        self._take(word)
        self._take("(")
        tiles = [self._tile("," if word == "Tpar" else ":")]
        while word == "Tfused" and self._next() == ",":
            self._take(",")
            tiles.append(self._tile(":"))
        self._take(")")
        yield SchemeLoop("Par", "*".join(tile.dim for tile in tiles))
        yield from tiles

    def _tile(self, between: str) -> SchemeLoop:
        dim = self._name("a dimension")
        self._take(between)
        return SchemeLoop("T", dim, self._number())

    def _atom(self) -> AnyAtom:
        start = self.at
        word = self._name("an atom")
        word = _ALSO.get(word, word)
        self._take("(")
        if word in ("pack", "PackT"):
            atom: AnyAtom = self._pack(permuted=word == "PackT")
        elif word == "seq":
            atom = self._sequence()
        elif word == "fuse":
            atom = GroupAtom("fuse", tuple(self._names("a stage")))
        elif word == "Call":
            atom = GroupAtom("Call", tuple(self._names("a routine")))
        elif word in ("roll", "back"):
            atom = GroupAtom("roll" if word == "roll" else "back", (self._name("a dimension"),))
        elif (kind := _KINDS.get(word)) is not None:
            atom = self._loop(kind)
        else:
            self.at = start
            self._fail("an atom", "atoms are R, T, Texact, U, V, Par, seq, pack, fuse, roll, back and Call")
        self._take(")")
        return atom

    def _loop(self, kind: Kind) -> SchemeLoop:
        dim = self._dims()
        if kind in _SIZED or (kind == "V" and self._next() == ","):
            self._take(",")
            return SchemeLoop(kind, dim, self._number())
        return SchemeLoop(kind, dim)

    def _sequence(self) -> Sequence2:
        dim = self._dims()
        self._take(":")
        if self._next() == "(":
            return self._counted(dim)
        first = self._number()
        self._take("|")
        second = self._number()
        if second >= first:
            self._fail(f"less than {first}", "the larger blocks of seq come first: seq(i: 8 | 7)")
        return Sequence2(dim, first, first - second)

    def _counted(self, dim: str) -> Sequence2:
        """So many blocks of two sizes, in either order: the larger ones run first."""
        pairs = [self._pair()]
        self._take(",")
        pairs.append(self._pair())
        (fewer, smaller), (more, larger) = sorted(pairs, key=lambda pair: pair[1])
        if smaller == larger:
            self._fail(f"another size than {larger}", f"blocks of one size are U({dim}, {larger})")
        return Sequence2(dim, larger, larger - smaller, (more, fewer))

    def _pair(self) -> tuple[int, int]:
        self._take("(")
        count = self._number()
        self._take(",")
        size = self._number()
        self._take(")")
        return count, size

    def _pack(self, *, permuted: bool) -> Pack:
        """A copy; that of the papers' PackT is permuted, and has to say how."""
        array = self._name("an array")
        order: list[str] = []
        if permuted and self._next() != ":":
            self._fail("':'", "PackT permutes what it copies, PackT(B: k, j); Pack(B) keeps the order")
        while self._next() == (":" if not order else ","):
            self._take(":" if not order else ",")
            order.append(self._name("a dimension"))
        return Pack(array, tuple(order))

    def _names(self, what: str) -> Iterator[str]:
        yield self._name(what)
        while self._next() == ",":
            self._take(",")
            yield self._name(what)

    def _dims(self) -> str:
        names = [self._name("a dimension")]
        while self._next() == "*":
            self._take("*")
            names.append(self._name("a dimension"))
        return "*".join(names)

    def _number(self) -> int:
        token = self._next()
        if not token.isdecimal() or not 1 <= int(token) <= MOST_SIZE:
            self._fail("a number of points, at least 1", "sizes are in points: T(i, 32)")
        self._take(token)
        return int(token)

    def _name(self, what: str) -> str:
        token = self._next()
        if not _NAME.fullmatch(token):
            self._fail(what, "a scheme reads [R(j), T(k, 256), pack(B), R(i), R(k), U(i, 6), V(j, 4)]")
        self._take(token)
        return token

    def _next(self) -> str:
        found = _TOKEN.match(self.text, self.at)
        return found[1] if found else ""

    def _take(self, token: str) -> None:
        found = _TOKEN.match(self.text, self.at)
        if found is None or found[1] != token:
            self._fail(repr(token), "a scheme reads [R(j), T(k, 256), pack(B), R(i), R(k), U(i, 6), V(j, 4)]")
        else:
            self.at = found.end()

    def _fail(self, wanted: str, hint: str) -> None:
        rest = self.text[self.at :].strip()
        came = repr(rest[:20]) if rest else "its end"
        raise _MisreadError(Misfit(f"it has {came} at column {self.at + 1}, where {wanted} is needed", hint))
