"""The whole spectrum of real values from half of it: X(N - j) is the conjugate of X(j)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from polymat.idiom.transform import FourierAxis
from polymat.lang.affine import Affine


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a spectrum and where in its half the value is.

    forms: are all >= 0 there.  indices: of the half, by output dimension, where they are not the same.
    mirrored: whether it is the conjugate of the value there.
    """

    forms: tuple[Affine, ...]
    indices: Mapping[str, Affine]
    mirrored: bool


def halved_axis(axes: Sequence[FourierAxis]) -> FourierAxis:
    """The axis of which a transform of real values computes half: the one that is wanted so, or the last."""
    return next((axis for axis in axes if axis.half), axes[-1])


def regions(axes: Sequence[FourierAxis]) -> list[Region]:
    """The half that is computed, and the parts of the rest: along the other axes 0 is its own mirror image.

    X(i, j) = conj(X((M - i) mod M, N - j)) for 2 j > N
    """
    halved = halved_axis(axes)
    if halved.half:
        return [Region((), {}, mirrored=False)]
    last = Affine.name(halved.output)
    beyond = last.scale(2) - halved.length - 1
    found = [Region((-beyond - 1,), {}, mirrored=False)]
    others = [axis for axis in axes if axis is not halved]
    for at_zero in product((True, False), repeat=len(others)):
        forms, indices = [beyond], {halved.output: halved.length - last}
        for axis, zero in zip(others, at_zero, strict=True):
            output = Affine.name(axis.output)
            forms.append(-output if zero else output - 1)
            indices |= {} if zero else {axis.output: axis.length - output}
        found.append(Region(tuple(forms), indices, mirrored=True))
    return found
