"""Which tests a run takes, where not all: `POLYMAT_SETS` chooses, or the seed where it is not given.

`@pytest.mark.covering`: so many of a function's sets of parameters that they have each value of each list,
of three lists or more each pair of values of two lists.  `@pytest.mark.drawn(5)`: five, of random cases say.
`@pytest.mark.turns(2)`: a function that takes long, in one of two runs of several files.

Where tests compile most, half of one list of cases, and half of the sets that cover all values.
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
HALVED |= {"images", "mutations", "npbench", "search"}
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
    several = len({path for path, _ in functions}) > 1
    waiting = {x for alike in functions.values() if several and _waits(alike[0], seed) for x in alike}
    return waiting.union(*(_left_out(alike, seed) for alike in functions.values()))


def _waits(item: pytest.Item, seed: str) -> bool:
    """Whether it is not the turn of its function."""
    mark = item.get_closest_marker("turns")
    function = f"{item.path.relative_to(TESTS)} {item.name.partition('[')[0]}"
    return mark is not None and zlib.crc32(f"{seed} {function}".encode()) % mark.args[0] != 0


def _left_out(alike: Sequence[pytest.Item], seed: str) -> set[pytest.Item]:
    """Those of one function."""
    drawn = [zlib.crc32(f"{seed} {item.nodeid}".encode()) for item in alike]
    places: Sequence[int] = range(len(alike))
    if alike[0].get_closest_marker("covering") is not None:
        places = covering([_values(item) for item in alike], drawn)
    chosen = sorted(places, key=lambda place: drawn[place])[: _count(alike[0], len(places))]
    return {*alike} - {alike[place] for place in chosen}


def _count(function: pytest.Item, sets: int) -> int:
    """How many of its sets are run, whichever these are: of all, or of those that cover all values."""
    mark = function.get_closest_marker("drawn")
    if mark is not None:
        (count,) = mark.args
        return int(count)
    halved = function.path.relative_to(TESTS).parts[0] in HALVED
    chosen = function.get_closest_marker("covering") or len([*function.iter_markers("parametrize")]) == 1
    return (sets + 1) // 2 if halved and chosen else sets


def _values(item: pytest.Item) -> Values:
    """The values of a test by the lists that they are from, those of fixtures by name."""
    given: dict[str, object] = {**item.callspec.params}  # type: ignore[attr-defined]
    found: dict[str, Hashable] = {}
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        found[str(mark.args[0])] = tuple(id(given.pop(name.strip())) for name in names)
    return {**found, **{name: id(value) for name, value in given.items()}}
