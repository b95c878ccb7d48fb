"""Definitions as bytes, the same in every process for what is written in the same way."""

from __future__ import annotations

import io
import pickle
from typing import Any

from polymat.lang.affine import Computed
from polymat.lang.function import Function


def contents(value: object) -> tuple[bytes, list[Function]]:
    """All that a value consists of, with names and the lines where they stand, and the functions in it.

    What cannot be written so, because it is nested too deeply say, raises what Python's `pickle` raises.
    """
    stream = io.BytesIO()
    writer = _Writer(stream)
    writer.dump(value)
    return stream.getvalue(), writer.functions


class _Writer(pickle.Pickler):
    """Leaves out what is no part of a definition: addresses, and whether something was compiled from it."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, protocol=pickle.HIGHEST_PROTOCOL)
        self.functions: list[Function] = []

    def _taken_apart(self, value: Any) -> Any:
        if isinstance(value, Computed):
            return Computed, (value.value, (), value.place, value.ranges, value.inside)
        if not isinstance(value, Function):
            return NotImplemented
        self.functions.append(value)
        parts = value.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
        assert isinstance(parts, tuple)
        make, arguments, state, *rest = parts
        return make, arguments, {name: part for name, part in state.items() if name != "_compiled"}, *rest

    reducer_override = _taken_apart  # as Python calls it
