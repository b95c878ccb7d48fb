"""polymat: compiled for the sizes as estimates, and called as NumPy is, into given arrays, or from C."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polymat as pm
from benchmarks.peers.ccall import prepare_saved
from benchmarks.peers.csource import aligned, copy_aligned
from benchmarks.problems import describe
from benchmarks.task import MissingError, Prepared, Task
from polymat.driver import request_for
from polymat.passes import PASSES
from polymat.runtime.cacheroom import entries
from polymat.runtime.tunedkey import definitions_of, last_ending, tuned_key
from polymat.runtime.tunedstore import read_tuned
from polymat.steps import Job

_loaded: list[pm.Compiled] = []


def prepare(task: Task) -> Prepared:
    """Called from Python; results are new arrays, as they are with NumPy."""
    call, note, scalars = compile_task(task)
    bound = partial(call, *task.arrays.values(), **scalars)
    note += workspace_text(bound) if task.values.get("memory") else ""
    return Prepared(bound, note, predicted=predicted_seconds(call))


def workspace_text(call: Callable[[], Any]) -> str:
    """How much memory a call takes at most beside its arguments and results, in words."""
    marks = Path("/proc/self/clear_refs")
    try:
        marks.write_text("5")  # the largest size so far is forgotten
    except OSError:
        return ""
    before = _memory("VmRSS")
    found = call()
    results = sum(array.nbytes for array in (found if isinstance(found, tuple) else (found,)))
    return f", {(_memory('VmHWM') - before - results) / 1e6:.1f} MB beside its arrays"


def _memory(what: str) -> int:
    """Of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(what))


def prepare_out(task: Task) -> Prepared:
    """Called from Python; results are written to arrays that are there, as libraries called from C do."""
    return _into_arrays(task)


def _into_arrays(task: Task, options: pm.Options | None = None) -> Prepared:
    call, note, scalars = compile_task(task, options)
    first = call(*task.arrays.values(), **scalars)
    many = isinstance(first, tuple)
    out = tuple(copy_aligned(result) for result in (first if many else (first,)))
    arrays = tuple(copy_aligned(array) for array in task.arrays.values())
    timed = partial(call, *arrays, out=out if many else out[0], **scalars)
    return Prepared(timed, note, predicted=predicted_seconds(call))


def prepare_from_c(task: Task) -> Prepared:
    """Called from C: the library that `save` writes, linked to a program."""
    call, note, scalars = compile_task(task)
    first = call(*task.arrays.values(), **scalars)
    results = [
        aligned(result.shape, result.dtype) for result in (first if isinstance(first, tuple) else (first,))
    ]
    with TemporaryDirectory() as directory:
        call.save(directory)
        # Loading it here has the runtime find the libraries that it calls, as from Python.
        _loaded.append(pm.load(Path(directory) / f"{identifier(task.problem)}.json"))
        _loaded[-1](*task.arrays.values(), **scalars)
        values = {**task.values.get("sizes", {}), **scalars}
        arrays = [copy_aligned(array) for array in task.arrays.values()]
        saved = prepare_saved(
            Path(directory), identifier(task.problem), [*arrays, *results], results, values, note
        )
        return replace(saved, predicted=predicted_seconds(call))


def prepare_unfused(task: Task) -> Prepared:
    """Every stage by itself, into arrays that are there."""
    return _into_arrays(task, pm.Options(fuse=False))


def prepare_naive(task: Task) -> Prepared:
    """No optimisation, into arrays that are there."""
    return _into_arrays(task, pm.Options.naive())


def prepare_paper(task: Task) -> Prepared:
    """Groups and tiles as the thesis chose them, transforms by FFTW as there, into arrays that are there."""
    return _into_arrays(task, pm.Options.paper(fft="always"))


def prepare_polymage(task: Task) -> Prepared:
    """Groups and tiles of PolyMage before its thesis, transforms by FFTW, into arrays that are there."""
    return _into_arrays(task, pm.Options.polymage(fft="always"))


def prepare_library(task: Task) -> Prepared:
    """A library wherever a routine of it fits, into arrays that are there."""
    return _into_arrays(task, pm.Options(blas="always"))


def prepare_separate(task: Task) -> Prepared:
    """Every stage by itself, none put into its readers, into arrays that are there."""
    return _into_arrays(task, pm.Options(fuse=False, inline=False))


def prepare_working_sets(task: Task) -> Prepared:
    """Blocks of products by PolyDL's ranking, into arrays that are there."""
    try:
        return _into_arrays(task, pm.Options(blocks="working-sets"))
    except pm.OptionError as error:
        raise MissingError("none of its stages has register blocks") from error


def prepare_model(task: Task) -> Prepared:
    """Schemes of contractions by the model of data movement, into arrays that are there."""
    try:
        return _into_arrays(task, pm.Options(blocks="model"))
    except pm.OptionError as error:
        raise MissingError("the model has no scheme of it") from error


def prepare_tuned(task: Task) -> Prepared:
    """What `tune` has found on this machine for such sizes, into arrays that are there."""
    if not is_tuned(task):
        raise MissingError("no search by `tune` has ended for it here")
    return _into_arrays(task)


def tuning_of(task: Task) -> tuple[Any, dict[str, Any]]:
    """The outputs of a task, and the further arguments with which `tune` and `compile` are asked for them."""
    description, _ = describe(task)
    sizes = {size: task.values["sizes"][size.name] for size in description.sizes}
    outputs = list(description.outputs) if len(description.outputs) > 1 else description.outputs[0]
    return outputs, {
        "name": identifier(task.problem),
        "inputs": description.inputs,
        "estimates": sizes,
    }


def is_tuned(task: Task) -> bool:
    """Whether a search for a task has come to its end on this machine, also where it kept the default."""
    outputs, asked = tuning_of(task)
    request = request_for(outputs, **asked)
    built = PASSES[0].apply(request, Job(request))
    return last_ending(read_tuned(tuned_key(definitions_of(built), request)), built, request) is not None


def prepare_one_by_one(task: Task) -> Prepared:
    """Steps of recurrences one after the other, over all of memory."""
    return _with(task, skip=("bands", "skews", "segments"))


def prepare_blas_always(task: Task) -> Prepared:
    """A library wherever a routine of it fits."""
    return _with(task, blas="always")


def prepare_blas_never(task: Task) -> Prepared:
    """No library."""
    return _with(task, blas="never")


def prepare_direct(task: Task) -> Prepared:
    """Filters summed up tap by tap."""
    return _with(task, fir="direct")


def prepare_fft(task: Task) -> Prepared:
    """Filters by Fourier transforms."""
    return _with(task, fir="fft")


def _with(task: Task, **options: Any) -> Prepared:
    values = {**task.values, "options": {**task.values.get("options", {}), **options}}
    return prepare(replace(task, values=values))


def compile_task(task: Task, given: pm.Options | None = None) -> tuple[pm.Compiled, str, Mapping[str, float]]:
    """The compiled pipeline, whether it came from the cache and in how long, and its run-time scalars.

    task.values: "options" for `polymat.Options`, "exact" to compile for these sizes alone.
    """
    description, scalars = describe(task)
    sizes = task.values.get("sizes", {})
    before = {entry.key for entry in entries()}
    begin = time.perf_counter()
    options = given or _options(task.values.get("options", {}))
    if task.values.get("exact"):
        exact = {size: sizes[size.name] for size in description.sizes}
        call = description.compile(identifier(task.problem), sizes=exact, options=options)
    else:
        call = description.compile(identifier(task.problem), estimates=sizes, options=options)
    seconds = time.perf_counter() - begin
    origin = "compiled" if {entry.key for entry in entries()} - before else "from the cache"
    return call, f"{origin} in {seconds:.2f} s", scalars


def predicted_seconds(call: pm.Compiled) -> float | None:
    """What a compiled pipeline says of a call from here at the sizes it was compiled for."""
    report = call.explain()
    return None if report is None else report.seconds_on(call.threads or pm.get_num_threads())


def identifier(problem: str) -> str:
    """The name of a problem where C needs one."""
    name = problem.replace("-", "_")
    return name if name.isidentifier() else f"k{name}"


def _options(wanted: Mapping[str, Any]) -> pm.Options:
    known = {item.name for item in fields(pm.Options)}
    unknown = sorted(set(wanted) - known)
    if unknown:
        raise MissingError(f"polymat has no option {', '.join(unknown)} yet")
    return pm.Options(**wanted)
