"""The programs in README.md, docs/ and examples/ run as they stand, and print what is written below them."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
OTHERS = {"dask_blocks.py": ("dask", "distributed")}  # packages that an example is about
# A block of Python, and the block of text that may follow with nothing but blank lines and "prints" between.
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\s*prints:?\s*^```text\n(?P<output>.*?)^```)?", re.M | re.S
)


@dataclass(frozen=True)
class Snippet:
    """One block of Python in a document."""

    document: Path
    where: str
    code: str
    output: str | None


def snippets(document: Path) -> list[Snippet]:
    text = document.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 2
        where = f"{document.relative_to(ROOT)}:{line}"
        if not match["code"].startswith("# not run"):
            found.append(Snippet(document, where, match["code"], match["output"]))
    return found


def run(program: Path, where: Path) -> str:
    """Run a program in a directory of its own and return what it printed; a warning is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        cwd=where,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


SNIPPETS = [snippet for document in DOCUMENTS if document.exists() for snippet in snippets(document)]


def replaced(text: str, snippet: Snippet, printed: str) -> str:
    """A document with what a snippet prints now."""
    at = text.index(snippet.code) + len(snippet.code)
    begin = text.index("```text\n", at) + len("```text\n")
    return text[:begin] + printed.rstrip() + text[text.index("\n```\n", begin - 1) :]


@pytest.mark.parametrize("snippet", [pytest.param(s, id=s.where) for s in SNIPPETS])
def test_snippet_runs(snippet: Snippet, tmp_path: Path, update_golden: bool) -> None:
    program = tmp_path / "snippet.py"
    program.write_text(snippet.code, encoding="utf-8")
    printed = run(program, tmp_path)
    if snippet.output is not None and update_golden:
        text = snippet.document.read_text(encoding="utf-8")
        snippet.document.write_text(replaced(text, snippet, printed), encoding="utf-8")
    elif snippet.output is not None:
        assert printed.rstrip() == snippet.output.rstrip()


@pytest.mark.parametrize("document", [pytest.param(d, id=d.name) for d in DOCUMENTS])
def test_files_that_documents_name_are_there(document: Path) -> None:
    named = re.findall(r"`((?:polymat|tests|benchmarks|docs)/[\w/]+\.\w+)`", document.read_text("utf-8"))
    assert not [path for path in named if not (ROOT / path).exists()]


@pytest.mark.parametrize("example", [pytest.param(path, id=path.name) for path in EXAMPLES])
def test_example_runs(example: Path, tmp_path: Path) -> None:
    for needed in OTHERS.get(example.name, ()):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    run(example, tmp_path)


def test_blocks_are_found() -> None:
    with_output = "```python\nprint(1)\n```\n\nprints\n\n```text\n1\n```\n"
    text = with_output + "\n```python\nx = 1\n```\n```text\nno\n```\n"
    assert [(m["code"], m["output"]) for m in BLOCK.finditer(text)] == [
        ("print(1)\n", "1\n"),
        ("x = 1\n", None),
    ]
