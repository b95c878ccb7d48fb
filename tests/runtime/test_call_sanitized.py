"""The tests of the call path again, with the extension and the kernels under the sanitizers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1 -g"
TESTS = (
    "test_compiled.py",
    "test_check_arrays.py",
    "test_call_life.py",
    "test_recycling.py",
    "test_saved.py",
)


def _sanitizer() -> Path:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    command = ["gcc", "-print-file-name=libasan.so"]
    library = Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())
    if not library.is_absolute() or not library.exists():
        pytest.skip("libasan is not installed")
    return library.resolve()


def _copy_of_the_repository(target: Path) -> None:
    for name in ("polymat", "tests"):
        ignored = shutil.ignore_patterns("*.so", "*.pyc.*", "golden", "data")
        shutil.copytree(ROOT / name, target / name, ignore=ignored)
    shutil.copy(ROOT / "setup.py", target)


@pytest.mark.turns(2)
def test_call_path_under_address_and_undefined_behaviour_sanitizers(tmp_path: Path) -> None:
    sanitizer = _sanitizer()
    _copy_of_the_repository(tmp_path)
    environment = {**os.environ, "CFLAGS": FLAGS, "LDFLAGS": FLAGS}
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    built = subprocess.run(build, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr[-8000:]
    shutil.copy(ROOT / "pyproject.toml", tmp_path)  # for pytest; the build alone needs none of it
    environment = {
        **os.environ,
        "LD_PRELOAD": str(sanitizer),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "HAND_WRITTEN_CFLAGS": "-fsanitize=address,undefined -fno-sanitize-recover=undefined -g",
    }
    tests = [f"tests/runtime/{name}" for name in TESTS]
    cache = f"--kernel-cache={Path(os.environ['POLYMAT_CACHE_DIR']).parent}"  # the same programs are there
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        cache,
        *tests,
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-8000:]
    assert "runtime error" not in output
    assert "AddressSanitizer" not in output
