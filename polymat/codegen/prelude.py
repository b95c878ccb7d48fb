"""The C text at the head of every generated library: only what the library needs, in a fixed order.

`prelude(needs)` takes names: "workspace", "kept", "team", the headers "math", "string", "complex", those of
`polymat.codegen.c.arithmetic`: "floordiv_i32", say, defines `_pm_floordiv_i32`, and "reduction_min_f64"
declares the OpenMP reduction `_pm_min_f64`.  Those of `polymat.codegen.routines.librarylinks` call routines
of BLAS and FFT libraries: "cblas_dgemm" defines `_pm_cblas_dgemm`.  "gemm_f64_64x8x3" asks for products of
`polymat.codegen.products.packedgemm`, with these register blocks; "filter_f64_8x16x4" for the filters of
`polymat.codegen.signals.filterblocks`, "recursive_f64_8_0x1x2_1x2" for those of
`polymat.codegen.signals.recursiveblocks`; "rows_f32x16" for the vectors of `polymat.codegen.c.rows`,
"lines_f32x16" for their stores of `polymat.codegen.c.lines`; "argument" reads arguments; "words" are
several small integers each; "products" are complex ones by clang; "processor" asks what the processor has.
"""

from __future__ import annotations

from polymat.codegen.c.apart import Apart, Files, apart
from polymat.codegen.c.arithmetic import arithmetic, arithmetic_names
from polymat.codegen.c.kernels import kernel_headers, kernel_text
from polymat.codegen.c.lines import lines_text
from polymat.codegen.c.rows import rows_text
from polymat.codegen.functions.elementary import function_names, functions_text
from polymat.codegen.loops.extremes import extremes_text
from polymat.codegen.loops.lanesums import lane_sums_text
from polymat.codegen.loops.singlesums import single_sums_text
from polymat.codegen.products.blockcost import prices_text
from polymat.codegen.products.blockshape import joined
from polymat.codegen.products.packedgemm import gemm_text
from polymat.codegen.routines.librarylinks import library_needs, library_text
from polymat.codegen.signals.filterblocks import filter_text
from polymat.codegen.signals.recursiveblocks import recursive_text
from polymat.errors import InternalError

_HEADERS = ("complex", "math", "string")

# Of a need the header that it is, in the order of the text.
_PIECES = {
    "argument": "argument",
    "products": "complexproducts",
    "memory": "memory",
    "workspace": "workspace",
    "kept": "kept",
    "processor": "processor",
    "place": "place",
    "words": "words",
    "team": "team",
    "curve": "curve",
}


# Vectors of elements of rows: what begins the names of needs, and their texts, each after those that it uses.
_ROWS = (
    ("rows_", rows_text),
    ("lines_", lines_text),
    ("sums_", lane_sums_text),
    ("total_", single_sums_text),
    ("extremes_", extremes_text),
)


def prelude(needs: frozenset[str], *, whole: bool = True) -> str:
    """The includes and definitions that the named needs ask for, and nothing else.

    whole: with what may be compiled apart; else that is what `parts` gives.
    """
    blocks = {need for need in needs if need.startswith("gemm_")}
    rows = [(make, need) for prefix, make in _ROWS for need in sorted(needs) if need.startswith(prefix)]
    filters = sorted(need for need in needs if need.startswith("filter_"))
    recursive = sorted(need for need in needs if need.startswith("recursive_"))
    several = {*blocks, *filters, *recursive, *(need for _, need in rows)}
    known = (
        {*_HEADERS, *_PIECES, "blocks", *several} | arithmetic_names() | function_names() | library_needs()
    )
    unknown = sorted(needs - known)
    if unknown:
        raise InternalError(f"bug in polymat: the C prelude has no {', '.join(unknown)}")
    takes = {"memory"} if needs & {"workspace", "kept"} else set()
    wanted = [name for name in _PIECES if name in needs | takes]
    functions = [*arithmetic(needs), *functions_text(needs)]
    libraries = library_text(needs)
    headers = {"stddef.h", "stdint.h"}
    headers.update(f"{name}.h" for name in _HEADERS if name in needs)
    headers.update(kernel_headers(*(_PIECES[name] for name in wanted)))
    if "blocks" in needs:
        headers.add("math.h")
    if functions:
        headers.add("math.h")
    if libraries:
        headers.update(kernel_headers("routines"))
    includes = "".join(f"#include <{header}>\n" for header in sorted(headers))
    if "team" in wanted or libraries:
        includes = "#define _GNU_SOURCE\n" + includes
    texts = [kernel_text(_PIECES[name]) for name in wanted]
    texts += [prices_text()] if "blocks" in needs else []
    texts += [*functions, *(make(need) for make, need in rows)]
    texts += [text.whole if whole else text.program for text in _products(needs)]
    texts += map(filter_text, filters)
    texts += map(recursive_text, recursive)
    text = "\n".join([includes, *texts, *filter(None, [libraries])])
    return text if whole else apart(text)


def stateless(needs: frozenset[str]) -> frozenset[str]:
    """The needs of which every file of a program may have what they ask for."""
    state = {"team", "workspace", "kept"} | library_needs()
    return frozenset(need for need in needs if need not in state and not need.startswith("gemm_"))


def parts(needs: frozenset[str]) -> Files:
    """C files of the parts that may be compiled apart, the same for all programs with the same needs."""
    return sum((text.files for text in _products(needs)), Files(()))


def _products(needs: frozenset[str]) -> list[Apart]:
    return [gemm_text(need) for need in joined(need for need in needs if need.startswith("gemm_"))]
