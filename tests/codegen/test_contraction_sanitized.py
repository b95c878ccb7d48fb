"""Register blocks and packing under the address and undefined-behaviour sanitizers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.differential.sanitized import ROOT, environment, sanitizer


def test_no_access_outside_an_operand() -> None:
    library = sanitizer()
    if isinstance(library, str):
        pytest.skip(library)
    done = subprocess.run(
        [sys.executable, "-m", "tests.codegen.sanitized_products"],
        cwd=ROOT,
        env=environment(library),
        capture_output=True,
        text=True,
        timeout=600,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-8000:]
    assert "runtime error" not in output
    assert "AddressSanitizer" not in output
    assert len(done.stdout.splitlines()) == 4
