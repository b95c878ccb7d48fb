"""`compile`: the passes one after the other, and what a call needs of what they give."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, overload

import numpy.typing as npt

from polymat.codegen.c.cnames import check_export_name
from polymat.codegen.program import CSource, Program
from polymat.codegen.report import Report
from polymat.decide.changes import carried_out
from polymat.decide.chosen import UnfitError
from polymat.errors import LangError, OptionError, PolymatError, ToolchainError, unexpected
from polymat.graph.arguments import checked_constraints, fixed_sizes, output_functions
from polymat.graph.build import reachable
from polymat.graph.columnmajor import listed_inputs
from polymat.graph.pipeline import Pipeline
from polymat.graph.pitches import strided_inputs
from polymat.interpreted import Interpreted
from polymat.lang.condition import Condition
from polymat.lang.expr import Parameter
from polymat.lang.function import Function, Input
from polymat.loading import loaded
from polymat.options import DEFAULTS, Options, check_options
from polymat.passes import PASSES, levels_of, position
from polymat.reporting import profile_of, reporter, told
from polymat.request import Request
from polymat.runtime.compiled import Compiled
from polymat.runtime.host import HOST
from polymat.runtime.libraryfile import Built
from polymat.runtime.logs import SlowCompile, configure_logging
from polymat.runtime.providers import left_out
from polymat.runtime.settings import settings
from polymat.runtime.tunedstore import anything_tuned
from polymat.runtime.usercode import check_microkernels
from polymat.runtime.vectors import under_flags
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


@overload
def compile(
    outputs: Function,
    *,
    name: str | None = ...,
    inputs: Sequence[Input | Parameter] | None = ...,
    estimates: Mapping[Parameter, int] | None = ...,
    sizes: Mapping[Parameter, int] | None = ...,
    constraints: Iterable[Condition] = ...,
    trim: bool = ...,
    fortran: Sequence[Input] = ...,
    strided: Sequence[Input] = ...,
    options: Options = ...,
) -> Compiled[npt.NDArray[Any], Report]: ...
@overload
def compile(
    outputs: Sequence[Function],
    *,
    name: str | None = ...,
    inputs: Sequence[Input | Parameter] | None = ...,
    estimates: Mapping[Parameter, int] | None = ...,
    sizes: Mapping[Parameter, int] | None = ...,
    constraints: Iterable[Condition] = ...,
    trim: bool = ...,
    fortran: Sequence[Input] = ...,
    strided: Sequence[Input] = ...,
    options: Options = ...,
) -> Compiled[Any, Report]: ...
def compile(
    outputs: Function | Sequence[Function],
    *,
    name: str | None = None,
    inputs: Sequence[Input | Parameter] | None = None,
    estimates: Mapping[Parameter, int] | None = None,
    sizes: Mapping[Parameter, int] | None = None,
    constraints: Iterable[Condition] = (),
    trim: bool = False,
    fortran: Sequence[Input] = (),
    strided: Sequence[Input] = (),
    options: Options = DEFAULTS,
) -> Compiled[Any, Report]:
    """Compile outputs into a callable.

    outputs: one function or a list.  name: of the C function; default the (first) output's name.
    inputs: the positional arguments in order: all input arrays, and parameters where wanted; default the
    inputs in order of first use.  estimates: typical sizes, which guide decisions and never limit them.
    sizes: exact sizes; any other raises `ArgumentError` at the call.  constraints: conditions on sizes that
    every call must meet, `Condition(N, ">=", 16)`, and that bounds are checked under.
    trim: return lo..hi of each output dimension alone, not 0..hi.
    fortran: inputs that lie column by column (Fortran order) and are read as they lie; others, and these in
    another order, are copied at each call.  strided: inputs whose rows may lie apart, as those of
    `image[:, 8:-8]` do, and are read as they lie; others are copied at each call where they are no
    C-contiguous arrays.
    """
    configure_logging()
    request = request_for(
        outputs,
        name=name,
        inputs=inputs,
        estimates=estimates,
        sizes=sizes,
        constraints=constraints,
        trim=trim,
        fortran=fortran,
        strided=strided,
        options=options,
    )
    return _kept(_compiled(measured(request)), request)


def _kept(compiled: Compiled[Any, Report], request: Request) -> Compiled[Any, Report]:
    """The callable, once no definition that it was compiled from can be changed any more."""
    for function in reachable(request.outputs)[0]:
        function.keep_definition()
    return compiled


def measured(request: Request) -> Request:
    """The request with figures of this machine, which are measured now if that was never done."""
    here = HOST.get()
    if request.machine.calibration or here.machine or request.options.target != "native":
        return request
    if settings().calibrate_mode == "off":
        return request
    from polymat.measuring.firstcompile import measure_first  # imported where nobody has measured

    if not measure_first():
        return request
    return replace(request, machine=under_flags(here.described(), request.options.compiler_flags))


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


def request_for(
    outputs: Function | Sequence[Function],
    *,
    name: str | None = None,
    inputs: Sequence[Input | Parameter] | None = None,
    estimates: Mapping[Parameter, int] | None = None,
    sizes: Mapping[Parameter, int] | None = None,
    constraints: Iterable[Condition] = (),
    trim: bool = False,
    fortran: Sequence[Input] = (),
    strided: Sequence[Input] = (),
    options: Options = DEFAULTS,
) -> Request:
    """Check arguments of `compile` as far as that needs no graph, and add the machine and its libraries."""
    listed, checked = output_functions(outputs), check_options(options)
    here = HOST.get()
    for kernel in checked.microkernels:
        check_export_name(kernel.name, "microkernel")
    return Request(
        outputs=listed,
        name=check_export_name(name if name is not None else listed[0].name or "pipeline"),
        inputs=inputs,
        sizes=sizes,
        estimates=fixed_sizes(estimates, "estimates"),
        constraints=checked_constraints(constraints),
        trim=trim,
        fortran=listed_inputs(fortran, "fortran"),
        strided=strided_inputs(strided, fortran),
        options=checked,
        machine=under_flags(here.described(), checked.compiler_flags),
        libraries=here.libraries,
    )


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
    built = _level(results, "built", Pipeline)
    program, library = _level(results, "codegen", Program), _level(results, "runtime", Built)
    source = _level(results, "source", CSource)
    scheduled = told(results["tilesize"], results["skews"])
    carried = carried_out(request)
    report = reporter(carried, built, scheduled, program, seconds)
    profiler = partial(profile_of, scheduled, results["skews"], carried)
    return loaded(request, program, source.text, library, report, Interpreted(built, request), profiler)


def _level(results: Mapping[str, Level], level: str, kind: type[T]) -> T:
    """A level of a compilation, which is of its own type."""
    result = results[level]
    assert isinstance(result, kind)
    return result
