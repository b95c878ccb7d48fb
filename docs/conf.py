"""Builds the documentation: MyST pages, and the reference from docstrings, which are plain text."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Collection, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import polymat
from polymat.lang.types import ScalarType
from polymat.options import Options
from polymat.runtime.settings import VARIABLES

ROOT = Path(__file__).resolve().parents[1]
project = "polymat"
release = version = polymat.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"polymat {release}"
html_show_copyright = html_show_sphinx = False
html_static_path, html_css_files = ["_static"], ["tables.css"]
exclude_patterns = ["_build", "**/_*.md"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_preserve_defaults = True


def entries(paragraph: str, names: Collection[str]) -> list[tuple[str, str]]:
    """What a paragraph such as `inputs: arrays.  sizes: exact ones.` says, and of which names; "" of none."""
    parts = re.split(r"(?:^|\s{2,}|\n)(\w+(?:, \w+)*): ", paragraph)
    found = [("", parts[0])]
    for told, text in zip(parts[1::2], parts[2::2], strict=True):
        if all(name in names for name in told.split(", ")):
            found.append((told, text))
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]} {told}: {text}")
    return [(told, " ".join(text.split())) for told, text in found if told or text.strip()]


def option_rows() -> Iterator[str]:
    """A row of a table for each option: its default, and what the text of the class says of it."""
    names = [item.name for item in fields(Options)]
    (text,) = (
        part for part in inspect.cleandoc(Options.__doc__ or "").split("\n\n") if part.startswith("threads:")
    )
    said = {name: meaning for told, meaning in entries(text, names) for name in told.split(", ")}
    for item in fields(Options):
        yield f"| `{item.name}` | `{item.default!r}` | {said[item.name]} |"


def type_rows() -> Iterator[str]:
    """A row of a table for each element type."""
    for name in polymat.__all__:
        value = getattr(polymat, name)
        if isinstance(value, ScalarType):
            yield f"| `{name}` | `{value.dtype}` | {value.size} |"


def variable_rows() -> Iterator[str]:
    """A row of a table for each environment variable."""
    for names, values, meaning in VARIABLES:
        yield f"| {', '.join(f'`{name}`' for name in names)} | {values} | {meaning} |"


def markup(text: str) -> str:
    """Plain text as reStructuredText: what is between grave accents is code, and nothing else is markup."""
    quoted = re.split(r"`([^`]+)`", text)
    plain = [re.sub(r"([\\*_|`])", r"\\\1", part) for part in quoted[::2]]
    code = [f"``{part}``" for part in quoted[1::2]]
    return "".join(a + b for a, b in zip(plain, [*code, ""], strict=True))


def names_of(thing: Any) -> set[str]:
    """The parameters of a function, or what a class is made of."""
    try:
        return {*inspect.signature(thing).parameters}
    except (TypeError, ValueError):
        return set()


def as_rst(_app: Any, what: str, _name: str, thing: Any, _options: Any, lines: list[str]) -> None:
    """Paragraphs and lists of a docstring; indented paragraphs are code."""
    if what == "module":  # whose text is for help() alone
        lines[:] = []
        return
    known, found = names_of(thing), list[str]()
    for paragraph in "\n".join(lines).split("\n\n"):
        if paragraph.startswith("    "):
            found += ["::", "", *paragraph.splitlines(), ""]
            continue
        choices = re.findall(r"^(\w+):\s+(.*)$", paragraph, re.M)
        if 1 < len(choices) == len(paragraph.splitlines()):  # one a line, as the values of an argument are
            found += [*(f"- **{told}**: {markup(text)}" for told, text in choices), ""]
            continue
        for told, text in entries(paragraph, known):
            found += [f"- **{told}**: {markup(text)}" if told else markup(text), ""]
    lines[:] = found


def setup(app: Any) -> None:
    """Write the tables, and read docstrings as plain text."""
    tables = {
        "_options.md": (["option", "default", "what it does"], option_rows()),
        "_environment.md": (["variable", "values", "what it does"], variable_rows()),
        "_types.md": (["name", "NumPy's", "bytes"], type_rows()),
    }
    for name, (heads, rows) in tables.items():
        lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *rows]
        (Path(__file__).parent / "reference" / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.path.insert(0, str(ROOT))  # the benchmarks, which no environment has
    from benchmarks.figures.site import write_site

    write_site(ROOT / "docs" / "results")
    sys.path.insert(0, str(ROOT / "docs"))
    from pictures import write_pictures

    write_pictures(ROOT / "docs" / "how")
    app.connect("autodoc-process-docstring", as_rst)
