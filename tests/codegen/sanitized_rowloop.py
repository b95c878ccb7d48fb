"""Row loops under sanitizers: `python -m tests.codegen.sanitized_rowloop`, with libasan loaded first."""

from __future__ import annotations

import os
import sys

import numpy as np

from tests.differential.sanitized import FLAGS


def main() -> int:
    """Chains over images of exact size; a wrong access ends the process."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    import polymat as pm
    from tests.codegen.loops.test_rowloopwriter import (
        BUILDS,
        ONE_LOOP,
        SANITIZED,
        SHAPES,
        arguments,
        as_list,
        compiled_chain,
    )

    for name in SANITIZED:
        build = BUILDS[name]
        compiled = compiled_chain(build, pm.Double, threads=1, cflags=FLAGS)
        assert ONE_LOOP in compiled.source
        for shape in SHAPES:
            given = arguments(compiled, build, shape, np.float64)
            found, wanted = compiled(*given), compiled.reference(*given)
            for one, other in zip(*map(as_list, (found, wanted)), strict=True):
                np.testing.assert_allclose(one, other, atol=1e-9)
        print(name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
