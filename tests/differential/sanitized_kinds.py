"""Random programs of some kinds under sanitizers: `python -m tests.differential.sanitized_kinds SEED`.

libasan has to be loaded first, as `tests.differential.under_sanitizers` does it.
"""

from __future__ import annotations

import os
import sys

from tests.differential.sanitized import FLAGS


def main() -> int:
    """Extremes with their places, iterations, and planes, turns and borders; a wrong access ends the process."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    import polymat as pm
    from tests.differential import random_planes, random_positions, random_states

    (seed,) = map(int, sys.argv[1:])
    options = pm.Options(cflags=FLAGS, threads=3, parallel_threshold=0)
    found = random_positions.differences(random_positions.random_positions(seed, 3), options, seed)
    print("positions", flush=True)
    found += random_states.differences(random_states.random_states(seed), options, seed)
    print("states", flush=True)
    found += random_planes.differences(random_planes.random_planes(seed, 3), options, seed)
    print("planes", flush=True)
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
