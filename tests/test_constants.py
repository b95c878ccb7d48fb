"""Every constant that decides something is listed in docs/constants.md, with its kind and its reason."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DECIDING = [
    "codegen",
    "decide",
    "fusion",
    "graph",
    "idiom",
    "model",
    "plan",
    "product",
    "rewrite",
    "search",
    "tilesize",
    "measuring",
]
NEUTRAL = (0, 1)  # nothing, and what changes nothing


@dataclass(frozen=True)
class Row:
    module: str  # product/ways.py
    names: tuple[str, ...]
    kind: str
    reason: str


def has_number(value: ast.expr | None) -> bool:
    """Whether there is a number in an expression that says something."""
    nodes = ast.walk(value) if value is not None else ()
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    return any(type(each) in (int, float) and each not in NEUTRAL for each in constants)


def bound_to_numbers(body: list[ast.stmt]) -> Iterator[str]:
    """The names that statements bind to expressions with numbers."""
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        targets += [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else []
        if targets and has_number(node.value):  # type: ignore[attr-defined]
            inner = [each for target in targets for each in ast.walk(target)]
            yield from (each.id for each in inner if isinstance(each, ast.Name))


def defaults(function: ast.FunctionDef) -> Iterator[str]:
    """The parameters of a function that are numbers where a caller says nothing."""
    takes = function.args
    placed = [*takes.posonlyargs, *takes.args]
    pairs = [*zip(reversed(placed), reversed(takes.defaults), strict=False)]
    pairs += [(a, value) for a, value in zip(takes.kwonlyargs, takes.kw_defaults, strict=True) if value]
    yield from (parameter.arg for parameter, value in pairs if has_number(value))


def constants(text: str) -> set[str]:
    """The constants of a module: names at its top, and defaults of fields and parameters."""
    tree = ast.parse(text)
    found = {*bound_to_numbers(tree.body)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            found.update(f"{node.name}.{name}" for name in bound_to_numbers(node.body))
        elif isinstance(node, ast.FunctionDef):
            found.update(f"{node.name}.{name}" for name in defaults(node))
    return found


def listed(text: str) -> list[Row]:
    """The rows of the tables of constants."""
    rows = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| `"):
            names, module, kind, reason = (*cells, "", "", "")[:4]
            named = tuple(re.findall(r"`([^`]+)`", names))
            rows.append(Row(module.strip("`"), named, kind, reason))
    return rows


def kinds(text: str) -> list[str]:
    """The kinds that the first table of the list explains."""
    head = text.split("\n## ")[0]
    return [match[1] for match in re.finditer(r"^\| ([a-z ]+) \| (?!what)", head, re.MULTILINE)]


def problems(written: str, modules: dict[str, str], sections: set[str]) -> list[str]:
    """What is wrong with a list of the constants of these modules.

    sections: of the measurements, by which constants that were measured once are explained.
    """
    rows = listed(written)
    entries = Counter(f"{row.module}: {name}" for row in rows for name in row.names)
    there = {f"{module}: {name}" for module, text in modules.items() for name in constants(text)}
    found = [f"{each} is not listed" for each in sorted(there - {*entries})]
    found += [f"{each} does not exist" for each in sorted({*entries} - there)]
    found += [f"{each} is listed twice" for each, count in entries.items() if count > 1]
    for row in rows:
        found += [f"{row.module}: {row.names[0]} {wrong}" for wrong in faults(row, kinds(written), sections)]
    return found


def faults(row: Row, known: list[str], sections: set[str]) -> Iterator[str]:
    """What a row does not say, or says of what is not there."""
    if row.kind not in known:
        yield f"is of no known kind: {row.kind}"
    if not re.sub(r"\(?\[measured\]\([^)]*\)\)?", "", row.reason).strip(" .,|"):
        yield "has no reason"
    links = re.findall(r"\(measurements/([^)]*)\)", row.reason)
    yield from (f"refers to no section: {link}" for link in links if link not in sections)
    if row.kind == "measured once" and not links:
        yield "does not say by what it was measured"
    if row.kind == "guess" and "To measure: " not in row.reason:
        yield "does not say what it would take to measure it"


def sections_of(path: Path) -> Iterator[str]:
    """The headings of a document, as links name them: page.md#heading."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    for heading in headings:
        anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        yield f"{path.name}#{anchor}"


def measured() -> set[str]:
    """The sections of all pages of measurements."""
    return {each for page in (ROOT / "docs" / "measurements").glob("*.md") for each in sections_of(page)}


def read(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_every_constant_is_listed_with_its_reason() -> None:
    paths = [path for package in DECIDING for path in (ROOT / "polymat" / package).rglob("*.py")]
    modules = {p.relative_to(ROOT / "polymat").as_posix(): p.read_text(encoding="utf-8") for p in paths}
    assert not problems(read("constants.md"), modules, measured())


MODULE = """
SHARE = 0.5  # of a cache
FEW, MANY = 2, 16
NONE, ONE, NAME = 0, 1.0, "three"
limit: Number = where(few, quotient(m, 4), 1)

@dataclass
class Effort:
    seconds: float = 2.5
    rounds: int = 1

def spread(many: int, *, step: int = 8, first: int = 0) -> int:
    inner = 3
    return inner
"""
LIST = """
| kind | what that means |
|---|---|
| argued | follows from the code |
| guess | chosen by eye |
| measured once | on one machine |

## tilesize

| constant | module | kind | why |
|---|---|---|---|
| `SHARE` | `tilesize/planning.py` | argued | Half of it. |
| `FEW`, `MANY` | `tilesize/planning.py` | guess | By eye. To measure: both. |
| `limit` | `tilesize/planning.py` | measured once | So. ([measured](measurements/calls.md#limits)) |
| `Effort.seconds`, `spread.step` | `tilesize/planning.py` | argued | Enough. |
"""


def problems_of(written: str = LIST, module: str = MODULE) -> list[str]:
    return problems(written, {"tilesize/planning.py": module}, {"calls.md#limits"})


def test_numbers_count_and_nothing_else() -> None:
    assert constants(MODULE) == {"SHARE", "FEW", "MANY", "limit", "Effort.seconds", "spread.step"}
    assert not problems_of()


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        ("`FEW`, `MANY`", "`FEW`", "tilesize/planning.py: MANY is not listed"),
        ("`SHARE`", "`SHARE`, `PART`", "tilesize/planning.py: PART does not exist"),
        ("`SHARE`", "`SHARE`, `FEW`", "tilesize/planning.py: FEW is listed twice"),
        ("argued | Half", "surely | Half", "tilesize/planning.py: SHARE is of no known kind: surely"),
        ("Half of it.", "", "tilesize/planning.py: SHARE has no reason"),
        ("So. (", "(", "tilesize/planning.py: limit has no reason"),
        ("#limits", "#borders", "tilesize/planning.py: limit refers to no section: calls.md#borders"),
        ("measured once | So. (", "argued | So. (", ""),
        ("argued | Half", "measured once | Half", "SHARE does not say by what it was measured"),
        ("To measure: both.", "", "FEW does not say what it would take to measure it"),
    ],
)
def test_a_wrong_list_is_noticed(before: str, after: str, wrong: str) -> None:
    found = problems_of(LIST.replace(before, after, 1))
    assert [each for each in found if each.endswith(wrong)] == found
    assert len(found) == bool(wrong)


def test_a_planted_constant_is_noticed() -> None:
    assert problems_of(module=f"{MODULE}\nPLANTED = Constant(1.5)\n") == [
        "tilesize/planning.py: PLANTED is not listed"
    ]
