"""Predicted against measured seconds of groups, beside the plans not taken: `make bench ARGS=audit`.

    python -m benchmarks.audit [--quick] [--threads 1,2] [--only TEXT] [--keep DIRECTORY] [--resume]

Every task is audited with arrays that begin at a line of the cache and with arrays that begin 16 bytes behind
one, as NumPy's do, on one and on all threads, in a process that a plan may end without ending the others.
Whole runs keep audit.json, audit.md and audit.svg in benchmarks/results/machines/MICROARCHITECTURE/, or where
`--keep` says, which others do, too; `--resume` goes on with what is there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.auditing.lines import Line, as_json, from_json
from benchmarks.auditing.report import picture, report
from benchmarks.auditing.suite import suite
from benchmarks.harness import Peer, PeerError, Worker
from benchmarks.machinetext import header
from benchmarks.measure import progress
from benchmarks.peers.table import polymat_peer
from benchmarks.task import Task
from polymat.audit.drift import since_calibration
from polymat.runtime.calibration import calibrated_machine

SECONDS, QUICK_SECONDS = 1.0, 0.2  # that the programs of one audit are called by turns
OFFSETS = {"aligned": 0, "as NumPy's": 16}  # bytes behind a line of the cache
MACHINES = Path(__file__).parent / "results" / "machines"


def audits(
    tasks: Callable[[], Iterable[tuple[str, Task]]],
    threads: Sequence[int],
    seconds: float,
    known: Sequence[Line] = (),
) -> Iterator[Line]:
    """All audits of the tasks, those that are known first."""
    done = {line.key for line in known}
    yield from known
    for count in threads:
        with _Auditor(count, seconds) as auditor:
            for name, task in tasks():
                for lying, offset in OFFSETS.items():
                    if (name, count, lying) not in done:
                        progress(f"{name}, {count} threads, arrays {lying}, groups: ")
                        line = auditor.line(name, task, lying, offset)
                        progress(f"{line.failed or len(line.groups)}\n")
                        yield line


class _Auditor:
    """Audits on so many threads, in a process that is started again where it has ended."""

    def __init__(self, threads: int, seconds: float) -> None:
        self._threads, self._seconds = threads, seconds
        self._worker: Worker | None = None

    def __enter__(self) -> _Auditor:
        return self

    def __exit__(self, *ignored: object) -> None:
        self._dismiss()

    def line(self, name: str, task: Task, lying: str, offset: int) -> Line:
        """Audit a task; what went wrong, and with which plan, where there are no figures."""
        asked = {"threads": self._threads, "seconds": self._seconds, "offset": offset}
        task = replace(task, values={**task.values, "audit": asked})
        try:
            self._worker = self._worker or Worker(_peer(self._threads))
            groups = self._worker.prepare(task).result
        except PeerError as error:
            self._dismiss()
            said = str(error).strip().splitlines()
            text = said[0] if len(said) == 1 else f"{said[0]}; at last: {said[-1]}"
            return Line(name, self._threads, lying, (), text)
        return Line(name, self._threads, lying, groups)

    def _dismiss(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None


def _peer(threads: int) -> Peer:
    """A process that says on stderr which plan is tried."""
    peer = polymat_peer(threads, "audit", "audits:prepare")
    return replace(peer, environment={**peer.environment, "POLYMAT_LOG": "audit"})


def keep(directory: Path, lines: Sequence[Line], head: str) -> None:
    """Write the figures, the report and the picture; head: what is said of the machine."""
    directory.mkdir(parents=True, exist_ok=True)
    kept = {"machine": head.splitlines(), "audits": [as_json(line) for line in lines]}
    (directory / "audit.json").write_text(json.dumps(kept, separators=(",", ":")) + "\n")
    (directory / "audit.md").write_text("\n".join([head, "", *report(lines), ""]))
    (directory / "audit.svg").write_text(picture(lines, head))


def kept_lines(directory: Path) -> list[Line]:
    """What was kept, but for audits that failed."""
    path = directory / "audit.json"
    if not path.exists():
        return []
    lines = map(from_json, json.loads(path.read_text())["audits"])
    return [line for line in lines if not line.failed]


def main(argv: Sequence[str] | None = None) -> int:
    """Audit the suite and print what is worst; the exit status counts what is wrong or has failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer tasks and rounds, for orientation")
    parser.add_argument("--threads", default="", help="counts separated by commas (default: one and all)")
    parser.add_argument("--only", default="", help="tasks whose name contains this text")
    parser.add_argument("--keep", type=Path, help="the directory to write to")
    parser.add_argument("--resume", action="store_true", help="go on with what is kept")
    asked = parser.parse_args(argv)
    machine = calibrated_machine()
    threads = [int(count) for count in asked.threads.split(",") if count] or sorted({1, machine.cores})
    whole = not (asked.quick or asked.only)
    directory = asked.keep or (MACHINES / machine.microarchitecture if whole else None)
    known = kept_lines(directory) if asked.resume and directory is not None else []
    lines: list[Line] = []
    head = f"{header(machine)}\n- calibration: {since_calibration()}"
    tasks = partial(suite, asked.quick, asked.only)
    for line in audits(tasks, threads, QUICK_SECONDS if asked.quick else SECONDS, known):
        lines.append(line)
        if directory is not None and len(lines) > len(known):
            keep(directory, lines, head)
    print("\n".join(report(lines)), flush=True)
    return min(sum(line.is_bad for line in lines), 100)


if __name__ == "__main__":
    sys.exit(main())
