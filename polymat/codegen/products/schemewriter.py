"""Contractions in the loops of a scheme: any order and levels, with copies of operands at any of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from polymat.codegen.c.ctree import CBinary, CExpr, Id, If, Stmt
from polymat.codegen.loops.nestfunction import NestFunction, run_nest, with_pads
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.products.schemeblocks import BlockWriter
from polymat.codegen.products.schemecopies import CopyWriter
from polymat.codegen.products.schemeloops import SchemeLoops
from polymat.codegen.products.schemeplace import LoopPlace, Span
from polymat.errors import InternalError
from polymat.graph.stage import Stage
from polymat.plan.loops import LoopPlan
from polymat.plan.schemeplan import SchemePlan
from polymat.product.scheme import Atom, Pack, SchemeLoop, unrolled


def scheme_nest(
    writer: StageWriter, stage: Stage, plan: SchemePlan, along: Sequence[str | None], kind: str
) -> NestFunction:
    """The nest of a contraction over run-time ranges of dimensions of its result."""
    if kind == "part":
        raise InternalError(f"bug in polymat: a scheme for a part of the sums of {stage.name}")
    return SchemeWriter(writer, stage, plan, along).nest(kind)


class SchemeWriter:
    """Writes the nest of one contraction from its atoms.

    Loops over summed dimensions alone that stand right around a block run with its sums in registers.
    """

    def __init__(
        self, writer: StageWriter, stage: Stage, plan: SchemePlan, along: Sequence[str | None]
    ) -> None:
        self.writer, self.stage, self.plan, self.along = writer, stage, plan, tuple(along)
        self.found = plan.contraction
        box = dict(zip(stage.dims, stage.box, strict=True))
        self.ranges = [Range(k, *box[dim]) for k, dim in enumerate(along) if dim is not None]

    def nest(self, kind: str) -> NestFunction:
        """The function, with the memory for its copies, and the start values where they come first.

        Where loops over summed dimensions stand outside of blocks, sums are written in their first turns, and
        added in others; without any turns the result is what they would be added to.
        """
        atoms = [a for a in self.plan.atoms if not isinstance(a, SchemeLoop) or a.kind != "Par"]
        count = self._outer(atoms)
        outside = {atom.dim for atom in atoms[:count] if not isinstance(atom, Pack)}
        cut = [dim for dim in self.found.summed if dim in outside]
        held = self._has_starts() or self.plan.called is not None
        copies = CopyWriter(self.writer, self.stage, self.found)
        loops = SchemeLoops(copies, self.writer.needs)
        place = LoopPlace({dim: self._whole(dim) for dim in self.found.bounds})
        begins = {} if held else {dim: place.spans[dim].begin for dim in cut}
        blocks = BlockWriter(self.writer, self.stage, self.plan, loops, adds=held, begins=begins)
        body = loops.around(atoms, count, place, blocks.block)
        nothing = None if held else _any_empty([place.spans[dim] for dim in cut])
        starts = self._starts() if held or nothing is not None else None
        first: tuple[Stmt, ...] = () if starts is None else (run_nest(starts),)
        first = first if nothing is None else (If(nothing, first),)
        nest = self.writer.as_nest((self.stage,), self.plan, (*first, *body), kind, self.ranges)
        is_shared = self.plan.parallel is not None and self.along[:1] == (self.plan.parallel,)
        block = unrolled(atoms).get(self.plan.parallel or "", 1) if is_shared else 1
        helpers = () if starts is None else starts.functions
        return with_pads(replace(nest, block=block, helpers=helpers), tuple(copies.pads))

    def _outer(self, atoms: Sequence[Atom]) -> int:
        """How many atoms are outside of a block and of the loops whose sums it keeps in registers."""
        count = len(atoms)
        while count and self._is_within(atoms[count - 1]):
            count -= 1
        return count

    def _is_within(self, atom: Atom) -> bool:
        return not isinstance(atom, Pack) and (atom.in_block or atom.dim in self.found.summed)

    def _whole(self, dim: str) -> Span:
        """All points of a dimension that the nest covers."""
        size, extent = self.writer.bodies.size, self.found.extent(dim)
        if dim in self.along:
            part = next(r for r in self.ranges if r.number == self.along.index(dim))
            return Span(Id(part.begin), Id(part.end), None, size(extent))
        low, high = self.found.bounds[dim]
        return Span(size(low), size(high + 1), extent.const if extent.is_constant else None, size(extent))

    def _has_starts(self) -> bool:
        return self.found.starts or self.found.others or self.found.start is not None

    def _starts(self) -> NestFunction:
        """Loops that compute what the sums are added to."""
        dims = self.stage.dims
        plan = LoopPlan(self.plan.group, "map", dims, None, dims[-1], "start values")
        return self.writer.ranged(self.stage, plan, self.along, "initial")


def _any_empty(spans: Sequence[Span]) -> CExpr | None:
    """Whether one of some dimensions has no points, in C; None where all are known to have some."""
    open_spans = [span for span in spans if not span.length]
    empty = [CBinary("<=", span.end, span.begin) for span in open_spans]
    return reduce(lambda one, other: CBinary("||", one, other), empty) if empty else None
