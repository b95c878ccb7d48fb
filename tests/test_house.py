"""What is written is for readers: docstrings, documents that name files, nothing of one workplace."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_architecture import MODULES, PACKAGE, ROOT, parse, shown

TEXT_SUFFIXES = {".py", ".md", ".toml", ".c", ".h", ".yml", ".yaml", ".txt", ".cfg", ""}


def texts() -> Iterator[Path]:
    """Every text file a reader of the repository sees, golden files aside."""
    tops = ["polymat", "tests", "benchmarks", "examples", "docs", ".ci", ".github"]
    files = [path for top in tops for path in (ROOT / top).rglob("*")] + [
        path for path in ROOT.glob("*") if path.name != ".git"
    ]
    for path in sorted(files):
        if path.is_file() and path.suffix in TEXT_SUFFIXES and "golden" not in path.parts:
            yield path


# Each with a ~ inside, so that this file does not hold what it looks for.
FORBIDDEN = {
    "a task left in the source": r"\b(?:TO~DO|FIX~ME|XX~X)\b",
    "a path of one machine": r"(?<![\w.<>/-])/(?:work|home|root)~/\w|(?:\.\./)+~shared\b",
    "a host of packages": r"pypi~\.org|pythonhosted~\.org|anaconda~\.(?:org|com)|conda~-forge",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_text_holds(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what].replace("~", ""))
    hits = [
        f"{shown(path)}:{number}: {line.strip()[:80]}"
        for path in texts()
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]
    assert not hits


def test_every_public_name_has_a_docstring() -> None:
    import polymat

    names = getattr(polymat, "__all__", [])
    assert names == sorted(set(names), key=names.index), "a name is exported twice"
    bare = [
        name
        for name in names
        if (inspect.isclass(thing := getattr(polymat, name)) or callable(thing)) and not inspect.getdoc(thing)
    ]
    assert not bare


def documented(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, str]]:
    """The public functions and classes of a module, and what `help()` says of them first."""
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and not part.name.startswith("_"):
            yield prefix + part.name, ast.get_docstring(part) or ""
            if isinstance(part, ast.ClassDef):
                yield from documented(part, f"{prefix}{part.name}.")


def test_docstrings_make_sense_by_themselves() -> None:
    """Who asks for help() of one thing does not see what stands above it in its file."""
    dangling = re.compile(r"(The same|Its|What)\b")
    found = [
        f"{shown(path)}: {name}: {text.splitlines()[0]}"
        for path in MODULES
        for name, text in documented(parse(path))
        if dangling.match(text)
    ]
    assert not found


def test_files_that_documents_name_exist() -> None:
    """By their path, or by their name behind one of a file of the same package; NAME stands for any."""
    there = {
        path.name
        for top in ("polymat", "tests", "benchmarks", "examples")
        for path in (ROOT / top).rglob("*")
    }
    lost = []
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = re.sub(r"```.*?```", "", document.read_text("utf-8"), flags=re.DOTALL)
        for name in re.findall(r"`([\w./]+\.(?:py|h|c|md|toml))`", text):
            found = (ROOT / name).exists() or (PACKAGE / name).exists()
            if not (found or name.startswith("NAME.") or ("/" not in name and name in there)):
                lost.append(f"{shown(document)}: {name}")
    assert not lost


def test_every_golden_file_has_its_test() -> None:
    orphans = []
    for path in sorted((ROOT / "tests" / "golden").rglob("*.txt")):
        module = (ROOT / "tests" / path.parent.relative_to(ROOT / "tests" / "golden")).with_suffix(".py")
        names = (
            {n.name for n in ast.walk(parse(module)) if isinstance(n, ast.FunctionDef)}
            if module.exists()
            else set()
        )
        if not any(path.stem == name or path.stem.startswith(name + "_") for name in names):
            orphans.append(shown(path))
    assert not orphans
