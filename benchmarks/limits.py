"""What this machine can do at most, for reading the other figures: bandwidths, peak arithmetic, regions.

    python -m benchmarks.limits [--stored]

Measured anew, and kept, unless what is kept is asked for.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from polymat.measuring.measuremachine import calibrate
from polymat.runtime.calibration import calibration_lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the limits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stored", action="store_true", help="what was measured before, if it was")
    asked = parser.parse_args(arguments)
    sys.stdout.write("\n".join(calibration_lines(calibrate(force=not asked.stored))) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
