"""The search loop, with planted clocks and candidates: what it keeps, how it ends, and how it is resumed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from polymat.graph.selection import GroupChoice, Selection
from polymat.runtime.tunedstore import SearchEnd, Trial, read_tuned, tuned_path
from polymat.search.bench import Tried
from polymat.search.clock import Compared
from polymat.search.searcher import BETTER, Search

SIZES = {"N": 500}


def way(number: int) -> Selection:
    return Selection((GroupChoice(("f",), f"way {number}"),))


class Numbers:
    """Choices that are numbers; the next is next to the best."""

    default = way(0)

    def draw(self, number: int, best: Selection, known: Collection[Selection]) -> Selection | None:
        start = int(best.groups[0].way.split()[1])
        return next((way(k) for k in range(start + 1, start + 30) if way(k) not in known), None)

    def price(self, choice: Selection) -> float:
        return 1e-3


class Killed(BaseException):
    """What a signal does to a process."""


@dataclass
class PlantedBench:
    """Ratios by number, in place of compilations; it also is the clock, on which a trial takes 3 seconds."""

    ratios: dict[int, float]
    again: dict[int, float] = field(default_factory=dict)
    apart: dict[int, float] = field(default_factory=dict)
    cold_ratios: dict[int, float] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)
    beside: bool = False
    killed_at: int = -1
    killed_at_end: bool = False
    tried: list[int] = field(default_factory=list)
    prepared: list[int] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def compiles_beside(self) -> bool:
        return self.beside

    def now(self) -> float:
        return self.seconds

    def turn(self, run: Callable[[], object], calls: int) -> float:
        raise AssertionError("nothing is timed here")

    def prepare(self, choice: Selection) -> None:
        self.prepared.append(number_of(choice))

    def trial(self, choice: Selection, best: float) -> Tried:
        number = number_of(choice)
        if len(self.tried) == self.killed_at:
            raise Killed
        self.tried.append(number)
        self.seconds += 3.0
        if number in self.faults:
            return Tried(None, self.faults[number])
        ratio = self.ratios.get(number, 1.5)
        return Tried(Compared(ratio * 1e-3, 1e-3, ratio, 11, float(ratio < 1.0), dropped=ratio > 1.2 * best))

    def last(self, choices: Sequence[Selection]) -> list[Compared]:
        if self.killed_at_end:
            raise Killed
        ratios = [self.again.get(number, self.ratios[number]) for number in map(number_of, choices)]
        return [Compared(ratio * 1e-3, 1e-3, ratio, 21, float(ratio < 1.0)) for ratio in ratios]

    def elsewhere(self, choice: Selection) -> Compared:
        number = number_of(choice)
        ratio = self.apart.get(number, self.again.get(number, self.ratios[number]))
        return Compared(ratio * 1e-3, 1e-3, ratio, 21, float(ratio < 1.0))

    def cold(self, choice: Selection) -> Compared | None:
        ratio = self.cold_ratios.get(number_of(choice))
        return None if ratio is None else Compared(ratio * 1e-3, 1e-3, ratio, 11, float(ratio < 1.0))

    def default_seconds(self) -> float:
        return 1e-3


def number_of(choice: Selection) -> int:
    return int(choice.groups[0].way.split()[1])


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CACHE_DIR", str(tmp_path / "cache"))


def search(bench: PlantedBench, budget: float = 60.0, key: str = "key") -> Search:
    return Search(Numbers(), bench, read_tuned(key), bench, SIZES, budget)


RATIOS = {1: 1.1, 2: 0.9, 3: 1.0, 5: 0.8, 9: 0.7, 12: 0.75}


def undated(records: Sequence[Trial | SearchEnd]) -> list[Trial | SearchEnd]:
    return [replace(record, date="") for record in records]


def test_the_best_is_found_measured_again_and_kept() -> None:
    bench, told = PlantedBench(RATIOS), []
    asked = search(bench)
    asked.told = lambda trials, spent: told.append((len(trials), spent))
    ending = asked.run()
    assert ending.choice == way(9)
    assert (ending.seconds, ending.default, ending.number) == (0.7e-3, 1e-3, bench.tried.index(9) + 1)
    assert bench.tried == [*range(1, 18)]  # 51 of 60 seconds, the rest is for the end
    assert told[-1] == (17, 51.0)
    assert read_tuned("key").records == [*asked.trials, ending]


def test_the_default_is_kept_unless_something_is_clearly_quicker_once_more() -> None:
    ending = search(PlantedBench(RATIOS, again={2: 1.0, 5: 1.01, 9: 1.02, 12: 1.0}), key="noise").run()
    assert ending.choice is None
    assert ending.seconds == ending.default == 1e-3
    ending = search(PlantedBench(RATIOS, again={9: 1.5}), key="second").run()
    assert ending.choice == way(12)
    assert search(PlantedBench({}), key="nothing").run().choice is None
    assert search(PlantedBench({1: BETTER + 1e-9}), key="hardly").run().choice is None


def test_what_is_chosen_is_measured_apart_from_what_it_is_chosen_by() -> None:
    """The best of several times is too short: what is stated is a time that it was not chosen by."""
    ending = search(PlantedBench(RATIOS, apart={9: 1.03}), key="lucky").run()
    assert ending.choice == way(12)
    assert ending.seconds == 0.75e-3
    ending = search(PlantedBench(RATIOS, apart={9: 0.875}), key="less").run()
    assert (ending.choice, ending.seconds) == (way(9), 0.875e-3)
    ending = search(PlantedBench(RATIOS, apart={9: 1.0, 12: 1.06, 5: 0.99}), key="none").run()
    assert ending.choice is None
    assert ending.seconds == ending.default


def test_what_is_chosen_is_no_slower_in_cold_caches() -> None:
    assert search(PlantedBench(RATIOS, cold_ratios={9: 1.1}), key="cold").run().choice == way(12)
    assert search(PlantedBench(RATIOS, cold_ratios={9: 1.01}), key="about").run().choice == way(9)


def test_what_is_wrong_is_never_chosen() -> None:
    bench = PlantedBench(RATIOS, faults={9: "D(0, 0) is 1.0, not 2.0"})
    asked = search(bench)
    assert asked.run().choice == way(12)
    assert [trial.fault for trial in asked.trials if trial.fault] == ["D(0, 0) is 1.0, not 2.0"]


@pytest.mark.parametrize("killed_at", [0, 6, 16])
@pytest.mark.parametrize("torn", [0, 1, 40])
def test_a_search_that_is_killed_goes_on_where_it_was(killed_at: int, torn: int) -> None:
    """At its begin, in the middle and near its end; whole lines are kept, a part of one is not."""
    whole = search(PlantedBench(RATIOS), key="whole")
    expected = whole.run()
    first = PlantedBench(RATIOS, killed_at=killed_at)
    with pytest.raises(Killed):
        search(first).run()
    path = tuned_path("key")
    if torn and path.exists():
        path.write_bytes(path.read_bytes() + b'{"choice":{"groups":[{"stages":["f"],"way":'[:torn])
    second = PlantedBench(RATIOS)
    asked = search(second)
    ending = asked.run()
    assert first.tried + second.tried == [number_of(trial.choice) for trial in whole.trials]
    assert undated([*asked.trials, ending]) == undated([*whole.trials, expected])
    assert undated(read_tuned("key").records) == undated(read_tuned("whole").records)


def test_what_ends_the_process_twice_is_not_tried_again() -> None:
    for killed_at in (4, 0):
        with pytest.raises(Killed):
            search(PlantedBench(RATIOS, killed_at=killed_at)).run()
    asked = search(PlantedBench(RATIOS))
    assert asked.run().choice == way(9)
    faults = [trial.fault for trial in asked.trials if trial.fault]
    assert faults == ["the process ended whenever it was tried"]
    assert number_of(asked.trials[4].choice) == 5


def test_a_search_that_is_killed_at_the_end_measures_the_best_again() -> None:
    bench = PlantedBench(RATIOS)
    asked = search(bench)
    bench.killed_at_end = True
    with pytest.raises(Killed):
        asked.run()
    second = PlantedBench(RATIOS)
    assert search(second).run().choice == way(9)
    assert second.tried == []


def test_another_search_begins_with_what_is_known() -> None:
    search(PlantedBench(RATIOS)).run()
    second = PlantedBench({**RATIOS, 19: 0.6})
    assert search(second).run().choice == way(19)
    assert second.tried[0] == 18


def test_other_sizes_are_another_search() -> None:
    search(PlantedBench(RATIOS)).run()
    second = PlantedBench(RATIOS)
    Search(Numbers(), second, read_tuned("key"), second, {"N": 5000}, 9.0).run()
    assert second.tried == [1, 2, 3]


def test_the_same_times_give_the_same_search() -> None:
    one, other = PlantedBench(RATIOS), PlantedBench(RATIOS)
    endings = [search(bench, key=key).run() for bench, key in ((one, "one"), (other, "other"))]
    assert endings[0] == endings[1]
    assert one.tried == other.tried


def test_the_next_is_compiled_while_one_is_timed_where_that_disturbs_nobody() -> None:
    bench = PlantedBench(RATIOS, beside=True)
    search(bench).run()
    assert bench.prepared[:-1] == bench.tried[1:]
    assert len({*bench.tried}) == len(bench.tried)
    alone = PlantedBench(RATIOS)
    search(alone, key="alone").run()
    assert alone.prepared == []


def test_nothing_new_is_the_end() -> None:
    class Few(Numbers):
        def draw(self, number: int, best: Selection, known: Collection[Selection]) -> Selection | None:
            return way(1) if not known else None

    bench = PlantedBench({1: 0.5})
    asked = Search(Few(), bench, read_tuned("few"), bench, SIZES, 60.0)
    assert asked.run().choice == way(1)
    assert bench.tried == [1]
