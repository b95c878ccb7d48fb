"""How the operands of a product lie in memory: what decides, with its sizes, which of them are copied."""

from __future__ import annotations

from enum import IntFlag
from functools import lru_cache

from polymat.graph.monomials import Factor
from polymat.product.contraction import Contraction


class Access(IntFlag):
    """Facts of a contraction that its generated code prices it by; of two operands, A is the left one.

    ALONG: the depth of A is contiguous.  DIRECT: both operands can be read where they are.
    PASSES: rows of A pass parts of B; PASSES_LARGE: where B is large.  STRIPS: strips of A are then copied.
    SEGMENTS: the depth has several.  WINDOWS: of A, that are read where they are.  FEW: A is read where it is
    beside few columns.  MIRRORED: A is put together from two triangles.  STAYS: B is read where it is beside
    windows.  BESIDE: the same beside a triangle of A or the result, where B is small.  HALF: A is a triangle.
    STARTS: values to add to, or a part of the result, are computed by loops first.  COLUMN: B can be read
    where it is if it has a few columns, since its depth is contiguous.  FEW_ROWS: large, B is read where it
    is beside few rows; FEW_COLUMNS: A beside few columns (`polymat.product.reading`).  NEAR: small, B is
    copied as a whole (`polymat.product.near`).
    """

    ALONG = 1
    DIRECT = 2
    PASSES = 4
    PASSES_LARGE = 8
    STRIPS = 16
    SEGMENTS = 32
    WINDOWS = 64
    FEW = 128
    MIRRORED = 256
    STAYS = 512
    BESIDE = 1024
    HALF = 2048
    STARTS = 4096
    COLUMN = 8192
    FEW_ROWS = 16384
    FEW_COLUMNS = 32768
    NEAR = 65536


# Contractions are compared by identity, and every price of one at other sizes asks the same.
@lru_cache(maxsize=256)
def access_of(found: Contraction) -> Access:
    """How the operands of a contraction lie in memory."""
    along, rowwise = is_contiguous(found.left, found.depth), is_contiguous(found.left, found.rows)
    place = None if found.triangle is None else found.triangle.place
    one, in_order = not found.more_columns and not found.sums, is_contiguous(found.right, found.columns)
    windows = found.windows and along
    flags = {
        Access.ALONG: along,
        Access.DIRECT: one and place is None and in_order,
        Access.PASSES: one and (along or (place is None and rowwise)) and place in (None, "result"),
        Access.PASSES_LARGE: one and place == "left" and not found.more_rows,
        Access.STRIPS: not along or place == "left",
        Access.SEGMENTS: bool(found.sums),
        Access.WINDOWS: windows,
        Access.FEW: place is None and along,
        Access.MIRRORED: place == "left" and found.mirror is not None,
        Access.STAYS: windows and not found.more_columns and in_order,
        Access.BESIDE: one and in_order and place in ("left", "result"),
        Access.HALF: place == "left" and found.mirror is None,
        Access.STARTS: found.starts or found.others,
        Access.COLUMN: one and place is None and is_contiguous(found.right, found.depth),
        Access.FEW_ROWS: not found.sums and place is None and in_order,
        Access.FEW_COLUMNS: one and place is None and rowwise and not along,
        Access.NEAR: one and not found.more_rows and (place == "result" or (place is None and not in_order)),
    }
    return Access(sum(flag for flag, holds in flags.items() if holds))


def is_direct(access: Access, columns: float) -> bool:
    """Whether both operands of a product with so many columns can be read where they are."""
    return Access.DIRECT in access or (Access.COLUMN in access and columns <= 1)


def is_contiguous(factor: Factor, dim: str) -> bool:
    """Whether neighbours along a dimension are neighbours in memory."""
    return (
        bool(factor.indices)
        and factor.indices[-1].coefficient(dim) == 1
        and not any(form.coefficient(dim) for form in factor.indices[:-1])
    )
