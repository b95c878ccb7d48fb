"""Spectra from plain ones: of real values X(N - j) is the conjugate of X(j), of the other sign it is X(j)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from polymat.dataclass import dataclass
from polymat.idiom.transform import FourierAxis
from polymat.lang.affine import Affine


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a spectrum and where in its half the value is.

    forms: are all >= 0 there.  indices: of the half, by output dimension, where they are not the same.
    conjugated: whether it is the conjugate of the value there.
    """

    forms: tuple[Affine, ...]
    indices: Mapping[str, Affine]
    conjugated: bool


def halved_axis(axes: Sequence[FourierAxis]) -> FourierAxis:
    """The axis of which a transform of real values computes half: the one that is wanted so, or the last."""
    return next((axis for axis in axes if axis.half), axes[-1])


def regions(axes: Sequence[FourierAxis], *, halves: bool) -> list[Region]:
    """Where a spectrum is that of a plain transform: the half that is computed, and the parts of the rest.

    halves: whether half is computed alone.  Mirrored axes are read from the other end, as the others are in
    the rest, and 0 is its own mirror image.

    X(i, j) = conj(X((M - i) mod M, N - j)) for 2 j > N
    """
    halved = halved_axis(axes)
    here = [axis for axis in axes if axis.mirrored]
    if not halves or halved.half:
        return _mirrored(here, (), {}, conjugated=False)
    last = Affine.name(halved.output)
    beyond = last.scale(2) - halved.length - 1
    there = [axis for axis in axes if axis is not halved and not axis.mirrored]
    rest = {halved.output: halved.length - last}
    return [
        *_mirrored(here, (-beyond - 1,), {}, conjugated=False),
        *_mirrored(there, (beyond,), rest, conjugated=True),
    ]


def _mirrored(
    axes: Sequence[FourierAxis], where: tuple[Affine, ...], at: Mapping[str, Affine], *, conjugated: bool
) -> list[Region]:
    """The parts of a region in which each of some axes is at 0 or not."""
    found = []
    for at_zero in product((True, False), repeat=len(axes)):
        forms, indices = [*where], dict(at)
        for axis, zero in zip(axes, at_zero, strict=True):
            output = Affine.name(axis.output)
            forms.append(-output if zero else output - 1)
            indices |= {} if zero else {axis.output: axis.length - output}
        found.append(Region(tuple(forms), indices, conjugated))
    return found
