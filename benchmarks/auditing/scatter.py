"""A scatter plot of two positive quantities as SVG, with logarithmic axes and the diagonal.

Series are told apart by shape and shade alone, so that a picture can be printed in black.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

SIDE, MARGIN = 560, 70  # of the square of the axes, and around it
_UNITS = {0: "s", -3: "ms", -6: "µs", -9: "ns"}
SHAPES = {"dot": "M0 -2.5a2.5 2.5 0 1 0 .01 0z", "cross": "M-2.5 -2.5L2.5 2.5M-2.5 2.5L2.5 -2.5"}


@dataclass(frozen=True, slots=True)
class Points:
    """Points of one shape and shade: pairs of what is on the horizontal and the vertical axis, in seconds."""

    name: str
    shape: str
    shade: str
    pairs: Sequence[tuple[float, float]]


def scatter(title: str, note: str, axes: tuple[str, str], series: Sequence[Points], band: float) -> str:
    """The text of a picture; note: a line below the title.

    band: the factor from the diagonal within which the plane is shaded.
    """
    shown = [replace(each, pairs=[*filter(_is_shown, each.pairs)]) for each in series]
    values = [value for each in shown for pair in each.pairs for value in pair] or [1.0]
    square = _Square(math.floor(math.log10(min(values))), math.floor(math.log10(max(values))) + 1)
    side = SIDE + 2 * MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" font-family="sans-serif"'
        ' font-size="12">',
        f'<rect width="{side}" height="{side}" fill="white"/>',
        f'<text x="{side / 2}" y="24" text-anchor="middle" font-size="15">{_escaped(title)}</text>',
        f'<text x="{side / 2}" y="44" text-anchor="middle" font-size="11">{_escaped(note)}</text>',
        "<defs>",
        *(f'<path id="{name}" d="{path}"/>' for name, path in SHAPES.items()),
        "</defs>",
        *square.band(band),
        *square.grid(),
        f'<text x="{side / 2}" y="{side - 14}" text-anchor="middle">{_escaped(axes[0])}</text>',
        f'<text transform="translate(16 {side / 2}) rotate(-90)" text-anchor="middle">'
        f"{_escaped(axes[1])}</text>",
    ]
    for number, each in enumerate(shown):
        lines += square.points(each)
        at = MARGIN + 16 * number + 16
        lines += _drawn(each, [(MARGIN + 12.0, at - 4.0)])
        lines.append(f'<text x="{MARGIN + 20}" y="{at}">{_escaped(each.name)}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _is_shown(pair: tuple[float, float]) -> bool:
    return all(0.0 < value < math.inf for value in pair)


@dataclass(frozen=True, slots=True)
class _Square:
    """The plane: powers of ten of both axes, first and last."""

    first: int
    last: int

    def at(self, value: float) -> float:
        """How far along an axis a value is, in the units of the picture."""
        return SIDE * (math.log10(value) - self.first) / (self.last - self.first)

    def grid(self) -> Iterator[str]:
        """A line and a number for every power of ten, and the diagonal."""
        near, far = MARGIN, MARGIN + SIDE
        for power in range(self.first, self.last + 1):
            at, text = self.at(10.0**power), seconds_text(power)
            x, y = near + at, far - at
            yield f'<path d="M{x:.1f} {near}V{far}M{near} {y:.1f}H{far}" stroke="#ddd"/>'
            yield f'<text x="{x:.1f}" y="{far + 16}" text-anchor="middle">{text}</text>'
            yield f'<text x="{near - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
        yield f'<path d="M{near} {far}L{far} {near}" stroke="#888"/>'

    def band(self, factor: float) -> Iterator[str]:
        """What is no further from the diagonal than a factor."""
        off = min(SIDE * math.log10(factor) / (self.last - self.first), SIDE)
        near, far = MARGIN, MARGIN + SIDE
        yield (
            f'<path d="M{near} {far}V{far - off:.1f}L{far - off:.1f} {near}H{far}V{near + off:.1f}'
            f'L{near + off:.1f} {far}Z" fill="#f0f0f0"/>'
        )

    def points(self, series: Points) -> Iterator[str]:
        """A small mark for each point."""
        return _drawn(series, [(MARGIN + self.at(x), MARGIN + SIDE - self.at(y)) for x, y in series.pairs])


def _drawn(series: Points, places: Sequence[tuple[float, float]]) -> Iterator[str]:
    """The marks of a series."""
    yield f'<g fill="{series.shade}" stroke="{series.shade}" opacity="0.7">'
    yield from (f'<use href="#{series.shape}" x="{x:.1f}" y="{y:.1f}"/>' for x, y in places)
    yield "</g>"


def seconds_text(power: int) -> str:
    """A power of ten seconds, with its unit."""
    unit = max(min(power // 3 * 3, 0), -9)
    return f"{10 ** (power - unit)} {_UNITS[unit]}" if power >= unit else f"1e{power} s"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
