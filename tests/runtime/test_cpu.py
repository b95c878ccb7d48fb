"""What a library needs of a processor, by the compiler's words and by Linux's."""

from __future__ import annotations

import platform

import pytest

from polymat.machine.cpuinfo import first_processor
from polymat.runtime.cpu import features_of, target_cpu
from polymat.runtime.toolchain import find_compiler, predefined

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the words are those of x86-64")


def test_words_of_compilers_are_linuxs() -> None:
    macros = [
        "__AVX512VBMI2__",
        "__AVX512VBMI__",
        "__BMI__",
        "__LZCNT__",
        "__PCLMUL__",
        "__SSE3__",
        "__linux__",
    ]
    found = features_of(target_cpu("icelake-server", macros))
    assert found == ("abm", "avx512_vbmi2", "avx512vbmi", "bmi1", "pclmulqdq", "pni")


def test_this_processor_has_what_the_compiler_uses_here() -> None:
    macros = predefined(find_compiler(), ("-march=native",))
    needed = features_of(target_cpu("native", macros))
    assert "sse2" in needed
    assert set(needed) <= set(first_processor()["flags"].split())
