"""Steps in segments, sums in blocks, lone points and rows as lanes under sanitizers, with storage that is poisoned before."""

from __future__ import annotations

import sys

import pytest

from tests.differential.under_sanitizers import clean_output


@pytest.mark.parametrize("kind", ["segments", "sums", "points", "lanes"])
def test_blocks_read_nothing_that_nobody_wrote(kind: str, seed: int) -> None:
    command = [sys.executable, "-m", "tests.differential.poisoned_blocks", "--seed", str(seed), kind]
    assert clean_output(command).split() == [kind]
