"""Writes README's tables from benchmarks/results: `make results`.

python -m benchmarks.figures [--site DIRECTORY]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures.readme import README, readme_with_figures
from benchmarks.figures.site import write_site


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite README, and with --site a page of all records with pictures."""
    parser = argparse.ArgumentParser(description="write tables and pictures from benchmarks/results")
    parser.add_argument("--site", type=Path, metavar="DIRECTORY", help="write a page and pictures there, too")
    asked = parser.parse_args(argv)
    README.write_text(readme_with_figures(README.read_text(encoding="utf-8")), encoding="utf-8")
    if asked.site is not None:
        write_site(asked.site)
    return 0


if __name__ == "__main__":
    sys.exit(main())
