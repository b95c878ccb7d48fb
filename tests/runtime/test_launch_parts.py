"""The files of the launcher: which of them use what others define."""

from __future__ import annotations

import graphlib
import shutil
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

FILES = sorted(Path("polymat/runtime").glob("_launch*.c"))
COMPILER = shutil.which("gcc") or shutil.which("cc")


def symbols(source: Path, directory: Path) -> tuple[set[str], set[str]]:
    """What a file defines for others, and what it uses of them."""
    built = directory / f"{source.stem}.o"
    includes = ("-I" + np.get_include(), "-I" + sysconfig.get_paths()["include"])
    command = [str(COMPILER), "-std=c11", "-O0", "-fPIC", *includes, "-c", str(source), "-o", str(built)]
    subprocess.run(command, check=True)
    listed = subprocess.run(["nm", str(built)], capture_output=True, text=True, check=True).stdout
    rows = [line.split()[-2:] for line in listed.splitlines()]
    return {name for kind, name in rows if kind in "TDBRC"}, {name for kind, name in rows if kind == "U"}


@pytest.mark.skipif(COMPILER is None or shutil.which("nm") is None, reason="no compiler, or no nm")
def test_no_two_files_use_each_other(tmp_path: Path) -> None:
    found = {source.name: symbols(source, tmp_path) for source in FILES}
    uses = {
        name: {other for other, (defined, _) in found.items() if other != name and defined & used}
        for name, (_, used) in found.items()
    }
    assert uses["_launch.c"] >= {"_launch_memory.c", "_launch_numpy.c"}
    assert list(graphlib.TopologicalSorter(uses).static_order())[-1] == "_launch.c"
