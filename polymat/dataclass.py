"""`dataclass` with the standard library's meaning, made in a fifth of its time.

The standard library compiles up to six functions for each class.  There are some hundreds of classes
here, which a first compilation imports, so that they took half of its time where the library was in the
cache.  A class has an `__init__` of its own alone; those to compare, hash, print, pickle and refuse
assignments are shared, and look at the fields.
"""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, fields
from dataclasses import dataclass as _standard
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: Any = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True, repr: bool = True
    ) -> Any:
        """Make a data class, as `dataclasses.dataclass` does with these switches."""
        if cls is None:
            return partial(dataclass, frozen=frozen, slots=slots, eq=eq, repr=repr)
        written = {*vars(cls)}
        cls.__doc__ = cls.__doc__ or cls.__name__  # the standard library prints a signature
        made = _standard(cls, init=False, repr=False, eq=False, slots=slots)
        methods = {"__init__": _initializer(made)}
        methods |= {"__repr__": _text} if repr else {}
        methods |= _comparisons(made, frozen) if eq else {}
        methods |= _FROZEN if frozen else {}
        methods |= {"__getstate__": _state, "__setstate__": _restore} if frozen and slots else {}
        for name, method in methods.items():
            if name not in written:
                setattr(made, name, method)
        return made


def _initializer(made: Any) -> Any:
    """`__init__` of a class, which puts each value into its slot."""
    names: dict[str, Any] = {"__name__": made.__module__, "put": object.__setattr__, "MISSING": MISSING}
    given, body = [], []
    for field in fields(made):
        name = field.name
        names |= {f"default_{name}": field.default, f"factory_{name}": field.default_factory}
        optional = f"=default_{name}" if field.default is not MISSING else ""
        value = name
        if field.default_factory is not MISSING:
            optional = "=MISSING"
            value = (
                f"factory_{name}() if {name} is MISSING else {name}" if field.init else f"factory_{name}()"
            )
        elif not field.init:
            value = f"default_{name}"
        given += [f"{name}{optional}"] if field.init else []
        slot: Any = getattr(made, name, None)
        if hasattr(type(slot), "__set__"):
            names[f"put_{name}"] = slot.__set__
            body.append(f"put_{name}(self, {value})")
        else:
            body.append(f"put(self, {name!r}, {value})")
    body += ["self.__post_init__()"] if hasattr(made, "__post_init__") else []
    exec(f"def __init__({', '.join(['self', *given])}):\n " + "\n ".join(body or ["pass"]), names)
    made_method = names["__init__"]
    made_method.__qualname__ = f"{made.__qualname__}.__init__"
    made_method.__annotations__ = {field.name: field.type for field in fields(made) if field.init}
    made_method.__annotations__["return"] = None
    return made_method


def _comparisons(made: Any, frozen: bool) -> dict[str, Any]:
    names = [field.name for field in fields(made) if field.compare]
    values: Any = (
        attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, n) for n in names)
    )

    def equal(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": hashed if frozen else None}


def _text(self: Any) -> str:
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse_assignment(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


_FROZEN = {"__setattr__": _refuse_assignment, "__delattr__": _refuse_deletion}


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
