"""The vectors that code may use under the user's flags, which may have fewer than the processor."""

from __future__ import annotations

from polymat.machine.model import Machine
from polymat.machine.recognise import narrowed
from polymat.runtime.toolchain import find_compiler, flags_for, predefined

_FEATURES = {"__AVX512F__": "avx512f", "__AVX__": "avx", "__FMA__": "fma"}


def under_flags(machine: Machine, cflags: tuple[str, ...]) -> Machine:
    """The machine as far as `-march=x86-64`, say, leaves it.

    gcc takes vectors apart that the instructions do not have, element by element: register blocks of 512
    bits took five times as long to compile for x86-64 as those of 128, and a multiple of their time to run.
    """
    if not any(flag.startswith("-m") for flag in cflags):
        return machine
    compiler = find_compiler()
    macros = predefined(compiler, flags_for(compiler, cflags))
    if "__x86_64__" not in macros:  # others have one width; flags that fail are told of later
        return machine
    return narrowed(machine, {feature for macro, feature in _FEATURES.items() if macro in macros})
