"""Two runs beside each other: noise is not told, what became slower is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.harness import Timing
from benchmarks.measure import Row
from benchmarks.records import Entry, Heading, Record, read_record
from benchmarks.slower import changes, compare_lines, scatter_between

DATA = Path(__file__).resolve().parents[1] / "data"
Rounds = Callable[[str, str, tuple[float, ...]], tuple[float, ...]]


def changed(record: Record, change: Rounds) -> Record:
    """A record with other rounds: of a case, a peer and its rounds."""
    entries = []
    for entry in record.entries:
        row = entry.row
        timings = {
            name: replace(timing, rounds=change(row.case, name, timing.rounds))
            for name, timing in row.timings.items()
        }
        entries.append(Entry(entry.section, replace(row, timings=timings)))
    return replace(record, entries=tuple(entries))


def halves(record: Record) -> tuple[Record, Record]:
    """The even and the odd rounds as two runs."""
    even = changed(record, lambda case, name, rounds: rounds[::2])
    return even, changed(record, lambda case, name, rounds: rounds[1::2])


def planted(*cases: str, factor: float = 1.3) -> Rounds:
    """Make polymat slower in some cases."""

    def slower(case: str, name: str, rounds: tuple[float, ...]) -> tuple[float, ...]:
        by = factor if case in cases and name.startswith("polymat") else 1.0
        return tuple(seconds * by for seconds in rounds)

    return slower


def named(before: Record, after: Record) -> set[str]:
    return {change.key[1] for change in changes(before, after) if change.is_slower}


@pytest.mark.parametrize("first", [0, 1])
def test_rounds_of_one_run_are_alike(first: int) -> None:
    both = halves(read_record(DATA / "bench-after.json"))
    lines, slower = compare_lines(both[first], both[1 - first])
    assert slower == 0
    assert lines == [lines[-1]]
    assert lines[-1].startswith("26 timings of 13 cases in both runs: 0 slower, 0 quicker, geometric mean ")


def test_a_planted_slowdown_is_named() -> None:
    before, after = halves(read_record(DATA / "bench-after.json"))
    after = changed(after, planted("gemm SMALL"))
    lines, slower = compare_lines(before, after)
    assert slower == 2
    assert lines[0] == "slower:"
    assert lines[1].startswith("  products: gemm SMALL, polymat from C, 1 thread: 1.3")
    assert re.search(r" where peers take [01]\.\d\d times, .*; surely 1\.\d\d, noise explains 1\.", lines[1])
    quicker, none = compare_lines(after, before)
    assert (quicker[0], none) == ("quicker:", 0)


def test_runs_on_a_machine_with_other_work_say_so_and_nothing_else() -> None:
    before, after = read_record(DATA / "bench-before.json"), read_record(DATA / "bench-after.json")
    for pair in ((before, after), (after, before)):
        (note, total), slower = compare_lines(*pair)
        assert slower == 0
        assert re.match(
            r"note: programs that are the same in both runs differ by up to [12]\.\d\d times", note
        )
        assert "benchmarks.compare" in note
        assert "0 slower" in total


def drawn(seed: int, *, drift: float = 1.0, peers: bool = True, scatter: float = 0.03) -> Record:
    """A run of twelve cases: rounds that differ by 4 %, runs by `scatter`."""
    rng = np.random.default_rng(seed)
    entries = []
    for number in range(12):
        names = ["polymat", *["NumPy"] * peers]
        timings = {}
        for name in names:
            level = drift * 1e-3 * (1 + number) * np.exp(scatter * rng.standard_normal())
            rounds = tuple((level * np.exp(0.04 * rng.standard_normal(12))).tolist())
            timings[name] = Timing(name, rounds)
        entries.append(Entry("s", Row(f"c{number}", "g", 1, 1000, 100, True, 8, timings)))
    about = {"machine": "m", "compiler": "c"}
    return Record(about, {"s": Heading("S", {"polymat": ("NumPy",)})}, tuple(entries))


@pytest.mark.parametrize("peers", [True, False])
@pytest.mark.parametrize(("scatter", "most", "least"), [(0.01, 0, 79), (0.03, 8, 70)])
def test_few_of_many_drawn_runs_are_named_wrongly(peers: bool, scatter: float, most: int, least: int) -> None:
    """most: wrongly named of 480.  least: rightly named of 80."""
    wrong, found = 0, 0
    for seed in range(0, 80, 2):
        before = drawn(seed, peers=peers, scatter=scatter)
        after = drawn(seed + 1, peers=peers, scatter=scatter)
        wrong += len(named(before, after))
        found += len(named(before, changed(after, planted("c3", "c8"))) & {"c3", "c8"})
    assert wrong <= most
    assert found >= least


def test_a_slower_machine_is_no_slower_program() -> None:
    before, after = drawn(1), drawn(2, drift=1.5)
    assert named(before, after) == set()
    assert named(before, changed(after, planted("c5", factor=1.4))) == {"c5"}


def test_everything_slower_is_seen_beside_peers() -> None:
    before, after = drawn(1), drawn(2)
    everything = planted(*(f"c{number}" for number in range(12)), factor=1.4)
    assert len(named(before, changed(after, everything))) >= 11


def test_programs_that_are_the_same_tell_how_far_runs_differ() -> None:
    quiet = scatter_between(drawn(1, scatter=0.0), drawn(2, scatter=0.0))
    assert 1.0 < quiet < 1.1 < scatter_between(drawn(1, scatter=0.2), drawn(2, scatter=0.2))


def test_what_is_not_alike_is_told() -> None:
    before, after = drawn(1), drawn(2)
    after = replace(after, about={"machine": "other", "compiler": "c"})
    lines, _ = compare_lines(before, after)
    assert lines[0] == "note: another machine: m before, other after"
    lines, slower = compare_lines(before, replace(after, entries=()))
    assert (lines[-1], slower) == ("the two runs have no timing in common", 0)


def test_more_rounds_tell_smaller_changes_and_too_few_say_that_they_say_nothing() -> None:
    """Where rounds differ by a tenth, three of them do not tell a slowdown of 1.3, and twenty-one do."""

    def of(rounds: int) -> Record:
        pattern = (1.0, 1.1, 0.9)
        return changed(drawn(1), lambda case, name, _: tuple(1e-3 * pattern[k % 3] for k in range(rounds)))

    found = {count: named(of(count), changed(of(count), planted("c5"))) for count in (3, 21)}
    assert found == {3: set(), 21: {"c5"}}
    lines, slower = compare_lines(of(2), changed(of(2), planted("c5")))
    assert slower == 0
    assert lines[0] == "note: 12 cases have fewer than 3 rounds in one of the runs, which say nothing"


def visited(seed: int, *, visits: int, slow: float = 2.0) -> Record:
    """Runs of twelve cases in visits, in one of five of which another program takes half the processor."""
    rng = np.random.default_rng(seed)
    entries = []
    for number in range(12):
        row = Row(f"c{number}", "g", 2, 1000, 100, True, 8, {})
        for visit in range(visits):
            # It is the threads of polymat that wait for the busy processor; NumPy has one thread here.
            level = {"polymat": slow if rng.random() < 0.2 else 1.0, "NumPy": 1.0}
            timings = {
                name: Timing(name, tuple((by * 1e-3 * np.exp(0.02 * rng.standard_normal(8))).tolist()))
                for name, by in level.items()
            }
            now = replace(row, timings=timings)
            row = row.with_visit(now) if visit else now
        entries.append(Entry("s", row))
    about = {"machine": "m", "compiler": "c"}
    return Record(about, {"s": Heading("S", {"polymat": ("NumPy",)})}, tuple(entries))


@pytest.mark.parametrize(
    ("visits", "fewest", "most", "least"), [(1, 40, 120, 60), (2, 0, 20, 40), (3, 0, 6, 15)]
)
def test_what_another_minute_does_is_told_from_a_change_by_visits(
    visits: int, fewest: int, most: int, least: int
) -> None:
    """fewest, most: wrongly named of 480.  least: rightly named of 80; what had a busy visit is not."""
    wrong, found = 0, 0
    for seed in range(0, 80, 2):
        before, after = visited(seed, visits=visits), visited(seed + 1, visits=visits)
        wrong += len(named(before, after))
        found += len(named(before, changed(after, planted("c3", "c8"))) & {"c3", "c8"})
    assert fewest <= wrong <= most
    assert found >= least
