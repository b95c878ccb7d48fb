"""`tune`: a program in the way that measuring finds to be the quickest at some sizes, on this machine."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from polymat.dataclass import dataclass
from polymat.driver import compile_request, measured, request_for, request_of
from polymat.errors import ArgumentError
from polymat.graph.arguments import fixed_sizes
from polymat.graph.pipeline import Pipeline
from polymat.graph.stepwise import Stepwise
from polymat.lang.expr import Parameter
from polymat.lang.function import Function
from polymat.passes import PASSES
from polymat.request import Request
from polymat.runtime.compiled import Compiled
from polymat.runtime.logs import configure_logging
from polymat.runtime.tunedkey import as_found, definitions_of, tuned_key
from polymat.runtime.tunedstore import Trial, TunedFile, read_tuned
from polymat.search.bench import Bench
from polymat.search.choices import ChoiceSpace
from polymat.search.clock import Clock, TrueClock
from polymat.search.inputs import call_arguments, random_arguments
from polymat.search.leftout import LeftOut
from polymat.search.optionspace import CHANGES, OptionSpace, decided, further_changes
from polymat.search.progress import progress_line
from polymat.search.searcher import Search
from polymat.search.space import Space
from polymat.search.tuned import Tuned as Tuned
from polymat.steps import Job

_UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_BUDGET = re.compile(r"\s*(\d+(?:\.\d*)?)\s*(ms|s|min|h)\s*")
Told = Callable[[Sequence[Trial], float], None]


@dataclass(frozen=True, slots=True)
class Manner:
    """How a search goes.

    most: trials in all.  guided: by predictions.  kept: its trials are, and those that were kept are known.
    """

    most: int = sys.maxsize
    guided: bool = True
    kept: bool = True


USUAL = Manner()


def tune(
    outputs: Function | Sequence[Function] | Compiled[Any, Any],
    *,
    arrays: Mapping[str, Any] | None = None,
    sizes: Mapping[Parameter, int] | None = None,
    budget: str | float = "60 s",
    threads: int | None = None,
    seed: int = 0,
    **asked: Any,
) -> Tuned:
    """Try other ways of computing a program for some time, and return it in the quickest one.

    outputs: what `compile` takes, or what it gave.  arrays: the arguments of a call, by name, that is timed;
    sizes: or those of a call with random numbers; otherwise estimates= are taken, and sizes= of `compile`.
    budget: of all trials, "60 s", "5 min" or seconds; one that was killed goes on where it was.
    threads: of `Options`, which stay as they are without it.  seed: of what is tried.
    asked: further arguments of `compile`, among them options=; where the sizes of a program are fixed,
    `tune(compile(..., sizes=...))` says so.

    Passes that do something to a program are left out as well, where that is not predicted to take much
    longer.  Of a program that takes steps, or whose groups have one way each, options are tried that are as
    they were by default: passes left out, sizes of tiles, library calls.

    Each candidate is compared with what the default and, at a small size, the interpreter compute, and timed
    with the default by turns.  What is found is kept beside the compiled libraries (unless POLYMAT_CACHE is
    off or readonly), and `compile` takes it for the same program, options and sizes within a third of a power
    of two, on the same machine, with the same compiler and version of polymat; `explain()` says so.
    """
    configure_logging()
    request = _request(outputs, threads, asked)
    if sizes is not None and arrays is not None:
        raise ArgumentError("tune() takes arrays= or sizes=, not both", hint="arrays tell their sizes")
    _check_kinds(arrays, seed)
    named = fixed_sizes(sizes, "sizes")
    return tuned(request, arrays=arrays, sizes=named, budget=seconds_of(budget), seed=seed)


def tuned(
    request: Request,
    *,
    arrays: Mapping[str, Any] | None,
    sizes: Mapping[str, int],
    budget: float,
    seed: int = 0,
    clock: Clock | None = None,
    told: Told | None = None,
    manner: Manner = USUAL,
) -> Tuned:
    """Do what `tune` does, for a request; sizes: by name.  told: hears of each trial."""
    team = request.machine.team(request.options.threads)
    clock = TrueClock(alone=team == 1) if clock is None else clock
    request = replace(request, found=None)
    built = PASSES[0].apply(request, Job(request))
    assert isinstance(built, Pipeline)
    known = {**request.estimates, **sizes}
    if arrays is None:
        arrays = random_arguments(built, known, turned={str(array.name) for array in request.fortran})
    arguments, exact = call_arguments(built, request.name, arrays, known)
    request = replace(request, estimates=exact)
    file = read_tuned(tuned_key(definitions_of(built), request)) if manner.kept else TunedFile(None)
    space = _space(request, seed, guided=manner.guided)
    with progress_line(request.name, budget) as line:
        bench = Bench(space, built, arguments, clock)
        try:
            search = Search(space, bench, file, clock, exact, budget, told or line, manner.most)
            ending = search.run()
        finally:
            bench.close()
    found = None if ending.choice is None else as_found(ending, file)
    compiled = compile_request(replace(request, found=found))
    return Tuned(compiled, ending.default, ending.seconds, tuple(search.trials), ending)


def _space(request: Request, seed: int, *, guided: bool) -> ChoiceSpace:
    """The groups of a program, with predictions its passes as well.

    Its options where it takes steps, or all of its groups have one way alone.
    """
    job = Job(request)
    acting, level = decided(job)
    further = further_changes(job, acting, level)
    if isinstance(level, Stepwise):  # bands last: each takes some seconds to compile
        return OptionSpace(request, acting, seed, changes=(*CHANGES, *further))
    space = Space(request, level.grouping, seed, guided=guided)
    if space.draw(0, space.default, ()) is None:
        return OptionSpace(request, acting, seed, changes=(*further, *CHANGES))
    return LeftOut(space, acting, further) if guided else space


def _check_kinds(arrays: Any, seed: Any) -> None:
    if arrays is not None and not (isinstance(arrays, Mapping) and all(isinstance(n, str) for n in arrays)):
        raise ArgumentError(f"arrays= maps names of arguments to arrays, got {arrays!r:.60}", hint='{"A": a}')
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ArgumentError(f"seed= is an integer, got {seed!r:.60}")


def _request(
    outputs: Function | Sequence[Function] | Compiled[Any, Any], threads: int | None, asked: Mapping[str, Any]
) -> Request:
    if isinstance(outputs, Compiled):
        if asked:
            raise ArgumentError(
                f"tune() takes no {next(iter(asked))}= beside what is compiled",
                hint="give the outputs, and the arguments of compile()",
            )
        found = request_of(outputs)
        if found is None:
            raise ArgumentError(
                f"{outputs.signature.name} comes from a file, which says nothing of other ways",
                hint="tune it from its definition",
            )
        request = found
    else:
        request = measured(request_for(outputs, **asked))
    if threads is None:
        return request
    return replace(request, options=replace(request.options, threads=threads))


def seconds_of(budget: str | float) -> float:
    """Seconds of a budget: a number, or one with a unit (ms, s, min, h); an `ArgumentError` else."""
    if isinstance(budget, int | float) and not isinstance(budget, bool) and 0 < budget < float("inf"):
        return float(budget)
    found = _BUDGET.fullmatch(budget) if isinstance(budget, str) else None
    if found is None or float(found[1]) == 0.0:
        raise ArgumentError(f"budget= is {budget!r:.60}, no time", hint='"60 s", "5 min" or 60')
    return float(found[1]) * _UNITS[found[2]]
