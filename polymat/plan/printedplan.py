"""Plans as text with everything they hold: what two schedules do not share shows in a difference of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from polymat.errors import Location
from polymat.graph.group import Group
from polymat.graph.pipelinetext import INDENT, stage_lines
from polymat.graph.stage import Ref, Stage
from polymat.lang.affine import Affine, FloorDiv
from polymat.lang.expr import Expr
from polymat.lang.types import ScalarType
from polymat.poly.domain import Domain
from polymat.product.scheme import Scheme

WIDTH = 100  # characters of a value on one line
_WHOLE = (Affine, FloorDiv, Expr, Domain, ScalarType, Scheme)  # whose own text says all that they hold


def value_lines(name: str, value: Any) -> Iterator[str]:
    """A value under its name, with every field of it; what is absent or empty is left out."""
    if _is_absent(value):
        return
    line = _line(value)
    if line is not None and (len(line) <= WIDTH or not _has_parts(value)):
        yield f"{name}: {line}"
        return
    yield f"{name}: {type(value).__name__}" if is_dataclass(value) else f"{name}:"
    for inner in _inner(value):
        yield f"{INDENT}{inner}"


def _inner(value: Any) -> Iterator[str]:
    if isinstance(value, Stage):
        yield from stage_lines(value)
        return
    for name, each in _parts(value):
        yield from value_lines(name, each)


def _parts(value: Any) -> list[tuple[str, Any]]:
    if is_dataclass(value):
        return [(item.name, getattr(value, item.name)) for item in fields(value)]
    if isinstance(value, Mapping):
        return [(str(key), each) for key, each in value.items()]
    return [(str(number), each) for number, each in enumerate(value, 1)]


def _has_parts(value: Any) -> bool:
    return isinstance(value, tuple | Mapping) or (is_dataclass(value) and not isinstance(value, _WHOLE))


def _is_absent(value: Any) -> bool:
    return value is None or isinstance(value, Location) or (isinstance(value, tuple | Mapping) and not value)


def _line(value: Any) -> str | None:
    """The whole value on one line; None where it needs several."""
    if isinstance(value, Group):
        return " + ".join(value.stages)
    if isinstance(value, Ref):
        return value.name
    if isinstance(value, Stage):
        return None
    if isinstance(value, set | frozenset):
        return ", ".join(sorted(map(str, value))) or "-"
    if not _has_parts(value):
        return str(value)
    if isinstance(value, tuple):
        lines = [_line(each) for each in value]
        return None if None in lines else f"({', '.join(map(str, lines))})"
    named = [(name, _line(each)) for name, each in _parts(value) if not _is_absent(each)]
    if any(line is None for _, line in named):
        return None
    text = ", ".join(f"{name} {line}" for name, line in named)
    return f"{type(value).__name__}({text})" if is_dataclass(value) else text
