"""`compile`: a program that was compiled before is loaded as it is; others go through the passes.

Which program a request comes to follows from the request, from what its libraries answer and from the
compiler itself, so that an outline of it can be kept (`polymat.runtime.outlines`).  Then neither the passes
run nor are the modules imported that they are made of, unless somebody asks what was decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy.typing as npt

from polymat.errors import ToolchainError
from polymat.interpreted import Interpreted
from polymat.lang.condition import Condition
from polymat.lang.contents import contents
from polymat.lang.expr import Parameter
from polymat.lang.function import Function, Input
from polymat.loading import reopened
from polymat.options import DEFAULTS, Options
from polymat.quickimport import imported_quickly
from polymat.request import Request
from polymat.requesting import measured, request_for
from polymat.runtime.compiled import Compiled
from polymat.runtime.libraryfile import kept_library
from polymat.runtime.logs import anybody_listens, configure_logging
from polymat.runtime.outlines import (
    NotedLibraries,
    Outline,
    keep_outline,
    kept_outline,
    outline_key,
    records_for,
)
from polymat.runtime.settings import settings
from polymat.runtime.tunedstore import tuned_state

if TYPE_CHECKING:
    from polymat.codegen.profile import Profile
    from polymat.codegen.report import Report
    from polymat.driver import Telling
    from polymat.graph.pipeline import Pipeline


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
    inputs: the positional arguments in order: all input arrays, parameters where wanted, others that nothing
    reads; default all arrays in order of first use.  estimates: typical sizes, which guide and never limit.
    sizes: exact sizes; any other raises `ArgumentError` at the call.  constraints: conditions on sizes that
    every call must meet, `Condition(N, ">=", 16)`, and that bounds are checked under.
    trim: return lo..hi of each output dimension alone, not 0..hi.
    fortran: inputs that lie column by column (Fortran order) and are read as they lie; others, and these in
    another order, are copied at each call.  strided: inputs whose rows may lie apart, as those of
    `image[:, 8:-8]` do, and are read as they lie; others are copied at each call where they are no
    C-contiguous arrays.  options: what may be done, and how, see `Options`.
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
    return compiled(measured(request))


def compiled(request: Request) -> Compiled[Any, Report]:
    """The callable of a request."""
    key, functions = _asked(request)
    found: Compiled[Any, Report] | None = None if key is None else _kept(key, request)
    if found is not None:
        for function in functions:
            function.keep_definition()
        return found
    noted, searched = NotedLibraries(request.libraries), tuned_state()
    found = _driver().compiled(replace(request, libraries=noted))
    if key is not None and tuned_state() == searched:
        keep_outline(key, _outline(found, request, noted), Path(found.path))
    return found


def _outline(found: Compiled[Any, Report], request: Request, noted: NotedLibraries) -> Outline:
    """What is kept of a program that was just decided."""
    from polymat.runtime.tunedkey import definitions_of  # imported where something is kept

    meaning = found._reference
    assert isinstance(meaning, Interpreted)
    definitions = definitions_of(meaning.built())
    return Outline(
        found.signature,
        found.source,
        found.header,
        found._flags or (),
        noted.answers,
        definitions,
        records_for(definitions, request),
        None if meaning.request is None else meaning.request.found,
    )


def _driver() -> Any:
    """The module that compiles, imported where nothing is kept, or somebody asks what was decided."""
    return imported_quickly("polymat.driver")


def _asked(request: Request) -> tuple[str | None, list[Function]]:
    """The key of a request, if its program may be kept, and the functions in it.

    It may not where somebody wants to see or hear how it is compiled.
    """
    if settings().verify or anybody_listens():
        return None, []
    parts = {each.name: getattr(request, each.name) for each in fields(request) if each.name != "libraries"}
    try:
        written, functions = contents(parts)
    except Exception:  # what a definition consists of is anything
        return None, []
    return outline_key(written), functions


def _kept(key: str, request: Request) -> Compiled[Any, Report] | None:
    """The program that is kept, where libraries are as they were and its own is there."""
    try:
        outline = kept_outline(key)
        if outline is None or not outline.holds(request):
            return None
        library = kept_library(outline.source, request.options.target, outline.flags)
        if library is None:
            return None
        tuned = outline.found
        asked = request if tuned is None else replace(request, found=tuned, estimates=tuned.sizes)
        later = _Later(asked)
        reference = Interpreted(later.built, asked)
        return reopened(asked, outline, library, later.report, reference, later.profile)
    except ToolchainError:  # it is said, or mended, where it is compiled
        return None


class _Later:
    """What a program tells of itself, decided again when it is first asked for."""

    def __init__(self, request: Request) -> None:
        self._request = request

    @cached_property
    def _telling(self) -> Telling:
        found: Telling = _driver().telling(self._request)
        return found

    def built(self) -> Pipeline:
        """The outputs as stages."""
        return self._telling.built

    def report(self) -> Report:
        """The report of the compilation."""
        return self._telling.report()

    def profile(self, *asked: Any) -> Profile:
        """The time of a call, group by group."""
        return self._telling.profiler(*asked)
