"""Libraries with one wrong routine: each routine is tried out before it is used, and found out."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Int, Matrix, Options, Parameter, Vector
from polymat.codegen.routines import blascalls
from polymat.codegen.routines.cblas import cblas_routine, cblas_routines
from polymat.errors import ToolchainError
from polymat.idiom.routines import ROUTINES
from polymat.runtime import blastest, providers
from polymat.runtime.blascases import CASES, Numbers
from polymat.runtime.blastest import ROUNDINGS, is_same, wrong_routine
from polymat.runtime.libraries import Library, found_libraries
from polymat.runtime.providers import provider
from tests.runtime import library_callers as callers
from tests.runtime.small_blas import small_blas

EVERY = {routine.name for routine in cblas_routines()}
NAMES = sorted(name for name in EVERY if name.removeprefix("cblas_")[1:] in CASES)
DOES_NOTHING = "double {}(int order) {{ (void)order; return 0; }}\n"
M, K = Parameter(Int, "M"), Parameter(Int, "K")
A, S = Matrix(Double, "A", [M, K]), Matrix(Double, "S", [M, M])
x, y = Vector(Double, "x", [K]), Vector(Double, "y", [K])


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test chooses anew."""
    monkeypatch.setattr(providers, "_chosen", {})
    monkeypatch.setattr(providers, "_wrong", {})


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> providers.Provider:
    """A library with every routine, which does nothing."""
    text = "".join(DOES_NOTHING.format(name) for name in NAMES)
    path = callers.library(tmp_path_factory.mktemp("idle"), "libopenblas.so.0", text)
    return providers.Provider(
        "blas", "openblas", (path,), "environment", "", (providers._open("blas", path),)
    )


@pytest.fixture
def lying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library that is found first: its dot products are 0, the rest of what it has is right."""
    file = small_blas(tmp_path, DOES_NOTHING.format("cblas_ddot") + DOES_NOTHING.format("cblas_dtrmm"))
    lists = list(found_libraries())
    library = Library("blas", "openblas", file, "environment")
    monkeypatch.setattr(providers, "found_libraries", lambda: iter((library, *lists)))
    return file


def test_every_routine_has_a_writer_and_is_tried() -> None:
    assert set(ROUTINES) == set(blascalls._ROUTINES)
    assert set(NAMES) == EVERY


@pytest.mark.parametrize("name", NAMES)
def test_a_right_routine_is_right_and_an_idle_one_is_found_out(name: str, idle: providers.Provider) -> None:
    used = provider("blas")
    assert used is not None
    assert used.address(name) is not None
    assert wrong_routine(used.address, name) == ""
    assert idle.wrong((name,)) == f"gives wrong results: {name}"


class Heedless:
    """Calls a routine with one of its arguments as it was at first, or one less: it heeds it not.

    Strides are 1 or 2, so that one less never leaves the memory there is.
    """

    def __init__(self, position: int, *, one_less: bool) -> None:
        self.position = position
        self.one_less = one_less
        self.given: list[Any] = []
        self.call = blastest._call

    def __call__(self, address: int, layout: str, numbers: Numbers, arguments: Any, *, returns: bool) -> Any:
        self.given.append(arguments[self.position])
        other = max(self.given[-1] - 1, 1) if self.one_less else self.given[0]
        changed = [*arguments[: self.position], other, *arguments[self.position + 1 :]]
        return self.call(address, layout, numbers, changed, returns=returns)


@pytest.mark.parametrize("name", NAMES)
def test_a_routine_that_heeds_one_of_its_arguments_less_is_found_out(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An enumeration, a stride, a scalar or an extent."""
    used = provider("blas")
    assert used is not None
    kinds = cblas_routine(name).form.parameters.removeprefix("o")
    for position, kind in enumerate(kinds):
        if kind in "law":  # addresses; a leading dimension that is wrong writes where nobody may
            continue
        heedless = Heedless(position, one_less=kind != "e")
        with monkeypatch.context() as patched:
            patched.setattr(blastest, "_call", heedless)
            assert wrong_routine(used.address, name), f"argument {position} ({kind}) of {name}"


@pytest.mark.parametrize("base", sorted(CASES))
def test_a_number_off_or_written_behind_the_end_is_wrong(base: str) -> None:
    letter = "z" if base in ("herk", "geru", "gerc", "dotu_sub", "dotc_sub") else "d"
    for _, before, expected in CASES[base](Numbers(letter)):
        assert before.shape == expected.shape
        assert is_same(expected, expected, 0)
        for place in (0, -1):
            result = expected.copy()
            result.flat[place] += 1
            assert not is_same(result, expected, ROUNDINGS)


def test_a_library_is_left_out_when_a_routine_that_a_program_calls_is_wrong(
    lying: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Until then it is used; the next one computes what it does not."""
    product: Any = pm.compile(A @ A.T, name="product", options=Options(blas="always", cflags=("-O1",)))
    used = provider("blas")
    assert used is not None
    assert used.paths == (lying,)
    with caplog.at_level(logging.WARNING, "polymat.libraries"):
        dot: Any = pm.compile(pm.dot(x, y), name="dot", options=Options(blas="always", cflags=("-O1",)))
    assert f"not used: {lying} gives wrong results: cblas_ddot" in caplog.text
    assert [group.library_calls for group in dot.explain().groups] == [("dot",)]
    assert dot(np.arange(4.0), np.ones(4)) == 6
    a = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(product(a), a @ a.T)
    now = provider("blas")
    assert now is not None
    assert lying not in now.paths


def test_what_was_decided_for_a_wrong_library_is_decided_anew(
    lying: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left after it: loops, also for the product before, which it computes well."""
    library = Library("blas", "openblas", lying, "environment")
    monkeypatch.setattr(providers, "found_libraries", lambda: iter((library,)))
    i, j, k = (pm.Variable(Int, name) for name in "ijk")
    whole, some = pm.Interval(Int, 0, M - 1), pm.Interval(Int, 0, i)
    first = (S @ S).named("first")
    second = pm.Reduction(([i, j], [whole, whole]), ([i, j, k], [whole, whole, some]), Double, "second")
    second.defn = [pm.Reduce(second(i, j), S(i, k) * first(k, j), pm.Op.Sum)]
    options = Options.naive(blas="auto", cflags=("-O1",))
    compiled: Any = pm.compile([first, second], inputs=[S], options=options, estimates={M: 500})
    assert provider("blas") is None
    assert [group.library_calls for group in compiled.explain().groups] == [(), ()]
    s = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(compiled(s)[1], np.tril(s) @ (s @ s))


def test_a_wrong_library_that_is_asked_for_is_an_error_where_the_routine_is_called(
    lying: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    dot: Any = pm.compile(pm.dot(x, y), name="dot", options=Options(blas="always", cflags=("-O1",)))
    saved = dot.save(tmp_path / "saved")
    monkeypatch.setattr(providers, "_wrong", {})
    monkeypatch.setenv("POLYMAT_BLAS", str(lying))
    for _ in range(2):
        with pytest.raises(ToolchainError, match="gives wrong results: cblas_ddot"):
            pm.load(saved)
