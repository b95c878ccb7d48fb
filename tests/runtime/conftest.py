"""Pipelines whose C is written by hand, for tests of calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymat.runtime.compiled import Compiled
from tests.runtime import hand_written as kernels


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="module")
def mm(directory: Path) -> Compiled:
    return kernels.mm(directory)


@pytest.fixture(scope="module")
def axpy(directory: Path) -> Compiled:
    return kernels.axpy(directory)


@pytest.fixture(scope="module")
def both(directory: Path) -> Compiled:
    return kernels.both(directory)
