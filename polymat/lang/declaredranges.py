"""What `values=` declares of the elements of an input: the range that they lie in."""

from __future__ import annotations

from typing import Any

from polymat.errors import DtypeError, LangError, Location
from polymat.lang.affine import Limits
from polymat.lang.indices import as_affine
from polymat.lang.types import ScalarType
from polymat.lang.valueranges import Ranges


def declared_ranges(label: str, dtype: ScalarType, values: Any, at: Location | None) -> Ranges:
    """The range that is declared of the elements of an input, by a pair of forms of sizes."""
    if dtype.kind not in "iu":
        raise DtypeError(
            f"values= declares what integers lie between, and {label} is {dtype}",
            at=at,
            hint="leave it out: only what may be an index needs it",
        )
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise LangError(f"values= of {label} is a pair, got {values!r:.60}", at=at, hint="values=(0, N - 1)")
    low, high = (as_affine(each, at) for each in values)
    return (Limits((low,), (high,)),)
