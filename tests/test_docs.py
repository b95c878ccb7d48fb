"""The documentation as a site: complete, and built without warnings where Sphinx is installed."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def test_every_page_is_in_the_table_of_contents() -> None:
    tables = re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / "index.md").read_text("utf-8"), re.S)
    listed = {line for table in tables for line in table.split() if not line.startswith(":")}
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    assert {page for page in pages if not page.rpartition("/")[2].startswith("_")} - {"index"} <= listed


def test_every_variable_is_described() -> None:
    read = re.findall(r'"((?:POLYMAT|OMP|GOMP|KMP|OPENBLAS)_\w+)"', settings_text())
    told = (DOCS / "reference" / "environment.md").read_text("utf-8")
    assert len(read) > 10
    assert not [name for name in read if f"`{name}`" not in told]


def settings_text() -> str:
    return (ROOT / "polymat" / "runtime" / "settings.py").read_text("utf-8")


@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="Sphinx is not installed: make docs")
def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        str(DOCS),
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    options = (tmp_path / "reference" / "options.html").read_text("utf-8")
    assert "parallel_threshold" in options
    assert 'id="polymat.compile"' in (tmp_path / "reference" / "api.html").read_text("utf-8")
