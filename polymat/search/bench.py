"""A bench: candidates are compiled there, compared with what they must compute, and timed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from polymat.bisect import first_difference
from polymat.codegen.program import CSource, Program
from polymat.dataclass import dataclass
from polymat.errors import ArgumentError
from polymat.graph.pipeline import Pipeline
from polymat.graph.selection import Selection
from polymat.interpreted import Interpreted
from polymat.loading import loaded
from polymat.passes import PASSES, position
from polymat.runtime.compiled import Compiled
from polymat.runtime.diagnose import bind
from polymat.runtime.libraryfile import Built
from polymat.search.choices import ChoiceSpace
from polymat.search.clock import LAST_ROUNDS, Clock, Compared, Run, calls_of, compared
from polymat.search.inputs import Array, call_arguments, random_arguments, small_sizes
from polymat.steps import Job

_LAST = position("runtime")
_SPARE = 2  # processors beside those of a call: what compiles there disturbs no clock


@dataclass(frozen=True, slots=True, eq=False)
class _Lowered:
    """The C of a candidate; library: what it is compiled to, now or in another thread."""

    job: Job
    program: Program
    source: CSource
    library: Future[Built] | None = None

    def built(self) -> Built:
        """The library."""
        if self.library is not None:
            return self.library.result()
        found: Built = PASSES[_LAST].apply(self.source, self.job)
        return found

    def compiled(self) -> Compiled:
        """What can be called."""
        return loaded(self.job.request, self.program, self.source.text, self.built())


@dataclass(frozen=True, slots=True)
class Tried:
    """The times of a candidate; fault: what is wrong with it, in words; it is not timed then."""

    times: Compared | None
    fault: str = ""


class Bench:
    """The default of a program, compiled and called, and candidates beside it.

    arguments: of the calls that are timed.  built: the program, for the interpreter.
    """

    def __init__(
        self, space: ChoiceSpace, built: Pipeline, arguments: Mapping[str, Any], clock: Clock
    ) -> None:
        self.space, self.clock, self.arguments = space, clock, arguments
        request = space.request
        self._waiting: dict[Selection, _Lowered | Exception] = {}
        lowered = self._lowered(space.default)
        self._known = {lowered.source.text}
        self._default = lowered.compiled()
        self._expected = _results(self._default, arguments)
        self._small = _small_call(self._default, built, request.estimates)
        if self._small is not None:
            fault = self._differs_small(self._default)
            if fault:
                raise ArgumentError(f"the program as it is disagrees with the interpreter: {fault}")
        self._out = tuple(array.copy() for array in self._expected)
        self._run = self._caller(self._default)
        self.calls = calls_of(clock, self._run)
        team = request.machine.team(request.options.threads)
        spare = len(os.sched_getaffinity(0)) - team >= _SPARE
        self._beside = ThreadPoolExecutor(1) if spare else None

    def prepare(self, choice: Selection) -> None:
        """Begin to compile a candidate, where there is a processor that nobody else needs."""
        if self._beside is None or choice in self._waiting:
            return
        try:
            lowered = self._lowered(choice)
        except Exception as error:  # whatever it is: with the default it is not
            self._waiting[choice] = error
            return
        library = self._beside.submit(PASSES[_LAST].apply, lowered.source, lowered.job)
        self._waiting[choice] = replace(lowered, library=library)

    @property
    def compiles_beside(self) -> bool:
        """Whether candidates are compiled while others are timed."""
        return self._beside is not None

    def close(self) -> None:
        """Wait for what is being compiled."""
        if self._beside is not None:
            self._beside.shutdown(cancel_futures=True)

    def trial(self, choice: Selection, best: float) -> Tried:
        """Compile a candidate, compare its numbers and time it; best: the least ratio so far."""
        try:
            lowered = self._waiting.pop(choice, None) or self._lowered(choice)
            if isinstance(lowered, Exception):
                raise lowered
            if lowered.source.text in self._known:
                return Tried(None, "its code is known")
            self._known.add(lowered.source.text)
            candidate = lowered.compiled()
            fault = self._differs(candidate)
        except Exception as error:  # whatever it is: with the default it is not
            return Tried(None, f"it fails with {type(error).__name__}: {error}"[:500])
        if fault:
            return Tried(None, fault)
        run = self._caller(candidate)
        return Tried(compared(self.clock, self._run, run, self.calls, best=best))

    def default_seconds(self) -> float:
        """Median seconds of a call of the default."""
        return compared(self.clock, self._run, self._run, self.calls, rounds=LAST_ROUNDS // 2).default

    def last(self, choices: Sequence[Selection]) -> list[Compared]:
        """Time candidates again, for longer."""
        runs = [self._caller(self._lowered(choice).compiled()) for choice in choices]
        return [compared(self.clock, self._run, run, self.calls, rounds=LAST_ROUNDS) for run in runs]

    def elsewhere(self, choice: Selection) -> Compared:
        """Time a candidate once more, with the default, both with results in arrays of their own."""
        candidate = self._lowered(choice).compiled()
        default, other = (
            self._caller(each, [array.copy() for array in self._out]) for each in (self._default, candidate)
        )
        return compared(self.clock, default, other, self.calls, rounds=LAST_ROUNDS)

    def cold(self, choice: Selection) -> Compared | None:
        """Time single calls of a candidate and the default, before each of which the caches are emptied.

        None where a turn is one call, which is so long that what the caches hold when it begins says little.
        """
        if self.calls == 1:
            return None
        machine = self.space.request.machine
        elsewhere = np.zeros(max(machine.l2_bytes, machine.l3_bytes), np.int8)
        run = self._caller(self._lowered(choice).compiled())
        return compared(self.clock, self._run, run, 1, before=partial(np.add, elsewhere, 1, out=elsewhere))

    def _lowered(self, choice: Selection) -> _Lowered:
        found: dict[type, Any] = {type(level): level for level in self.space.lowered(choice)}
        return _Lowered(self.space.job(choice), found[Program], found[CSource])

    def _differs(self, candidate: Compiled) -> str:
        """The first element that is not as it should be, on a small call and on the whole one."""
        fault = self._differs_small(candidate)
        return fault or _difference(candidate, _results(candidate, self.arguments), self._expected)

    def _differs_small(self, candidate: Compiled) -> str:
        if self._small is None:
            return ""
        arguments, expected = self._small
        return _difference(candidate, _results(candidate, arguments), expected)

    def _caller(self, compiled: Compiled, out: Sequence[Array] = ()) -> Run:
        """A call of it, with results in these arrays, or in those of all calls."""
        places = tuple(out) or self._out
        return partial(compiled, **self.arguments, out=places if len(places) > 1 else places[0])


def _results(compiled: Compiled, arguments: Mapping[str, Any]) -> tuple[Array, ...]:
    """New arrays."""
    found = compiled(**arguments)
    return found if isinstance(found, tuple) else (found,)


def _difference(compiled: Compiled, found: Sequence[Array], expected: Sequence[Array]) -> str:
    names = [array.name for array in compiled.signature.outputs]
    there, wanted = (dict(zip(names, each, strict=True)) for each in (found, expected))
    return first_difference(there, wanted)


def _small_call(
    default: Compiled, built: Pipeline, sizes: Mapping[str, int]
) -> tuple[dict[str, Any], tuple[Array, ...]] | None:
    """Arguments of a small call, and what the interpreter computes from them; None where none is allowed.

    Of a program of fixed sizes, the call itself is compared with the default's alone.
    """
    for small in small_sizes({size.name: sizes[size.name] for size in built.sizes}):
        try:
            given, _ = call_arguments(
                built, default.signature.name, random_arguments(built, small, seed=1), small
            )
            bound = bind(default.signature, (), given)
        except ArgumentError:
            continue
        found = Interpreted(lambda: built)(bound.inputs, bound.scalars, bound.sizes)
        return given, tuple(found)
    return None
