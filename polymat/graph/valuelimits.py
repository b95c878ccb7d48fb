"""Integer inputs whose elements were declared to lie between limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polymat.errors import ArgumentError
from polymat.graph.stage import InputArray

# As the library says it, `polymat/codegen/kernels/outside.h`.
UNSORTED = "{array}[{at}] is {value}, less than {before} before it, and its values are declared as sorted"
OUTSIDE = "{array}[{indices}] is {value}, and its values are declared as {low}..{high}"


def check_values(array: InputArray, given: np.ndarray[Any, Any], params: Mapping[str, Any]) -> None:
    """Raise an `ArgumentError` that names the first element outside of the limits, or out of order."""
    if array.values is None:
        return
    low, high = (int(form.evaluate(params)) for form in array.values)
    # Python's integers, where one of NumPy's types does not hold both: unsigned ones and limits below 0.
    limits = [min(max(each, -(2**63)), 2**63 - 1) for each in (low, high)]
    bad = np.less(given, limits[0]) | np.greater(given, limits[1])
    if bad.any():
        position = tuple(int(k) for k in np.argwhere(bad)[0])
        indices = ", ".join(map(str, position[::-1] if array.turned else position))
        value = int(given[position])
        raise ArgumentError(
            OUTSIDE.format(array=array.name, indices=indices, value=value, low=low, high=high)
        )
    falls = np.flatnonzero(given[1:] < given[:-1]) if array.sorted else given[:0]
    if falls.size:
        at = int(falls[0]) + 1
        before, value = (int(each) for each in given[at - 1 : at + 1])
        raise ArgumentError(UNSORTED.format(array=array.name, at=at, value=value, before=before))
