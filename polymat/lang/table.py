"""Tables: numbers that a pipeline brings along, the taps of a filter say."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from polymat.dataclass import dataclass
from polymat.errors import counted
from polymat.lang.expr import Expr
from polymat.lang.types import ScalarType, type_of_dtype


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Some numbers of one type; tables with the same bytes are the same."""

    values: bytes
    dtype: ScalarType

    @staticmethod
    def of(values: npt.NDArray[Any]) -> Table:
        """The elements of an array of one dimension."""
        return Table(np.ascontiguousarray(values).tobytes(), type_of_dtype(values.dtype))

    @property
    def array(self) -> npt.NDArray[Any]:
        """The numbers."""
        return np.frombuffer(self.values, dtype=self.dtype.dtype)

    @property
    def digest(self) -> str:
        """A short text that tells tables apart."""
        return hashlib.sha256(f"{self.dtype} ".encode() + self.values).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"Table({self.dtype}, {counted(len(self.array), 'value')}, {self.digest})"


@dataclass(frozen=True, slots=True, repr=False)
class Lookup(Expr):
    """An element of a table; who makes one sees to it that the index exists."""

    table: Table
    index: Expr
    dtype: ScalarType
