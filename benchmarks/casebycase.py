"""What is found case by case: kept in a file after each, behind which a later run goes on."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.cases import Case

T = TypeVar("T")


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """What all such commands ask: the file, and which cases."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, required=True, help="what was found, to continue from")
    parser.add_argument("--every", type=int, default=1, help="each so many-th case alone")
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    parser.add_argument("--flops", type=float, default=2e8, help="of the contractions, about")
    return parser


def found_for(
    cases: Iterable[tuple[str, Callable[[], Case]]],
    asked: argparse.Namespace,
    conditions: Mapping[str, Any],
    made: Callable[..., T],
    find: Callable[[str, Case], T],
    *,
    is_enough: Callable[[T], bool] = lambda _: True,
) -> Iterator[T]:
    """What is found for the cases that are asked for: what the file has, where that is enough, or now."""
    kept = _read(asked.output, conditions, made)
    wanted = [(name, make) for name, make in cases if asked.only in name]
    for name, make in wanted[:: asked.every]:
        if name not in kept or not is_enough(kept[name]):
            kept[name] = find(name, make())
            _write(asked.output, conditions, kept)
        yield kept[name]


def _read(path: Path, conditions: Mapping[str, Any], made: Callable[..., T]) -> dict[str, T]:
    """The cases of a file, which has to be of these conditions."""
    if not path.exists():
        return {}
    kept = json.loads(path.read_text())
    if kept["conditions"] != conditions:
        raise SystemExit(f"{path} is of {kept['conditions']}, not of {conditions}: name another file")
    return {name: made(**values) for name, values in kept["cases"].items()}


def _write(path: Path, conditions: Mapping[str, Any], cases: Mapping[str, Any]) -> None:
    """Replace the file."""
    beside = path.with_name(f"{path.name}.part")
    every = {name: asdict(each) for name, each in cases.items()}
    beside.write_text(json.dumps({"conditions": conditions, "cases": every}, indent=1) + "\n")
    beside.replace(path)
