"""The whole compilation on one screen."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, overload

import numpy.typing as npt

from polymat.codegen.c.cnames import check_export_name
from polymat.codegen.header import header_for
from polymat.codegen.lower import lower
from polymat.codegen.orders import joined_programs
from polymat.codegen.program import Program
from polymat.codegen.report import Report, make_report
from polymat.codegen.units import files, render
from polymat.decide.decider import Decider
from polymat.errors import LangError, PolymatError, ToolchainError, unexpected
from polymat.graph.arguments import checked_constraints, fixed_sizes, output_functions
from polymat.graph.build import build, reachable
from polymat.graph.distinct import separate_names
from polymat.graph.group import Grouping
from polymat.graph.guards import leave_out_terms
from polymat.graph.inline import inline_pointwise
from polymat.graph.pipeline import Pipeline
from polymat.graph.sampled import compute_kept_samples
from polymat.graph.simplify import share_common_stages
from polymat.graph.stage import Stage
from polymat.graph.turned import fortran_inputs, turn_inputs
from polymat.graph.verify import verify
from polymat.idiom.find import is_called
from polymat.idiom.recursiveends import kept_of_chains
from polymat.lang.condition import Condition
from polymat.lang.expr import Parameter
from polymat.lang.function import Function, Input
from polymat.model.assumed import assumed_sizes
from polymat.options import DEFAULTS, Options, check_options
from polymat.plan.schedule import Schedule
from polymat.request import Request
from polymat.rewrite.cascades import join_cascades
from polymat.rewrite.channels import join_channels
from polymat.rewrite.conversions import convert_once
from polymat.rewrite.interpolation import interpolate_by_phases
from polymat.rewrite.overlapsave import filter_by_blocks
from polymat.rewrite.plaintransforms import plain_transforms
from polymat.rewrite.productorder import Ordered, order_products
from polymat.rewrite.sharedparts import share_expressions
from polymat.runtime.build import Built
from polymat.runtime.build import build as build_library
from polymat.runtime.compiled import Compiled
from polymat.runtime.cpu import features_of
from polymat.runtime.host import HOST
from polymat.runtime.logs import SlowCompile, configure_logging, log_schedule
from polymat.runtime.providers import left_out
from polymat.runtime.threads import quiet_openmp
from polymat.runtime.vectors import under_flags

Level = Pipeline | Grouping | Schedule | Program | str | Built
T = TypeVar("T")
LEVELS = ("built", "graph", "fusion", "tilesize", "codegen", "source", "runtime")


def levels(request: Request) -> Iterator[tuple[str, Level]]:
    """Every level of the compilation, in order; stop iterating to stop compiling."""
    options, estimates, machine = request.options, request.estimates, request.machine
    built = verify(
        build(
            request.outputs,
            inputs=request.inputs,
            sizes=request.sizes,
            estimates=estimates,
            constraints=request.constraints,
            trim=request.trim,
        )
    )
    yield "built", built
    pipeline = leave_out_terms(separate_names(turn_inputs(built, request.fortran)))
    if options.share:
        pipeline = share_common_stages(pipeline)
    if options.inline:
        pipeline = compute_kept_samples(pipeline)
    ordered = order_products(pipeline, options, estimates, machine)
    pipeline = _rewritten(ordered.pipeline, request)
    yield "graph", pipeline
    decider = _decider(pipeline, request)
    grouping = decider.grouping()
    yield "fusion", grouping
    schedule = decider.schedule(grouping)
    yield "tilesize", schedule
    program = lower(schedule, request.name, options)
    if ordered.others and not schedule.kept:
        program = _with_others(program, ordered, request)
    yield "codegen", program
    source = render(program.file)
    yield "source", source
    yield "runtime", build_library(source, options, program.flags, files(program.file))


def _is_called(stage: Stage, pipeline: Pipeline, sizes: Mapping[str, int], options: Options) -> bool:
    assumed = assumed_sizes(pipeline, sizes)
    return is_called(stage, pipeline.context, pipeline.extents, assumed, options)


def _rewritten(pipeline: Pipeline, request: Request) -> Pipeline:
    """The pipeline with filters and transforms as they are quickest, and point-wise stages put in."""
    options, estimates, machine = request.options, request.estimates, request.machine
    pipeline = join_cascades(pipeline, options, estimates, machine, request.libraries)
    pipeline = filter_by_blocks(pipeline, options, estimates, machine, request.libraries)
    pipeline = interpolate_by_phases(pipeline, options, machine, request.libraries)
    pipeline = plain_transforms(pipeline, options, estimates, machine, request.libraries)
    if options.inline:
        sizes = assumed_sizes(pipeline, estimates)
        called = partial(is_called, extents=pipeline.extents, sizes=sizes, options=options)
        kept = kept_of_chains(pipeline) if options.kernels else ()
        pipeline = leave_out_terms(inline_pointwise(pipeline, called, kept))
    if options.join:
        called = partial(_is_called, sizes=estimates, options=options)
        pipeline = join_channels(pipeline, machine, called)
    if options.fuse and options.tile and options.cost == "time":
        pipeline = convert_once(pipeline)
        if options.share:
            predict = partial(_predicted, request=request)
            called = partial(_is_called, sizes=estimates, options=options)
            pipeline = share_expressions(pipeline, predict, called)
    return pipeline


def _predicted(pipeline: Pipeline, request: Request) -> tuple[float, frozenset[str]]:
    """The seconds that a pipeline is predicted to take, and its stages that live in tiles alone."""
    return _decider(pipeline, request).prediction()


def _decider(pipeline: Pipeline, request: Request) -> Decider:
    """The one who decides about a pipeline of a request."""
    return Decider(pipeline, request.machine, request.estimates, request.options, request.libraries)


def _with_others(program: Program, ordered: Ordered, request: Request) -> Program:
    """The program, and beside it those in other orders, among which the sizes of each call decide."""
    open_sizes = replace(request, estimates={})
    others = []
    for work, other in ordered.others:
        decider = _decider(_rewritten(other, open_sizes), open_sizes)
        schedule = decider.schedule(decider.grouping())
        others += [] if schedule.kept else [(work, lower(schedule, request.name, request.options))]
    return joined_programs(ordered.work, program, others)


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
    another order, are copied at each call.
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
        options=options,
    )
    try:
        compiled = compile_request(request)
    except RecursionError:
        raise LangError(
            f"a definition in {request.name} is nested too deeply to compile",
            at=request.outputs[0].at,
            hint="give parts of it names, as functions of their own",
        ) from None
    for function in reachable(request.outputs)[0]:
        function.keep_definition()
    return compiled


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
    options: Options = DEFAULTS,
) -> Request:
    """Check arguments of `compile` as far as that needs no graph, and add the machine and its libraries."""
    listed, checked = output_functions(outputs), check_options(options)
    here = HOST.get()
    return Request(
        outputs=listed,
        name=check_export_name(name if name is not None else listed[0].name or "pipeline"),
        inputs=inputs,
        sizes=sizes,
        estimates=fixed_sizes(estimates, "estimates"),
        constraints=checked_constraints(constraints),
        trim=trim,
        fortran=fortran_inputs(fortran),
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
                raise
        except (PolymatError, MemoryError, RecursionError):
            raise
        except Exception as error:
            level = next((level for level in LEVELS if level not in results), LEVELS[-1])
            raise unexpected(error, f"the pass {level} of {request.name}", request.outputs[0].at) from error


def _compile(request: Request, results: dict[str, Level]) -> Compiled[Any, Report]:
    """The callable of a request; results holds the levels that were reached."""
    name, options = request.name, request.options
    seconds: dict[str, float] = {}
    begin = time.perf_counter()
    with SlowCompile(name) as slow:
        for level, result in levels(request):
            end = time.perf_counter()
            seconds[level], begin = end - begin, end
            results[level], slow.last = result, level
            logging.getLogger(f"polymat.{level}").info("%s: %.1f ms", name, seconds[level] * 1e3)
    built, schedule = _found(results, "built", Pipeline), _found(results, "tilesize", Schedule)
    program, library = _found(results, "codegen", Program), _found(results, "runtime", Built)
    log_schedule(name, schedule)
    quiet_openmp(library.image)
    try:
        return Compiled(
            library.path,
            program.signature,
            source=_found(results, "source", str),
            header=header_for(program.header, features_of(library.cpu)),
            report=make_report(built, schedule, program, request.estimates, seconds),
            reference=lambda arrays, scalars, known: _reference(built, arrays, scalars, known),
            threads=options.threads,
            cpu=library.cpu,
            image=library.image,
            flags=(*program.flags, *options.compiler_flags),
        )
    except ToolchainError as error:
        if options.cflags and not error.hint:
            error.hint = f"cflags are {options.cflags!r}: leave out what keeps it from loading"
        raise
    finally:
        library.release()


def _found(results: Mapping[str, Level], level: str, kind: type[T]) -> T:
    """A level of a compilation, which is of its own type."""
    result = results[level]
    assert isinstance(result, kind)
    return result


def _reference(
    pipeline: Pipeline, arrays: Mapping[str, Any], scalars: Mapping[str, Any], sizes: Mapping[str, int]
) -> list[Any]:
    """The outputs by the interpreter."""
    from polymat.graph.interpret import interpret  # imported where a reference is asked for

    params = {**scalars, **sizes}
    values = interpret(pipeline, arrays, params)
    if not pipeline.trim:
        return [values[output] for output in pipeline.outputs]
    trimmed = []
    for output in pipeline.outputs:
        low = [max(int(lo.evaluate(params)), 0) for lo, _ in pipeline.stage(output).box]
        trimmed.append(values[output][tuple(slice(lo, None) for lo in low)])
    return trimmed
