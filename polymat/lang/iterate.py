"""Steps from a state to the next, many times: `iterate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from polymat.errors import LangError, Location, NotAffineError, caller_location
from polymat.lang.affine import Affine
from polymat.lang.algebra import (
    check_plain,
)
from polymat.lang.function import Source
from polymat.lang.indices import as_affine
from polymat.lang.interval import size_parameters
from polymat.lang.statechain import StateChain


def iterate(
    step: Callable[..., Any],
    initial: Source | Sequence[Source],
    *,
    steps: Any,
    keep: SupportsIndex = 1,
    every: SupportsIndex | None = None,
) -> Any:
    """Apply a step to a state again and again: the state after `steps` steps.

    step: gives the next state of a state, written as any definition is: `lambda u: u + dt * (A @ u)`, or a
    function that makes a `Function`, with cases for a boundary, and returns it.  The state may be several
    arrays, `initial` a list of them; step takes as many and returns as many.  One that takes an argument
    more gets the number of the step, from 1 to `steps`, an index for the definitions of Functions.
    initial: the first state: inputs or results whose indices begin at 0.  Each state has its shape and type.
    steps: an integer, or a size such as Parameter(Int, "T"), which calls give by name.
    keep: so many of the last states along a new first dimension, the last one behind, where that is more
    than 1.  every: instead each of so many states along a new first dimension, from the first one on: those
    after 0, every, 2 * every, ... steps.

    Memory: the states that steps still read, and what is kept.
    """
    at = caller_location()
    if not callable(step):
        raise LangError(f"iterate: a step is a function of the state, got {step!r:.60}", at=at)
    several = not isinstance(initial, Source)
    first = _checked_initial(initial, at)
    total, sizes = _checked_steps(steps, at), size_parameters(steps)
    last, each = _checked_kept(keep, every, at)
    if total.is_constant and total.const < last - 1:
        least = f"and keep={last} states need at least {last - 1}" if last > 1 else "which is less than 0"
        raise LangError(f"iterate: steps= is {total.const}, {least}", at=at)
    made = StateChain(step, first, total, sizes, at)
    found = made.last(last) if each is None else made.each(each)
    return found if several else found[0]


def _checked_initial(initial: Source | Sequence[Source], at: Location | None) -> tuple[Source, ...]:
    states: tuple[Any, ...] = tuple(initial) if isinstance(initial, tuple | list) else (initial,)
    for state in states:
        if not isinstance(state, Source):
            raise LangError(
                f"iterate: the first state is an array or several, got {state!r:.60}",
                at=at,
                hint="inputs, functions or results; numbers can be read within the step",
            )
        check_plain(state, "iterate")
    if not states:
        raise LangError("iterate: there is no first state", at=at)
    return states


def _checked_steps(steps: Any, at: Location | None) -> Affine:
    try:
        return as_affine(steps, at)
    except LangError:
        raise NotAffineError(
            f"iterate: steps= is an integer or a size, got {steps!r:.40}",
            at=at,
            hint='steps=10, or Parameter(Int, "T"), or sums of such',
        ) from None


def _checked_kept(keep: Any, every: Any, at: Location | None) -> tuple[int, int | None]:
    if every is not None and keep != 1:
        raise LangError(
            "iterate: keep= is of the last states, every= of all; give one of them",
            at=at,
            hint="call iterate twice, with functions of different names in its steps",
        )
    return _positive("keep", keep, at), None if every is None else _positive("every", every, at)


def _positive(word: str, value: Any, at: Location | None) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1:
        return int(value)
    raise LangError(f"iterate: {word}= is a positive integer, got {value!r:.40}", at=at)
