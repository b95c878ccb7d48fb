"""The loops and copies of a scheme as the models of data movement see them, and what moves while they run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil

from polymat.machine.model import Machine
from polymat.model.loopnest import LoopNest
from polymat.model.movement import Movement, moving
from polymat.model.volumes import Copy, TiledLoop
from polymat.product.contraction import Contraction
from polymat.product.scheme import Atom, Pack, SchemeLoop
from polymat.product.schemefit import dims_of, packed_factor


def scheme_movement(
    nest: LoopNest, found: Contraction, atoms: Sequence[Atom], machine: Machine, *, threads: int = 1
) -> Movement:
    """Bytes that move out of every level of memory while a contraction runs in the loops of a scheme.

    nest: of the contraction alone, with its extents.  atoms: of the scheme, outermost first; they need not
    have been completed.  threads: that share out the dimension of its `Par`.
    """
    team, extents = share_of_a_thread(nest, atoms, machine, threads)
    loops, copies = loops_and_copies(found, atoms, extents)
    return moving(nest, loops, machine, threads=team, apart=team, copies=copies)


def share_of_a_thread(
    nest: LoopNest, atoms: Sequence[Atom], machine: Machine, threads: int
) -> tuple[int, dict[str, int]]:
    """How many threads share out the dimension of `Par`, and the extents of what one of them has."""
    shared = next((a.dim for a in atoms if isinstance(a, SchemeLoop) and a.kind == "Par"), None)
    team = max(1, min(threads, machine.cores)) if shared is not None else 1
    return team, {dim: ceil(n / team) if dim == shared else n for dim, n in nest.extents.items()}


def loops_and_copies(
    found: Contraction, atoms: Sequence[Atom], extents: Mapping[str, int]
) -> tuple[tuple[TiledLoop, ...], tuple[Copy, ...]]:
    """The loops of a scheme, innermost first, those of its blocks included, and its copies."""
    loops = [*_loops(atoms, extents)]
    inside = len(loops)
    copies = []
    for atom in (each for each in atoms if not _is_of_threads(each)):
        if not isinstance(atom, Pack):
            inside -= 1
            continue
        factor = packed_factor(atom, found)
        if factor is not None:
            copies.append(Copy(factor.source, frozenset(dims_of(factor, found)), inside))
    return tuple(reversed(loops)), tuple(copies)


def _loops(atoms: Sequence[Atom], extents: Mapping[str, int]) -> Iterator[TiledLoop]:
    """A loop for every atom but copies, outermost first: how much there is of its dimension, and inside."""
    left = {dim: float(extent) for dim, extent in extents.items()}
    own = [atom for atom in atoms if not isinstance(atom, Pack) and not _is_of_threads(atom)]
    for position, atom in enumerate(own):
        further = next((each.size for each in own[position + 1 :] if each.dim == atom.dim and each.size), 1)
        step = float(further if atom.in_block or not atom.size else atom.size)
        step = min(step, left[atom.dim])
        yield TiledLoop(atom.dim, step, left[atom.dim])
        left[atom.dim] = step


def _is_of_threads(atom: Atom) -> bool:
    return isinstance(atom, SchemeLoop) and atom.kind == "Par"
