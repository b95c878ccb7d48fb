"""Rules about the shape of the source that no linter knows."""

from __future__ import annotations

import ast
import inspect
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "polymat"
MODULES = sorted(PACKAGE.rglob("*.py"))
SOURCES = sorted(
    path for top in ("polymat", "tests", "benchmarks", "examples") for path in (ROOT / top).rglob("*.py")
)

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
LEAST_TESTED = 356  # modules with a file of tests of their own
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All of a file's tree: a walk through all files takes as long as reading them."""
    return tuple(ast.walk(parse(path)))


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            yield node.module


def test_files_are_short() -> None:
    long = {shown(path): n for path in SOURCES if (n := path.read_text("utf-8").count("\n")) > MAX_FILE_LINES}
    assert not long


def test_functions_are_short() -> None:
    long = {
        f"{shown(path)}:{node.lineno} {node.name}": lines
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > MAX_FUNCTION_LINES
    }
    assert not long


def test_a_name_means_one_thing() -> None:
    """No two files of the package, and no two of its public classes, have one name."""
    files = Counter(path.name for path in MODULES if path.name != "__init__.py")
    classes = Counter(
        node.name
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert not [name for name, count in (files + classes).items() if count > 1]


def test_files_of_the_package_are_shorter() -> None:
    lines = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8").count("\n") for path in MODULES}
    assert not {name: count for name, count in lines.items() if count > 300}


def test_functions_of_the_package_are_shorter() -> None:
    long = {
        f"{path.relative_to(PACKAGE).as_posix()} {node.name}"
        for path in MODULES
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno + 1 > 40
    }
    assert not long


def test_only_the_command_line_prints() -> None:
    prints = [
        f"{shown(path)}:{node.lineno}"
        for path in MODULES
        if path != PACKAGE / "cli.py"
        for node in nodes(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not prints


def test_no_star_import() -> None:
    stars = [
        f"{shown(path)}:{node.lineno}"
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
    ]
    assert not stars


def test_nothing_of_typing_is_newer_than_python_3_10() -> None:
    newer = {
        "assert_never",
        "assert_type",
        "LiteralString",
        "Never",
        "NotRequired",
        "override",
        "reveal_type",
    }
    newer |= {"Required", "Self", "TypeAliasType", "TypeIs", "TypeVarTuple", "Unpack", "dataclass_transform"}
    found = [
        f"{shown(path)}:{node.lineno}"
        for path in SOURCES
        if "tests" not in path.parts
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.module == "typing"
        if any(alias.name in newer for alias in node.names)
    ]
    assert not found


def test_only_poly_imports_isl() -> None:
    outside = [path for path in MODULES if "poly" not in path.relative_to(PACKAGE).parts[:1]]
    assert not [
        shown(path) for path in outside if any(n.split(".")[0] == "islpy" for n in imported(parse(path)))
    ]


def modules() -> dict[str, Path]:
    """The modules of the package by their names."""
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in MODULES}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def imports_at_run_time(tree: ast.AST, known: Mapping[str, Path]) -> Iterator[tuple[ast.stmt, str]]:
    """The package's own modules that are imported anywhere, within functions too, but for types alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield from ((node, name) for name in (inner, node.module) if name in known)
        else:
            yield from imports_at_run_time(node, known)


def test_no_modules_import_each_other() -> None:
    """Not within functions either; a package's own file counts as what it imports."""
    known = modules()
    graph = nx.DiGraph(
        (name, other)
        for name, path in known.items()
        for _, other in imports_at_run_time(parse(path), known)
        if not name.startswith(f"{other}.") and name != other
    )
    assert not [sorted(circle) for circle in nx.strongly_connected_components(graph) if len(circle) > 1]


def test_an_import_within_a_function_says_why() -> None:
    """On its line, or above the imports that it is one of."""
    known = modules()
    silent = []
    for path in MODULES:
        at_top = {id(node) for node in parse(path).body}
        lines = path.read_text("utf-8").splitlines()
        for node, name in imports_at_run_time(parse(path), known):
            first = node.lineno
            while "#" not in lines[first - 1] and lines[first - 2].split()[:1] == ["from"]:
                first -= 1
            if id(node) not in at_top and "#" not in "".join(lines[first - 2 : node.lineno]):
                silent.append(f"{shown(path)}:{node.lineno} {name}")
    assert not silent


def test_only_the_command_line_imports_the_whole_package() -> None:
    below = [path for path in MODULES if path.name not in {"cli.py", "__main__.py"}]
    assert not [shown(path) for path in below if "polymat" in imported(parse(path))]


def test_no_file_has_a_vague_name() -> None:
    assert not [
        shown(path) for path in SOURCES if path.stem in VAGUE_NAMES or path.parent.name in VAGUE_NAMES
    ]


def place_of_tests(module: Path) -> Path:
    """Where the tests of a module are: polymat/graph/build.py is tested by tests/graph/test_build.py."""
    inside = module.relative_to(PACKAGE)
    return ROOT / "tests" / inside.parent / f"test_{inside.name}"


def test_modules_have_tests_of_their_own() -> None:
    """Most modules are tested through others; those that have a file of tests do not become fewer."""
    tested = [module for module in MODULES if place_of_tests(module).exists()]
    assert len(tested) >= LEAST_TESTED


def names_in(path: Path) -> Iterator[str]:
    """Every name that a source mentions, those in texts that are no docstrings included."""
    with path.open("rb") as file:
        before = tokenize.NEWLINE
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.NAME:
                yield token.string
            elif token.type == tokenize.STRING and before not in (tokenize.NEWLINE, tokenize.INDENT):
                yield from names_in_text(token.string)
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                before = token.type


def names_in_text(literal: str) -> Iterator[str]:
    """The words of a string; of an f-string the names in its expressions, as Python 3.12 tells them."""
    if "f" not in literal[: literal.index(literal[-1])].lower():
        yield from re.findall(r"[A-Za-z_]\w*", literal)
        return
    for node in ast.walk(ast.parse(literal, mode="eval")):
        if isinstance(node, ast.Name | ast.Attribute | ast.keyword):
            yield getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "arg", None) or ""


def test_nothing_is_defined_for_tests_alone() -> None:
    """What the package defines, it mentions again, or users call it."""
    import polymat

    defined: dict[str, list[str]] = {}
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__"):
                defined.setdefault(node.name, []).append(f"{shown(path)}:{node.lineno}")
    mentioned = Counter(name for path in MODULES for name in names_in(path))
    mentioned.update(
        name for path in PACKAGE.rglob("*.c") for name in re.findall(r"[A-Za-z_]\w*", path.read_text("utf-8"))
    )
    public = [getattr(polymat, name) for name in polymat.__all__]
    offered = {*polymat.__all__, *(name for thing in public if inspect.isclass(thing) for name in dir(thing))}
    unused = {
        name: places
        for name, places in defined.items()
        if mentioned[name] <= len(places) and name not in offered
    }
    assert not unused
