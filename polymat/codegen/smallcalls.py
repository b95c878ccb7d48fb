"""Calls with small sizes: what a whole call is where no team and no memory is ever needed for it.

Asking how much memory a call takes and how many threads it is worth costs as much as a product of 8 x 8.
Where all sizes are below a bound for which both answers are known, one comparison stands for the questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import prod

from polymat.codegen.abi import OK
from polymat.codegen.cnames import Names
from polymat.codegen.ctree import (
    Binary,
    Block,
    Call,
    Cast,
    CExpr,
    Declare,
    Evaluate,
    Id,
    If,
    Literal,
    Return,
    Stmt,
)
from polymat.codegen.nestfunction import Nest
from polymat.codegen.scratch import Limits, most
from polymat.codegen.shares import Shares
from polymat.codegen.tilerun import TileCode
from polymat.codegen.work import operations
from polymat.graph.stage import Stage
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


@dataclass(frozen=True, slots=True, eq=False)
class SmallCalls:
    """Calls in which all sizes are at least 0 and below `bound`: nests and tiles, on the calling thread."""

    bound: int
    sizes: tuple[str, ...]
    runs: tuple[Nest | TileCode, ...]
    shares: Shares

    def branch(self, names: Names) -> tuple[Stmt, ...]:
        """Run the nests and be done, if the sizes are small; without sizes they always are."""
        runs = [Block(each.alone()) if isinstance(each, TileCode) else self._run(each) for each in self.runs]
        body = (*runs, Return(Literal(str(OK))))
        if not self.sizes:
            return body
        sizes: list[CExpr] = [Id(names.get("size", name)) for name in self.sizes]
        joined = reduce(partial(Binary, "|"), sizes)
        return (If(Binary("<", Cast("size_t", joined), Literal(str(self.bound))), body),)

    def _run(self, nest: Nest) -> Stmt:
        pads = [Declare(f"{pad.ctype} *const ", pad.array, Literal("NULL")) for pad in nest.pads]
        size = self.shares.size
        limits: list[CExpr] = []
        for part in nest.ranges:
            limits += [size(part.low), size(part.high + 1)]
        call = Evaluate(Call(nest.function.name, (*nest.arguments, *limits)))
        return Block((*pads, call)) if pads else call


def small_bound(
    shares: Shares, groups: Sequence[tuple[Sequence[Stage], float, Sequence[Nest]]], sizes: Sequence[str]
) -> int:
    """The largest bound of sizes for which these groups need no memory and no team; 0: none is known.

    groups: the stages of each, how fast they are, and their nests.
    """
    for bound in BOUNDS:
        limits = {name: (Affine(), Affine((), bound - 1)) for name in sizes}
        if all(
            most_work(stages, limits) < shares.least_work(speed)
            and all(pad.is_spared(limits) for nest in nests for pad in nest.pads)
            for stages, speed, nests in groups
        ):
            return bound
    return 0


def most_work(stages: Sequence[Stage], limits: Limits) -> float:
    """What `stage_work` is at most where the sizes lie between these limits."""
    total = 0.0
    for stage in stages:
        for expr, box in (
            *((part.expr, stage.box) for part in stage.parts),
            *((part.expr, part.box) for part in stage.accumulations),
        ):
            total += operations(expr) * prod(most(high - low + 1, limits) for low, high in box)
    return total
