"""Answers that one compilation remembers, and that go with it.

A partition of many stages prices thousands of groups, which ask the same of the same statements.  What is
asked of values that a compilation made is remembered here and nowhere else, so that nothing of one pipeline
outlives it, or is kept inside values that are said not to change.  A cache of the process (`functools`) holds
what is the same for all pipelines, numbers and names alone, files and machines, and says so above.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar

Value = TypeVar("Value")
Result = TypeVar("Result")
Step = TypeVar("Step")
Given = ParamSpec("Given")

# By function, identity of a value and other arguments: the value, which keeps its identity, and the answer.
Memo: TypeAlias = dict[tuple[object, ...], tuple[object, object]]

_MEMO: ContextVar[Memo | None] = ContextVar("_MEMO", default=None)


def remembered(
    function: Callable[Concatenate[Value, Given], Result],
) -> Callable[Concatenate[Value, Given], Result]:
    """Call a function once in a compilation for each value, told by its identity, and what else it is given.

    The others are hashable.  Outside of compilations it is called each time.
    """

    @wraps(function)
    def remembering(value: Value, /, *more: Given.args, **named: Given.kwargs) -> Result:
        memo = _MEMO.get()
        if memo is None:
            return function(value, *more, **named)
        key = (function, id(value), more, *named.items()) if named else (function, id(value), more)
        try:
            return memo[key][1]  # type: ignore[return-value]  # it was made by the same function
        except KeyError:  # so it is asked for the first time: most are asked again
            pass
        result = function(value, *more, **named)
        memo[key] = value, result
        return result

    return remembering


def remembers() -> bool:
    """Whether what is `remembered` is kept now: in a compilation."""
    return _MEMO.get() is not None


def with_memo(steps: Callable[Given, Iterator[Step]]) -> Callable[Given, Iterator[Step]]:
    """Let all steps of a generator share a memo of their own, and nobody else between them."""

    @wraps(steps)
    def remembering(*given: Given.args, **named: Given.kwargs) -> Iterator[Step]:
        memo: Memo = {}
        following = steps(*given, **named)
        while True:
            token = _MEMO.set(memo)
            try:
                step = next(following)
            except StopIteration:
                return
            finally:
                _MEMO.reset(token)
            yield step

    return remembering


class HasMemo(Protocol):
    """Who owns a memo."""

    memo: Memo


Owner = TypeVar("Owner", bound=HasMemo)


def with_own_memo(
    method: Callable[Concatenate[Owner, Given], Result],
) -> Callable[Concatenate[Owner, Given], Result]:
    """Let a method remember in its object's memo where it is not part of a compilation, which has one."""

    @wraps(method)
    def remembering(self: Owner, /, *given: Given.args, **named: Given.kwargs) -> Result:
        if _MEMO.get() is not None:
            return method(self, *given, **named)
        token = _MEMO.set(self.memo)
        try:
            return method(self, *given, **named)
        finally:
            _MEMO.reset(token)

    return remembering
