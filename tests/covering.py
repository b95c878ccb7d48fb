"""Which of a function's sets of parameters a run takes, where not all of them; the seed chooses.

`@pytest.mark.covering`: so many that each value of each list of parameters is among them; of three lists or
more, that each pair of values of two lists is.  `@pytest.mark.drawn(5)`: five, of numbers of random cases.
Without a mark: half of one list of cases, where tests compile programs and there are four or more.
"""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
HALVED = frozenset(("codegen", "decide", "differential", "product", "rewrite"))
CASES = 4
Values = Mapping[str, Hashable]  # by the names of a list of parameters, one of its values


def covering(sets: Sequence[Values], drawn: Sequence[int]) -> list[int]:
    """The places of sets that have together what all of them have, in order; `drawn` says which go first."""
    parts = [_parts(each) for each in sets]
    order = sorted(range(len(sets)), key=lambda place: (drawn[place], place))
    missing, chosen = frozenset[Any]().union(*parts), list[int]()
    while missing:
        best = max(order, key=lambda place: len(parts[place] & missing))
        chosen.append(best)
        missing -= parts[best]
    return sorted(chosen)


def _parts(values: Values) -> frozenset[tuple[tuple[str, Hashable], ...]]:
    """What a set covers: its values, or where there are more than two lists its pairs of values."""
    together = 1 if len(values) < 3 else 2
    return frozenset(combinations(sorted(values.items(), key=lambda item: item[0]), together))


def left_out(items: Sequence[pytest.Item], seed: str) -> set[pytest.Item]:
    """The tests that a run leaves out."""
    functions: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        functions.setdefault((item.path, item.name.partition("[")[0]), []).append(item)
    return {out for alike in functions.values() for out in _left_out(alike, seed)}


def _left_out(alike: Sequence[pytest.Item], seed: str) -> set[pytest.Item]:
    """Those of one function."""
    drawn = [zlib.crc32(f"{seed} {item.nodeid}".encode()) for item in alike]
    if alike[0].get_closest_marker("covering") is not None:
        chosen = covering([_values(item) for item in alike], drawn)
    else:
        chosen = sorted(range(len(alike)), key=lambda place: drawn[place])[: _count(alike)]
    return {*alike} - {alike[place] for place in chosen}


def _count(alike: Sequence[pytest.Item]) -> int:
    """How many sets of a function are run, whichever these are."""
    mark = alike[0].get_closest_marker("drawn")
    if mark is not None:
        (count,) = mark.args
        return int(count)
    in_turns = alike[0].path.relative_to(TESTS).parts[0] in HALVED and len(alike) >= CASES
    lists = len([*alike[0].iter_markers("parametrize")])
    return (len(alike) + 1) // 2 if in_turns and lists == 1 else len(alike)


def _values(item: pytest.Item) -> Values:
    """The values of a test by the lists that they are from, those of fixtures by name."""
    given: dict[str, object] = {**item.callspec.params}  # type: ignore[attr-defined]
    found: dict[str, Hashable] = {}
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        found[str(mark.args[0])] = tuple(id(given.pop(name.strip())) for name in names)
    return {**found, **{name: id(value) for name, value in given.items()}}
