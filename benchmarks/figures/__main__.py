"""Writes README's tables, the papers' page and audits' pictures from benchmarks/results: `make results`.

python -m benchmarks.figures [--site DIRECTORY]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.auditing.lines import from_json
from benchmarks.auditing.report import picture
from benchmarks.figures.papers import PAGE, paper_page
from benchmarks.figures.readme import README, RESULTS, readme_with_figures
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
    for kept in sorted(RESULTS.glob("machines/*/audit.json")):
        kept.with_suffix(".svg").write_text(audit_picture(kept), encoding="utf-8")
    if asked.site is not None:
        write_site(asked.site)
    return 0


def audit_picture(kept: Path) -> str:
    """The picture of an audit's file."""
    found = json.loads(kept.read_text(encoding="utf-8"))
    return picture([from_json(line) for line in found["audits"]], "\n".join(found["machine"]))


if __name__ == "__main__":
    sys.exit(main())
