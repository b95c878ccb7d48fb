"""The loops of a product that threads may share: the usual one, and the columns where threads would idle."""

from __future__ import annotations

from collections.abc import Mapping

from polymat.product.contraction import Contraction
from polymat.product.shares import LEAST_GRID
from polymat.product.wholeproducts import shares_columns


def shared_dims(found: Contraction, estimates: Mapping[str, int], threads: int) -> tuple[str, ...]:
    """The dimensions that threads may share, the usual one first.

    Loops around products share nothing.  Threads that share rows pack the right operand each, and of a few
    rows one has more than another: of images with 17 rows two have 9 and 8, and both copy all weights, where
    of 512 channels each has half of the results and of the copies.  Several that share rows of images and
    channels in a grid find as many of both.
    """
    usual = _usual(found, estimates, threads)
    if threads == 1 or found.triangle is not None or usual in found.outer:
        return (usual,)
    if usual in found.more_rows:
        return (usual, found.columns)
    return (usual, *found.more_rows) if threads >= LEAST_GRID else (usual,)


def _usual(found: Contraction, estimates: Mapping[str, int], threads: int) -> str:
    """Loops around products first, which share nothing; then the longer side of the result.

    Rows rather than columns where both are long: the right operand is packed by every thread, but is read in
    order by each.
    """
    for dim in (*found.outer, *found.more_rows, *found.more_columns):
        if found.length(dim, estimates) >= 4 * threads:
            return dim
    rows, columns = (found.length(d, estimates) for d in (found.rows, found.columns))
    return found.columns if shares_columns(rows, columns) else found.rows
