"""Products of complex matrices as products of real ones: of pairs of real and imaginary part.

A row of the left operand is read as it is, as twice as many real values.  A value b of the right operand
becomes two by two real ones, (re b, im b) below a real part and (-im b, re b) below an imaginary one, so that
a row times a column and its neighbour are real and imaginary part of an element of the result: as many
operations as the complex product has, by the register blocks of real ones, and two arrays of three stay as
they are (the "1m method": F. Van Zee, Implementing High-Performance Complex Matrix Multiplication via the 1m
Method, 2020, there with the other operand in the other role).

A real left operand multiplies real and imaginary parts alike: the right one and the result are arrays of
twice as many columns.  It is read as that where columns are neighbours in memory; else these are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.graph.monomials import Factor
from polymat.graph.stage import Ref
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr
from polymat.lang.names import RESERVED_PREFIX
from polymat.lang.types import real_part
from polymat.product.contraction import Contraction

PART = f"{RESERVED_PREFIX}part"  # 0 for real, 1 for imaginary parts of the left operand
FIRST = f"{RESERVED_PREFIX}first_pair"  # where the columns begin that are in memory as pairs
WIDTH = f"{RESERVED_PREFIX}pairs"  # how many columns there is room for


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """A complex product that is computed as one of real matrices.

    written: whether pairs are; beside a real left operand they may be the values as they lie in memory.
    name: what tells it from others.  left, right: its operands.  scale: what the right one is multiplied by.
    depth: smallest and largest index of the depth.
    lines: the dimensions of the pairs, in their order in memory, without the part and the columns.
    joined: whether the part continues the depth in the left operand, which is one dimension then.
    """

    name: str
    left: Factor
    right: Factor
    scale: Expr | None
    depth: tuple[Affine, Affine]
    lines: tuple[str, ...]
    joined: bool
    written: bool = True

    @property
    def is_beside_reals(self) -> bool:
        """Whether the left operand is real."""
        return self.left.dtype.kind == "f"

    @property
    def reals_joined(self) -> bool:
        """Whether what is read as real values has its last dimension twice as long, not one more."""
        return self.joined or self.is_beside_reals

    @property
    def read(self) -> str | None:
        """The operand of complex values that is read as real ones: the left one, or the right one."""
        if not self.is_beside_reals:
            return self.left.source
        return None if self.written else self.right.source

    @property
    def array(self) -> str:
        """The array of pairs."""
        return f"{RESERVED_PREFIX}pairs_for_{self.name}"


def reals_of(source: str) -> str:
    """Name of an array of complex values as one of real values."""
    return f"{RESERVED_PREFIX}reals_of_{source}"


def as_reals(found: Contraction, name: str) -> tuple[Contraction, tuple[Pairs, ...]] | None:
    """The real products that compute complex ones, one after the other; None where one is of a triangle.

    name: of their result.
    """
    made = [_one_as_reals(each, f"{number}_{name}") for number, each in enumerate(found.products, 1)]
    known = [each for each in made if each is not None]
    if len(known) < len(made):
        return None
    (first, _), *others = known
    return replace(first, more=tuple(real for real, _ in others)), tuple(pairs for _, pairs in known)


def _one_as_reals(found: Contraction, name: str) -> tuple[Contraction, Pairs] | None:
    kinds = found.left.dtype.kind, found.right.dtype.kind
    if found.triangle is not None or found.mirror is not None:
        return None
    if kinds == ("f", "c"):
        return _beside_reals(found, name)
    if kinds != ("c", "c"):
        return None
    depth, last = Affine.name(found.depth), found.left.indices[-1]
    joined = found.left.is_contiguous(found.depth)
    doubled = {dim: (low.scale(2), high.scale(2) + 1) for dim, (low, high) in found.bounds.items()}
    changed = [found.columns, found.depth] if joined else [found.columns]
    bounds = {**found.bounds, **{dim: doubled[dim] for dim in changed}}
    indices = (*found.left.indices[:-1], (last - depth).scale(2) + depth)
    sums = found.sums
    if not joined:
        indices = (*found.left.indices, Affine.name(PART))
        bounds[PART] = (Affine(), Affine((), 1))
        sums = (*sums, PART)
    lines = (*found.summed, *found.more_columns)
    pairs = Pairs(name, found.left, found.right, found.scale, found.bounds[found.depth], lines, joined)
    real = real_part(found.left.dtype)
    left = Factor(Ref(reals_of(found.left.source), real, is_input=False), indices)
    places = _names((*found.summed, *(() if joined else (PART,)), *found.more_columns))
    right = Factor(Ref(pairs.array, real, is_input=False), (*places, Affine.name(found.columns)))
    changes = replace(found, left=left, right=right, bounds=bounds, sums=sums, scale=None)
    return _started_before(changes), pairs


def _beside_reals(found: Contraction, name: str) -> tuple[Contraction, Pairs]:
    """The product of a real left operand: columns of the right one are pairs of real ones."""
    columns, right, real = Affine.name(found.columns), found.right, real_part(found.right.dtype)
    lines = (*found.summed, *found.more_columns)
    written = not _is_in_order(found)
    pairs = Pairs(
        name, found.left, right, found.scale, found.bounds[found.depth], lines, joined=False, written=written
    )
    low, high = found.bounds[found.columns]
    bounds = {**found.bounds, found.columns: (low.scale(2), high.scale(2) + 1)}
    *others, last = right.indices
    if written:
        doubled = Factor(Ref(pairs.array, real, is_input=False), (*_names(lines), columns))
    else:
        reals = Ref(reals_of(right.source), real, is_input=False)
        doubled = Factor(reals, (*others, (last - columns).scale(2) + columns))
    scale = None if written else found.scale
    return _started_before(replace(found, right=doubled, bounds=bounds, scale=scale)), pairs


def _is_in_order(found: Contraction) -> bool:
    """Whether the right operand can be read as it lies, since nothing but real values multiplies it."""
    if found.right.conjugated or (found.scale is not None and found.scale.dtype.kind == "c"):
        return False
    return found.right.is_contiguous(found.columns)


def _started_before(found: Contraction) -> Contraction:
    """One product by itself, of which loops compute what it starts from."""
    return replace(found, starts=found.starts or found.start is not None, start=None, more=())


def _names(dims: Sequence[str]) -> tuple[Affine, ...]:
    return tuple(map(Affine.name, dims))
