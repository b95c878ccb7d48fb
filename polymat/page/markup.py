"""Pieces of HTML and SVG as text, everything that users wrote escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable


def escaped(text: object) -> str:
    """Text for the inside of an element or of an attribute."""
    return html.escape(str(text), quote=True)


def element(name: str, content: str = "", **attributes: object) -> str:
    """An element around content that is markup already.

    A `_` within an attribute's name stands for `-`, one behind it for nothing: `class_`, `stroke_width`.
    """
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"' for key, value in attributes.items()
    )
    return f"<{name}{told}>{content}</{name}>"


def text(name: str, content: object, **attributes: object) -> str:
    """An element around plain text."""
    return element(name, escaped(content), **attributes)


def bulleted(items: Iterable[str]) -> str:
    """A list of pieces of markup; nothing without any."""
    found = "".join(element("li", item) for item in items)
    return element("ul", found) if found else ""


def number(value: float) -> str:
    """A coordinate."""
    return f"{value:.1f}".removesuffix(".0")
