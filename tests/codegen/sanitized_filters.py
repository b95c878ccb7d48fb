"""Filters under sanitizers: `python -m tests.codegen.sanitized_filters`, with libasan loaded first."""

from __future__ import annotations

import os
import sys

import numpy as np

from tests.differential.sanitized import FLAGS


def main() -> int:
    """Filter arrays of exact size; a wrong value is an error, a wrong access ends the process."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    import polymat as pm

    n, k = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Int, "K")
    options = pm.Options(fir="direct", threads=1, cflags=FLAGS)
    for kind in (pm.Double, pm.ComplexFloat):
        x, h = pm.Signal(kind, "x", n), pm.Vector(kind, "h", [k])
        outputs = [x.fir(h), x.fir(h, "full").down(3), x.fir(h, "same").down(2)]
        outputs += [x.up(3).fir(h, "causal").down(2), x.up(2).fir(h)] if kind == pm.Double else []
        compiled = pm.compile(
            outputs, name="filters", inputs=[x, h], estimates={n: 100_000, k: 64}, options=options
        )
        assert [group.kind for group in compiled.explain().groups] == ["filter"] * len(outputs)
        rng = np.random.default_rng(1)
        for length, taps in ((1, 1), (8, 1), (9, 9), (64, 5), (131, 7), (1200, 2), (2051, 3), (1100, 301)):
            arrays = [rng.standard_normal(count).astype(kind.dtype) for count in (length, taps)]
            for one, other in zip(compiled(*arrays), compiled.reference(*arrays), strict=True):
                np.testing.assert_allclose(one, other, atol=1e-4)
        print(kind, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
