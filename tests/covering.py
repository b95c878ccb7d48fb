"""Which tests a run takes, where not all of them; `POLYMAT_SETS` chooses, which is the seed where it is not given.

`@pytest.mark.covering`: so many of a function's sets of parameters that each value of each list is among them;
of three lists or more, that each pair of values of two lists is.  `@pytest.mark.drawn(5)`: five, of numbers of
random cases.  `@pytest.mark.turns(2)`: a function that takes long, in one run of two.

Where tests compile most, half of one list of cases, and half of four or more sets that cover all values.
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
LEAST_SETS = 4  # that cover all values, of which a run takes half
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
    if (turns := alike[0].get_closest_marker("turns")) is not None and min(drawn) % turns.args[0]:
        return {*alike}
    places: Sequence[int] = range(len(alike))
    if alike[0].get_closest_marker("covering") is not None:
        places = covering([_values(item) for item in alike], drawn)
    chosen = sorted(places, key=lambda place: drawn[place])[: _count(alike[0], len(places))]
    return {*alike} - {alike[place] for place in chosen}


def _count(function: pytest.Item, sets: int) -> int:
    """How many of a function's sets are run, whichever these are: of all, or of those that cover all values."""
    mark = function.get_closest_marker("drawn")
    if mark is not None:
        (count,) = mark.args
        return int(count)
    cover = function.get_closest_marker("covering") is not None
    lists = len([*function.iter_markers("parametrize")])
    halved = function.path.relative_to(TESTS).parts[0] in HALVED
    return (sets + 1) // 2 if halved and (sets >= LEAST_SETS if cover else lists == 1) else sets


def _values(item: pytest.Item) -> Values:
    """The values of a test by the lists that they are from, those of fixtures by name."""
    given: dict[str, object] = {**item.callspec.params}  # type: ignore[attr-defined]
    found: dict[str, Hashable] = {}
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        found[str(mark.args[0])] = tuple(id(given.pop(name.strip())) for name in names)
    return {**found, **{name: id(value) for name, value in given.items()}}
