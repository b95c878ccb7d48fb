"""Hand-written C stands in `polymat/codegen/kernels`: what is left of it in strings of Python is counted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

MOST_LINES = 137  # of C in strings of several lines, in all of the package: to become fewer
MOST_OF_A_STRING = 9
# Modules that have longer ones, each with how many.
LONGER: dict[str, int] = {}
# What writes for build tools, in their languages: CMake and pkg-config.
NO_C = frozenset(("runtime/buildfiles.py",))
_PACKAGE = Path("polymat")
# Ends of statements and blocks, continued lines of macros, directives and comments.
_C = re.compile(r"[;{}\\]\s*$|^\s*(#|/\*|//)")


def strings(text: str) -> Iterator[str]:
    """The strings of a module, but for docstrings, with a name in place of each value that is filled in."""
    tree = ast.parse(text)
    left_out: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(node.value)
        if isinstance(node, ast.JoinedStr):
            left_out.update(node.values)
            left_out.update(
                part.format_spec
                for part in node.values
                if isinstance(part, ast.FormattedValue) and part.format_spec
            )
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)


def lines_of_c(text: str) -> int:
    """The lines of a string of several lines that looks like C; 0 of others."""
    lines = [line for line in text.split("\n") if line.strip()]
    alike = sum(_C.search(line) is not None for line in lines)
    return len(lines) if len(lines) > 1 and alike >= 0.4 * len(lines) else 0


@cache
def counted() -> dict[str, list[int]]:
    """The lines of C in each string of each module that has some."""
    found = {
        str(path.relative_to(_PACKAGE)): [
            count for text in strings(path.read_text()) if (count := lines_of_c(text))
        ]
        for path in sorted(_PACKAGE.rglob("*.py"))
    }
    return {module: counts for module, counts in found.items() if counts and module not in NO_C}


def test_little_c_stands_in_strings() -> None:
    assert sum(map(sum, counted().values())) <= MOST_LINES, counted()


def test_no_string_of_c_is_long() -> None:
    longer = {
        module: count
        for module, counts in counted().items()
        if (count := sum(lines > MOST_OF_A_STRING for lines in counts))
    }
    assert {m: n for m, n in longer.items() if n > LONGER.get(m, 0)} == {}, counted()
    assert {m: n for m, n in LONGER.items() if n > longer.get(m, 0)} == {}, "these became fewer: say so above"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('x = """static int f(void)\n{\n    return 1;\n}\n"""', [4]),
        ('def f(a):\n    return f"for (;;) {{\\n    {a};\\n}}\\n" + "one;"', [3]),
        ('"""A module;\n\nwith a docstring;"""\nx = "a\\nb\\nc"', []),
    ],
)
def test_c_is_counted(text: str, lines: list[int]) -> None:
    assert [count for each in strings(text) if (count := lines_of_c(each))] == lines
