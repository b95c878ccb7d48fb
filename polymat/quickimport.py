"""Imports in the middle of a program, as quick as they can be."""

from __future__ import annotations

import gc
import sys
import time
from importlib import import_module
from types import ModuleType

BEGUN = time.time_ns()  # when this process imported the package


def imported_quickly(module: str) -> ModuleType:
    """Import without looking for garbage: what modules make stays, and would be looked at many times.

    It is old from then on, so that the first compilation does not look at it either; unless the user froze
    something, which would thaw.  What is imported already stays as it is, and so does other garbage.
    """
    if module in sys.modules:
        return import_module(module)  # waits where another thread still imports it
    looks = gc.isenabled()
    gc.disable()
    try:
        return import_module(module)
    finally:
        if looks:
            gc.enable()
        if gc.get_freeze_count() == 0:
            gc.freeze()
            gc.unfreeze()
