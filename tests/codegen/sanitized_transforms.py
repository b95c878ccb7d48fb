"""Large transforms under sanitizers: `python -m tests.codegen.sanitized_transforms`, libasan loaded first."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.differential.sanitized import FLAGS


def main() -> int:
    """Transforms of arrays of exact size, all of which count as large; a wrong access ends the process."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    import polymat as pm
    from polymat.codegen.routines import fftlarge
    from polymat.decide import callplans
    from polymat.idiom.parts import Least
    from tests.codegen.routines.test_fftlarge import PLANE, SUMMED, Z, both, m, z
    from tests.codegen.signals.test_transforms import OUT, values, wave
    from tests.idiom.recognise import N, k, total, upto

    line = total("F", OUT, [(k, upto(N))], z(k) * wave(-1), dtype=pm.Complex)
    plane = total("F", PLANE, SUMMED, Z(m, k) * both(-1), dtype=pm.Complex)
    r, h = pm.Vector(pm.Double, "r", [N]), pm.Vector(pm.Complex, "h", [N])
    lengths = ((2,), (6,), (240,), (323,), (1122,))
    cases: dict[str, tuple[Any, Any, Callable[[Any], Any], tuple[tuple[int, ...], ...]]] = {
        "line": (line, z, np.fft.fft, lengths),
        "plane": (plane, Z, np.fft.fft2, ((1, 1), (3, 5), (15, 17), (16, 16), (33, 40))),
        "real": (pm.rfft(r), r, np.fft.rfft, lengths),
        "back": (pm.irfft(h), h, np.fft.irfft, lengths),
    }
    small = patch.object(callplans, "least_of", lambda *_: Least(1, 1, 1, 1, 1, 1, 1, 1))
    with small, patch.multiple(fftlarge, COLLIDING=1, EVEN=1, SHORTEST=2):
        for name, (output, array, expected, shapes) in cases.items():
            for threads in (1, 2):
                options = pm.Options(fft="always", threads=threads, parallel_threshold=0, cflags=FLAGS)
                compiled = pm.compile(output, name=name, inputs=[array], options=options)
                for shape in shapes:
                    given = values(shape, array.dtype.dtype)
                    np.testing.assert_allclose(compiled(given), expected(given), atol=1e-11)
            print(name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
