"""The data classes of the package beside those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from typing import Any

import pytest

from polymat.dataclass import dataclass as quick

NAN = float("nan")


def made(dataclass: Any, **switches: bool) -> type[Any]:
    """A class with every kind of field, and one that inherits from it."""

    @dataclass(**switches)
    class Base:
        """What both have."""

        a: int
        b: str = "b"
        c: list[int] = dataclasses.field(default_factory=list)
        d: float = dataclasses.field(default=0.0, compare=False, repr=False)
        e: list[int] = dataclasses.field(default_factory=list, init=False)
        f: int = dataclasses.field(default=7, init=False)

    @dataclass(**switches)
    class Derived(Base):
        g: tuple[int, ...] = ()

        def __post_init__(self) -> None:
            self.e.append(self.a)

    return Derived


def single(dataclass: Any) -> type[Any]:
    @dataclass(frozen=True, slots=True)
    class Single:
        only: Any

    return Single


def text(value: object) -> str:
    return repr(value).replace("single.<locals>.", "").replace("made.<locals>.", "")


@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("repr_", [False, True])
@pytest.mark.parametrize("eq", [False, True])
def test_they_are_those_of_the_standard_library(slots: bool, frozen: bool, repr_: bool, eq: bool) -> None:
    switches = dict(slots=slots, frozen=frozen, repr=repr_, eq=eq)
    ours, theirs = made(quick, **switches), made(dataclasses.dataclass, **switches)
    for each in (ours, theirs):
        one, other = each(1, c=[2], d=3.0), each(1, "b", [2], 4.0)
        assert (one == other) is eq
        assert one != each(2, c=[2])
        assert one.__eq__(object()) is NotImplemented
        assert (one.e, one.f, one.g) == ([1], 7, ())
        assert dataclasses.replace(one, a=5).a == 5
        assert copy.deepcopy(one).c == [2]
        assert each(1).c is not each(1).c
        assert hasattr(one, "__dict__") is not slots
        with pytest.raises(TypeError):
            each()
        if frozen:
            with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'a'"):
                one.a = 2
            with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'a'"):
                del one.a
        else:
            one.a = 2
            assert one.a == 2
    assert ours.__match_args__ == theirs.__match_args__
    assert (ours.__hash__ is None) is (theirs.__hash__ is None)
    assert [*inspect.signature(ours).parameters] == [*inspect.signature(theirs).parameters]
    if repr_:
        assert text(ours(1)) == text(theirs(1)) == "Derived(a=1, b='b', c=[], e=[1], f=7, g=())"


def test_hashes_are_of_what_is_compared() -> None:
    ours = made(quick, slots=True, frozen=True)
    value = ours(1, c=())
    with pytest.raises(TypeError, match="unhashable"):
        hash(value)
    ours, theirs = single(quick), single(dataclasses.dataclass)
    assert hash(ours(3)) == hash(theirs(3))
    assert ours(NAN) == ours(NAN)  # the same object, as in a tuple


def test_what_a_class_writes_itself_stays() -> None:
    @quick(frozen=True, slots=True)
    class Written:
        a: int

        def __repr__(self) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    assert (repr(Written(1)), Written(1) == Written(2), hash(Written(1))) == ("mine", True, 5)


def test_values_of_the_package_are_pickled() -> None:
    from polymat.options import Options

    options = Options(threads=2)
    assert pickle.loads(pickle.dumps(options)) == options
    assert inspect.signature(Options).parameters["threads"].default == 0


def inherited(dataclass: Any) -> Any:
    @dataclass(frozen=True)
    class Base:
        a: int
        b: int = dataclasses.field(default=0, compare=False)
        d: int = dataclasses.field(default=0, hash=False)

    class Open(Base):
        """A class that adds what is no field."""

    @dataclass(frozen=True, repr=False)
    class Quiet(Base):
        c: int = 3

    @dataclass(frozen=True)
    class Comparing:
        a: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Comparing)

    @dataclass(frozen=False)
    class Late:
        a: int = dataclasses.field(init=False)

    return Base, Open, Quiet, Comparing, Late


@pytest.mark.parametrize("dataclass", [quick, dataclasses.dataclass])
def test_classes_that_inherit_or_write_a_part(dataclass: Any) -> None:
    base, open_, quiet, comparing, late = inherited(dataclass)
    assert hash(base(1, 2)) == hash(base(1, 5))
    assert hash(base(1, 2, 3)) == hash(base(1, 2, 4))
    assert base(1, 2, 3) != base(1, 2, 4)
    assert base(1, 2) == base(1, 5)
    value = open_(1)
    value.extra = 4
    assert value.extra == 4
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.a = 2
    assert "c=" not in repr(quiet(1))
    assert comparing(1) == comparing(2)
    assert isinstance(hash(comparing(1)), int)
    assert not hasattr(late(), "a")


def test_what_is_not_built_is_refused() -> None:
    with pytest.raises(TypeError, match="has an InitVar or a field by keyword alone"):

        @quick(frozen=True)
        class ByKeyword:
            _: dataclasses.KW_ONLY
            a: int = 0

    with pytest.raises(TypeError, match="has an InitVar or a field by keyword alone"):

        @quick(frozen=True)
        class Given:
            a: dataclasses.InitVar[int]


def test_annotations_are_found_in_the_module_of_the_class() -> None:
    from polymat.machine.model import Machine

    assert inspect.signature(Machine, eval_str=True).parameters["l1_bytes"].annotation is int


def test_users_may_inherit_from_options() -> None:
    from polymat.options import Options

    @dataclasses.dataclass(frozen=True)
    class Mine(Options):
        threads: int = 3

    assert Mine().threads == 3


def test_initializers_are_compiled_when_they_are_first_asked_for() -> None:
    @quick
    class Later:
        a: int

    class Below(Later):
        """A class that inherits it."""

    assert not inspect.isfunction(vars(Later)["__init__"])
    assert Below(1).a == 1
    assert inspect.isfunction(vars(Later)["__init__"])
    assert Later(a=2) == Later(2)
