"""Scratch memory of products under sanitizers: `python -m tests.codegen.sanitized_scratch PART...`.

With libasan loaded first.  All scratch of a call is one block, which the sanitizer knows as a whole.  Here
each part of it is followed by megabytes that nobody may touch, and each call has a block of its own.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.differential.sanitized import FLAGS

GUARDED = """\
/* Scratch memory of which each part stands alone. */
#pragma once

#include <sanitizer/asan_interface.h>
#include <stddef.h>
#include <stdlib.h>
#include "memory.h"

enum { GAP = 4 << 20, MOST_PARTS = 64 };
typedef struct {
    const size_t *in; /* what counts the bytes of the block, or of one thread */
    size_t at, size;
} Part;
static _Thread_local Part _pm_parts[MOST_PARTS];
static _Thread_local int _pm_part_count;

static inline void _pm_live(char *block, size_t at, size_t size)
{
    ASAN_UNPOISON_MEMORY_REGION(block + at, size);
}

/* The last part is one of the block; parts of a thread stand before the one that has all threads. */
static inline void *_pm_workspace_take(size_t bytes)
{
    char *const block = (char *)aligned_alloc(64, (bytes + 128) / 64 * 64) + 64;
    *(size_t *)(void *)(block - 64) = bytes;
    ASAN_POISON_MEMORY_REGION(block, bytes);
    const int count = _pm_part_count;
    for (int p = 0, inner = 0; p < count; p++) {
        if (_pm_parts[p].in != _pm_parts[count - 1].in) {
            inner++;
            continue;
        }
        const Part *const own = &_pm_parts[p - inner];
        const size_t each = inner == 0 ? 0 : own[inner - 1].at + own[inner - 1].size + GAP;
        for (size_t at = 0; inner > 0 && at + each <= _pm_parts[p].size; at += each)
            for (int q = 0; q < inner; q++)
                _pm_live(block, _pm_parts[p].at + at + own[q].at, own[q].size);
        if (inner == 0)
            _pm_live(block, _pm_parts[p].at, _pm_parts[p].size);
        inner = 0;
    }
    _pm_part_count = 0;
    return block;
}

static inline void _pm_workspace_give(void *workspace)
{
    if (workspace == NULL)
        return;
    ASAN_UNPOISON_MEMORY_REGION(workspace, *(size_t *)(void *)((char *)workspace - 64));
    free((char *)workspace - 64);
}
"""

PLACE = """\
/* Parts with room after them. */
#pragma once

#include <stddef.h>

static inline double _pm_extent(ptrdiff_t extent)
{
    return extent > 0 ? (double)extent : 0.0;
}

static inline size_t _pm_place(size_t *reserved, double bytes)
{
    const size_t at = *reserved, size = ((size_t)bytes + 63) / 64 * 64;
    if (size == 0)
        return at;
    const Part part = {reserved, at, size};
    _pm_parts[_pm_part_count++] = part;
    *reserved = at + size + GAP;
    return at;
}

static inline void _pm_place_apart(size_t *reserved, int threads)
{
    (void)reserved; /* there is room after every part */
    (void)threads;
}
"""


PARTS = ("wide", "turned", "narrow", "layers")


def main() -> int:
    """The parts that are named, or all; layouts at sizes around those of the caches, for one of two types."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    import polymat as pm
    from polymat.codegen.c import kernels
    from polymat.machine.model import Machine
    from tests.codegen.products.test_contractionwriter import NARROW, WIDE
    from tests.hosts import compiling_for

    with tempfile.TemporaryDirectory() as folder, patch.object(kernels, "FOLDER", Path(folder)):
        write_kernels(Path(folder), {"workspace": GUARDED, "place": PLACE})
        narrow = (pm.Float, pm.Complex)[int(os.environ.get("POLYMAT_SEED", "0")) % 2]
        parts: dict[str, tuple[Machine, Callable[[], None]]] = {
            "wide": (WIDE, lambda: run(pm.Double)),
            "turned": (WIDE, run_turned),
            "narrow": (NARROW, lambda: run(narrow)),
            "layers": (NARROW, run_layers),
        }
        for name in sys.argv[1:] or PARTS:
            machine, part = parts[name]
            with compiling_for(machine):
                part()
            print(name, flush=True)
    return 0


def write_kernels(folder: Path, instead: Mapping[str, str]) -> None:
    """The kernels of polymat in another folder, some of them with other texts."""
    from polymat.codegen import c

    shutil.copytree(Path(c.__file__).parents[1] / "kernels", folder, dirs_exist_ok=True)
    for name, text in instead.items():
        (folder / f"{name}.h").write_text(text, encoding="utf-8")


def values(rng: np.random.Generator, dtype: Any, *shape: int) -> Any:
    """Small whole numbers, also as imaginary parts."""
    found = rng.integers(-9, 10, shape).astype(dtype.dtype)
    return found + 1j * rng.integers(-9, 10, shape) if dtype.kind == "c" else found


def run(dtype: Any) -> None:
    """Products of matrices, also of triangles and with something behind, all in one library."""
    import polymat as pm

    m, n, k = sizes = [pm.Parameter(pm.Int, name) for name in "MNK"]
    a, at = pm.Matrix(dtype, "A", [m, k]), pm.Matrix(dtype, "At", [k, m])
    b, bt = pm.Matrix(dtype, "B", [k, n]), pm.Matrix(dtype, "Bt", [n, k])
    results = [a @ b, at.T @ b, a @ bt.T, at.T @ bt.T, at.T @ b + a @ bt.T, a @ a.T, at.T @ at]
    inputs = [a, at, b, bt]
    options = pm.Options(blas="never", fuse=False, cflags=FLAGS)
    compiled = pm.compile(results, name="products", inputs=inputs, options=options)
    rng = np.random.default_rng(4)
    for extents in shapes(rng):
        sized = dict(zip(sizes, extents, strict=True))
        x = values(rng, dtype, sized[m], sized[k])
        y = values(rng, dtype, sized[k], sized[n])
        found = compiled(x, x.T.copy(), y, y.T.copy())
        expected = [x @ y] * 4 + [2 * (x @ y)] + [x @ x.T] * 2
        for result, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(result, wanted)


def run_turned() -> None:
    """Products whose vectors hold segments of columns, whose sets fill the second level, or hardly do."""
    import polymat as pm

    m, n, s, k = (pm.Parameter(pm.Int, name) for name in "MNSK")
    a, b = pm.Matrix(pm.Double, "A", [m, k]), pm.Image(pm.Double, "B", [n, k, s])
    compiled = pm.compile(
        pm.einsum("mk,nks->smn", a, b),
        name="turned",
        inputs=[a, b],
        options=pm.Options(blas="never", cflags=FLAGS),
        estimates={m: 24, n: 24, s: 240, k: 55},
    )
    assert "_pm_turned_f64(" in compiled.source
    rng = np.random.default_rng(5)
    for extents in ((24, 24, 240, 55), (12, 49, 171, 16), (340, 40, 69, 48), (31, 16, 1000, 17)):
        rows, columns, segments, depth = extents
        x = rng.integers(-9, 10, (rows, depth)).astype(float)
        y = rng.integers(-9, 10, (columns, depth, segments)).astype(float)
        np.testing.assert_array_equal(compiled(x, y), np.einsum("mk,nks->smn", x, y, optimize=True))


def run_layers() -> None:
    """Convolutions whose strips have rows of several segments, of one depth and of several blocks of it."""
    import polymat as pm
    from tests.codegen.test_joined_rows import NARROW, layers
    from tests.hosts import compiling_for

    rng = np.random.default_rng(6)
    with compiling_for(NARROW):
        compiled = layers(pm.Float, 1, "none", pm.Options(blas="never", threads=1, cflags=FLAGS))
    assert "pack(I" in str(compiled.explain())
    for images, side, channels, outputs, taps in ((1, 7, 40, 200, 3), (3, 5, 7, 130, 2), (2, 1, 9, 300, 3)):
        x = rng.integers(-9, 10, (images, side + taps - 1, side + taps - 1, channels)).astype(np.float32)
        y = rng.integers(-9, 10, (taps, taps, channels, outputs)).astype(np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(x, (taps, taps), (1, 2))
        np.testing.assert_array_equal(compiled(x, y), np.einsum("nhwcrs,rsck->nhwk", windows, y))


def shapes(rng: np.random.Generator) -> Iterator[tuple[int, ...]]:
    """Extents of all magnitudes, one beyond a multiple of most blocks now and then."""
    yield from ((130, 130, 130), (300, 64, 8), (64, 300, 40), (2000, 10, 64), (65, 73, 300), (17, 29, 1024))
    for _ in range(15):
        extents = np.exp(rng.uniform(0, 6.5, 3)).astype(int)
        if rng.random() < 0.3:
            extents = extents // 24 * 24 + 1
        if extents.prod() < 1_000_000:
            yield tuple(extents.tolist())


if __name__ == "__main__":
    sys.exit(main())
