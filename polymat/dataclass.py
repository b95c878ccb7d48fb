"""`dataclass` as the standard library has it, for the classes of this package, made in a fifth of its time.

The standard library compiles up to six functions for each class.  There are some hundreds of classes here,
which a first compilation imports: that would be half of its time where the library is in the cache.  Here a
class has an `__init__` of its own alone, which is compiled when it is first asked for: of half of them it
never is.  What compares, hashes, prints, pickles and refuses assignments is shared.  Fields that are given
by keyword alone, and `InitVar`, are refused; nothing of the standard library's `frozen=True` inherits from
these classes.
"""

from __future__ import annotations

import sys
from dataclasses import MISSING, FrozenInstanceError, fields
from dataclasses import dataclass as _standard
from functools import cache, partial
from operator import attrgetter
from types import FunctionType
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
        if "__eq__" in written and vars(cls).get("__hash__", 0) is None:
            written.remove("__hash__")  # Python's own, of a class that compares
        cls.__doc__ = cls.__doc__ or cls.__name__  # the standard library prints a signature
        made = _standard(cls, init=False, repr=False, eq=False, slots=slots)
        _check_fields(made)
        methods: dict[str, Any] = {"__init__": _Initializer(made)}
        methods |= {"__repr__": _printer(made)} if repr else {}
        methods |= _comparisons(made, frozen) if eq else {}
        methods |= _guards(made) if frozen else {}
        methods |= {"__getstate__": _state, "__setstate__": _restore} if frozen and slots else {}
        for name, method in methods.items():
            if name not in written:
                setattr(made, name, method)
        return made


def _check_fields(made: Any) -> None:
    every = made.__dataclass_fields__.values()
    if any(field.kw_only is True or "InitVar" in str(field.type) for field in every):
        raise TypeError(f"{made.__qualname__} has an InitVar or a field by keyword alone")


class _Factory:
    """Stands in signatures for a default that is made anew each time."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


class _Initializer:
    """`__init__` of a class, which takes the place of this one when it is first asked for."""

    def __init__(self, made: Any) -> None:
        self._made = made

    def __get__(self, value: Any, owner: Any) -> Any:
        self._made.__init__ = _initializer(self._made)
        return self._made.__init__.__get__(value, owner)


def _initializer(made: Any) -> Any:
    """`__init__` of a class, which puts each value into its slot."""
    known = fields(made)
    kinds = tuple(map(_kind, known))
    puts = [_put(made, field.name) for field in known]
    defaults = [
        _FACTORY if kind == "factory" else field.default
        for field, (_, kind) in zip(known, kinds, strict=True)
    ]
    maker = _maker(kinds, hasattr(made, "__post_init__"))
    found = maker(_FACTORY, *puts, *defaults, *(field.default_factory for field in known))
    names = tuple(field.name for field in known if field.init)
    code = found.__code__.replace(co_varnames=("self", *names))
    method = FunctionType(
        code, vars(sys.modules[made.__module__]), "__init__", found.__defaults__, found.__closure__
    )
    method.__qualname__ = f"{made.__qualname__}.__init__"
    method.__annotations__ = {field.name: field.type for field in known if field.init}
    method.__annotations__["return"] = None
    return method


def _kind(field: Any) -> tuple[bool, str]:
    """What an initializer does for a field: whether it takes it, and what kind of a default it has."""
    kind = "default" if field.default is not MISSING else ""
    return field.init, "factory" if field.default_factory is not MISSING else kind


def _put(made: Any, name: str) -> Any:
    """Puts the value of a field into its slot, or where values without one have it."""
    slot: Any = getattr(made, name, None)
    return slot.__set__ if hasattr(type(slot), "__set__") else partial(_put_by_name, name)


def _put_by_name(name: str, value: Any, found: Any) -> None:
    object.__setattr__(value, name, found)


# Of the kinds of fields alone: some dozens stand for all classes.
@cache
def _maker(kinds: tuple[tuple[bool, str], ...], ends: bool) -> Any:
    """Makes an initializer of values that put, of defaults, and of what makes some.

    Its parameters are named by their places; ends: it calls `__post_init__` last.
    """
    given, body = [], []
    for k, (init, kind) in enumerate(kinds):
        value = f"x{k}" if init else f"default{k}"
        if kind == "factory":
            value = f"factory{k}() if x{k} is missing else x{k}" if init else f"factory{k}()"
        given += [f"x{k}=default{k}" if kind else f"x{k}"] if init else []
        body += [f"put{k}(self, {value})"] if init or kind else []
    body += ["self.__post_init__()"] if ends else []
    places = range(len(kinds))
    names = ["missing", *(f"{name}{k}" for name in ("put", "default", "factory") for k in places)]
    text = f" def __init__({', '.join(['self', *given])}):\n  " + "\n  ".join(body or ["pass"])
    found: dict[str, Any] = {}
    exec(f"def made({', '.join(names)}):\n{text}\n return __init__", {}, found)
    return found["made"]


def _values(names: list[str]) -> Any:
    """Gives the values of some fields as a tuple."""
    return attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, n) for n in names)


def _comparisons(made: Any, frozen: bool) -> dict[str, Any]:
    known = fields(made)
    values = _values([field.name for field in known if field.compare])
    to_hash = _values([each.name for each in known if (each.compare if each.hash is None else each.hash)])

    def equal(self: Any, other: Any) -> Any:
        if self is other:
            return True
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(to_hash(self))

    return {"__eq__": equal, "__hash__": hashed if frozen else None}


def _printer(made: Any) -> Any:
    names = [field.name for field in fields(made) if field.repr]

    def text(self: Any) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({', '.join(shown)})"

    return text


def _guards(made: Any) -> dict[str, Any]:
    """What refuses to assign to fields and to delete them; a class that inherits may have more."""
    names = {field.name for field in fields(made)}

    def assign(self: Any, name: str, value: Any) -> None:
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is made or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    return {"__setattr__": assign, "__delattr__": delete}


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
