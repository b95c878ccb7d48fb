"""isl's sets and maps of texts, each read once: reading one takes isl longer than most questions about it."""

from __future__ import annotations

from functools import lru_cache

import islpy as isl


# Sets do not change, and the ways to compute a pipeline ask for the same boxes again and again.
@lru_cache(maxsize=2048)
def set_of(text: str) -> isl.Set:
    """The set that isl reads from a text."""
    return isl.Set(text)


# Maps do not change either, and texts of accesses and schedules come again in every compilation.
@lru_cache(maxsize=2048)
def map_of(text: str) -> isl.Map:
    """The map that isl reads from a text."""
    return isl.Map(text)
