"""Run a process whose generated code is sanitized, and see that the sanitizers found nothing."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

import pytest

from tests.differential.sanitized import ROOT, environment, sanitizer


def clean_output(command: Sequence[str]) -> str:
    """What a command prints with the sanitizers loaded; a test without them is skipped."""
    library = sanitizer()
    if isinstance(library, str):
        pytest.skip(library)
    done = subprocess.run(
        command, cwd=ROOT, env=environment(library), capture_output=True, text=True, timeout=600
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-8000:]
    assert "runtime error" not in output
    assert "AddressSanitizer" not in output
    return done.stdout
