"""Random programs of some kinds under sanitizers: `python -m tests.differential.sanitized_kinds SEED KIND...`.

`--count N` takes N seeds.  A wrong access ends the process.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Callable
from unittest.mock import patch

from tests.differential.sanitized import FLAGS, run_all

KINDS = ("positions", "states", "planes", "gathers", "systems", "slices", "mixtures")


def ways() -> dict[str, Callable[[int], list[str]]]:
    """What is wrong with the programs of a seed, for each kind."""
    import polymat as pm
    from polymat.rewrite import sliced
    from tests.differential import (
        random_computed_steps,
        random_gathers,
        random_mixtures,
        random_planes,
        random_positions,
        random_slices,
        random_states,
    )

    options = pm.Options(cflags=FLAGS, threads=3, parallel_threshold=0)

    def slices(seed: int) -> list[str]:
        with patch.object(sliced, "CLEARLY", 1e9):  # slices wherever there may be some
            return random_slices.differences(random_slices.draw(seed), FLAGS)

    def mixtures(seed: int) -> list[str]:
        made, drawn = random_mixtures.mixture(seed), random.Random(f"sanitized {seed}")
        try:
            return random_mixtures.differences(made, seed, random_mixtures.random_options(drawn, FLAGS))
        except pm.BoundsError:  # a part leaves its array for some sizes
            return []

    return {
        "positions": lambda seed: random_positions.differences(
            random_positions.random_positions(seed, 3), options, seed
        ),
        "states": lambda seed: random_states.differences(random_states.random_states(seed), options, seed),
        "planes": lambda seed: random_planes.differences(random_planes.random_planes(seed, 3), options, seed),
        "gathers": lambda seed: random_gathers.differences(
            random_gathers.random_gathers(seed, 3), options, seed, (*random_gathers.SIZES, (3, 1500))
        ),
        "systems": lambda seed: random_computed_steps.differences(
            random_computed_steps.random_systems(seed, 3), options, seed
        ),
        "slices": slices,
        "mixtures": mixtures,
    }


def main() -> int:
    """Run the kinds that are asked for, each with so many seeds; 1 when a result is wrong."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--count", type=int, default=1)
    asked = parser.parse_args()
    known, found = ways(), list[str]()
    for kind in asked.kinds or KINDS:
        for seed in range(asked.seed, asked.seed + asked.count):
            wrong = known[kind](seed)
            found += [f"{kind} {seed}: {each}" for each in wrong]
        print(kind, flush=True)
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    loaded = "libasan" in os.environ.get("LD_PRELOAD", "")
    sys.exit(main() if loaded else run_all("tests.differential.sanitized_kinds"))
