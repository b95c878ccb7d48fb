"""Memory that every thread has to itself while a group runs, in the workspace of the call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import TypeAlias

from polymat.codegen.c.ctree import Cast, CBinary, CCall, CExpr, CUnary, Declare, Evaluate, Id, Literal, Stmt
from polymat.dataclass import dataclass
from polymat.lang.affine import Affine, extremes

Limits: TypeAlias = Mapping[str, tuple[Affine, Affine]]
"""The least and the largest value of sizes, which are numbers."""


def longest(extent: Affine, limits: Limits) -> float:
    """The most that an extent can be, infinite where the limits do not tell."""
    highest = extremes(extent, limits)[1]
    return max(float(highest.const), 0.0) if highest.is_constant else float("inf")


def unknown(limits: Limits) -> float:
    """Memory of which nothing is known before a call."""
    del limits
    return inf


@dataclass(frozen=True, slots=True, eq=False)
class Pad:
    """A piece of it: the C name of the pointer, the type of its elements and how many bytes it takes.

    most: how many elements it has at most where the sizes lie between limits: 0 where it takes no memory at
    all, infinite where that is not known.  memory_of: the pad whose memory it has, by its pointer; empty for
    one with memory of its own.
    """

    array: str
    ctype: str
    bytes: CExpr
    most: Callable[[Limits], float] = unknown
    memory_of: str = ""

    @property
    def offset(self) -> str:
        """C name of where it begins in the memory of its thread."""
        return f"_pm_pad_{self.memory_of or self.array}"


@dataclass(frozen=True, slots=True, eq=False)
class ThreadScratch:
    """All pads of the group of that number; each begins on a cache line of its own.

    Those of two threads have no page in common.  shared: all threads have the same ones, which are those of
    the first.
    """

    number: int
    pads: tuple[Pad, ...]
    shared: bool = False

    @property
    def _bytes(self) -> str:
        return f"_pm_{'shared' if self.shared else 'thread'}_bytes_{self.number}"

    @property
    def _base(self) -> str:
        return f"_pm_{'shared' if self.shared else 'threads'}_at_{self.number}"

    @property
    def _own(self) -> list[Pad]:
        return [pad for pad in self.pads if not pad.memory_of]

    @property
    def apart(self) -> CExpr:
        """How many bytes lie between the pads of one thread and those of the next."""
        return Id(self._bytes)

    def reserve(self) -> list[Stmt]:
        """Reserve the pads of every thread; nothing when there are none."""
        if not self.pads:
            return []
        each = Cast("double", Id(self._bytes))
        total = each if self.shared else CBinary("*", each, Id("_pm_threads"))
        return [
            Declare("size_t", self._bytes, Literal("0")),
            *(Declare("const size_t", pad.offset, place(self._bytes, pad.bytes)) for pad in self._own),
            *([] if self.shared else [_apart(self._bytes)]),
            Declare("const size_t", self._base, place("_pm_bytes", total)),
        ]

    def pointer(self, pad: Pad, thread: CExpr) -> CExpr:
        """Where a pad of one thread begins."""
        offset = CBinary("*", Cast("size_t", thread), Id(self._bytes))
        base = CBinary("+", CBinary("+", Id("_pm_workspace"), Id(self._base)), offset)
        return Cast(f"{pad.ctype} *", Cast("void *", CBinary("+", base, Id(pad.offset))))

    def declare(self, thread: CExpr) -> list[Stmt]:
        """Pointers to the pads of one thread, by their names."""
        return [Declare(f"{pad.ctype} *const ", pad.array, self.pointer(pad, thread)) for pad in self.pads]


def _apart(counter: str) -> Stmt:
    """Leave room behind the blocks of each thread where there are several."""
    return Evaluate(CCall("_pm_place_apart", (CUnary("&", Id(counter)), Id("_pm_threads"))))


def place(counter: str, size: CExpr) -> CExpr:
    """Where a block of so many bytes begins, after those that a variable of the C code counts so far."""
    return CCall("_pm_place", (CUnary("&", Id(counter)), size))
