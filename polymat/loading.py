"""From a library to what the user calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polymat.codegen.header import header_for
from polymat.codegen.program import Program
from polymat.codegen.report import Report
from polymat.errors import ToolchainError
from polymat.request import Request
from polymat.runtime.compiled import Compiled, Profiler, Reference
from polymat.runtime.cpu import features_of
from polymat.runtime.libraryfile import Built
from polymat.runtime.threads import quiet_openmp


def loaded(
    request: Request,
    program: Program,
    source: str,
    library: Built,
    report: Callable[[], Report] | None = None,
    reference: Reference | None = None,
    profiler: Profiler | None = None,
) -> Compiled[Any, Report]:
    """The callable of a program that was compiled."""
    options = request.options
    quiet_openmp(library.image)
    try:
        return Compiled(
            library.path,
            program.signature,
            source=source,
            header=header_for(program.header, features_of(library.cpu)),
            report=report,
            reference=reference,
            profiler=profiler,
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
