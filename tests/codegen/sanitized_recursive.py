"""Recursive filters under sanitizers: `python -m tests.codegen.sanitized_recursive`, with libasan first."""

from __future__ import annotations

import os
import sys

import numpy as np

from tests.differential.sanitized import FLAGS


def main() -> int:
    """Filter arrays of exact size; a wrong value is an error, a wrong access ends the process.

    The C for the two types has the same text but for them: a run has one, which its seed chooses.
    """
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    import polymat as pm

    c, n = pm.Parameter(pm.Int, "C"), pm.Parameter(pm.Int, "N")
    options = pm.Options(threads=1, cflags=FLAGS)
    sos = [[1.0, 0.5, 0.2, 1.0, -0.9, 0.3], [0.5, 0.1, 0.0, 1.0, 0.4, 0.1]]
    for kind in ((pm.Double, pm.Float)[int(os.environ.get("POLYMAT_SEED", "0")) % 2],):
        x, z = pm.Signal(kind, "x", [c, n]), pm.Image(kind, "z", [2, c, 2])
        outputs = [*pm.sosfilt(sos, x, zi=z), pm.lfilter([1.0, 0.2], [1.0, -0.5], x)]
        compiled = pm.compile(outputs, name="filters", inputs=[x, z], options=options)
        assert [group.kind for group in compiled.explain().groups].count("recursive") == 2
        rng = np.random.default_rng(1)
        for shape in ((1, 1), (2, 3), (1, 700), (9, 43), (17, 20), (1, 3000)):
            arrays = [rng.standard_normal(each).astype(kind.dtype) for each in (shape, (2, shape[0], 2))]
            for one, other in zip(compiled(*arrays), compiled.reference(*arrays), strict=True):
                np.testing.assert_allclose(one, other, atol=1e-4)
        print(kind, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
