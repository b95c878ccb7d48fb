"""Run the cases of a section: every peer prepares, is checked, and is timed in interleaved rounds."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.cases import Case, Judge
from benchmarks.harness import (
    ANSWER_SECONDS,
    Peer,
    PeerError,
    PeerMissingError,
    PeerSlowError,
    Timing,
    Worker,
    interleave,
)
from benchmarks.section import SUBJECTS, Section
from benchmarks.task import Ready
from polymat.errors import counted
from polymat.machine.calibrate import Stream

SECONDS, QUICK_SECONDS = 3.0, 1.0  # that the rounds of one case may take; with --quick
COPIES = 3  # of the arrays of a case in each process, at most: as they came, as they lie best, the results
MEMORY_INFORMATION = Path("/proc/meminfo")


@dataclass(frozen=True, slots=True)
class Row:
    """What came out of one case.

    timings: by peer; notes: why a peer has no timing, or what it has to say.  predicted: seconds, by peer.
    least: seconds that the machine allows, and what limits them; see `report.least_seconds`.
    visits: how many times all peers were started anew for it, at other times.
    """

    case: str
    group: str
    threads: int
    flops: int
    traffic: int
    compute_bound: bool
    element_bytes: int
    timings: Mapping[str, Timing]
    notes: Mapping[str, str] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()
    stream: Stream = "read"
    predicted: Mapping[str, float] = field(default_factory=dict)
    least: tuple[float, str] | None = None
    visits: int = 1

    def with_visit(self, later: Row) -> Row:
        """This row and the rounds of a later visit; a peer that had none in one of them has no timing."""
        both = [name for name in self.timings if name in later.timings]
        timings = {name: self.timings[name].with_visit(later.timings[name]) for name in both}
        wrong = tuple(dict.fromkeys((*self.wrong, *later.wrong)))
        notes = {**self.notes, **later.notes}
        return replace(self, timings=timings, notes=notes, wrong=wrong, visits=self.visits + later.visits)


@dataclass(frozen=True, slots=True)
class Answer:
    """How a peer answered to a case: `ready` to be timed, or None, and why in its note.

    wrong: whether it failed, or computed something else.
    """

    ready: Ready | None
    note: str = ""
    wrong: bool = False


class Crew:
    """The workers of a section, kept over its cases; one that died is started again."""

    def __init__(self, peers: Sequence[Peer]) -> None:
        self._peers = peers
        self._workers: dict[str, Worker] = {}
        self.absent: dict[str, str] = {}

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *ignored: object) -> None:
        for worker in self._workers.values():
            worker.close()

    def __len__(self) -> int:
        return len(self._peers) - len(self.absent)

    def workers(self) -> Iterator[Worker]:
        """Those that can be had, in the order of the peers."""
        for peer in self._peers:
            if peer.name in self.absent:
                continue
            try:
                if peer.name not in self._workers:
                    self._workers[peer.name] = Worker(peer)
            except PeerError as error:
                said = str(error).partition(": ")[2].splitlines()
                self.absent[peer.name] = ": ".join(dict.fromkeys((said[0], said[-1])))
                progress(f"  left out: {error}\n")
                continue
            yield self._workers[peer.name]

    def dismiss(self, worker: Worker) -> None:
        """End one that failed; it is started anew for the next case."""
        self._workers.pop(worker.peer.name).close()


def run_section(
    section: Section, threads: int, *, seconds: float, quick: bool, only: str = ""
) -> Iterator[Row]:
    """The rows of a section, `seconds` of rounds for each case whose name contains `only`."""
    with Crew(section.peers(threads)) as crew:
        for case in section.cases(quick):
            if only not in case.name:
                continue
            progress(f"{section.name}, {counted(threads, 'thread')}: {case.name:28}")
            yield run_case(case, crew, threads, seconds, section.patience)


def run_case(case: Case, crew: Crew, threads: int, seconds: float, patience: float = ANSWER_SECONDS) -> Row:
    """Prepare, check and time one case; a peer that takes longer than `patience` to prepare is left out."""
    ready: list[Worker] = []
    notes: dict[str, str] = {}
    wrong: list[str] = []
    predicted: dict[str, float] = {}
    if told := _too_large(case, len(crew)):
        notes["timing"] = told
    else:
        judge = Judge(case)
        for worker in crew.workers():
            name, answer = worker.peer.name, _answer(worker, case, judge, crew, patience)
            if answer.note:
                notes[name] = answer.note
            if answer.wrong:
                wrong.append(name)
            if answer.ready is None:
                continue
            said = getattr(answer.ready, "predicted", None)  # a worker of an older checkout says nothing
            if said is not None:
                predicted[name] = said
            ready.append(worker)
            progress(".")
        notes.update(crew.absent)
    timings, failure = _time(ready, seconds, crew)
    notes.update({"timing": failure} if failure else {})
    progress(f" {max((len(t.rounds) for t in timings.values()), default=0)} rounds\n")
    return Row(
        case.name,
        case.group,
        threads,
        case.flops,
        case.traffic,
        case.compute_bound,
        case.element_bytes,
        timings,
        notes,
        tuple(wrong),
        case.stream,
        predicted,
    )


def _answer(worker: Worker, case: Case, judge: Judge, crew: Crew, patience: float) -> Answer:
    """Have a worker prepare a case and judge its result; one that failed is dismissed from the crew."""
    name = worker.peer.name
    try:
        ready = worker.prepare(case.task, ANSWER_SECONDS if name in SUBJECTS else patience)
    except PeerMissingError as error:
        return Answer(None, str(error).partition(": ")[2])
    except PeerError as error:
        crew.dismiss(worker)
        if isinstance(error, PeerSlowError) and name not in SUBJECTS:
            progress("(slow)")
            return Answer(None, str(error).partition(": ")[2])
        progress(f"\n  {error}\n")
        return Answer(None, "failed: " + str(error).strip().splitlines()[-1], wrong=True)
    if (error_size := judge.error(ready.result)) > 1:
        note = f"WRONG: the error is {error_size:.3g} times what rounding explains"
        progress(f"\n  {name}: {note}\n")
        return Answer(None, note, wrong=True)
    return Answer(ready, ready.note)


def _too_large(case: Case, workers: int) -> str:
    """Why the arrays of a case do not fit into the memory that is there; "" where they do."""
    size = sum(array.nbytes for array in case.task.arrays.values())
    free = _free_bytes()
    if COPIES * size * (workers + 1) <= free:
        return ""
    return f"left out: its arrays, {size / 1e9:.1f} GB in each of {workers} processes, do not fit into memory"


def _free_bytes() -> float:
    """What can still be had, as Linux counts it."""
    try:
        lines = MEMORY_INFORMATION.read_text("utf-8").splitlines()
    except OSError:
        return math.inf
    found = [int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    return 1024 * found[0] if found else math.inf


def _time(workers: Sequence[Worker], seconds: float, crew: Crew) -> tuple[dict[str, Timing], str]:
    """The timings; when one of the workers fails none, and why: all are then started anew."""
    if not workers:
        return {}, ""
    try:
        return {timing.peer: timing for timing in interleave(workers, seconds=seconds)}, ""
    except PeerError as error:
        progress(f"\n  {error}\n")
        for worker in workers:
            crew.dismiss(worker)
        return {}, str(error)


def progress(text: str) -> None:
    """Tell a waiting reader, without disturbing the table."""
    sys.stderr.write(text)
    sys.stderr.flush()
