"""Schemes: how a contraction is carried out, as the atoms of the structured search over loop transformations.

Tollenaere and others write a loop nest around a register microkernel as a list of atoms, outermost first:
R(i), the loop over all of what is left of i, in steps of what stands further in; T(i, 32), a loop over tiles
of 32 points, the last of which may be smaller; Texact(i, 32), over tiles that are all whole; U(i, 6), six
points unrolled; V(j, 4), a vector; seq(i: 8 | 7), blocks of two sizes one after the other where one does not
divide, as few as fill i, or seq(i: (8, 7), (12, 6)), so many of each; pack(B), a copy in the order of use,
pack(B: k, j) where that permutes its dimensions to this order, the innermost last; Par(i), shared out to
threads.  All sizes are in points: U(j, 8) around V(j, 4) are two
vectors.  i*j are two dimensions that one loop runs along, or whose tiles threads share.

Four atoms are ours, for what their scheme of one statement has no need of: fuse(a, b), the stages that share
all loops over tiles; roll(i), tiles that follow each other along i and keep what the next one needs; back(i),
tiles from the last to the first; Call(gemm), a routine of a library, or one of our own ways that are no
loops over points: filter, recursive, blocked_steps, and blocks or rows of an extreme with its place.  Behind
a block Call(name) is a microkernel of the user's, which computes all that are whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from polymat.dataclass import dataclass
from polymat.errors import InternalError

Word = Literal["fuse", "roll", "back", "Call", "kernel"]
Kind = Literal["R", "T", "Texact", "U", "V", "Par"]


@dataclass(frozen=True, slots=True)
class SchemeLoop:
    """A loop along one dimension.

    kind: "R" (all that is left), "T" (tiles of `size`), "Texact" (whole tiles of `size`), "U" (`size` points
    unrolled), "V" (vectors, `size` points) or "Par" (shared out to threads, in one piece each).
    """

    kind: Kind
    dim: str
    size: int = 0

    @property
    def in_block(self) -> bool:
        """Whether it is a part of the straight code inside all loops."""
        return self.kind in ("U", "V")

    def __str__(self) -> str:
        return f"{self.kind}({self.dim}, {self.size})" if self.size else f"{self.kind}({self.dim})"


@dataclass(frozen=True, slots=True)
class Sequence2:
    """One dimension as blocks of `size` and then smaller ones, by one `unit`: little is computed in vain.

    counts: of the larger ones and of the smaller, which fill it; None: as few as do, of any length.
    """

    dim: str
    size: int
    unit: int = 1
    counts: tuple[int, int] | None = None

    @property
    def in_block(self) -> bool:
        """Whether it is a part of the straight code inside all loops: it says the size of its blocks."""
        return True

    @property
    def points(self) -> int:
        """The points of so many blocks."""
        larger, smaller = self.counts or (0, 0)
        return larger * self.size + smaller * (self.size - self.unit)

    def __str__(self) -> str:
        sizes = self.size, self.size - self.unit
        if self.counts is None:
            return f"seq({self.dim}: {sizes[0]} | {sizes[1]})"
        pairs = (f"({count}, {size})" for count, size in zip(self.counts, sizes, strict=True))
        return f"seq({self.dim}: {', '.join(pairs)})"


@dataclass(frozen=True, slots=True)
class Pack:
    """A copy of the part of an operand that the atoms further in use, in the order in which they use it.

    order: its dimensions as they are permuted, the innermost last; empty where they keep their order.
    """

    array: str
    order: tuple[str, ...] = ()

    @property
    def in_block(self) -> bool:
        """Whether it is a part of the straight code inside all loops."""
        return False

    def __str__(self) -> str:
        return f"pack({self.array}: {', '.join(self.order)})" if self.order else f"pack({self.array})"


@dataclass(frozen=True, slots=True)
class GroupAtom:
    """An atom that says what a whole group of stages does.

    word: "fuse" (these stages share its tiles), "roll" (tiles along this dimension follow each other), "back"
    (from the last to the first), "Call" (this routine, or this way of ours, computes it) or "kernel" (this
    microkernel computes whole blocks).  names: of stages, of the dimension, or of routines, in order.
    """

    word: Word
    names: tuple[str, ...]

    @property
    def in_block(self) -> bool:
        """Whether it is a part of the straight code inside all loops."""
        return False

    def __str__(self) -> str:
        return f"{'Call' if self.word == 'kernel' else self.word}({', '.join(self.names)})"


Atom = SchemeLoop | Sequence2 | Pack
AnyAtom = Atom | GroupAtom


@dataclass(frozen=True, slots=True)
class Scheme:
    """Atoms, outermost first; checked: tiles of a dimension shrink inwards, and vectors are innermost.

    No copy has a dimension twice either.
    """

    atoms: tuple[AnyAtom, ...]

    @property
    def fused(self) -> frozenset[str]:
        """The stages that it names to share its loops."""
        return frozenset(name for names in self.words("fuse") for name in names)

    @property
    def loops(self) -> tuple[SchemeLoop, ...]:
        """All loops, outermost first, with unrolled points and vectors."""
        return tuple(atom for atom in self.atoms if isinstance(atom, SchemeLoop))

    @property
    def dims(self) -> frozenset[str]:
        """The dimensions that its loops, blocks and copies name."""
        named = (atom.order if isinstance(atom, Pack) else atom.dim.split("*") for atom in self.own)
        along = (name for word in ("roll", "back") for names in self.words(word) for name in names)
        return frozenset({*along, *(dim for dims in named for dim in dims)})

    @property
    def kernel(self) -> str | None:
        """The microkernel that computes its whole blocks, if one is named."""
        return next((names[0] for names in self.words("kernel")), None)

    @property
    def own(self) -> tuple[Atom, ...]:
        """All atoms, outermost first, but those for groups."""
        return tuple(atom for atom in self.atoms if not isinstance(atom, GroupAtom))

    def words(self, word: str) -> list[tuple[str, ...]]:
        """The names of all atoms of a word for groups."""
        return [atom.names for atom in self.atoms if isinstance(atom, GroupAtom) and atom.word == word]

    def __post_init__(self) -> None:
        wrong = contradiction(self.atoms)
        if wrong:
            raise InternalError(f"bug in polymat: {wrong}")

    def __str__(self) -> str:
        return scheme_text(self.atoms)


def contradiction(atoms: Sequence[AnyAtom]) -> str:
    """Why atoms are no scheme, in words; empty where they are one."""
    sizes: dict[str, int] = {}
    for position, atom in enumerate(atoms):
        if isinstance(atom, Pack | GroupAtom):
            names = atom.order if isinstance(atom, Pack) else atom.names if atom.word == "fuse" else ()
            if len({*names}) < len(names):
                return f"{atom} has {'a dimension' if isinstance(atom, Pack) else 'a stage'} twice"
            if isinstance(atom, GroupAtom) and atom.word == "fuse" and position:
                return f"{atom} is not the first atom"
            if isinstance(atom, GroupAtom) and atom.word == "kernel" and position < len(atoms) - 1:
                return f"{atom} is not the last atom"
            continue
        if atom.size > sizes.get(atom.dim, atom.size):
            return f"{atom} stands inside a smaller tile of {atom.dim}"
        if atom.size:
            sizes[atom.dim] = atom.size
        if isinstance(atom, SchemeLoop) and atom.kind == "V" and not _ends(atoms[position + 1 :]):
            return f"{atom} is not innermost in {scheme_text(atoms)}"
    return ""


def _ends(atoms: Sequence[AnyAtom]) -> bool:
    """Whether no loop is among the last atoms."""
    return all(isinstance(atom, GroupAtom) and atom.word == "kernel" for atom in atoms)


def unrolled(atoms: Sequence[Atom]) -> dict[str, int]:
    """The points of a block along every dimension that is unrolled: those of its outermost atom."""
    sizes: dict[str, int] = {}
    for atom in atoms:
        if not isinstance(atom, Pack) and atom.in_block:
            sizes.setdefault(atom.dim, atom.size)
    return sizes


def scheme_text(atoms: Sequence[AnyAtom]) -> str:
    """Atoms in the papers' notation."""
    return f"[{', '.join(map(str, atoms))}]"
