"""A roofline as SVG, after Williams, Waterman and Patterson: a machine's limits, and where a group is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import atan2, ceil, cos, degrees, floor, inf, log2, log10, radians

from polymat.dataclass import dataclass
from polymat.page.figuretext import rate_text
from polymat.page.markup import element, number, text

WIDTH, HEIGHT = 340.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 44.0, 12.0, 14.0, 40.0
NAMED = 12.5  # pixels across a slope that its name takes
ABOVE, UNDER = -5.0, 13.0  # pixels below a slope: the name above it, and the one under it
MANY_DECADES = 2.5  # upwards, from which on powers of ten alone have figures
LEAST, MOST = -4, 8  # the operations a byte that are shown in any case, as powers of two


@dataclass(frozen=True, slots=True)
class Roof:
    """The bytes a second of a level of memory; binding: whether the group's arrays live there."""

    level: str
    bandwidth: float
    binding: bool


@dataclass(frozen=True, slots=True)
class Point:
    """A group's operations a byte and operations a second, and whether that is measured."""

    intensity: float
    rate: float
    measured: bool


@dataclass(frozen=True, slots=True)
class _Axes:
    """Powers of two at the ends of both axes."""

    left: int
    right: int
    low: int
    high: int

    def x(self, power: float) -> float:
        return LEFT + (power - self.left) / (self.right - self.left) * (WIDTH - LEFT - RIGHT)

    def y(self, power: float) -> float:
        return HEIGHT - BOTTOM - (power - self.low) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)


def roofline(peak: float, roofs: Sequence[Roof], points: Sequence[Point]) -> str:
    """The roofs of a machine and the points of a group.  peak: operations a second."""
    axes = _axes(peak, roofs, points)
    parts = [*_grid(axes), *_ceilings(peak, roofs, axes)]
    for point in points:
        x, y = axes.x(log2(point.intensity)), axes.y(log2(point.rate))
        words = f"{'measured' if point.measured else 'predicted'}: {rate_text(point.rate, 'FLOP/s')}"
        words += f" at {point.intensity:.3g} operations a byte"
        kind = "measured" if point.measured else "predicted"
        parts.append(element("circle", text("title", words), cx=number(x), cy=number(y), r=5, class_=kind))
    return element(
        "svg",
        text("title", "roofline") + "".join(parts),
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        role="img",
        class_="roofline",
    )


def _axes(peak: float, roofs: Sequence[Roof], points: Sequence[Point]) -> _Axes:
    intensities = [log2(point.intensity) for point in points]
    left, right = floor(min([LEAST, *intensities])), ceil(max([MOST, *intensities]))
    slowest = min(roof.bandwidth for roof in roofs) * 2.0**left
    low = floor(log2(min([slowest, *(point.rate for point in points)])))
    return _Axes(left, right, low, ceil(log2(max([peak, *(point.rate for point in points)]))) + 1)


def _grid(axes: _Axes) -> Iterator[str]:
    """The frame with its figures."""
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    yield element("path", d=f"M{LEFT} {TOP}V{bottom}H{right}", class_="axis")
    step = max(1, (axes.right - axes.left) // 5)
    for power in range(axes.left, axes.right + 1, step):
        label = f"{2**power}" if power >= 0 else f"1/{2**-power}"
        place = {"x": number(axes.x(power)), "y": number(bottom + 14), "text_anchor": "middle"}
        yield text("text", label, class_="small", **place)
    for rate in _rates(axes):
        place = {"x": number(LEFT - 4), "y": number(axes.y(log2(rate)) + 4), "text_anchor": "end"}
        yield text("text", rate_text(rate, "").replace(" ", ""), class_="small", **place)
    middle = {"x": number((LEFT + right) / 2), "y": number(HEIGHT - 8), "text_anchor": "middle"}
    yield text("text", "operations a byte; upwards: operations a second", class_="small", **middle)


def _tilt(axes: _Axes) -> float:
    """Degrees of a slope, downwards."""
    return degrees(atan2(axes.y(1) - axes.y(0), axes.x(1) - axes.x(0)))


def _rates(axes: _Axes) -> Iterator[float]:
    """Powers of ten between the ends, and what is between these where there are few."""
    ends = axes.low * log10(2.0), axes.high * log10(2.0)
    steps = (1.0, 2.0, 5.0) if ends[1] - ends[0] < MANY_DECADES else (1.0,)
    for power in range(floor(ends[0]), ceil(ends[1]) + 1):
        yield from (step * 10.0**power for step in steps if axes.low <= log2(step * 10.0**power) <= axes.high)


def _sides(roofs: Sequence[Roof], axes: _Axes) -> dict[str, float]:
    """How far below its slope the name of a level stands: above it, or else under it, where there is room."""
    across = cos(radians(_tilt(axes))) * (axes.y(0) - axes.y(1))  # pixels between slopes, one twice another
    falling = sorted(roofs, key=lambda roof: roof.bandwidth, reverse=True)
    powers = [log2(roof.bandwidth) for roof in falling]
    found, free = {}, inf  # pixels above a slope that no name has
    for roof, power, slower in zip(falling, powers, [*powers[1:], axes.low - axes.left], strict=True):
        room = (power - slower) * across
        if free >= NAMED:
            found[roof.level] = ABOVE
        elif room >= 2 * NAMED:
            found[roof.level], room = UNDER, room - NAMED
        free = room
    return found


def _ceilings(peak: float, roofs: Sequence[Roof], axes: _Axes) -> Iterator[str]:
    """A slope for each level of memory up to the peak, the binding one strong."""
    top, right = axes.y(log2(peak)), axes.x(axes.right)
    yield element("path", d=f"M{number(axes.x(axes.left))} {number(top)}H{number(right)}", class_="roof")
    sides = _sides(roofs, axes)
    for roof in roofs:
        start = log2(roof.bandwidth) + axes.left
        ridge = min(log2(peak / roof.bandwidth), float(axes.right))
        end = f"{number(axes.x(ridge))} {number(axes.y(ridge + log2(roof.bandwidth)))}"
        line = f"M{number(axes.x(axes.left))} {number(axes.y(start))}L{end}"
        if roof.binding:
            line += f"H{number(right)}"
        words = f"{roof.level}: {rate_text(roof.bandwidth, 'B/s')}"
        yield element("path", text("title", words), d=line, class_="roof binding" if roof.binding else "roof")
        if start < log2(peak) and roof.level in sides:
            x, y = axes.x(axes.left + 0.35), axes.y(start + 0.35) + sides[roof.level]
            tilt = {"transform": f"rotate({number(_tilt(axes))} {number(x)} {number(y)})"}
            yield text("text", roof.level, x=number(x), y=number(y), class_="small", **tilt)
    place = {"x": number(right), "y": number(top - 4), "text_anchor": "end"}
    yield text("text", f"peak {rate_text(peak, 'FLOP/s')}", class_="small", **place)
