"""The C text at the head of every generated library: only what the library needs, in a fixed order.

`prelude(needs)` takes values, see `polymat.codegen.c.needs`, each of which has a writer here: functions of
elements `polymat.codegen.c.arithmetic` and `polymat.codegen.functions.elementary`, routines of BLAS and FFT
libraries `polymat.codegen.routines.librarylinks`, register blocks `polymat.codegen.products.packedgemm`,
filters `filterblocks` and `recursiveblocks` in `polymat.codegen.signals`, vectors of rows the table `_ROWS`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from polymat.codegen.c.apart import SHARED, Apart, Files, apart
from polymat.codegen.c.arithmetic import arithmetic, arithmetic_headers, arithmetic_needs
from polymat.codegen.c.kernels import kernel_headers, kernel_text
from polymat.codegen.c.needs import Need, Piece, UserKernel
from polymat.codegen.c.rows import (
    RowNeed,
    RowPart,
    RowTypes,
    apart_text,
    laned_text,
    rows_text,
    segments_text,
)
from polymat.codegen.functions.elementary import function_needs, functions_text
from polymat.codegen.loops.extremes import extremes_text
from polymat.codegen.loops.lanesums import lane_sums_text
from polymat.codegen.loops.singlesums import backwards_text, single_sums_text
from polymat.codegen.loops.streamedrows import lines_text
from polymat.codegen.products.blockcost import prices_text
from polymat.codegen.products.blockshape import Shape, joined
from polymat.codegen.products.cutstext import grid_macro
from polymat.codegen.products.packedgemm import gemm_text
from polymat.codegen.routines.cblas import CblasRoutine
from polymat.codegen.routines.fftw import FftNeed
from polymat.codegen.routines.librarylinks import library_text
from polymat.codegen.signals.filterblocks import FilterShape, filter_text
from polymat.codegen.signals.recursiveblocks import RecursiveShape, recursive_text
from polymat.errors import InternalError
from polymat.product.shares import COPIED, GAIN, LEAST_GRID
from polymat.userkernel import Microkernel

_N = TypeVar("_N", bound=Need)

_HEADERS = (Piece.COMPLEX, Piece.MATH, Piece.STRING)

# Of a piece the header that it is, in the order of the text.
_PIECES = {
    Piece.ARGUMENT: "argument",
    Piece.PRODUCTS: "complexproducts",
    Piece.MEMORY: "memory",
    Piece.WORKSPACE: "workspace",
    Piece.KEPT: "kept",
    Piece.PROCESSOR: "processor",
    Piece.PLACE: "place",
    Piece.OUTSIDE: "outside",
    Piece.SHARES: "shares",
    Piece.GRID: "grid",
    Piece.PROGRESS: "progress",
    Piece.TRAILING: "trailing",
    Piece.HALF: "half",
    Piece.GATHERED: "gathered",
    Piece.NEIGHBOURS: "neighbours",
    Piece.PAST: "past",
    Piece.EVEN: "even",
    Piece.WORDS: "words",
    Piece.FEW_ENTRIES: "fewentries",
    Piece.BYTE_TABLE: "bytetable",
    Piece.WIDE_TABLE: "widetable",
    Piece.TEAM: "team",
    Piece.CURVE: "curve",
    Piece.CLOCK: "groupclock",
}

# Of a piece the header of its larger half, which may be compiled apart: it is the same for all programs.
_APART = {
    Piece.WORKSPACE: "workspaceapart",
    Piece.PROCESSOR: "processorapart",
    Piece.TEAM: "teamapart",
}

_ROWS: dict[RowPart, Callable[[RowTypes], str]] = {
    RowPart.VECTORS: rows_text,
    RowPart.APART: apart_text,
    RowPart.LINES: lines_text,
    RowPart.SUMS: lane_sums_text,
    RowPart.TOTAL: single_sums_text,
    RowPart.BACKWARDS: backwards_text,
    RowPart.EXTREMES: extremes_text,
    RowPart.SEGMENTS: segments_text,
    RowPart.LANED: laned_text,
}

# What has a writer for all of its values; of functions there are some for each type.
_WRITTEN = (Piece, RowNeed, Shape, FilterShape, RecursiveShape, CblasRoutine, FftNeed, UserKernel)
_STATE = frozenset((Piece.TEAM, Piece.WORKSPACE, Piece.KEPT, Piece.CLOCK, Piece.OUTSIDE))


def prelude(needs: frozenset[Need], *, whole: bool = True) -> str:
    """The includes and definitions that the needs ask for, and nothing else.

    whole: with what may be compiled apart; else that is what `parts` gives.
    """
    _check(needs)
    takes = {Piece.MEMORY} if Piece.KEPT in needs or (whole and Piece.WORKSPACE in needs) else set()
    wanted = [header for piece, header in _PIECES.items() if piece in needs | takes]
    beside = [header for piece, header in _APART.items() if whole and piece in needs]
    elementary = functions_text(needs)
    libraries = library_text(needs)
    headers = {"stddef.h", "stdint.h"}
    headers.update(f"{piece}.h" for piece in _HEADERS if piece in needs)
    headers.update(kernel_headers(*wanted, *beside), arithmetic_headers(needs))
    if elementary or Piece.BLOCKS in needs:
        headers.add("math.h")
    if libraries:
        headers.update(kernel_headers("routines"))
    texts = [SHARED] if whole and needs & _APART.keys() else []
    texts += [kernel_text(header, macros=_taken(header)) for header in (*wanted, *beside)]
    texts += [prices_text()] if Piece.BLOCKS in needs else []
    texts += [*arithmetic(needs), *elementary, *_row_texts(needs)]
    texts += [text.whole if whole else text.program for text in _products(needs)]
    texts += map(filter_text, _of(FilterShape, needs))
    texts += map(recursive_text, _of(RecursiveShape, needs))
    texts += _declared(_kernels(needs))
    includes = _includes(headers, gnu="sched.h" in headers or bool(libraries))
    text = "\n".join([includes, *texts, *filter(None, [libraries])])
    return text if whole else apart(text)


def _taken(header: str) -> dict[str, object]:
    """The macros that the header of a piece takes."""
    if header != "grid":
        return {}
    return {"COPIED": COPIED, "GAIN": GAIN, "LEAST_GRID": LEAST_GRID, "CUT_WITHIN": grid_macro()}


def _includes(headers: Collection[str], *, gnu: bool) -> str:
    """The includes of a text; gnu: with what the C library has beside the standards."""
    includes = "".join(f"#include <{header}>\n" for header in sorted(headers))
    return "#define _GNU_SOURCE\n" + includes if gnu else includes


def stateless(needs: frozenset[Need]) -> frozenset[Need]:
    """The needs of which every file of a program may have what they ask for."""
    alone = (Shape, CblasRoutine, FftNeed, UserKernel)
    return frozenset(need for need in needs - _STATE if not isinstance(need, alone))


def user_text(needs: frozenset[Need]) -> str:
    """The text behind all of a program: C of the user's, whose macros change nothing before it."""
    return "\n".join(_texts(_kernels(needs)))


def parts(needs: frozenset[Need]) -> Files:
    """C files of the parts that may be compiled apart, the same for all programs with the same needs."""
    beside = [header for piece, header in _APART.items() if piece in needs]
    files = sum((text.files for text in _products(needs)), Files(()))
    if not beside:
        return files
    wanted = ["memory", *beside] if Piece.WORKSPACE in needs else beside
    texts = [_includes(kernel_headers(*wanted), gnu=True), *map(kernel_text, wanted)]
    return files + Files((), (apart("\n".join(texts)),))


def _check(needs: frozenset[Need]) -> None:
    """Raise an `InternalError` that names needs which nothing is written for."""
    functions = arithmetic_needs() | function_needs()
    if unknown := {need for need in needs if not isinstance(need, _WRITTEN)} - functions:
        raise InternalError(f"bug in polymat: the C prelude has no {', '.join(sorted(map(str, unknown)))}")


def _of(kind: type[_N], needs: frozenset[Need]) -> list[_N]:
    """Those of a kind, in the order of the text."""
    return sorted((need for need in needs if isinstance(need, kind)), key=str)


def _row_texts(needs: frozenset[Need]) -> list[str]:
    found = _of(RowNeed, needs)
    return [write(need.types) for part, write in _ROWS.items() for need in found if need.part is part]


def user_kernels(kernels: Sequence[Microkernel]) -> list[str]:
    """Microkernels of the user's, each declared before the texts that define them, which stand there once."""
    return [*_declared(kernels), *_texts(kernels)]


def _kernels(needs: frozenset[Need]) -> list[Microkernel]:
    return [need.kernel for need in _of(UserKernel, needs)]


def _declared(kernels: Sequence[Microkernel]) -> list[str]:
    return [kernel_text("microkernel", each.suffix, KERNEL=each.name) for each in kernels]


def _texts(kernels: Sequence[Microkernel]) -> list[str]:
    return [*dict.fromkeys(f"{each.source}\n" for each in kernels)]


def _products(needs: frozenset[Need]) -> list[Apart]:
    return [gemm_text(shape) for shape in joined(_of(Shape, needs))]
