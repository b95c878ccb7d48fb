"""Sparse products under sanitizers: `python -m tests.codegen.sanitized_segments`, libasan loaded first."""

from __future__ import annotations

import os
import sys

import numpy as np

from tests.differential.sanitized import FLAGS


def main() -> int:
    """Rows of neighbours, and rows of results, in arrays of exact size; a wrong access ends the process."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    import polymat as pm
    from tests.codegen.loops.test_registerrows import arrays, sums
    from tests.codegen.test_neighbour_rows import ENOUGH, EXTENT, LENGTHS, given, product

    options = pm.Options(cflags=FLAGS, threads=1)
    y, inputs = product(pm.Double, pm.Int)
    near = pm.compile(y, inputs=inputs, options=options)
    for lengths in (LENGTHS, [11] * 40, [*ENOUGH, *[11] * 40], [1] * 20, [4, 3] * 20, [0] * 5):
        drawn = given(pm.Double, pm.Int, np.random.default_rng(len(lengths)), lengths)
        np.testing.assert_allclose(near(**drawn), near.reference(**drawn), atol=1e-11)
        for at in range(0, len(drawn["column"]), 41):
            column = drawn["column"].copy()
            column[at] = EXTENT
            try:
                near(**{**drawn, "column": column})
            except pm.ArgumentError:
                continue
            raise AssertionError(f"column[{at}] is outside, and nothing is said of it")
    print("neighbours", flush=True)
    y, inputs = sums(pm.Float)
    rows = pm.compile(y, inputs=inputs[:-1], options=options)
    for width in (0, 1, 7, 8, 16, 17, 40, 70):
        drawn_rows = arrays(pm.Float, width)
        np.testing.assert_allclose(rows(*drawn_rows), rows.reference(*drawn_rows), atol=1e-3)
    print("rows of results", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
