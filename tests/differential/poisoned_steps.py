"""Random functions over time in storage full of NaN, with sanitizers: `python -m tests.differential.poisoned_steps`."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

from tests.differential.sanitized import FLAGS

POISONED = """\
/* A workspace of its own for each call, all bits set: NaN, or -1. */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "memory.h"

static inline void *_pm_workspace_take(size_t bytes)
{
    char *const block = (char *)aligned_alloc(64, (bytes + 127) / 64 * 64);
    memset(block, 0xff, bytes);
    return block;
}

static inline void _pm_workspace_give(void *workspace)
{
    free(workspace);
}
"""


def main() -> int:
    """Compile and compare; 1 where a result is wrong.  The sanitizers end the process themselves."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=5)
    asked = parser.parse_args()
    from polymat import Options
    from polymat.codegen.c import kernels
    from polymat.rewrite import sliced
    from tests.codegen.sanitized_scratch import write_kernels
    from tests.differential import random_computed_steps as computed
    from tests.differential import random_slices as slices
    from tests.differential import random_waiting as waiting
    from tests.differential.random_steps import differences, random_steps

    def computed_places() -> list[str]:
        shared = Options(cflags=FLAGS, parallel_threshold=0, threads=2)
        return computed.differences(computed.random_systems(asked.seed, asked.count), shared, asked.seed)

    with tempfile.TemporaryDirectory() as folder, patch.object(kernels, "FOLDER", Path(folder)):
        write_kernels(Path(folder), {"workspace": POISONED})
        for number in range(asked.count):
            found = differences(random_steps(1000 * asked.seed + 500 + number), FLAGS)
            with patch.object(sliced, "CLEARLY", 1e9):
                found += slices.differences(slices.draw(1000 * asked.seed + 500 + number), FLAGS)
            found += waiting.differences(waiting.draw(1000 * asked.seed + 500 + number), 4, FLAGS)
            if found := found or (computed_places() if number == 0 else []):
                print(*found, sep="\n")
                return 1
    print(f"{asked.count} programs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
