"""Rows in registers under sanitizers: `python -m tests.codegen.sanitized_rows`, with libasan loaded first."""

from __future__ import annotations

import os
import sys

import numpy as np

from tests.differential.sanitized import FLAGS


def main() -> int:
    """Stencils over single rows of exact size; a wrong access ends the process."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    import polymat as pm
    from tests.codegen.loops.test_shifted import LENGTHS, SHIFT, WIDE, C, R, cross, far, i, j, weighted
    from tests.hosts import compiling_for

    options = pm.Options(cflags=FLAGS)
    for value, border in ((weighted, (0, 2)), (far, (0, 17)), (cross, (1, 1))):
        image = pm.Image(pm.Double, "image", [R, C])
        spans = [pm.Interval(pm.Int, low, size - 1 - low) for size, low in zip((R, C), border, strict=True)]
        found = pm.Function(([i, j], spans), pm.Double, "found")
        found.defn = [value(image)]
        with compiling_for(WIDE):
            compiled = pm.compile(found, options=options, trim=True)
        assert SHIFT in compiled.source
        for columns in LENGTHS:
            if columns <= 2 * border[1]:
                continue
            array = np.random.default_rng(columns).random((3, columns))
            np.testing.assert_allclose(compiled(array), compiled.reference(array), atol=1e-12)
        print(value.__name__, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
