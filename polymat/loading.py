"""From a library to what the user calls: the last step of compiling, also where that was cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from polymat.errors import ToolchainError
from polymat.request import Request
from polymat.runtime.compiled import Compiled, Profiler, Reference
from polymat.runtime.cpu import features_of, header_for
from polymat.runtime.libraryfile import Built
from polymat.runtime.outlines import Outline
from polymat.runtime.threads import quiet_openmp

if TYPE_CHECKING:
    from polymat.codegen.program import Program
    from polymat.codegen.report import Report


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
    header = header_for(program.header, features_of(library.cpu))
    flags = (*program.flags, *request.options.compiler_flags)
    outline = Outline(program.signature, source, header, flags)
    return reopened(request, outline, library, report, reference, profiler)


def reopened(
    request: Request,
    outline: Outline,
    library: Built,
    report: Callable[[], Report] | None = None,
    reference: Reference | None = None,
    profiler: Profiler | None = None,
) -> Compiled[Any, Report]:
    """The callable of a program by its outline."""
    options = request.options
    quiet_openmp(library.image)
    try:
        return Compiled(
            library.path,
            outline.signature,
            source=outline.source,
            header=outline.header,
            report=report,
            reference=reference,
            profiler=profiler,
            threads=options.threads,
            cpu=library.cpu,
            image=library.image,
            flags=outline.flags,
        )
    except ToolchainError as error:
        if options.cflags and not error.hint:
            error.hint = f"cflags are {options.cflags!r}: leave out what keeps it from loading"
        raise
    finally:
        library.release()
