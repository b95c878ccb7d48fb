"""Places for boxes and the arrows between them: rows from sources to results, and few crossings.

Boxes stand in rows by their longest way from a source (Sugiyama's method): long arrows get a place in every
row that they pass, rows are ordered by the mean place of what is above and below, and rows that are too wide
are broken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from polymat.dataclass import dataclass

SWEEPS = 6  # over all rows, down and up by turns
PASSING = 10.0  # the width of an arrow that passes a row
GAP, ROW_GAP = 16.0, 34.0


@dataclass(slots=True)
class Box:
    """A box to be placed, or a point that an arrow passes; x, y: of its left upper corner."""

    name: str
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    row: int = 0
    passing: bool = False

    @property
    def middle(self) -> float:
        """Of its width."""
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class Arranged:
    """Boxes with their places; paths: of each arrow, the points that it passes.  width, height: of it all."""

    boxes: Mapping[str, Box]
    paths: Mapping[tuple[str, str], tuple[tuple[float, float], ...]]
    width: float
    height: float


@dataclass(slots=True)
class _Net:
    """Boxes, with those of passing arrows, and their neighbours in the rows above and below."""

    rows: list[list[Box]]
    above: dict[str, list[Box]] = field(default_factory=dict)
    below: dict[str, list[Box]] = field(default_factory=dict)


def placed(boxes: Sequence[Box], arrows: Iterable[tuple[str, str]], widest: float) -> Arranged:
    """Boxes, sources first, in rows that are not wider than `widest` unless one box is.

    arrows: pairs of names, from a box to one that stands later in the sequence; others are left out.
    """
    order = {box.name: number for number, box in enumerate(boxes)}
    kept = [pair for pair in dict.fromkeys(arrows) if order[pair[0]] < order[pair[1]]]
    net = _passed(boxes, _rows(boxes, kept, widest), kept)
    for sweep in range(SWEEPS):
        _ordered(net, down=sweep % 2 == 0)
    _spread(net)
    named = {box.name: box for box in boxes}
    left = min((box.x for row in net.rows for box in row), default=0.0)
    for box in (box for row in net.rows for box in row):
        box.x -= left
    width = max((box.x + box.width for row in net.rows for box in row), default=0.0)
    height = max((box.y + box.height for box in boxes), default=0.0)
    return Arranged(named, {pair: _path(net, named, pair) for pair in kept}, width, height)


def _rows(boxes: Sequence[Box], arrows: Sequence[tuple[str, str]], widest: float) -> list[list[Box]]:
    """Boxes by their longest way from a source; a source stands right above its first reader."""
    levels = {box.name: 0 for box in boxes}
    sources: dict[str, list[str]] = {box.name: [] for box in boxes}
    readers: dict[str, list[str]] = {box.name: [] for box in boxes}
    for source, target in arrows:
        sources[target].append(source)
        readers[source].append(target)
    for box in boxes:
        levels[box.name] = max((levels[source] + 1 for source in sources[box.name]), default=0)
    for box in boxes:
        if not sources[box.name] and readers[box.name]:
            levels[box.name] = min(levels[reader] for reader in readers[box.name]) - 1
    found: list[list[Box]] = []
    for level in sorted({*levels.values()}):
        row: list[Box] = []
        for box in (box for box in boxes if levels[box.name] == level):
            if row and sum(each.width + GAP for each in row) + box.width > widest:
                found.append(row)
                row = []
            row.append(box)
        found.append(row)
    return found


def _passed(boxes: Sequence[Box], rows: list[list[Box]], arrows: Iterable[tuple[str, str]]) -> _Net:
    """The rows with a place in each for the arrows that pass it."""
    for number, row in enumerate(rows):
        for box in row:
            box.row = number
    net, named = _Net(rows), {box.name: box for box in boxes}
    for source, target in arrows:
        before = named[source]
        for number in range(named[source].row + 1, named[target].row):
            point = Box(f"{source}>{target}@{number}", PASSING, 0.0, row=number, passing=True)
            rows[number].append(point)
            _join(net, before, point)
            before = point
        _join(net, before, named[target])
    return net


def _join(net: _Net, upper: Box, lower: Box) -> None:
    net.below.setdefault(upper.name, []).append(lower)
    net.above.setdefault(lower.name, []).append(upper)


def _ordered(net: _Net, *, down: bool) -> None:
    """Order the boxes of every row by the mean place of their neighbours in the row before."""
    for row in net.rows if down else net.rows[::-1]:
        _packed(row)
        beside = net.above if down else net.below
        wanted = {box.name: _mean(beside.get(box.name, ()), box.middle) for box in row}
        row.sort(key=lambda box: wanted[box.name])
        _packed(row)


def _packed(row: Sequence[Box]) -> None:
    """One box beside the other, in the middle of the drawing."""
    x = -sum(box.width + GAP for box in row) / 2
    for box in row:
        box.x = x
        x += box.width + GAP


def _spread(net: _Net) -> None:
    """Move boxes below and above their neighbours as far as there is room, and set the rows' heights."""
    for row in net.rows:
        _packed(row)
    for _ in range(SWEEPS):
        for row in net.rows:
            for box in row:
                near = [*net.above.get(box.name, ()), *net.below.get(box.name, ())]
                box.x = _mean(near, box.middle) - box.width / 2
            _apart(row)
    y = 0.0
    for row in net.rows:
        tallest = max(box.height for box in row)
        for box in row:
            box.y = y if box.passing else y + (tallest - box.height) / 2
            box.height = tallest if box.passing else box.height
        y += tallest + ROW_GAP


def _apart(row: Sequence[Box]) -> None:
    """Keep the order of a row and the gaps in it, and its middle where that was."""
    if not row:
        return
    before = sum(box.middle for box in row)
    for left, right in pairwise(row):
        right.x = max(right.x, left.x + left.width + GAP)
    shift = (before - sum(box.middle for box in row)) / len(row)
    for box in row:
        box.x += shift


def _mean(boxes: Sequence[Box], default: float) -> float:
    return sum(box.middle for box in boxes) / len(boxes) if boxes else default


def _path(net: _Net, named: Mapping[str, Box], arrow: tuple[str, str]) -> tuple[tuple[float, float], ...]:
    """From the lower edge of one box, past the rows between, to the upper edge of another."""
    source, target = (named[name] for name in arrow)
    points = [(source.middle, source.y + source.height)]
    for number in range(source.row + 1, target.row):
        name = f"{source.name}>{target.name}@{number}"
        (point,) = (box for box in net.rows[number] if box.name == name)
        points += [(point.middle, point.y), (point.middle, point.y + point.height)]
    return (*points, (target.middle, target.y))
