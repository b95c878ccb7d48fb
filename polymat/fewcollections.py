"""Compilations look for garbage seldom: nearly all that they make lives until their end.

Python looks at the youngest objects whenever some hundred more have been made than have gone,
a hundred times in a long compilation, and at all of its trees again and again: a tenth of its time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

YOUNGEST = 50_000  # objects that are looked at together: a few MiB of small ones

_lock = Lock()
_within = 0  # compilations that run
_before = 0  # what the program itself has for `YOUNGEST`


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Let more objects be made between two looks for garbage, unless the program looks as seldom or never.

    The last of several threads restores what the program had, unless it has changed that meanwhile.
    """
    global _within, _before
    with _lock:
        first, *others = gc.get_threshold()
        if _within == 0 or first != YOUNGEST:
            _before = first
        _within += 1
        if 0 < first < YOUNGEST:
            gc.set_threshold(YOUNGEST, *others)
    try:
        yield
    finally:
        with _lock:
            _within -= 1
            first, *others = gc.get_threshold()
            if _within == 0 and first == YOUNGEST:
                gc.set_threshold(_before, *others)
