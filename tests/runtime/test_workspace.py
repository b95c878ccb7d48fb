"""The memory that a library keeps between calls: whose it is, where it lies, and what the system may take."""

from __future__ import annotations

import ctypes
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from polymat.codegen.c.needs import Piece
from polymat.codegen.prelude import prelude
from polymat.runtime.libraryfile import build
from tests.runtime.smaps import lazily_freed

SOURCE = (
    prelude(frozenset({Piece.WORKSPACE}))
    + """
#include <sched.h>
#include <string.h>
#include <time.h>

void *take(size_t bytes) { return _pm_workspace_take(bytes); }
void give(void *workspace) { _pm_workspace_give(workspace); }

/* Nanoseconds of a call, with giving the workspace back, of which it writes a part; at least so many. */
int64_t written(size_t bytes, size_t from, size_t count, int64_t least)
{
    struct timespec begin, now;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    char *const workspace = _pm_workspace_take(bytes);
    int64_t spent;
    memset(workspace + from, 1, count);
    do {
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        spent = (int64_t)(now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec;
    } while (spent < least);
    _pm_workspace_give(workspace);
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)(now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec;
}

/* Fill the workspace with a number, wait a little, and count the bytes that have changed. */
ptrdiff_t disturbed(size_t bytes, int value, int rounds)
{
    ptrdiff_t changed = 0;
    for (int round = 0; round < rounds; round++) {
        unsigned char *workspace = _pm_workspace_take(bytes);
        memset(workspace, value, bytes);
        sched_yield();
        for (size_t at = 0; at < bytes; at++)
            changed += workspace[at] != value;
        _pm_workspace_give(workspace);
    }
    return changed;
}
"""
)


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    built = build(SOURCE)
    loaded = ctypes.CDLL(str(built.path))
    built.release()
    loaded.take.restype = ctypes.c_void_p
    loaded.take.argtypes = [ctypes.c_size_t]
    loaded.give.argtypes = [ctypes.c_void_p]
    loaded.written.restype = ctypes.c_int64
    loaded.written.argtypes = [*(ctypes.c_size_t,) * 3, ctypes.c_int64]
    loaded.disturbed.restype = ctypes.c_ssize_t
    loaded.disturbed.argtypes = [ctypes.c_size_t, ctypes.c_int, ctypes.c_int]
    return loaded


def test_workspace_is_kept_aligned_and_grows(library: ctypes.CDLL) -> None:
    first = library.take(1000)
    assert first % 64 == 0
    library.give(first)
    assert library.take(900) == first
    library.give(first)
    larger = library.take(5 << 20)
    assert larger % 64 == 0
    ctypes.memset(larger, 1, 5 << 20)
    library.give(larger)
    assert library.take(1) == larger
    library.give(larger)


@pytest.mark.parametrize("size", [(16 << 20) - 1, 16 << 20, (18 << 20) - 64, (18 << 20) - 63])
def test_large_workspaces_can_be_written(library: ctypes.CDLL, size: int) -> None:
    workspace = library.take(size)
    assert workspace % 64 == 0
    ctypes.memset(workspace, 1, size)
    library.give(workspace)
    assert library.take(size // 2) == workspace
    library.give(workspace)
    small = library.take(1000)
    assert size >= 16 << 20 or small == workspace  # of a large one it would be less than an eighth
    library.give(small)
    library.give(library.take(size))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems say nothing of it")
def test_large_workspaces_are_left_to_the_system_after_calls_that_are_not_short(library: ctypes.CDLL) -> None:
    size, part = 24 << 20, 2 << 20
    workspace = library.take(size)
    library.give(workspace)
    library.written(size, 0, size, 3_000_000)
    offered = lazily_freed(workspace)
    assert offered >= 20 << 20
    for _ in range(1000):
        if library.written(size, 8 << 20, part, 0) < 2_000_000:  # no other process held it up
            assert lazily_freed(workspace) <= offered - part
            break
        library.written(size, 8 << 20, part, 3_000_000)
    library.give(library.take(1000))


def test_two_callers_share_no_workspace(library: ctypes.CDLL) -> None:
    one, two, three = library.take(64), library.take(64), library.take(0)
    assert len({one, two, three}) == 3
    for workspace in (one, two, three, None):
        library.give(workspace)
    with ThreadPoolExecutor(8) as pool:
        changed = pool.map(lambda value: library.disturbed(3000 * (value + 1), value, 300), range(8))
    assert sum(changed) == 0


@pytest.mark.parametrize("size", [2**64 - 1, 2**63, 2**62, 2**50])
def test_too_large_a_workspace_is_refused(library: ctypes.CDLL, size: int) -> None:
    assert library.take(size) is None
    library.give(library.take(100))
