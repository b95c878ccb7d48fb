"""Inputs whose values were declared: each call looks at them before all else."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Function, Int, Interval

N, K = pm.Parameter(Int, "N"), pm.Parameter(Int, "K")
i, j = pm.Variable(Int, "i"), pm.Variable(Int, "j")
TYPES = (pm.Int8, pm.Short, pm.Int, pm.Long, pm.UChar, pm.UInt16, pm.UInt, pm.UInt64)
x = pm.Vector(pm.Double, "x", [K])


def taken(dtype: Any) -> Any:
    place = pm.Matrix(dtype, f"p{dtype.suffix}", [N, 3], values=(0, K - 1))
    made = Function(([i, j], [Interval(Int, 0, N - 1), Interval(Int, 0, 2)]), pm.Double, f"f{dtype.suffix}")
    made.defn = [x(place(i, j))]
    return made


@pytest.fixture(scope="module")
def compiled() -> pm.Compiled:
    return pm.compile([taken(dtype) for dtype in TYPES], options=pm.Options(fuse=False), name="take")


def given(rows: int = 50) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    places = {f"p{t.suffix}": rng.integers(0, 100, (rows, 3)).astype(t.dtype) for t in TYPES}
    return {**places, "x": rng.random(100)}


def test_values_inside_are_indices(compiled: pm.Compiled) -> None:
    arrays = given()
    for dtype, result in zip(TYPES, compiled(**arrays), strict=True):
        assert np.array_equal(result, arrays["x"][arrays[f"p{dtype.suffix}"].astype(int)])


def test_nothing_is_wrong_with_nothing(compiled: pm.Compiled) -> None:
    for rows in (0, 1):
        assert all(result.shape == (rows, 3) for result in compiled(**given(rows)))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("end", ["above", "largest", "below"])
def test_the_first_one_outside_is_named(compiled: pm.Compiled, dtype: Any, end: str) -> None:
    info = np.iinfo(dtype.dtype)
    value = {"above": 100, "largest": info.max, "below": -1 if dtype.kind == "i" else 101}[end]
    arrays = given()
    bad = arrays[f"p{dtype.suffix}"]
    bad[31, 2], bad[40, 0] = value, value
    text = f"p{dtype.suffix}[31, 2] is {value}, and its values are declared as 0..99"
    out = tuple(np.full((50, 3), -7.0) for _ in TYPES)
    with pytest.raises(pm.ArgumentError) as caught:
        compiled(**arrays, out=out)
    assert str(caught.value) == f"take(): {text}"
    assert all(np.all(each == -7) for each in out)
    with pytest.raises(pm.ArgumentError, match=r"values are declared as 0\.\.99") as caught:
        compiled.reference(**arrays)
    assert str(caught.value) == text


def test_columns_are_named_as_the_caller_has_them() -> None:
    place = pm.Matrix(Int, "place", [N, 3], values=(0, 9))
    made = Function(([i, j], [Interval(Int, 0, N - 1), Interval(Int, 0, 2)]), Int, "f")
    made.defn = [place(i, j)]
    compiled = pm.compile(made, fortran=[place])
    values = np.asfortranarray(np.zeros((4, 3), np.int32))
    values[3, 1] = 10
    with pytest.raises(pm.ArgumentError, match=r"place\[3, 1\] is 10"):
        compiled(values)
    with pytest.raises(pm.ArgumentError, match=r"place\[3, 1\] is 10"):
        compiled.reference(values)


def test_it_is_the_library_that_looks(compiled: pm.Compiled, tmp_path: Path) -> None:
    arrays = given()
    arrays["pi32"][0, 0] = 100
    for again in (pm.load(compiled.save(tmp_path)), pickle.loads(pickle.dumps(compiled))):
        with pytest.raises(pm.ArgumentError, match=r"pi32\[0, 0\] is 100, and its values are declared as"):
            again(**arrays)


@pytest.fixture(scope="module")
def shared() -> pm.Compiled:
    """Two threads look at the values, each at a half."""
    options = pm.Options(threads=2, parallel_threshold=0)
    return pm.compile([taken(dtype) for dtype in (pm.Int8, pm.UInt)], options=options, name="taken_by_two")


@pytest.mark.parametrize("rows", [1, 2, 3, 17])
def test_threads_find_what_is_outside_wherever_it_is(shared: pm.Compiled, rows: int) -> None:
    names = [f"p{dtype.suffix}" for dtype in (pm.Int8, pm.UInt)]
    arrays = {name: array for name, array in given(rows).items() if name in (*names, "x")}
    fine = shared(**arrays)
    for name in names:
        for at in range(rows * 3):
            wrong = {**arrays, name: arrays[name].copy()}
            wrong[name].flat[at] = 100
            with pytest.raises(pm.ArgumentError, match=rf"{name}\[{at // 3}, {at % 3}\] is 100"):
                shared(**wrong)
    assert all(np.array_equal(again, before) for again, before in zip(shared(**arrays), fine, strict=True))


def test_a_call_that_ends_early_gives_its_threads_back() -> None:
    source = pm.compile(taken(pm.Int), options=pm.Options(threads=2), name="taken_early").source
    check = source[source.index("_pm_outside_i32(p") :]
    assert check.index("_pm_team_leave();") < check.index("return ")
