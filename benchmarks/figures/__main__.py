"""Writes README's tables and the page of the papers' from benchmarks/results: `make results`.

python -m benchmarks.figures [--site DIRECTORY]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures.papers import PAGE, paper_page
from benchmarks.figures.readme import README, readme_with_figures
from benchmarks.figures.site import write_site
from benchmarks.papers.tables import TABLES


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite README and the page of the papers, and with --site a page of all records with pictures."""
    parser = argparse.ArgumentParser(description="write tables and pictures from benchmarks/results")
    parser.add_argument("--site", type=Path, metavar="DIRECTORY", help="write a page and pictures there, too")
    asked = parser.parse_args(argv)
    README.write_text(readme_with_figures(README.read_text(encoding="utf-8")), encoding="utf-8")
    titles = {name: table.title for name, table in TABLES.items()}
    PAGE.write_text(paper_page(titles), encoding="utf-8")
    if asked.site is not None:
        write_site(asked.site)
    return 0


if __name__ == "__main__":
    sys.exit(main())
