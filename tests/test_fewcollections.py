"""Compilations look for garbage seldom, and leave how often a program does as it was."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import polymat as pm
from polymat import driver
from polymat.fewcollections import YOUNGEST, collected_seldom
from polymat.request import Request


@pytest.fixture(autouse=True)
def threshold() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield gc.get_threshold()
    gc.set_threshold(*before)


def test_it_is_as_before_behind_it(threshold: tuple[int, int, int]) -> None:
    with collected_seldom(), collected_seldom():
        assert gc.get_threshold() == (YOUNGEST, *threshold[1:])
    assert gc.get_threshold() == threshold
    with pytest.raises(ValueError, match="in it"), collected_seldom():
        raise ValueError("in it")
    assert gc.get_threshold() == threshold


@pytest.mark.parametrize("first", [0, YOUNGEST + 1])
def test_a_program_that_looks_as_seldom_or_never_goes_on_so(first: int) -> None:
    gc.set_threshold(first, 10, 10)
    with collected_seldom():
        assert gc.get_threshold()[0] == first
    assert gc.get_threshold()[0] == first


def test_what_a_program_says_meanwhile_stays() -> None:
    with collected_seldom():
        gc.set_threshold(500, 10, 10)
    assert gc.get_threshold()[0] == 500


def test_what_a_program_says_between_two_compilations_at_once_stays() -> None:
    with collected_seldom():
        gc.set_threshold(500, 10, 10)
        with collected_seldom():
            assert gc.get_threshold()[0] == YOUNGEST
    assert gc.get_threshold()[0] == 500


def test_the_last_of_several_threads_restores_it(threshold: tuple[int, int, int]) -> None:
    begun, done = threading.Event(), threading.Event()

    def longer() -> None:
        with collected_seldom():
            begun.set()
            assert done.wait(60)

    thread = threading.Thread(target=longer)
    with collected_seldom():
        thread.start()
        assert begun.wait(60)
    assert gc.get_threshold()[0] == YOUNGEST
    done.set()
    thread.join()
    assert gc.get_threshold() == threshold


def test_a_compilation_is_such(threshold: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    inside = driver._compiled

    def looked_at(request: Request) -> object:
        found.append(gc.get_threshold()[0])
        return inside(request)

    monkeypatch.setattr(driver, "_compiled", looked_at)
    N = pm.Parameter(pm.Int, "N")
    x = pm.Vector(pm.Double, "x", [N])
    doubled = driver.compiled(driver.request_for(2 * x))
    assert found == [YOUNGEST]
    assert gc.get_threshold() == threshold
    assert doubled(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]
