"""Programs as they are decided for other machines, beside the own decisions.

    python -m benchmarks.cliffs [--quick] [--only TEXT] [--machines haswell,generic] [--turns N]

Every task of the audit is compiled as if for each machine, with no more of its vectors than this one has, and
measured here on one thread by the time of the processor, by turns with the program that was decided for this
one.  A loss of more than 1.5 is a cliff: it is printed by itself, and the exit status counts them.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.auditing.suite import suite
from benchmarks.measure import progress
from benchmarks.peers.audits import asked_for
from benchmarks.task import Task
from polymat.driver import compile_request
from polymat.errors import PolymatError, counted
from polymat.machine import known
from polymat.machine.cpuinfo import first_processor
from polymat.machine.model import Machine
from polymat.machine.recognise import narrowed
from polymat.runtime.calibration import calibrated_machine

OTHERS: Mapping[str, Machine] = {
    each.microarchitecture: each
    for each in (
        *(known.HASWELL, known.ZEN3, known.ZEN5, known.SKYLAKE_AVX512, known.ICELAKE_SERVER),
        *(known.SAPPHIRE_RAPIDS, known.GENERIC),
    )
}
CLIFF = 1.5  # times as long as by the own decisions
NOTED, SHOWN = 1.1, 20  # losses that are printed, the largest so many of them
MOST_COUNTED = 100  # cliffs that an exit status can say beside those that a shell has for signals
TURNS, TURN = 7, 2e-3  # of each program; seconds of the calls of one turn, about
LEAST = 2e-6  # seconds of a call: of shorter ones a tenth is the clock's and the call's


def others(names: Sequence[str], own: Machine) -> dict[str, Machine]:
    """The machines by name, with the vectors, the cores and the name of the own one."""
    features = first_processor().get("flags", "").split()
    found = {}
    for name in names or [*OTHERS]:
        machine = narrowed(OTHERS[name], features)
        bits = min(machine.vector_bits, own.vector_bits)
        found[name] = replace(machine, vector_bits=bits, cores=own.cores)
    return found


def losses(task: Task, machines: Mapping[str, Machine], turns: int) -> tuple[float, dict[str, float]]:
    """Seconds of a call by the own decisions, and how many times as long it takes by those for others.

    Nothing of machines for which the code is the same.
    """
    request, arguments = asked_for(task)
    request = replace(request, options=replace(request.options, threads=1))
    own = compile_request(request)
    programs = {
        name: compile_request(replace(request, machine=machine)) for name, machine in machines.items()
    }
    changed = {name: each for name, each in programs.items() if _code(each) != _code(own)}
    alike: dict[str, list[str]] = {}
    for name, each in changed.items():
        alike.setdefault(_code(each), []).append(name)
    calls = [_call(each, arguments) for each in (own, *(changed[names[0]] for names in alike.values()))]
    seconds, *rest = _by_turns(calls, turns)
    found = zip(alike.values(), rest, strict=True)
    return seconds, {name: each / seconds for names, each in found for name in names}


def _code(compiled: Any) -> str:
    """The C text without its first comment, which names the machine."""
    return str(compiled.source).partition("*/")[2]


def _call(compiled: Any, arguments: Mapping[str, Any]) -> Callable[[], Any]:
    """A call into arrays that are there."""
    found = compiled(**arguments)
    out = tuple(map(np.copy, found)) if isinstance(found, tuple) else np.copy(found)
    return lambda: compiled(**arguments, out=out)


def _by_turns(calls: Sequence[Callable[[], Any]], turns: int) -> list[float]:
    """Seconds of the processor that each call takes: the second least of several turns."""
    found: list[list[float]] = [[] for _ in calls]
    often = max(1, min(1000, math.ceil(TURN / max(_timed(calls[0], 1), 1e-7))))
    for _ in range(turns):
        for call, each in zip(calls, found, strict=True):
            call()
            each.append(_timed(call, often))
    return [sorted(each)[min(1, turns - 1)] for each in found]


def _timed(call: Callable[[], Any], often: int) -> float:
    begin = time.process_time()
    for _ in range(often):
        call()
    return (time.process_time() - begin) / often


def _measured(
    tasks: Iterator[tuple[str, Task]], machines: Mapping[str, Machine], turns: int
) -> Iterator[tuple[str, str, float, float]]:
    """Task, machine, seconds by the own decisions, and the loss."""
    for name, task in tasks:
        progress(f"{name}: ")
        try:
            seconds, found = losses(task, machines, turns)
        except PolymatError as error:
            progress(f"{str(error).splitlines()[0]}\n")
            continue
        progress(f"{seconds:.3g} s, {', '.join(f'{m} {loss:.2f}' for m, loss in found.items())}\n")
        if seconds >= LEAST:
            yield from ((name, machine, seconds, found.get(machine, 1.0)) for machine in machines)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the suite, print what loses most; the exit status counts cliffs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer tasks")
    parser.add_argument("--only", default="", help="tasks whose name contains this text")
    parser.add_argument("--machines", default="", help="names separated by commas (default: all)")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"of each program (default: {TURNS})")
    asked = parser.parse_args(argv)
    names = [name for name in asked.machines.split(",") if name]
    if unknown := [name for name in names if name not in OTHERS]:
        parser.error(f"no machine {', '.join(unknown)}: there are {', '.join(OTHERS)}")
    if asked.turns < 1:
        parser.error(f"--turns is {asked.turns}: each program has one at least")
    own = calibrated_machine()
    found = [*_measured(suite(asked.quick, asked.only), others(names, own), asked.turns)]
    return _print(found)


def _print(found: list[tuple[str, str, float, float]]) -> int:
    """Print what loses most and how many cases lose much; how many those are, for the exit status."""
    found = sorted(found, key=lambda each: -each[3])
    for name, machine, seconds, loss in found[:SHOWN]:
        if loss > NOTED:
            print(f"{loss:5.2f}  {name} as for {machine} ({seconds:.3g} s by the own decisions)")
    cliffs = sum(loss > CLIFF for *_, loss in found)
    mean = math.exp(sum(math.log(loss) for *_, loss in found) / max(len(found), 1))
    worst = found[0][3] if found else 1.0
    told = f"{counted(len(found), 'case')}: {cliffs} lose more than {CLIFF}"
    print(f"{told}, worst {worst:.2f}, geometric mean {mean:.2f}")
    return min(cliffs, MOST_COUNTED)


if __name__ == "__main__":
    sys.exit(main())
