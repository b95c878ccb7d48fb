"""Limits that others set on the threads of a process hold for calls as well."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import polymat
from polymat.runtime import _launch
from polymat.runtime.compiled import Compiled
from polymat.runtime.openmp import quiet_openmp
from tests.runtime import hand_written as kernels


@pytest.fixture(scope="module")
def shared_out(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    quiet_openmp()
    return kernels.shared_out(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="module")
def openmp(shared_out: Compiled) -> ctypes.CDLL:
    """The runtime that the pipeline calls."""
    return ctypes.CDLL("libgomp.so.1", mode=4)  # RTLD_NOLOAD


@pytest.fixture(autouse=True)
def unlimited(openmp: ctypes.CDLL) -> Iterator[int]:
    """The number that OpenMP has when nobody limits it; four threads are asked for."""
    default, most = _launch.get_num_threads(), int(openmp.omp_get_max_threads())
    _launch.set_num_threads(4)
    yield most
    openmp.omp_set_num_threads(most)
    _launch.set_num_threads(default)


def test_openmps_number_is_a_limit_once_it_was_lowered(
    shared_out: Compiled, openmp: ctypes.CDLL, unlimited: int, tmp_path: Path
) -> None:
    assert shared_out() == 4  # also on fewer processors: somebody asked for it
    if unlimited == 1:
        pytest.skip("one processor: nothing can be lowered")
    openmp.omp_set_num_threads(1)
    assert (shared_out(), polymat.get_num_threads()) == (1, 1)
    with polymat.threads(3):
        assert shared_out() == 1
    assert kernels.shared_out(tmp_path, threads=3)() == 1
    openmp.omp_set_num_threads(unlimited)
    assert (shared_out(), polymat.get_num_threads()) == (4, 4)
    openmp.omp_set_num_threads(unlimited + 5)
    assert shared_out() == 4


def test_a_limit_is_the_calling_threads(shared_out: Compiled, openmp: ctypes.CDLL, unlimited: int) -> None:
    openmp.omp_set_num_threads(1)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(shared_out).result() == 4


def test_a_pipeline_that_is_opened_under_a_limit(openmp: ctypes.CDLL, unlimited: int, tmp_path: Path) -> None:
    openmp.omp_set_num_threads(1)
    inside = kernels.shared_out(tmp_path)
    assert inside() == (1 if unlimited > 1 else 4)
    openmp.omp_set_num_threads(unlimited)
    assert inside() == 4


def test_libraries_without_threads_ask_nobody(openmp: ctypes.CDLL, tmp_path: Path) -> None:
    alone = kernels.team(tmp_path, 0)
    openmp.omp_set_num_threads(1)
    assert alone() == 4


def test_threadpoolctl(shared_out: Compiled, unlimited: int) -> None:
    control: Any = pytest.importorskip("threadpoolctl")
    rows = [row for row in control.threadpool_info() if row["prefix"] == "libgomp"]
    assert [row["num_threads"] for row in rows] == [unlimited]
    with control.threadpool_limits(1):
        assert (shared_out(), polymat.get_num_threads()) == ((1, 1) if unlimited > 1 else (4, 4))
        with control.threadpool_limits({"openmp": 1}):
            assert shared_out() == (1 if unlimited > 1 else 4)
    with control.threadpool_limits(1, user_api="blas"):
        assert shared_out() == 4
    assert shared_out() == 4
