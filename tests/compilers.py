"""Compilers beside the one that is found by itself, where they are installed and complete."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path

CLANGS = ("clang", *(f"clang-{version}" for version in range(29, 11, -1)))


def plain_gcc() -> dict[str, str]:
    """Variables for processes whose gcc optimises nothing, in a third of the time: of a script that says so.

    It stands in the cache of the tests, so that what is kept there is found again.  None where there is no
    gcc, or another compiler is wanted.
    """
    if os.environ.get("POLYMAT_CC") or shutil.which("gcc") is None:
        return {}
    script = Path(os.environ["XDG_CACHE_HOME"]) / "plain" / "gcc"
    if not script.exists():
        script.parent.mkdir(exist_ok=True)
        written = script.with_name(f"gcc-{os.getpid()}")
        written.write_text('#!/bin/sh\nexec gcc "$@" -O0\n', encoding="utf-8")
        written.chmod(0o755)
        with suppress(FileExistsError):  # another process of the tests was first
            os.link(written, script)
        written.unlink()
    return {"POLYMAT_CC": str(script)}


@cache
def clang() -> str | None:
    """A clang that compiles and links programs with OpenMP; Debian's needs libomp-dev beside it."""
    return next(filter(_knows_openmp, filter(None, map(shutil.which, CLANGS))), None)


def _knows_openmp(compiler: str) -> bool:
    command = [compiler, "-fopenmp", "-shared", "-fPIC", "-x", "c", "-o", os.devnull, "-"]
    ended = subprocess.run(command, input=b"#include <omp.h>\n", capture_output=True, check=False)
    return ended.returncode == 0
