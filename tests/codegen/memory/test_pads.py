"""Memory that each thread has to itself: how far the blocks of two of them lie apart."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from polymat.codegen.c.ctree import Literal
from polymat.codegen.c.kernels import kernel
from polymat.codegen.memory.pads import Pad, ThreadScratch
from polymat.runtime.toolchain import compile_shared, find_compiler, flags_for

PAGE = 4096
EACH = """
size_t each(double bytes, int threads)
{
    size_t reserved = 0;
    (void)_pm_place(&reserved, bytes);
    _pm_place_apart(&reserved, threads);
    return reserved;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    path: Path = tmp_path_factory.mktemp("place") / "place.so"
    compiler = find_compiler()
    source = f"#include <stddef.h>\n#include <stdint.h>\n{kernel('place').text}{EACH}"
    compile_shared(source, path, compiler, flags_for(compiler))
    found = ctypes.CDLL(str(path))
    found.each.argtypes, found.each.restype = (ctypes.c_double, ctypes.c_int), ctypes.c_size_t
    return found


@pytest.mark.parametrize("size", [8, 64, 4000, PAGE, 5 * PAGE + 8])
def test_two_threads_have_no_page_in_common(library: ctypes.CDLL, size: int) -> None:
    """Wherever in a page the first one's begins; one thread alone takes no more than it needs."""
    each = library.each(float(size), 2)
    assert all((at + size - 1) // PAGE < (at + each) // PAGE for at in range(0, PAGE, 64))
    assert library.each(float(size), 1) == each - PAGE - 64 < size + 2 * PAGE
    assert library.each(0.0, 2) == 0


@pytest.mark.parametrize("shared", [False, True])
def test_threads_are_set_apart_that_have_pads_of_their_own(shared: bool) -> None:
    scratch = ThreadScratch(1, (Pad("row", "double", Literal("64.0")),), shared)
    assert any("_pm_place_apart" in str(each) for each in scratch.reserve()) != shared
