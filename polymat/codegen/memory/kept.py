"""Arrays that are the same in every call: computed by the first one, in memory that the library keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from polymat.codegen.c.abi import OUT_OF_MEMORY
from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import (
    Assign,
    Cast,
    CBinary,
    CCall,
    CUnary,
    Declare,
    Evaluate,
    Field,
    Id,
    If,
    Literal,
    Return,
    Stmt,
)
from polymat.codegen.c.needs import Need, Piece
from polymat.codegen.memory.storage import LINE_BYTES, Buffer

_KEPT, _OWN, _FIRST = Id("_pm_kept"), Id("_pm_own"), Id("_pm_is_first")
_ARRAYS = Id("_pm_kept_here")  # of this function alone: other sections in the file keep arrays of their own
FREE = Evaluate(CCall("free", (_OWN,)))  # what this call computed and another one had computed before


def kept_buffers(storage: Mapping[str, Buffer]) -> list[Buffer]:
    """The arrays that are kept; their extents are numbers."""
    return [buffer for buffer in storage.values() if buffer.place == "kept"]


def pointers(arrays: Sequence[Buffer], names: Names, needs: set[Need]) -> list[Stmt]:
    """Pointers to them: into what an earlier call has computed, or into memory of this call's own."""
    needs.add(Piece.KEPT)
    declared: list[Stmt] = []
    at = 0
    for buffer in arrays:
        place = Cast("void *", CBinary("+", _KEPT, Literal(str(at))))
        pointer = f"{buffer.dtype.c} *"
        declared.append(Declare(f"{pointer}const ", names.get("array", buffer.name), Cast(pointer, place)))
        size = prod(extent.const for extent in buffer.extents) * buffer.dtype.size
        # Arrays begin on cache lines, with one between them.
        at += (-(-size // LINE_BYTES) + 1) * LINE_BYTES
    there = CCall("atomic_load", (CUnary("&", Field(_ARRAYS, "memory")),))
    nothing = CBinary("==", _KEPT, Id("NULL"))
    fresh = (Assign(_OWN, "=", CCall("_pm_memory", (Literal(str(at)),))), Assign(_KEPT, "=", _OWN))
    return [
        Declare("static struct _pm_kept_arrays", f"{_ARRAYS.name}[1]"),
        Declare("char *", "_pm_kept", there),
        Declare("char *", "_pm_own", Id("NULL")),
        Declare("const int", "_pm_is_first", nothing),
        If(_FIRST, fresh),
        If(nothing, (Return(Literal(str(OUT_OF_MEMORY))),)),
        *declared,
    ]


def for_the_first(statements: Sequence[Stmt]) -> Stmt:
    """The statements that the first call alone runs, which then leaves its arrays to all others."""
    return If(_FIRST, (*statements, Assign(_OWN, "=", CCall("_pm_kept_give", (_ARRAYS, _OWN)))))
