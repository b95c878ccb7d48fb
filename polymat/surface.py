"""Where users meet the package: what they call raises errors whose traceback shows their own lines alone.

The text of an error says where and what; frames of the compiler below the user's would only hide it.
`POLYMAT_TRACEBACK=full` keeps them, and an `InternalError`, which is for us, always has them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import update_wrapper
from types import FunctionType, TracebackType
from typing import Any, TypeVar

from polymat._surface import Surface
from polymat.errors import InternalError, PolymatError, is_ours, module_of

_FULL = os.environ.get("POLYMAT_TRACEBACK", "") == "full"
# Special methods that raise nothing of ours and are called often, or that Python finds in another way.
_LEFT = frozenset(("__hash__", "__eq__", "__repr__", "__str__", "__new__", "__init_subclass__"))
_T = TypeVar("_T")


def shorten(error: BaseException) -> None:
    """Leave our own frames out of what is said to a user about a mistake."""
    if not isinstance(error, PolymatError) or isinstance(error, InternalError):
        return
    error.__traceback__ = _without_ours(error.__traceback__)
    for cause in (error.__cause__, error.__context__):
        if cause is not None and any(map(_is_ours, _frames(cause.__traceback__))):
            cause.__traceback__ = None  # its text says what the system said to us


def _without_ours(traceback: TracebackType | None) -> TracebackType | None:
    shown = None
    for frame in reversed([*_of_users(traceback)]):
        shown = TracebackType(shown, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shown


def _of_users(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """The frames that are neither ours nor those of Python's library that we call, a pool of threads say."""
    below_us = False
    for frame in _frames(traceback):
        below_us = _is_ours(frame) or (below_us and _is_pythons(frame))
        if not below_us:
            yield frame


def _frames(traceback: TracebackType | None) -> Iterator[TracebackType]:
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def _is_ours(frame: TracebackType) -> bool:
    return is_ours(frame.tb_frame)


def _is_pythons(frame: TracebackType) -> bool:
    return module_of(frame.tb_frame).partition(".")[0] in sys.stdlib_module_names


def surfaced(function: Callable[..., Any], module: str = "") -> Any:
    """The function as users call it: with its own name, text and signature."""
    if _FULL:
        return function
    surface = update_wrapper(Surface(function, shorten), function, updated=())
    if module:
        surface.__module__ = module
    return surface


def surface_class(cls: type[_T], *, init: bool = False) -> type[_T]:
    """Let the public methods and operators of a class be `surfaced`, in place; `init`: its making, too."""
    for name, value in list(vars(cls).items()):
        if name in _LEFT or (name == "__init__" and not init):
            continue
        if isinstance(value, FunctionType) and (not name.startswith("_") or name.endswith("__")):
            type.__setattr__(cls, name, surfaced(value))
        elif isinstance(value, classmethod) and not name.startswith("_"):
            type.__setattr__(cls, name, classmethod(surfaced(value.__func__)))
        elif isinstance(value, property) and not name.startswith("_"):
            read, write = (part and surfaced(part) for part in (value.fget, value.fset))
            type.__setattr__(cls, name, property(read, write, value.fdel, value.__doc__))
    return cls


def surface_package(namespace: dict[str, Any], names: Iterable[str], package: str) -> None:
    """Surface the public names: functions, and classes with all that they inherit and that inherits them."""
    public = [namespace[name] for name in names if name in namespace]
    for name in names:
        if isinstance(namespace.get(name), FunctionType):
            namespace[name] = surfaced(namespace[name], package)
    made = [cls for cls in public if isinstance(cls, type) and not issubclass(cls, Enum | BaseException)]
    for cls in dict.fromkeys(_related(made, package)):
        surface_class(cls, init=cls in made)


def _related(classes: Iterable[type], package: str) -> Iterator[type]:
    """The classes of this package that these inherit from or that inherit from those, each maybe again."""
    for cls in classes:
        for base in cls.__mro__:
            if base.__module__.startswith(f"{package}."):
                yield base
                yield from _heirs(base)


def _heirs(cls: type) -> Iterator[type]:
    heirs: list[type] = type.__subclasses__(cls)
    for heir in heirs:
        yield heir
        yield from _heirs(heir)
