"""Compilers beside the one that is found by itself, where they are installed and complete."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

CLANGS = ("clang", *(f"clang-{version}" for version in range(29, 11, -1)))


@cache
def clang() -> str | None:
    """A clang that compiles and links programs with OpenMP; Debian's needs libomp-dev beside it."""
    return next(filter(_knows_openmp, filter(None, map(shutil.which, CLANGS))), None)


def _knows_openmp(compiler: str) -> bool:
    command = [compiler, "-fopenmp", "-shared", "-fPIC", "-x", "c", "-o", os.devnull, "-"]
    ended = subprocess.run(command, input=b"#include <omp.h>\n", capture_output=True, check=False)
    return ended.returncode == 0
