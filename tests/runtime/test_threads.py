"""How many threads a call uses, and how a team of them behaves in a process that has other plans."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from polymat.codegen.c.needs import Piece
from polymat.codegen.prelude import prelude
from polymat.errors import ArgumentError
from polymat.runtime import openmp
from polymat.runtime.libraryfile import build
from polymat.runtime.settings import settings
from polymat.runtime.threads import default_num_threads, get_num_threads, set_num_threads, threads

SOURCE = (
    prelude(frozenset({Piece.TEAM}))
    + """
int team(int threads, double work, double threshold) { return _pm_team(threads, work, threshold); }

/* The team where one costs 100 operations awake and 10000 asleep, `wait` nanoseconds after a call, of so many
   times that work. */
int paying_team(int threads, double work, ptrdiff_t wait, double times)
{
    (void)_pm_team_paying(2, 1e3, 100, 1e4);
    _pm_team_leave();
    const int64_t left = _pm_team_clock();
    while (_pm_team_clock() - left < wait)
        continue;
    _pm_team_times(times);
    const int team = _pm_team_paying(threads, work, 100, 1e4);
    _pm_team_times(1);
    _pm_team_leave();
    return team;
}

/* The team of the second work of a call, `wait` nanoseconds after the first, which wakes threads. */
int team_later(double work, ptrdiff_t wait, double times)
{
    _pm_team_times(times);
    (void)_pm_team_paying(2, 2e4, 100, 1e4);
    const int64_t begun = _pm_team_clock();
    while (_pm_team_clock() - begun < wait)
        continue;
    const int team = _pm_team_paying(2, work, 100, 1e4);
    _pm_team_times(1);
    _pm_team_leave();
    return team;
}

/* The team of a call while so many others share their work out. */
int team_among(int others, int threads)
{
    (void)atomic_fetch_add(&_pm_team_calls, others);
    const int team = _pm_team_paying(threads, 1e9, 100, 1e4);
    _pm_team_leave();
    (void)atomic_fetch_sub(&_pm_team_calls, others);
    return team;
}

int nested_team(int threads)
{
    int least = 1000;
#pragma omp parallel num_threads(2) reduction(min : least)
    least = omp_in_parallel() ? _pm_team(threads, 1e9, 0) : 1;
    return least;
}

int members(int threads)
{
    int count = 0;
#pragma omp parallel num_threads(_pm_team(threads, 1e9, 0)) reduction(+ : count)
    count += 1;
    return count;
}
"""
)


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    built = build(SOURCE)
    openmp.quiet_openmp(built.image)
    loaded = ctypes.CDLL(str(built.path))
    built.release()
    loaded.team.argtypes = [ctypes.c_int, ctypes.c_double, ctypes.c_double]
    loaded.paying_team.argtypes = [ctypes.c_int, ctypes.c_double, ctypes.c_ssize_t, ctypes.c_double]
    loaded.team_later.argtypes = [ctypes.c_double, ctypes.c_ssize_t, ctypes.c_double]
    return loaded


@pytest.fixture
def count() -> Iterator[None]:
    """Leave the number of threads as it was."""
    before = get_num_threads()
    yield
    set_num_threads(before)


def run_python(script: str, **environment: str) -> str:
    """What a fresh interpreter prints; a variable given as "" is removed."""
    env = {
        name: value
        for name, value in {**os.environ, **environment}.items()
        if value or name not in environment
    }
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, (ended.returncode, ended.stdout, ended.stderr)
    return ended.stdout


@pytest.mark.usefixtures("count")
def test_set_and_get() -> None:
    set_num_threads(3)
    assert get_num_threads() == 3
    set_num_threads(np.int32(2))
    assert get_num_threads() == 2


@pytest.mark.usefixtures("count")
def test_context_nests_and_restores() -> None:
    set_num_threads(2)
    two = threads(5)
    with threads(3):
        assert get_num_threads() == 3
        with two, two:
            assert get_num_threads() == 5
        assert get_num_threads() == 3
    with pytest.raises(KeyError), threads(4):
        raise KeyError
    assert get_num_threads() == 2


@pytest.mark.usefixtures("count")
def test_context_is_for_one_python_thread() -> None:
    set_num_threads(2)
    seen = []
    with threads(7):
        other = threading.Thread(target=lambda: seen.append(get_num_threads()))
        other.start()
        other.join()
    assert seen == [2]


@pytest.mark.parametrize("bad", [0, -1, 10**6, 10**30, True, np.True_, 1.5, "2", None, np.float64(2)])
def test_bad_counts(bad: object) -> None:
    before = get_num_threads()
    with pytest.raises(ArgumentError, match="number of threads is") as caught:
        set_num_threads(bad)  # type: ignore[arg-type]
    assert "an integer from 1 to 4096 is needed" in str(caught.value)
    with pytest.raises(ArgumentError):
        threads(bad)  # type: ignore[arg-type]
    assert get_num_threads() == before


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("4", 4),
        ("4,2", 4),
        (" 3 , 1", 3),
        ("", None),
        ("0", None),
        ("-2", None),
        ("many", None),
        ("9" * 5000, None),
    ],
)
def test_omp_num_threads(text: str, count: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings({"OMP_NUM_THREADS": text}).omp_num_threads == count
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    monkeypatch.delenv("OMP_THREAD_LIMIT", raising=False)
    assert default_num_threads() == count or count is None
    monkeypatch.setenv("OMP_THREAD_LIMIT", "1")
    assert default_num_threads() == 1


def test_default_is_adopted_at_import() -> None:
    script = "from polymat.runtime.threads import get_num_threads; print(get_num_threads())"
    assert run_python(script, OMP_NUM_THREADS="3,2", OMP_THREAD_LIMIT="") == "3\n"


def test_team_is_one_thread_for_little_work(library: ctypes.CDLL) -> None:
    assert library.team(4, 10.0, 100.0) == 1
    assert library.team(1, 1e9, 100.0) == 1
    assert library.team(3, 100.0, 100.0) == 3
    assert library.members(3) == 3


@pytest.mark.parametrize(
    ("threads", "work", "wait", "team"),
    [
        (1, 1e9, 0, 1),
        (2, 199.0, 0, 1),
        (2, 201.0, 200_000, 1),
        (2, 19_999.0, 200_000, 1),
        (2, 20_000.0, 200_000, 2),
        (3, 14_999.0, 200_000, 1),
        (3, 15_000.0, 200_000, 3),
    ],
)
def test_a_team_has_to_pay(library: ctypes.CDLL, threads: int, work: float, wait: int, team: int) -> None:
    """Two threads save half of the work, three two thirds; threads that sleep cost more."""
    assert library.paying_team(threads, work, wait, 1.0) == team


def test_a_team_that_is_awake_pays_earlier(library: ctypes.CDLL) -> None:
    # The process may be interrupted between two calls for longer than threads wait.
    assert any(library.paying_team(2, 201.0, 0, 1.0) == 2 for _ in range(1000))


@pytest.mark.parametrize(
    ("work", "times", "team"), [(1e3, 1, 1), (1e3, 19, 1), (1e3, 20, 2), (2e4, 1, 2), (199, 1e9, 1)]
)
def test_a_team_wakes_up_once_for_all_steps(
    library: ctypes.CDLL, work: float, times: float, team: int
) -> None:
    assert library.paying_team(2, work, 1000000, times) == team
    assert library.paying_team(2, 1e3, 1000000, 1.0) == 1


@pytest.mark.parametrize(("work", "times", "team"), [(1e3, 1, 1), (1e3, 100, 1), (2e4, 1, 2)])
def test_a_team_that_fell_asleep_within_a_call_has_to_pay_again(
    library: ctypes.CDLL, work: float, times: float, team: int
) -> None:
    """Threads sleep while a call goes on by itself: waking them for each of many steps is not paid once."""
    assert library.team_later(work, 1_000_000, times) == team
    # The process may be interrupted in between for longer than threads wait.
    assert any(library.team_later(201.0, 0, times) == 2 for _ in range(1000))


@pytest.mark.parametrize(
    ("others", "threads", "team"), [(0, 2, 2), (1, 2, 1), (1, 4, 2), (2, 4, 1), (9, 4, 1)]
)
def test_calls_at_the_same_time_divide_the_processor(
    library: ctypes.CDLL, others: int, threads: int, team: int
) -> None:
    assert library.team_among(others, threads) == team
    assert library.team_among(0, threads) == threads


def test_team_inside_a_parallel_region_is_one_thread(library: ctypes.CDLL) -> None:
    assert library.nested_team(2) == 1


def test_team_leaves_affinity_alone(library: ctypes.CDLL) -> None:
    before = os.sched_getaffinity(0)
    for size in (2, 3, 9, 2):
        assert library.members(size) == size
    assert os.sched_getaffinity(0) == before
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(ProcessLookupError):  # threads of the larger team may end meanwhile
            assert os.sched_getaffinity(int(task.name)) == before


# Root is not bound by RLIMIT_NPROC, so the refusal is injected: LIMIT threads are made and then no more.
REFUSING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int made;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *argument)
{
    typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (atomic_fetch_add(&made, 1) >= atoi(getenv("LIMIT")))
        return EAGAIN;
    create_function *create = (create_function *)dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attr, start, argument);
}
"""

REFUSED = """
    import ctypes, sys
    library = ctypes.CDLL(sys.argv[1])
    print(library.members(4), library.members(4), library.members(2))
"""


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_refused_thread_does_not_end_the_process(limit: int, tmp_path: Path) -> None:
    refusing = tmp_path / "refusing.so"
    (tmp_path / "refusing.c").write_text(REFUSING)
    command = ["gcc", "-shared", "-fPIC", "-o", str(refusing), str(tmp_path / "refusing.c"), "-ldl"]
    subprocess.run(command, check=True)
    built = build(SOURCE)
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(REFUSED), str(built.path)],
        env={**os.environ, "LD_PRELOAD": str(refusing), "LIMIT": str(limit)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, "1 1 1\n"), ended.stderr


QUIET = """
    import ctypes, os
    from polymat.runtime.openmp import loaded_openmp, openmp_warning, quiet_openmp
    before = dict(os.environ)
    if os.environ.get("LOADED_BEFORE"):
        ctypes.CDLL("libgomp.so.1")
    quiet_openmp()
    quiet_openmp()
    c = ctypes.CDLL(None)
    c.getenv.restype = ctypes.c_char_p
    values = [c.getenv(name) for name in (b"GOMP_SPINCOUNT", b"OMP_WAIT_POLICY")]
    assert dict(os.environ) == before
    print(values, len(loaded_openmp()), openmp_warning()[-68:])
"""


def test_quiet_openmp_restores_the_environment() -> None:
    free = {"OMP_WAIT_POLICY": "", "GOMP_SPINCOUNT": "", "KMP_BLOCKTIME": ""}
    assert run_python(QUIET, **free) == "[None, None] 1 \n"
    shown = run_python(QUIET, OMP_DISPLAY_ENV="verbose", **free)
    assert shown == "[None, None] 1 \n"


def test_quiet_openmp_leaves_the_users_choice() -> None:
    shown = run_python(QUIET, OMP_WAIT_POLICY="active", GOMP_SPINCOUNT="", KMP_BLOCKTIME="")
    assert shown == "[None, b'active'] 1 \n"


@pytest.mark.parametrize("policy", ["", "active"])
def test_closing_the_last_library_keeps_the_runtime(policy: str) -> None:
    """The idle threads of a team run code of libgomp: it must not be unmapped under them."""
    built = build(SOURCE)
    script = f"""
        import ctypes
        from polymat.runtime.openmp import quiet_openmp
        quiet_openmp()
        library = ctypes.CDLL({str(built.path)!r})
        print(library.members(3))
        close = ctypes.CDLL(None).dlclose
        close.argtypes = [ctypes.c_void_p]
        print(close(library._handle))
        print({built.path.name!r} in open("/proc/self/maps").read())
    """
    shown = run_python(script, OMP_WAIT_POLICY=policy, GOMP_SPINCOUNT="", KMP_BLOCKTIME="")
    assert shown == "3\n0\nFalse\n"


def test_openmp_loaded_by_someone_else_is_reported() -> None:
    free = {"OMP_WAIT_POLICY": "", "GOMP_SPINCOUNT": "", "KMP_BLOCKTIME": ""}
    shown = run_python(QUIET, LOADED_BEFORE="1", **free)
    assert "set OMP_WAIT_POLICY=passive, or import polymat first" in shown
