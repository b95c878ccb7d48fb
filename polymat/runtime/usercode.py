"""C of the user's own in a program that does not compile: whether it is at fault."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from polymat.codegen.prelude import user_kernels
from polymat.errors import Location, OptionError, ToolchainError
from polymat.options import Options
from polymat.runtime.flags import compile_flags
from polymat.runtime.toolchain import compile_object, find_compiler
from polymat.runtime.workplaces import scratch_directory
from polymat.userkernel import Microkernel

_MOST_LINES = 12  # of what the compiler says


def check_microkernels(options: Options, at: Location | None) -> None:
    """Raise an `OptionError` with the compiler's words for microkernels that do not compile by themselves.

    First each alone, and then all in one text, where their tables and functions may have the same names.
    """
    for kernel in options.microkernels:
        _check((kernel,), options, at, f"the microkernel {kernel.name} does not compile")
    if len(options.microkernels) > 1:
        names = " and ".join(kernel.name for kernel in options.microkernels)
        _check(options.microkernels, options, at, f"the microkernels {names} do not compile in one text")


def _check(kernels: Sequence[Microkernel], options: Options, at: Location | None, problem: str) -> None:
    compiler, directory = find_compiler(), scratch_directory("polymat-microkernel-")
    text = "\n".join(["#include <stddef.h>", *user_kernels(kernels)])
    try:
        flags = compile_flags(compiler.kind, options.compiler_flags)
        compile_object(text, directory / "microkernel.o", compiler, flags)
    except ToolchainError as error:
        said = "\n".join(error.stderr.splitlines()[:_MOST_LINES])
        hint = "Microkernel says how it is declared and what it may use"
        raise OptionError(f"{problem}:\n{said}", at=at, hint=hint) from error
    finally:
        shutil.rmtree(directory, ignore_errors=True)
