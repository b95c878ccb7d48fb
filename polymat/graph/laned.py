"""How steps of two dimensions run where several rows are the lanes of vectors, as values."""

from __future__ import annotations

from collections.abc import Mapping

from polymat.dataclass import dataclass
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, Load
from polymat.lang.types import ScalarType

Conditions = tuple[tuple[tuple[Affine, bool], ...], ...]
"""Any of these, each all of some forms that are at least 0, or equal to 0."""


@dataclass(frozen=True, slots=True)
class LaidElement:
    """An element of an array that all steps share, by indices that are forms of row, column and term."""

    array: str
    indices: tuple[Affine, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RowSum:
    """The sum of a point: over the terms from the largest of `lows` to the one before its column.

    expr: what is added.  own: the loads that read the point of the same row in the
    column that the term is; elements: what all loads read.
    """

    expr: Expr
    lows: tuple[Affine, ...]
    own: frozenset[Load]
    elements: Mapping[Load, LaidElement]


@dataclass(frozen=True, slots=True, eq=False)
class RowCase:
    """A case of what a point is: where it holds, its value, and what it reads."""

    where: Conditions
    expr: Expr
    elements: Mapping[Load, LaidElement]


@dataclass(frozen=True, slots=True, eq=False)
class RowCircle:
    """Points in rows, each of which needs those before it in its row, and finished rows.

    row, column, term: the names in all forms; the row is the outer step.  first: the first column of a row.
    behind: how far the last one is behind the column of the row's number.  lows: where the columns begin at
    which `main` holds, up to the one before the row's number, those before them being 0.
    cases: all of them.  arrays: the place of each among what a step is given, with its extents.
    made: what is written.
    """

    row: str
    column: str
    term: str
    dtype: ScalarType
    first: Affine
    behind: int
    sum: RowSum
    main: RowCase
    lows: tuple[Affine, ...]
    cases: tuple[RowCase, ...]
    arrays: Mapping[str, tuple[int, tuple[Affine, ...]]]
    made: LaidElement


@dataclass(frozen=True, slots=True, eq=False)
class LanedRows:
    """Steps of rows, so many of which are the lanes of vectors, in the columns before all of these rows.

    vectors: how many of so many lanes.  columns: how many are summed up side by side.
    """

    circle: RowCircle
    lanes: int
    vectors: int
    columns: int

    @property
    def rows(self) -> int:
        """The rows that go together."""
        return self.vectors * self.lanes

    def __str__(self) -> str:
        """In words, as `explain()` has it."""
        return f"{self.rows} rows at a time are the lanes of vectors, {self.columns} columns side by side"
