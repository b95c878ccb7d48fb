"""A process that has used threads may fork: parent and child both go on, with threads; idle ones sleep."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from polymat.codegen.c.needs import Piece
from polymat.codegen.prelude import prelude
from polymat.runtime.libraryfile import build
from polymat.runtime.openmp import _SPIN_SECONDS

SOURCE = (
    prelude(frozenset({Piece.TEAM}))
    + """
double total(const double *x, ptrdiff_t n, int threads, int *members)
{
    double sum = 0;
    int count = 0;
#pragma omp parallel num_threads(_pm_team(threads, 1e9, 0)) reduction(+ : sum, count)
    {
        count += 1;
#pragma omp for
        for (ptrdiff_t i = 0; i < n; i++)
            sum += x[i];
    }
    *members = count;
    return sum;
}
"""
)

# The alarm ends a child that hangs; its signal is then its exit status.
BEGIN = """
    import ctypes, os, signal, sys, threading, time

    def load():
        library = ctypes.CDLL(sys.argv[1])
        library.total.restype = ctypes.c_double
        library.total.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
        return library

    x = (ctypes.c_double * 10000)(*[1.0] * 10000)

    def works(library, threads=2):
        members = ctypes.c_int()
        return library.total(x, 10000, threads, ctypes.byref(members)) == 10000.0 and members.value == threads

    def child_of(work, seconds=10):
        child = os.fork()
        if child == 0:
            signal.alarm(seconds)
            os._exit(0 if work() else 1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    library = load()
"""

PROGRAMS = {
    "after a region": """
    assert works(library)
    begin = time.monotonic()
    assert child_of(lambda: works(library)) == 0
    assert time.monotonic() - begin < 1.0
    assert works(library)
    """,
    "again and again": """
    for size in (2, 3, 4, 2):
        assert works(library, size)
        assert child_of(lambda: works(library, size)) == 0
    """,
    "child of a child": """
    assert works(library)
    assert child_of(lambda: works(library) and child_of(lambda: works(library)) == 0) == 0
    assert works(library)
    """,
    "before a region": """
    assert child_of(lambda: works(library)) == 0
    assert works(library)
    """,
    "from a thread, with teams in two": """
    assert works(library)
    results = []
    def other():
        results.append(works(library))
        results.append(child_of(lambda: works(library)) == 0)
        results.append(works(library))
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert results == [True] * 3
    assert works(library)
    """,
    "after the library was closed": """
    from polymat.runtime.openmp import quiet_openmp
    quiet_openmp()
    assert works(library)
    dlclose = ctypes.CDLL(None).dlclose
    dlclose.argtypes = [ctypes.c_void_p]
    assert dlclose(library._handle) == 0
    assert sys.argv[1] not in open("/proc/self/maps").read()
    assert child_of(lambda: works(load())) == 0
    assert works(load())
    """,
}


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_fork(name: str, tmp_path: Path) -> None:
    built = build(SOURCE)
    library = tmp_path / "library.so"
    library.write_bytes(built.image)
    built.release()
    program = textwrap.dedent(BEGIN) + textwrap.dedent(PROGRAMS[name])
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, str(library)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr


COMPILE = """
import polymat as pm
from polymat.runtime.openmp import idle_threads_sleep, loaded_openmp
N = pm.Parameter(pm.Int, "N")
A, B = pm.Matrix(pm.Double, "A", [N, N]), pm.Matrix(pm.Double, "B", [N, N])
assert not loaded_openmp()
pm.compile((A @ B).named("product"))
print(idle_threads_sleep())
"""


@pytest.mark.parametrize("policy", ["", "active"])
def test_compiling_leaves_idle_threads_quiet(policy: str) -> None:
    """Nothing on the way loads the runtime before that: it reads how to wait when it is loaded."""
    chosen = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
    environment = {name: value for name, value in os.environ.items() if name not in chosen}
    if policy:
        environment["OMP_WAIT_POLICY"] = policy
    ended = subprocess.run(
        [sys.executable, "-c", COMPILE], env=environment, capture_output=True, text=True, timeout=120
    )
    assert (ended.stdout, ended.stderr) == (f"{not policy}\n", "")


def test_teams_count_as_awake_for_as_long_as_their_threads_spin() -> None:
    """The time stands in the runtime and in generated code, which is also called without Python."""
    assert f"#define _PM_TEAM_SPIN {round(_SPIN_SECONDS * 1e9)} " in prelude(frozenset({Piece.TEAM}))
