"""A bound on the work that isl may spend on one question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl


@contextmanager
def limited(context: isl.Context, operations: int) -> Iterator[None]:
    """Inside, isl gives up with an `isl.Error` after so many of its own operations."""
    context.reset_operations()
    context.set_max_operations(operations)
    try:
        yield
    finally:
        context.set_max_operations(0)
        context.reset_operations()
