"""What `python -m polymat dump` prints: the passes, what one of them gives, and what it changes."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from polymat.driver import levels
from polymat.passes import PASSES
from polymat.request import Request
from polymat.steps import Level

DUMPED = tuple(each.name for each in PASSES[:-1])  # the last one's is no text
LEVELS = tuple(dict.fromkeys(each.level for each in PASSES[:-1]))


def pass_lines() -> Iterator[str]:
    """Every pass in order: its name, what it takes and gives, and why it is there."""
    for each in PASSES:
        types = f"{each.takes.__name__} -> {each.gives.__name__}"
        yield f"{each.name + ' *' * each.is_skippable:<15} {types:<20} {each.why}"
    yield "*: compiled without it by Options(skip=(name,))"


def after(request: Request, name: str) -> Level:
    """Compile as far as a pass, or a level, and no further."""
    return next(level for each, level in levels(request) if each == name)


def difference(request: Request, name: str) -> str:
    """Compare the texts before and after a pass, line by line."""
    before: Level | str = ""
    for each, level in levels(request):
        if each == name:
            break
        before = level
    texts = (str(before).splitlines(), str(level).splitlines())
    lines = list(unified_diff(*texts, f"before {name}", f"after {name}", n=3, lineterm=""))
    return "\n".join(lines) or f"{name} changes nothing"
