"""Run the cases of a section: every peer prepares, is checked, and is timed in interleaved rounds."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.cases import Case, Judge
from benchmarks.harness import Peer, PeerError, PeerMissingError, Timing, Worker, interleave
from benchmarks.section import Section
from polymat.machine.calibrate import Stream

SECONDS, QUICK_SECONDS = 3.0, 1.0  # that the rounds of one case may take; with --quick


@dataclass(frozen=True, slots=True)
class Row:
    """What came out of one case.

    timings: by peer; notes: why a peer has no timing, or what it has to say.  predicted: seconds, by peer.
    least: seconds that the machine allows, and what limits them; see `report.least_seconds`.
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

    def workers(self) -> Iterator[Worker]:
        """Those that can be had, in the order of the peers."""
        for peer in self._peers:
            if peer.name in self.absent:
                continue
            try:
                if peer.name not in self._workers:
                    self._workers[peer.name] = Worker(peer)
            except PeerError as error:
                self.absent[peer.name] = str(error).partition(": ")[2]
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
            progress(f"{section.name}, {threads} thread{'s' * (threads > 1)}: {case.name:28}")
            yield run_case(case, crew, threads, seconds)


def run_case(case: Case, crew: Crew, threads: int, seconds: float) -> Row:
    """Prepare, check and time one case."""
    judge, ready, notes, wrong = Judge(case), [], {}, []
    predicted: dict[str, float] = {}
    for worker in crew.workers():
        name = worker.peer.name
        try:
            answer = worker.prepare(case.task)
        except PeerMissingError as error:
            notes[name] = str(error).partition(": ")[2]
            continue
        except PeerError as error:
            notes[name] = "failed: " + str(error).strip().splitlines()[-1]
            progress(f"\n  {error}\n")
            wrong.append(name)
            crew.dismiss(worker)
            continue
        if (error_size := judge.error(answer.result)) > 1:
            notes[name] = f"WRONG: the error is {error_size:.3g} times what rounding explains"
            progress(f"\n  {name}: {notes[name]}\n")
            wrong.append(name)
            continue
        if answer.note:
            notes[name] = answer.note
        said = getattr(answer, "predicted", None)  # a worker of an older checkout says nothing
        if said is not None:
            predicted[name] = said
        ready.append(worker)
        progress(".")
    notes.update(crew.absent)
    timings = _time(ready, seconds, notes, crew)
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


def _time(workers: Sequence[Worker], seconds: float, notes: dict[str, str], crew: Crew) -> dict[str, Timing]:
    """The timings; when one of the workers fails there are none, and all are started anew."""
    if not workers:
        return {}
    try:
        return {timing.peer: timing for timing in interleave(workers, seconds=seconds)}
    except PeerError as error:
        notes["timing"] = str(error)
        progress(f"\n  {error}\n")
        for worker in workers:
            crew.dismiss(worker)
        return {}


def progress(text: str) -> None:
    """Tell a waiting reader, without disturbing the table."""
    sys.stderr.write(text)
    sys.stderr.flush()
