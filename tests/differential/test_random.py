"""Random programs: compiled against interpreted against NumPy, in batches of one compilation each."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.differential.compare import (
    LANGUAGE,
    VARIANTS,
    call_arguments,
    difference,
    expected,
    failures,
    run_text,
)
from tests.differential.random_programs import Program, program

ROUNDS, BATCH = 3, 10  # for each variant, of which a run draws one round: 210 programs
SAME, FIRST = 4, BATCH * ROUNDS * len(VARIANTS)


def batch(seed: int, first: int, count: int = BATCH) -> list[Program]:
    return [program(seed, index) for index in range(first, first + count)]


def complain(found: list[str]) -> None:
    if found:
        pytest.fail(f"{len(found)} results are wrong; the first:\n{found[0]}", pytrace=False)


@pytest.mark.covering
@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("word", VARIANTS)
def test_programs(word: str, number: int, seed: int) -> None:
    """Each variant has programs of its own."""
    first = BATCH * (number * len(VARIANTS) + list(VARIANTS).index(word))
    complain(failures(batch(seed, first), VARIANTS[word]))


@pytest.mark.drawn(7)
@pytest.mark.parametrize("word", VARIANTS)
def test_every_variant_on_the_same_programs(seed: int, word: str) -> None:
    complain(failures(batch(seed, FIRST, SAME), VARIANTS[word]))


@pytest.mark.parametrize("word", ["plain", "parallel 2", "small tiles"])
def test_outputs_given_and_inputs_strided(seed: int, word: str) -> None:
    """`out=` may be an input (with or without a copy inside); elements outside the domain stay."""
    programs = batch(seed, FIRST + SAME, BATCH)
    outputs = [output for item in programs for output in run_text(item, dict(LANGUAGE))]
    compiled = VARIANTS[word].compile(outputs)
    rng = random.Random(seed)
    arrays = {n: strided(a, rng) for item in programs for n, a in item.arrays.items()}
    numbers = {n: v for item in programs for n, v in item.numbers.items()}
    wanted = {name: found for item in programs for name, found in expected(item, trim=False).items()}
    arguments = call_arguments(compiled.signature, arrays, numbers)
    given = [receiver(wanted[output.name][0], arguments, rng) for output in outputs]
    before = [array.copy() for array in given]
    results = compiled(**arguments, out=tuple(given))
    owners = {name: item for item in programs for name in item.outputs}
    for output, result, array, old in zip(outputs, results, given, before, strict=True):
        assert result is array
        value, error, defined = wanted[output.name]
        problem = difference(result, np.where(defined, value, old), np.where(defined, error, 0.0))
        assert not problem, f"{output.name}: {problem}\n{owners[output.name]}"


def receiver(like: Any, arguments: dict[str, Any], rng: random.Random) -> Any:
    """An array to write to: an input that nothing else writes to, or one full of numbers."""
    for name, array in arguments.items():
        fits = isinstance(array, np.ndarray) and (array.shape, array.dtype) == (like.shape, like.dtype)
        if fits and array.size and array.flags.c_contiguous and not array.flags.writeable:
            arguments[name] = array.copy()
            return arguments[name]
    return np.full(like.shape, rng.randint(1, 100), like.dtype)


def strided(array: Any, rng: random.Random) -> Any:
    """The same values in another layout; the contiguous ones read-only, which marks them as not yet taken."""
    form = rng.choice(("plain", "plain", "fortran", "reversed", "sliced"))
    if form == "fortran":
        return np.asfortranarray(array)
    if form == "reversed":
        return np.ascontiguousarray(array[::-1])[::-1] if array.ndim else array
    if form == "sliced":
        wide = np.zeros([2 * n + 1 for n in array.shape], array.dtype)
        inner = wide[tuple(slice(1, None, 2) for _ in array.shape)]
        inner[...] = array
        return inner
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def test_most_programs_test_something(seed: int) -> None:
    """Few elements of an output may be beyond judgement, few outputs empty or all zero."""
    found = [expected(program(seed, index), trim=False) for index in range(100)]
    outputs = [parts for item in found for parts in item.values()]
    judged = [np.isfinite(error)[defined].mean() for _, error, defined in outputs if defined.any()]
    telling = sum(bool(np.any(value[defined] != 0)) for value, _, defined in outputs)
    assert np.mean(judged) > 0.75
    assert telling > 0.45 * len(outputs)


def test_programs_are_the_same_for_the_same_seed() -> None:
    assert str(program(7, 3)) == str(program(7, 3))
    assert str(program(7, 3)) != str(program(8, 3))
