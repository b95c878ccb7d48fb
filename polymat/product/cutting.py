"""Rows, columns and depth of blocks of products at some sizes, by the formulas of `polymat.product.cuts`.

What only the call tells is not looked at: whether neighbouring segments are packed together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import ceil

from polymat.product.asked import FACTS, NUMBERS, joinable
from polymat.product.blocks import Blocks
from polymat.product.contraction import Contraction
from polymat.product.cuts import broad, deepest, ordered, part, passed_depth, passing, tall
from polymat.product.formula import Values
from polymat.product.packs import joined
from polymat.product.question import machine_values

Cut = tuple[int, int, int]  # rows, columns and depth
_GIVEN = {each.name for each in (*FACTS, *NUMBERS, joinable)}
# A product of two matrices, of which B is packed from elements that are neighbours along the depth.
_MATRICES = dict.fromkeys(("row_segments", "column_segments", "depth_segments"), 1.0) | dict.fromkeys(
    ("place", "past", "handed", "in_order"), 0.0
)


def cut_by(values: Values, found: Contraction, blocks: Blocks) -> tuple[Cut, bool]:
    """The blocks of a product that is asked about by these values, and whether its result is in order.

    in order: written as it lies in memory, of a left operand that is packed as a whole before.
    """
    asked = _asked(values, blocks) | {"follows": float(found.result[-2:] == (found.rows, found.columns))}
    if continues_rows(found) or joined.at(asked):  # these are one segment then
        asked |= {"m": asked["m"] * asked["row_segments"], "row_segments": 1.0}
    return _blocked(asked, blocks), bool(ordered.at(asked))


def cut_of(blocks: Blocks, m: float, n: float, k: float, *, segments: float = 1) -> Cut:
    """The blocks of a product of m x k by k x n elements, both packed.

    segments: how many depths of k follow each other.
    """
    asked = _asked(_MATRICES | {"m": m, "n": n, "k": k, "depth_segments": segments, "down": 1.0}, blocks)
    return _blocked(asked, blocks)


def cut_past(values: Values, blocks: Blocks) -> Cut:
    """The blocks of a product whose rows pass parts of a packed right operand."""
    asked = _asked(values, blocks)
    rows, columns = passing.at(asked) * blocks.rows, part.at(asked) * blocks.columns
    return _within(asked, rows, columns, passed_depth.at(asked))


def _asked(values: Values, blocks: Blocks) -> Values:
    """What is asked, without the names that other formulas were given."""
    given = {name: value for name, value in values.items() if name in _GIVEN}
    return (
        given
        | machine_values(blocks)
        | {
            "mc": blocks.mc,
            "gathers": 0.0,
            "follows": 0.0,
        }
    )


def _blocked(asked: Values, blocks: Blocks) -> Cut:
    width = blocks.columns if asked["column_segments"] == 1 else _panel_width(asked["n"], blocks)
    return _within(asked, tall.at(asked) * blocks.rows, broad.at(asked) * width, deepest.at(asked))


def _panel_width(columns: float, blocks: Blocks) -> int:
    """Columns of a panel of a segment, at most: its vectors are shared out evenly."""
    vectors = ceil(columns / blocks.lanes)
    return ceil(vectors / ceil(vectors / blocks.vectors)) * blocks.lanes


def _within(asked: Values, rows: float, columns: float, depth: float) -> Cut:
    """Blocks no larger than the product."""
    height, width = asked["m"] * asked["row_segments"], asked["n"] * asked["column_segments"]
    return int(min(rows, max(1, height))), int(min(columns, max(1, width))), int(depth)


def is_joinable(found: Contraction, *, share: Collection[str], handed: bool) -> bool:
    """Whether segments of rows follow each other in the result, and in the array that is added to it.

    share: the dimensions of which a thread has a part.  handed: whether parts of the result are handed on.
    """
    rows, start = found.all_rows, found.start
    at = found.result.index(rows[0])
    follow = found.result[at : at + len(rows)] == rows and not any(dim in share for dim in rows[1:])
    lies = start is None or [[*form.names()] for form in start.factor.indices] == [[d] for d in found.result]
    return len(rows) > 1 and follow and lies and found.triangle is None and not handed


def continues_rows(found: Contraction) -> bool:
    """Whether all dimensions of rows continue each other in the left operand and in the result."""
    rows = tuple(dim for dim in found.result if dim in found.all_rows)
    lie = [tuple(form.names()) for form in found.left.indices]

    def is_in(places: Sequence[object], line: Sequence[object]) -> bool:
        return any([*places[at : at + len(line)]] == [*line] for at in range(len(places)))

    return rows[-1] == found.rows and is_in(found.result, rows) and is_in(lie, [(dim,) for dim in rows])
