"""Schemes: how a contraction is carried out, as the atoms of the structured search over loop transformations.

Tollenaere and others write a loop nest around a register microkernel as a list of atoms, outermost first:
R(i), the loop over all of what is left of i; T(i, 4), a tile loop; U(i, 8), unrolled; V(j), a vector;
seq(i: 8 | 7), two sizes one after the other where one does not divide; pack(B), a copy in the order of use,
pack(B: k, j) where that permutes its dimensions to this order, the innermost last;
Par(i), shared out to threads.  i*j are two dimensions that one loop runs along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from polymat.errors import InternalError


@dataclass(frozen=True, slots=True)
class SchemeLoop:
    """A loop along one dimension.

    kind: "R" (all that is left), "T" (tiles of `size`), "U" (`size` points unrolled), "V" (vectors, `size`
    points) or "Par" (shared out to threads, in one piece each).
    """

    kind: Literal["R", "T", "U", "V", "Par"]
    dim: str
    size: int = 0

    def __str__(self) -> str:
        return f"{self.kind}({self.dim}, {self.size})" if self.size else f"{self.kind}({self.dim})"


@dataclass(frozen=True, slots=True)
class Sequence2:
    """One dimension as blocks of `size` and then smaller ones, by one `unit`: little is computed in vain."""

    dim: str
    size: int
    unit: int = 1

    def __str__(self) -> str:
        return f"seq({self.dim}: {self.size} | {self.size - self.unit})"


@dataclass(frozen=True, slots=True)
class Pack:
    """A copy of the part of an operand that the atoms further in use, in the order in which they use it.

    order: its dimensions as they are permuted, the innermost last; empty where they keep their order.
    """

    array: str
    order: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"pack({self.array}: {', '.join(self.order)})" if self.order else f"pack({self.array})"


Atom = SchemeLoop | Sequence2 | Pack


@dataclass(frozen=True, slots=True)
class Scheme:
    """Atoms, outermost first; checked: tiles of a dimension shrink inwards, and vectors are innermost.

    No copy has a dimension twice either.
    """

    atoms: tuple[Atom, ...]

    def __post_init__(self) -> None:
        sizes: dict[str, int] = {}
        for position, atom in enumerate(self.atoms):
            if isinstance(atom, Pack):
                if len({*atom.order}) < len(atom.order):
                    raise InternalError(f"bug in polymat: {atom} has a dimension twice")
                continue
            size = atom.size
            if size and atom.dim in sizes and size > sizes[atom.dim]:
                raise InternalError(f"bug in polymat: {atom} stands inside a smaller tile of {atom.dim}")
            if size:
                sizes[atom.dim] = size
            if isinstance(atom, SchemeLoop) and atom.kind == "V" and position != len(self.atoms) - 1:
                raise InternalError(f"bug in polymat: {atom} is not innermost in {scheme_text(self.atoms)}")

    def __str__(self) -> str:
        return scheme_text(self.atoms)


def scheme_text(atoms: Sequence[Atom]) -> str:
    """Atoms in the papers' notation."""
    return f"[{', '.join(map(str, atoms))}]"
