"""States in place under sanitizers: `python -m tests.codegen.sanitized_inplace`, libasan loaded first."""

from __future__ import annotations

import os
import sys

import numpy as np

from tests.differential.sanitized import FLAGS


def main() -> int:
    """Steps over planes of exact size, of short rows and longer ones; a wrong access ends the process."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    import polymat as pm
    from tests.codegen.loops.test_shifted import WIDE
    from tests.decide.test_skewedsteps import M, N, T, fields, heat, means
    from tests.hosts import compiling_for

    for threads in (1, 2):
        options = pm.Options(cflags=FLAGS, threads=threads, parallel_threshold=0)
        for build, inputs, extra in ((fields, 2, ()), (means, 2, ()), (heat, 1, (0,))):
            with compiling_for(WIDE):
                run = pm.compile(build(), options=options, estimates={N: 200, M: 200, T: 100})
            assert "_pm_row_store" in run.source
            for rows, columns in ((1, 1), (3, 7), (5, 8), (2, 9), (7, 15), (5, 17), (19, 25)):
                rng = np.random.default_rng(columns)
                shape = (rows, columns, *(columns for _ in extra))
                arrays = [rng.standard_normal(shape) for _ in range(inputs)]
                for steps in (0, 1, 2, 5):
                    found, expected = run(*arrays, T=steps), run.reference(*arrays, T=steps)
                    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11 * 4**steps)
            print(build.__name__, threads, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
