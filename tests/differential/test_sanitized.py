"""A sample of random programs with generated code under the address and undefined-behaviour sanitizers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.differential.sanitized import FLAGS, command, environment, sanitizer
from tests.differential.under_sanitizers import clean_output

FIRST, PROGRAMS = 1000, 5  # other programs than those that are compared without sanitizers


SAMPLES = [
    ("plain", "tiles 7, 2"),
    ("paper, tiles 3, 1",),
    ("small functions", "smaller functions, temporaries on the stack"),
]


@pytest.mark.parametrize("variants", SAMPLES)
def test_generated_code_under_sanitizers(variants: tuple[str, ...], seed: int) -> None:
    printed = clean_output(command(seed, PROGRAMS, variants, FIRST))
    assert all(f"{word}: {PROGRAMS} programs" in printed for word in variants)


@pytest.mark.drawn(2)
@pytest.mark.parametrize("kinds", [("positions", "states", "planes"), ("gathers",), ("mixtures",)])
def test_kinds_of_programs_under_sanitizers(kinds: tuple[str, ...], seed: int) -> None:
    asked = [sys.executable, "-m", "tests.differential.sanitized_kinds", str(seed), *kinds]
    assert clean_output(asked).split() == [*kinds]


BEYOND = """
import ctypes, pathlib, subprocess, sys
import numpy as np
directory = pathlib.Path(sys.argv[1])
(directory / "beyond.c").write_text("double beyond(const double *x, long n) { return x[n]; }")
target = directory / "beyond.so"
subprocess.run(["gcc", *sys.argv[2:], "-fPIC", "-shared", "-o", target, directory / "beyond.c"], check=True)
beyond = ctypes.CDLL(str(target)).beyond
beyond.restype, beyond.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_long]
array = np.ones(8)
beyond(array.ctypes.data, 7)
print("inside", flush=True)
beyond(array.ctypes.data, 8)
print("beyond", flush=True)
"""


def test_reading_beyond_an_array_of_numpy_ends_the_process(tmp_path: Path) -> None:
    library = sanitizer()
    if isinstance(library, str):
        pytest.skip(library)
    done = subprocess.run(
        [sys.executable, "-c", BEYOND, str(tmp_path), *FLAGS],
        env=environment(library),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode != 0
    assert done.stdout == "inside\n"
    assert "AddressSanitizer: heap-buffer-overflow" in done.stderr
