"""C of the user's own in a program that does not compile: whether it is at fault."""

from __future__ import annotations

import shutil

from polymat.codegen.prelude import user_kernels
from polymat.errors import Location, OptionError, ToolchainError
from polymat.options import Options
from polymat.runtime.flags import compile_flags
from polymat.runtime.toolchain import compile_object, find_compiler
from polymat.runtime.workplaces import scratch_directory

_MOST_LINES = 12  # of what the compiler says


def check_microkernels(options: Options, at: Location | None) -> None:
    """Raise an `OptionError` with the compiler's words for a microkernel that does not compile by itself."""
    for kernel in options.microkernels:
        compiler, directory = find_compiler(), scratch_directory("polymat-microkernel-")
        text = "\n".join(["#include <stddef.h>", *user_kernels([kernel])])
        try:
            flags = compile_flags(compiler.kind, options.compiler_flags)
            compile_object(text, directory / "microkernel.o", compiler, flags)
        except ToolchainError as error:
            said = "\n".join(error.stderr.splitlines()[:_MOST_LINES])
            raise OptionError(
                f"the microkernel {kernel.name} does not compile:\n{said}",
                at=at,
                hint="Microkernel says how it is declared and what it may use",
            ) from error
        finally:
            shutil.rmtree(directory, ignore_errors=True)
