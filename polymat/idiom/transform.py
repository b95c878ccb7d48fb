"""Discrete Fourier transforms and filters as values: what their matchers find."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from polymat.dataclass import dataclass
from polymat.graph.monomials import Factor
from polymat.graph.product import Product
from polymat.graph.term import Term
from polymat.idiom.call import Axis
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr

Kind: TypeAlias = Literal["complex", "real", "cosine", "sine", "hermitian"]


@dataclass(frozen=True, slots=True)
class FourierAxis:
    """One transformed dimension: input index k of 0 .. length - 1, output index j.

    half: the outputs are 0 .. length // 2 alone, as a transform of real values has them; else all.  Of a
    hermitian transform it is the inputs.
    mirrored: it runs against the transform's sign, so that the output at j is that of a transform at -j.
    """

    output: str
    input: str
    length: Affine
    half: bool = False
    mirrored: bool = False

    def __str__(self) -> str:
        return f"{self.input} -> {'-' if self.mirrored else ''}{self.output}"


@dataclass(frozen=True, slots=True, eq=False)
class Transform:
    """result(j..) += scale * sum over k.. of source(k..) exp(sign 2 pi i (j k / length + ..)).

    kind: "complex" and "real" say what the source is, the result is complex; "cosine" is the real part of the
    transform of real values, and "sine" the imaginary part (with the sign), both real; "hermitian" goes from
    half a spectrum, whose other half are its conjugates, to real values.
    sign: -1 forward, +1 inverse without its 1 / length, which is part of the scale.
    number, scale: the two factors of the scale: a number, and an expression, None for 1.
    source: its element at the indices of axes and batch; the result's is at the product's own.
    batch: further result dimensions, over which transforms repeat.
    start: terms that are added once; () is zero.
    """

    product: Product
    kind: Kind
    sign: Literal[-1, 1]
    axes: tuple[FourierAxis, ...]
    source: Factor
    number: complex
    scale: Expr | None
    batch: tuple[Axis, ...]
    start: tuple[Term, ...] = ()

    @property
    def parts(self) -> bool:
        """Whether it is computed in parts where it is large, which threads share."""
        return self.kind in ("complex", "real") or (self.kind == "hermitian" and len(self.axes) == 1)

    def __str__(self) -> str:
        axes = ", ".join(map(str, self.axes))
        direction = "forward" if self.sign < 0 else "inverse"
        batch = f" for each {', '.join(map(str, self.batch))}" if self.batch else ""
        return f"{direction} {self.kind} Fourier transform of {self.source} ({axes}){batch}"


@dataclass(frozen=True, slots=True)
class FilterAxis:
    """One filtered dimension: output index d, tap index k, and how the signal's index moves with them.

    step: the signal's step for one of d (decimation by it).
    correlates: whether signal and taps are read in the same direction; else it is a convolution.
    up, shift: of a signal with `up` - 1 zeros after each sample, of which every `step`th result is kept from
    that at `shift` on: with p = step d + shift, the signal is read at p // up - k, the taps at p % up + up k.
    """

    output: str
    tap: str
    step: int
    correlates: bool
    up: int = 1
    shift: Affine = field(default_factory=Affine)


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """result(d..) += scale * sum over k.. of taps(k..) signal(step d +- k ..).

    edges: "valid": every index read exists.  "zero": the sum leaves out what lies outside the signal.
    taps, signal: their elements at the indices of axes and batch.
    ranges: of the outputs and of the taps, one pair an axis.
    batch: further result dimensions, over which the filter repeats.
    start: terms that are added once; () is zero.
    """

    product: Product
    axes: tuple[FilterAxis, ...]
    taps: Factor
    signal: Factor
    edges: Literal["valid", "zero"]
    ranges: tuple[tuple[Axis, Axis], ...]
    scale: Expr | None
    batch: tuple[Axis, ...]
    start: tuple[Term, ...] = ()

    def __str__(self) -> str:
        what = "correlation" if all(axis.correlates for axis in self.axes) else "convolution"
        steps = "".join(f", {axis.up} times the samples" for axis in self.axes if axis.up > 1)
        steps += "".join(f", every {axis.step}th" for axis in self.axes if axis.step > 1)
        batch = f" for each {', '.join(map(str, self.batch))}" if self.batch else ""
        return f"{what} of {self.signal} with {self.taps} ({self.edges}{steps}){batch}"
