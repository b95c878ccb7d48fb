"""The passes one after the other, and what a call needs of what they give."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from polymat.codegen.program import CSource, Program
from polymat.codegen.report import Report
from polymat.dataclass import dataclass
from polymat.decide.changes import carried_out
from polymat.decide.chosen import UnfitError
from polymat.errors import LangError, OptionError, PolymatError, ToolchainError, unexpected
from polymat.fewcollections import collected_seldom
from polymat.graph.build import reachable
from polymat.graph.pipeline import Pipeline
from polymat.interpreted import Interpreted
from polymat.loading import loaded
from polymat.passes import PASSES, levels_of, position
from polymat.reporting import profile_of, reporter, told
from polymat.request import Request
from polymat.requesting import measured as measured
from polymat.requesting import request_for as request_for
from polymat.runtime.compiled import Compiled, Profiler
from polymat.runtime.libraryfile import Built
from polymat.runtime.logs import SlowCompile
from polymat.runtime.providers import left_out
from polymat.runtime.settings import settings
from polymat.runtime.tunedstore import anything_tuned
from polymat.runtime.usercode import check_microkernels
from polymat.steps import Job, Level, see_effects

T = TypeVar("T")
LEVELS = tuple(dict.fromkeys(each.level for each in PASSES))
_LEVEL_OF = {each.name: each.level for each in PASSES}
_DECIDED = PASSES[position("codegen") - 1].name
_REWRITTEN = [each.name for each in PASSES if each.level == "graph"][-1]


def levels(request: Request) -> Iterator[tuple[str, Level]]:
    """Every level of the compilation, by the pass that gives it; stop iterating to stop compiling.

    The pipeline after the last rewrite comes again as "graph".
    """
    request = carried_out(request)
    before: Level | None = None
    verifying = settings().verify
    for each, level in levels_of(Job(request)):
        if verifying and level is not before:
            _verify(each.name, level)
        if each.name == _DECIDED:
            see_effects(level, request)
        yield each.name, level
        if each.name == _REWRITTEN:
            yield "graph", level
        before = level


def _verify(name: str, level: Level) -> None:
    from polymat.checked import check  # imported where it is asked for

    check(name, level)


def _found(request: Request) -> Request:
    """The request with what an earlier search on this machine found for it."""
    if settings().tuned_mode == "off" or not anything_tuned():
        return request
    from polymat.runtime.tunedkey import found_for  # imported where something was tuned

    found = found_for(PASSES[0].apply(request, Job(request)), request)
    return request if found is None else replace(request, found=found, estimates=found.sizes)


def request_of(compiled: Compiled[Any, Any]) -> Request | None:
    """The request that a program was compiled from; None of one that comes from a file."""
    reference = compiled._reference
    return reference.request if isinstance(reference, Interpreted) else None


def compiled(request: Request) -> Compiled[Any, Report]:
    """The callable of a request; no definition that it was compiled from can be changed any more."""
    with collected_seldom():
        found = _compiled(request)
    for function in reachable(request.outputs)[0]:
        function.keep_definition()
    return found


def _compiled(request: Request) -> Compiled[Any, Report]:
    found = request
    try:
        found = _found(request)
        return compile_request(found)
    except (UnfitError, OptionError, ToolchainError) as error:
        if found is request:
            raise
        # What an earlier search found, of another machine or of other libraries.
        logging.getLogger("polymat.tune").warning("%s: %s", request.name, error)
        return compile_request(request)
    except RecursionError:
        raise LangError(
            f"a definition in {request.name} is nested too deeply to compile",
            at=request.outputs[0].at,
            hint="give parts of it names, as functions of their own",
        ) from None


def compile_request(request: Request) -> Compiled[Any, Report]:
    """Compile, and again without a library that turned out to be wrong after something was decided for it."""
    while True:
        before = left_out()
        results: dict[str, Level] = {}
        try:
            return _compile(request, results)
        except ToolchainError:
            if left_out() == before:
                check_microkernels(request.options, request.outputs[0].at)
                raise
        except (PolymatError, MemoryError, RecursionError):
            raise
        except Exception as error:
            done = next((each.name for each in PASSES if each.name not in results), PASSES[-1].name)
            raise unexpected(error, f"the pass {done} of {request.name}", request.outputs[0].at) from error


def _compile(request: Request, results: dict[str, Level]) -> Compiled[Any, Report]:
    """The callable of a request; results holds the levels that were reached."""
    seconds = _reach(request, results, PASSES[-1].name)
    source, library = _level(results, "source", CSource), _level(results, "runtime", Built)
    tell = _telling(request, results, seconds)
    reference = Interpreted(lambda: tell.built, request)
    program = _level(results, "codegen", Program)
    return loaded(request, program, source.text, library, tell.report, reference, tell.profiler)


def _reach(request: Request, results: dict[str, Level], last: str) -> dict[str, float]:
    """Add the levels up to the last; the seconds that each took."""
    name = request.name
    seconds: dict[str, float] = {}
    begin = time.perf_counter()
    with SlowCompile(name) as slow:
        for level, result in levels(request):
            end, part = time.perf_counter(), _LEVEL_OF.get(level, level)
            seconds[part], begin = seconds.get(part, 0.0) + end - begin, end
            results[level], slow.last = result, part
            if level == part:
                logging.getLogger(f"polymat.{level}").info("%s: %.1f ms", name, seconds[level] * 1e3)
            if level == last:
                break
    return seconds


@dataclass(frozen=True, slots=True)
class Telling:
    """The report of a program, its clock and its stages, for those who ask."""

    built: Pipeline
    report: Callable[[], Report]
    profiler: Profiler


def telling(request: Request) -> Telling:
    """Decide again about a program whose library is there, for what it tells of itself."""
    results: dict[str, Level] = {}
    return _telling(request, results, _reach(request, results, "source"))


def _telling(request: Request, results: Mapping[str, Level], seconds: Mapping[str, float]) -> Telling:
    built, program = _level(results, "built", Pipeline), _level(results, "codegen", Program)
    scheduled = told(results["tilesize"], results["lanes"])
    carried = carried_out(request)
    report = reporter(carried, built, scheduled, program, seconds)
    return Telling(built, report, partial(profile_of, scheduled, results["lanes"], carried))


def _level(results: Mapping[str, Level], level: str, kind: type[T]) -> T:
    """A level of a compilation, which is of its own type."""
    result = results[level]
    assert isinstance(result, kind)
    return result
