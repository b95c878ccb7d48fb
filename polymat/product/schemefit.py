"""Schemes that users write, beside the contraction that they are for: complete and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

from polymat.graph.monomials import Factor
from polymat.product.contraction import Contraction
from polymat.product.scheme import Atom, GroupAtom, Pack, Scheme, SchemeLoop, Sequence2, unrolled
from polymat.product.schemetext import Misfit

MOST_UNROLLED = 512  # multiplications of a block in straight code: each is a line that the compiler reads
_LOOPS = ("R", "T", "Texact")
_GROUP_HINTS = {
    "fuse": "T(i, 32) alone follow it, the tiles that stages share",
    "roll": "fuse(a), roll(i), T(i, 2) are tiles of several stages",
    "back": "fuse(a), back(i), T(i, 2) are tiles of several stages",
    "Call": "a call of a library is all of a scheme: [Call(gemm)]",
}


def operands(found: Contraction) -> tuple[Factor, Factor]:
    """Both operands of a contraction."""
    return found.left, found.right


def dims_of(factor: Factor, found: Contraction) -> tuple[str, ...]:
    """The dimensions that an operand has, in the order of its indices."""
    names = [name for form in factor.indices for name in sorted(form.names()) if name in found.bounds]
    return tuple(dict.fromkeys(names))


def packed_factor(atom: Pack, found: Contraction) -> Factor | None:
    """The operand that is copied: by its name, and by the dimensions in the order where both have it."""
    named = [each for each in operands(found) if each.source == atom.array]
    if atom.order:
        named = [each for each in named if {*dims_of(each, found)} == {*atom.order}]
    return named[0] if named else None


def with_packs(loops: Sequence[SchemeLoop], packs: Sequence[tuple[Pack, Sequence[str], int]]) -> list[Atom]:
    """The loops with copies: as far out as no loop further in moves the operand.

    packs: each with the dimensions of its operand, and how many of the loops are around it at most.
    """
    made: list[Atom] = [*loops]
    places = []
    for pack, dims, at in packs:
        while at and loops[at - 1].dim not in dims:
            at -= 1
        places.append((at, pack))
    for at, pack in sorted(places, key=lambda place: -place[0]):
        made.insert(at, pack)
    return made


def fitted(scheme: Scheme, found: Contraction, lanes: int) -> tuple[Atom, ...] | Misfit:
    """The atoms that loops are written from, or why they are no scheme of this contraction.

    lanes: elements of a vector of the processor.  A shared dimension that has no loop has one over all of it.
    """
    atoms: tuple[Atom, ...] = ()
    for atom in scheme.atoms:
        if isinstance(atom, GroupAtom) and atom.word == "kernel":
            continue  # see `polymat.product.kernelfit`
        if isinstance(atom, GroupAtom):
            return Misfit(f"{atom} is for a group that runs so", _GROUP_HINTS[atom.word])
        atoms = (*atoms, _with_lanes(atom, lanes))
    wrong = _names(atoms, found) or _order(atoms, found) or _vector(atoms, lanes, scheme.kernel)
    if wrong is not None:
        return wrong
    atoms = _with_shared_loop(atoms)
    for dim in found.bounds:
        wrong = _covered(atoms, dim) or _exact(atoms, dim, found) or _filled(atoms, dim, found)
        if wrong is not None:
            return wrong
    return atoms


def _with_lanes(atom: Atom, lanes: int) -> Atom:
    if isinstance(atom, SchemeLoop) and atom.kind == "V" and not atom.size:
        return replace(atom, size=lanes)
    return atom


def _with_shared_loop(atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    first = atoms[0]
    if not isinstance(first, SchemeLoop) or first.kind != "Par" or _chain(atoms, first.dim):
        return tuple(atoms)
    return (first, SchemeLoop("R", first.dim), *atoms[1:])


def _chain(atoms: Sequence[Atom], dim: str) -> list[SchemeLoop | Sequence2]:
    """The atoms of a dimension but for that of threads, outermost first."""
    own = [atom for atom in atoms if not isinstance(atom, Pack) and atom.dim == dim]
    return [atom for atom in own if isinstance(atom, Sequence2) or atom.kind != "Par"]


def _names(atoms: Sequence[Atom], found: Contraction) -> Misfit | None:
    """Whether all dimensions and arrays are those of the contraction."""
    summed = ", ".join(found.summed)
    has = f"it has {', '.join(found.result)}, and sums over {summed}"
    for atom in atoms:
        if isinstance(atom, Pack):
            if packed_factor(atom, found) is None:
                each = [f"{one.source}({', '.join(dims_of(one, found))})" for one in operands(found)]
                return Misfit(f"{atom} is no copy of an operand", f"the operands are {' and '.join(each)}")
            continue
        if "*" in atom.dim:
            hint = "only register blocks that polymat chose itself do that; name one dimension an atom"
            return Misfit(f"{atom} runs along several dimensions at once", hint)
        if atom.dim not in found.bounds:
            return Misfit(f"{atom} names {atom.dim}, which is no dimension of it", has)
        if isinstance(atom, SchemeLoop) and atom.kind == "Par" and atom.dim in found.summed:
            return Misfit(f"{atom} shares out a dimension that is summed over", has)
    return None


def _order(atoms: Sequence[Atom], found: Contraction) -> Misfit | None:
    """Whether threads are outermost, copies made once, and blocks innermost."""
    inside, copied = False, set[str]()
    for position, atom in enumerate(atoms):
        if atom.in_block:
            inside = True
        elif inside:
            return Misfit(f"{atom} stands inside unrolled points", "U, V and seq are the innermost atoms")
        if isinstance(atom, SchemeLoop) and atom.kind == "Par" and position:
            return Misfit(f"{atom} is not the first atom", "threads meet once: Par stands outermost, once")
        if isinstance(atom, Pack):
            factor = packed_factor(atom, found)
            own = str(factor and factor.indices) + atom.array
            if own in copied:
                return Misfit(f"{atom} copies an operand a second time", "an operand is copied once")
            copied.add(own)
    return None


def _vector(atoms: Sequence[Atom], lanes: int, kernel: str | None) -> Misfit | None:
    """Whether vectors are those of the processor, and blocks of a size that a compiler takes."""
    last = atoms[-1]
    vector = last if isinstance(last, SchemeLoop) and last.kind == "V" else None
    if vector is not None and (vector.size != lanes or lanes == 1):
        return Misfit(f"{vector} is no vector", f"vectors of this processor have {lanes} such elements here")
    statements = prod(unrolled(atoms).values()) // (vector.size if vector is not None else 1)
    if statements > MOST_UNROLLED:
        beside = f", and {kernel} leaves it blocks at the ends" if kernel is not None else ""
        hint = f"at most {MOST_UNROLLED} are; V(j) innermost takes a vector of them at a time"
        return Misfit(f"it unrolls {statements} multiplications{beside}", hint)
    return None


def _split(atoms: Sequence[Atom], dim: str) -> tuple[list[SchemeLoop], list[SchemeLoop | Sequence2]]:
    """The loops of a dimension, and what is unrolled of it."""
    chain = _chain(atoms, dim)
    loops = [atom for atom in chain if isinstance(atom, SchemeLoop) and atom.kind in _LOOPS]
    return loops, [atom for atom in chain if atom not in loops]


def _covered(atoms: Sequence[Atom], dim: str) -> Misfit | None:
    """Whether the loops of a dimension leave no point out."""
    loops, block = _split(atoms, dim)
    if not loops:
        return Misfit(f"nothing runs over all of {dim}", f"R({dim}) does, T({dim}, 32) in tiles")
    wrong = _turns(loops) or _block(block, dim)
    last, size = loops[-1], block[0].size if block else 1
    if wrong is not None or last.kind == "R":
        return wrong
    if block and isinstance(block[0], Sequence2):
        return Misfit(f"{block[0]} is not in R({dim})", f"R({dim}) runs over blocks of both sizes")
    if last.size != size:
        taken = f", of which {block[0]} takes {size}" if block else ""
        left = f"{last} leaves {last.size} points of {dim}{taken}"
        return Misfit(left, f"R({dim}) further in runs over what is left")
    return None


def _turns(loops: Sequence[SchemeLoop]) -> Misfit | None:
    """Whether a loop of a dimension leaves the next one several turns."""
    for outer, inner in pairwise(loops):
        once = f"{inner} in {outer} has one turn"
        if outer.kind == "R":
            return Misfit(
                once, f"R({outer.dim}) is the last loop along {outer.dim}, T outside of it its tiles"
            )
        if inner.kind != "R" and inner.size == outer.size:
            return Misfit(once, "smaller tiles stand further in")
    return None


def _block(block: Sequence[SchemeLoop | Sequence2], dim: str) -> Misfit | None:
    """Whether what is unrolled is one block, in whole vectors."""
    if len(block) < 2:
        return None
    first, *inner = block
    last = inner[-1]
    if len(inner) > 1 or not isinstance(last, SchemeLoop) or last.kind != "V":
        return Misfit(f"{last} unrolls {dim} a second time", f"U({dim}, ...) says how many points in all")
    if first.size % last.size or (isinstance(first, Sequence2) and first.unit % last.size):
        return Misfit(f"{first} is not whole vectors of {last.size}", f"use multiples of {last.size}")
    return None


def _filled(atoms: Sequence[Atom], dim: str, found: Contraction) -> Misfit | None:
    """Whether blocks of two sizes, so many of each, are what the loops around leave of a dimension."""
    chain, extent = _chain(atoms, dim), found.extent(dim)
    pair = next((atom for atom in chain if isinstance(atom, Sequence2) and atom.counts), None)
    if pair is None:
        return None
    shared = any(isinstance(a, SchemeLoop) and a.kind == "Par" and a.dim == dim for a in atoms)
    left: int | None = extent.const if extent.is_constant and not shared else None
    for atom in chain[: chain.index(pair)]:
        if atom.size:
            left = atom.size if left is not None and left % atom.size == 0 else None
    if left == pair.points:
        return None
    length = left if left is not None else "shared out to threads" if shared else f"not always {pair.points}"
    hint = f"seq({dim}: {pair.size} | {pair.size - pair.unit}) has as few of each as fill any length"
    return Misfit(f"{pair} has {pair.points} points, and {dim} here is {length}", f"{hint}; sizes= fixes it")


def _exact(atoms: Sequence[Atom], dim: str, found: Contraction) -> Misfit | None:
    """Whether tiles that are said to be whole are."""
    extent = found.extent(dim)
    shared = any(isinstance(a, SchemeLoop) and a.kind == "Par" and a.dim == dim for a in atoms)
    left: int | None = extent.const if extent.is_constant and not shared else None
    chain = _chain(atoms, dim)
    for position, atom in enumerate(chain):
        further = chain[position + 1].size if position + 1 < len(chain) else 1
        size = atom.size or further or 1
        is_whole = left is not None and left % size == 0
        if isinstance(atom, SchemeLoop) and atom.kind == "Texact" and not is_whole:
            length = left if left is not None else "shared out to threads" if shared else f"{extent}"
            hint = f"T({dim}, {size}) has a smaller tile at the end; sizes= says how long {dim} is"
            return Misfit(f"{atom} needs whole tiles, and {dim} is {length}", hint)
        left = size if is_whole else None
    return None


def strip_of(atoms: Sequence[Atom], dim: str) -> int:
    """How many points of a dimension lie together in a copy, for the blocks of further atoms; 1: all do.

    Those of a block, where all blocks have one size and no loop leaves a part of one.
    """
    loops, block = _split(atoms, dim)
    if not block or isinstance(block[0], Sequence2):
        return 1
    size = block[0].size
    return size if all(loop.size % size == 0 for loop in loops) else 1
