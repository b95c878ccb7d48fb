"""Calls with small sizes: what a whole call is where no team and no memory is ever needed for it.

Asking how much memory a call takes and how many threads it is worth costs as much as a product of 8 x 8.
Where all sizes are below a bound for which both answers are known, one comparison stands for the questions.
Temporaries and tables of offsets are arrays of the function then, on its stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from math import prod

from polymat.codegen.c.abi import OK
from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import (
    Block,
    Cast,
    CBinary,
    CCall,
    CExpr,
    Declare,
    Evaluate,
    Id,
    If,
    Literal,
    Return,
    Stmt,
)
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.memory.pads import Limits, Pad, longest
from polymat.codegen.memory.storage import LINE_BYTES, Buffer
from polymat.codegen.nestshares import Shares
from polymat.codegen.tilerun import TileCode
from polymat.dataclass import dataclass
from polymat.graph.pointwork import accumulated, operations
from polymat.graph.stage import Bounds, Stage
from polymat.lang.affine import Affine

BOUNDS = (
    2048,
    1024,
    256,
    64,
    32,
    16,
    8,
)  # powers of two, so that one comparison of all sizes joined bit by bit is enough


MOST_BYTES = 16384  # of temporaries on the stack
WIDEST_ELEMENT = 16  # of pads, at most: of a complex number


@dataclass(frozen=True, slots=True, eq=False)
class SmallCalls:
    """Calls in which some sizes are at least 0 and below `bound`: nests and tiles, on the calling thread.

    sizes: those that the answers depend on; none where they are always the same.  slots: the temporaries, by
    the memory that they share.
    """

    bound: int
    sizes: tuple[str, ...]
    runs: tuple[NestFunction | TileCode, ...]
    shares: Shares
    slots: tuple[tuple[Buffer, ...], ...] = ()

    def branch(self, names: Names) -> tuple[Stmt, ...]:
        """Run the nests and be done, if the sizes are small; without sizes they always are."""
        runs = [Block(each.alone()) if isinstance(each, TileCode) else self._run(each) for each in self.runs]
        memory = [statement for slot in self.slots for statement in self._memory(slot, names)]
        body = (*memory, *runs, Return(Literal(str(OK))))
        if not self.sizes:
            return body
        sizes: list[CExpr] = [Id(names.get("size", name)) for name in self.sizes]
        joined = reduce(partial(CBinary, "|"), sizes)
        return (If(CBinary("<", Cast("size_t", joined), Literal(str(self.bound))), body),)

    def _memory(self, slot: Sequence[Buffer], names: Names) -> list[Stmt]:
        """An array on the stack, and pointers to it by the names of those that share it."""
        ctype, array = slot[0].dtype.c, f"_pm_local_{slot[0].name}"
        count = max(1, int(most_elements(slot, limits_below(self.bound, self.sizes))))
        aligned = f"_Alignas({LINE_BYTES}) " if count * slot[0].dtype.size > LINE_BYTES else ""
        pointers = [Declare(f"{ctype} *const ", names.get("array", each.name), Id(array)) for each in slot]
        return [Declare(f"{aligned}{ctype}", f"{array}[{count}]"), *pointers]

    def _run(self, nest: NestFunction) -> Stmt:
        pads = [statement for pad in nest.pads for statement in self._pad(pad)]
        size = self.shares.size
        limits: list[CExpr] = []
        for part in nest.ranges:
            limits += [size(part.low), size(part.high + 1)]
        limits += [Literal("1")] if nest.pieces else []
        call = Evaluate(CCall(nest.function.name, (*nest.arguments, *limits)))
        return Block((*pads, call)) if pads else call

    def _pad(self, pad: Pad) -> list[Stmt]:
        """A pointer to an array on the stack, or to nothing where none is needed."""
        count, array = int(pad.most(limits_below(self.bound, self.sizes))), f"_pm_local{pad.array}"
        room = [Declare(pad.ctype, f"{array}[{count}]")] if count else []
        return [*room, Declare(f"{pad.ctype} *const ", pad.array, Id(array) if count else Literal("NULL"))]


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """A group as it asks at each call: for threads for some stages, for memory for the pads of its nests.

    stages: none where it never asks for threads.  speed: how fast they are.
    """

    stages: tuple[Stage, ...]
    speed: float
    nests: tuple[NestFunction, ...]

    def is_alone(self, shares: Shares, limits: Limits) -> bool:
        """Whether the calling thread is alone where the sizes lie between these limits."""
        return not self.stages or most_work(self.stages, limits) < shares.least_work(self.speed)

    def room(self, limits: Limits) -> float:
        """Bytes of pads, at most; infinite where that is not known before a call."""
        return WIDEST_ELEMENT * sum(pad.most(limits) for nest in self.nests for pad in nest.pads)


def small_bound(
    shares: Shares, groups: Sequence[Asking], slots: Sequence[Sequence[Buffer]], sizes: Sequence[str]
) -> int:
    """The largest bound of sizes for which these groups need no team and little memory; 0: none is known.

    slots: the temporaries.
    """
    for bound in BOUNDS:
        limits = limits_below(bound, sizes)
        room = sum(most_elements(slot, limits) * slot[0].dtype.size for slot in slots)
        room += sum(group.room(limits) for group in groups)
        if room <= MOST_BYTES and all(group.is_alone(shares, limits) for group in groups):
            return bound
    return 0


def deciding_sizes(
    groups: Sequence[Asking], slots: Sequence[Sequence[Buffer]], sizes: Sequence[str]
) -> tuple[str, ...]:
    """The sizes that answers depend on: those of extents of temporaries, and of loops that are shared out."""
    if any(nest.pads for group in groups for nest in group.nests):
        return tuple(sizes)
    boxes = (box for group in groups for stage in group.stages for _, box in _boxes(stage))
    extents = [high - low for box in boxes for low, high in box]
    extents += (extent for slot in slots for buffer in slot for extent in buffer.extents)
    used = {name for extent in extents for name in extent.names()}
    return tuple(name for name in sizes if name in used)


def limits_below(bound: int, sizes: Sequence[str]) -> Limits:
    """Sizes from 0 on and below a bound."""
    return {name: (Affine(), Affine((), bound - 1)) for name in sizes}


def most_elements(slot: Sequence[Buffer], limits: Limits) -> float:
    """The most elements that the largest array of those that share memory can have."""
    return max(prod(longest(extent, limits) for extent in buffer.extents) for buffer in slot)


def most_work(stages: Sequence[Stage], limits: Limits) -> float:
    """The most that `stage_work` can be where the sizes lie between these limits."""
    return sum(
        each * prod(longest(high - low + 1, limits) for low, high in box)
        for stage in stages
        for each, box in _boxes(stage)
    )


def _boxes(stage: Stage) -> Iterator[tuple[int, Bounds]]:
    """The boxes of points of a stage, each with the operations of one of them."""
    yield from ((operations(part.expr), stage.box) for part in stage.parts)
    yield from ((accumulated(item), item.box) for item in stage.accumulations)
