"""Changes planted in the package while it runs: constants, prices and conditions that say something else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any
from unittest.mock import patch

from polymat.product.formula import Constant


@dataclass(frozen=True, slots=True)
class Planted:
    """A change: the name of a module of the package, a name in it, and what that is changed to.

    check: raises an AssertionError where it notices.
    """

    module: str
    name: str
    value: Any
    check: Callable[[], None]

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


def package() -> list[ModuleType]:
    """The modules of the package that are imported."""
    return [module for name, module in sys.modules.items() if name.split(".")[0] == "polymat"]


def forget() -> None:
    """Empty the cache of every function in the package: it was filled before a change, or with it."""
    for module in package():
        for thing in vars(module).values():
            if hasattr(thing, "cache_clear"):
                thing.cache_clear()


@contextmanager
def planted(change: Planted) -> Iterator[None]:
    """Make a change wherever its name was imported, and take it back."""
    owner = import_module(f"polymat.{change.module}")
    before = getattr(owner, change.name)
    if isinstance(before, Constant):
        with _revalued(before, change.value):
            yield
        return
    places = [m for m in package() if m is owner or vars(m).get(change.name) is before]
    with ExitStack() as stack:
        for place in places:
            stack.enter_context(patch.object(place, change.name, change.value))
        forget()
        try:
            yield
        finally:
            forget()


@contextmanager
def _revalued(constant: Constant, value: float) -> Iterator[None]:
    """Give a constant of formulas another value, wherever these are, and take it back."""
    before = constant.value
    object.__setattr__(constant, "value", value)
    forget()
    try:
        yield
    finally:
        object.__setattr__(constant, "value", before)
        forget()
