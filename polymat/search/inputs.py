"""Arguments of a call of stated sizes, of random numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from polymat.bisect import plain_signature
from polymat.errors import ArgumentError
from polymat.graph.pipeline import Pipeline
from polymat.lang.affine import Affine
from polymat.lang.types import BFloat16, ScalarType, to_bfloat16
from polymat.runtime.diagnose import bind

SMALL = ((11, 13, 17, 7), (37, 41, 43, 31), (131, 127, 137, 139))  # sizes that the interpreter is quick at
MOST_INTEGER = 8  # of random integers
Array = npt.NDArray[Any]


def call_arguments(
    built: Pipeline, name: str, given: Mapping[str, Any], sizes: Mapping[str, int]
) -> tuple[dict[str, Any], dict[str, int]]:
    """All arguments of a call, checked, and its sizes; sizes: known ones, for those that no array tells."""
    signature = plain_signature(built, name)
    named = [size.name for size in signature.sizes if size.array < 0]
    given = {**{name: sizes[name] for name in named if name in sizes}, **given}
    return given, bind(signature, (), given).sizes


def random_arguments(
    built: Pipeline, sizes: Mapping[str, int], *, turned: Collection[str] = (), seed: int = 0
) -> dict[str, Any]:
    """Arrays and scalars of random numbers by name; turned: those that lie column by column.

    An `ArgumentError` names a size that is not given.
    """
    for size in built.sizes:
        if size.name not in sizes:
            raise ArgumentError(
                f"tune() needs the size {size.name}",
                hint=f"sizes={{{size.name}: 500}}, or arrays= with the arguments of a call",
            )
    rng = np.random.default_rng(seed)
    given: dict[str, Any] = {}
    for array in built.inputs:
        shape = tuple(form.evaluate(sizes) for form in built.as_called(array.name, array.extents))
        low, high = (int(form.evaluate(sizes)) for form in array.values or (Affine((), 1), Affine()))
        made = random_array(array.dtype, shape, rng)
        if low <= high:  # an array whose values are declared
            made = rng.integers(low, high, shape, endpoint=True).astype(array.dtype.dtype)
            made = np.sort(made) if array.sorted else made
        given[array.name] = np.asfortranarray(made) if array.name in turned else made
    for scalar in built.scalars:
        given[scalar.name] = random_array(scalar.dtype, (), rng).item()
    return given


def small_sizes(sizes: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Sizes no larger than these, odd and different ones, that may meet what a program requires of them."""
    for row in SMALL:
        yield {name: min(size, row[k % len(row)]) for k, (name, size) in enumerate(sizes.items())}


def random_array(dtype: ScalarType, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Numbers from 0 to 1, or small integers."""
    if dtype.kind == "c":
        return np.asarray(rng.random(shape) + 1j * rng.random(shape)).astype(dtype.dtype)
    if dtype.kind == "f":
        values = np.asarray(rng.random(shape))
        return np.asarray(to_bfloat16(values)) if dtype == BFloat16 else values.astype(dtype.dtype)
    return np.asarray(rng.integers(0, 2 if dtype.kind == "b" else MOST_INTEGER, shape)).astype(dtype.dtype)
