"""The documentation as a site: complete, and built without warnings where Sphinx is installed."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import takewhile
from pathlib import Path

import pytest

import polymat
from polymat.cli import _parser
from polymat.lang.types import ScalarType
from polymat.runtime.settings import VARIABLES

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
LINKS = DOCS / "links.py"


def test_every_page_is_in_the_table_of_contents() -> None:
    tables = [
        table
        for page in ("index.md", "measurements.md")
        for table in re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / page).read_text("utf-8"), re.S)
    ]
    listed = {line for table in tables for line in table.split() if not line.startswith(":")}
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    assert {page for page in pages if not page.rpartition("/")[2].startswith("_")} - {"index"} <= listed


def test_every_variable_is_described() -> None:
    text = (ROOT / "polymat" / "runtime" / "settings.py").read_text("utf-8").partition("def settings(")[2]
    read = {*re.findall(r'"((?:POLYMAT|OMP|GOMP|KMP|OPENBLAS)_\w+)"', text)}
    told = {name for names, values, meaning in VARIABLES if values and meaning for name in names}
    assert len(read) > 10
    assert told == read


def commands(document: Path) -> list[list[str]]:
    """The words of every line of the `sh` and `bash` blocks of a document."""
    blocks = re.findall(r"^ *```(?:sh|bash)\n(.*?)^ *```$", document.read_text("utf-8"), re.M | re.S)
    return [words for block in blocks for line in block.splitlines() if (words := shlex.split(line, True))]


def test_commands_are_ones_that_there_are() -> None:
    """A target of make, or what the command line takes; those of guides/shipping.md run in test_wheel.py.

    Variables before a command are settings that there are.
    """
    known = {name for names, _, _ in VARIABLES for name in names}
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
    seen = []
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    for document in sorted(documents):
        for line in commands(document) if document.name != "shipping.md" else ():
            variables = [*takewhile(lambda word: re.match(r"[A-Z_]+=", word), line)]
            assert {each.partition("=")[0] for each in variables} <= known, document
            name, *words = line[len(variables) :]
            if variables and name == "python":
                assert words == ["program.py"], document
                seen += [each.partition("=")[0] for each in variables]
                continue
            assert name in ("make", "polymat"), document
            if name == "make":
                assert words[0] in targets, document
            else:
                _parser().parse_args(words)
            seen.append(words[0])
    assert {"demo", "test", "golden", "bench", "POLYMAT_BLAS"} <= set(seen)


def test_pictures_of_how_it_works_are_drawn(tmp_path: Path) -> None:
    """As the site's configuration does it, where there is no Sphinx, too."""
    command = [sys.executable, "-c", "import pathlib, pictures; pictures.write_pictures(pathlib.Path())"]
    paths = os.pathsep.join((str(DOCS), str(ROOT)))
    subprocess.run(command, cwd=tmp_path, check=True, env={**os.environ, "PYTHONPATH": paths}, timeout=300)
    drawn = {path.name: path.read_text("utf-8") for path in tmp_path.glob("_*.svg")}
    text = (DOCS / "how.md").read_text("utf-8")
    assert set(drawn) >= {*re.findall(r"_[\w-]+\.svg", text)} != set()
    assert all(ET.fromstring(each).tag.endswith("svg") for each in drawn.values())


def spelled(text: str) -> str:
    """A text without what formatting adds: spaces, and commas before what closes."""
    return re.sub(r"\s+|,(?=\s*[)\]}])", "", text)


def test_the_routine_that_howto_adds_stands_in_the_files_that_it_names() -> None:
    text = (DOCS / "howto.md").read_text("utf-8").partition("## Add a pass")[0]
    changed = set()
    for match in re.finditer(r"```diff\n(.*?)^```", text, re.M | re.S):
        file = re.findall(r"`(polymat/[\w/]+\.py)`", text[: match.start()])[-1]
        whole = spelled((ROOT / file).read_text("utf-8"))
        for part in match[1].split("…\n"):
            lines = [line[1:] for line in part.splitlines()]
            assert spelled("\n".join(lines)) in whole, f"{file} lacks\n{part}"
        changed.add(file)
    assert len(changed) == 4  # three files and a row


def is_type(name: str) -> bool:
    """Whether a public name is an element type, which a table has."""
    return isinstance(getattr(polymat, name), ScalarType)


def is_built(root: Path) -> bool:
    """Whether `make docs` has built the site of what is there now, and found nothing wrong."""
    built = root / "build" / "docs" / ".whole"
    files = (path for folder in ("docs", "polymat", "benchmarks") for path in (root / folder).rglob("*"))
    suffixes = (".py", ".md", ".json", ".css", ".c", ".h")
    sources = [*root.glob("*.md"), *(path for path in files if path.suffix in suffixes)]
    return built.exists() and all(path.stat().st_mtime < built.stat().st_mtime for path in sources)


def test_a_site_of_other_sources_is_not_taken(tmp_path: Path) -> None:
    page, whole = tmp_path / "docs" / "a.md", tmp_path / "build" / "docs" / ".whole"
    for number, path in enumerate((page, whole)):
        path.parent.mkdir(parents=True)
        assert not is_built(tmp_path)
        path.touch()
        os.utime(path, (number, number))
    assert is_built(tmp_path)
    os.utime(page, (2, 2))
    assert not is_built(tmp_path)


def site(to: Path) -> Path:
    """The site, built there unless `make docs` has built it of the same sources."""
    if is_built(ROOT):
        return ROOT / "build" / "docs"
    words = ["-W", "--keep-going", "-q", "-b", "html", str(DOCS), str(to)]
    command = [sys.executable, "-m", "sphinx", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([sys.executable, LINKS, to], check=False).returncode == 0
    return to


@pytest.mark.skipif(importlib.util.find_spec("sphinx") is None, reason="Sphinx is not installed: make docs")
def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    built = site(tmp_path)
    options = (built / "reference" / "options.html").read_text("utf-8")
    assert "parallel_threshold" in options
    names = {"compile", *polymat.__all__} - {name for name in polymat.__all__ if is_type(name)}
    names |= {f"Signal.{name}" for name in ("fir", "down", "up", "interp_fft")}
    names |= {f"Matrix.{name}" for name in ("T", "sum", "mean", "max", "min", "prod", "argmin", "argmax")}
    reference = (built / "reference" / "api.html").read_text("utf-8")
    assert [name for name in sorted(names) if f'id="polymat.{name}"' not in reference] == []
    assert "POLYMAT_CACHE_DIR" in (built / "reference" / "environment.html").read_text("utf-8")


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="x"><a href="b.html#y"><a href="b.html#z"><a href="#x"><img src="c">'
    )
    (tmp_path / "b.html").write_text('<p id="y"><a href="a.html"><a href="https://example.org/d#e">')
    done = subprocess.run([sys.executable, LINKS, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["leads nowhere: a.html: b.html#z", "leads nowhere: a.html: c"]
