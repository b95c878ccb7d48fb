"""Image pipelines under sanitizers at small odd sizes, on two threads: `python -m tests.images.sanitized`.

Names of pipelines after it choose some.
"""

from __future__ import annotations

import os
import sys

from tests.differential.sanitized import FLAGS, run_all

EXTENTS = ((1, 1), (2, 3), (5, 9), (16, 31), (37, 53), (67, 29))


def main() -> int:
    """Run the pipelines that are named, or all; a wrong access ends the process."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    import polymat as pm
    from benchmarks.images import PROGRAMS
    from tests.images.solving import assert_solves, drawn

    options = pm.Options(cflags=FLAGS, threads=2, parallel_threshold=0)
    for program in PROGRAMS:
        if program.name in sys.argv[1:] or not sys.argv[1:]:
            compiled = program.compile(options=options)
            for extents in EXTENTS:
                arrays = drawn(program, *extents, 0)
                assert_solves(program, compiled(*arrays.values(), **program.scalars), arrays)
            print(program.name, flush=True)
    return 0


if __name__ == "__main__":
    loaded = "libasan" in os.environ.get("LD_PRELOAD", "")
    sys.exit(main() if loaded else run_all("tests.images.sanitized"))
