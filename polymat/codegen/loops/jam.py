"""Loops over run-time ranges, in which several points of one range run together (unroll and jam)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import Block, CBinary, Declare, For, Id, Literal, Stmt
from polymat.codegen.c.needs import Helper, HelperReduction, Need
from polymat.codegen.c.vectorloops import Pragma, Vectors
from polymat.codegen.loops.addends import added_together
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.loops.nestloops import JAM, LoopWriter, NestStatement, jammed
from polymat.codegen.loops.ranges import Range, at_copy, block_context, in_block, range_context, restricted
from polymat.codegen.loops.statements import Statements
from polymat.codegen.loops.toandfro import to_and_fro
from polymat.dataclass import dataclass
from polymat.graph.stage import Stage
from polymat.lang.reduction import Op
from polymat.plan.loops import LoopPlan
from polymat.poly.ast import Nest, Scheduled, generate
from polymat.poly.domain import Domain


@dataclass(frozen=True, slots=True, eq=False)
class RangedLoops:
    """The loops of one function: what they run, how, and over which ranges.  context: what sizes meet."""

    bodies: BodyWriter
    needs: set[Need]
    context: Domain
    plan: LoopPlan
    statements: Statements
    ranges: tuple[Range, ...]

    def body(self) -> tuple[Stmt, ...]:
        """Blocks of `plan.unroll` points of one range, then the points that are left."""
        context = range_context(self.context, self.ranges)
        items = [restricted(item, self.ranges, context) for item in self.statements.items]
        rest = self._loops(items, context)
        block = self._blocks() if self.plan.unroll > 1 and self.ranges else ()
        return (*block, *rest)

    def _blocks(self) -> tuple[Stmt, ...]:
        """A loop over blocks; the loops that follow it begin at `begin`.  Nothing where blocks have no use.

        What all points of a block have in common runs for all of them at once; the tips of a triangle follow,
        point by point.
        """
        first, copies = self._blocked(), self.plan.unroll
        others = [part for part in self.ranges if part is not first]
        context = block_context(range_context(self.context, others), first, copies)
        whole = [restricted(item, self.ranges, context, skip=first) for item in self.statements.items]
        along = whole[0].ranged[first.number]
        common = [_common([at_copy(item, first, context, copy) for copy in range(copies)]) for item in whole]
        if along is None or all(item.domain.is_empty() for item in common):
            return ()
        spread = [_spread(item, first, copies) for item in common]
        tips = [
            replace(item, domain=in_block(item, first, context, copies).domain.subtract(part.domain))
            for item, part in zip(whole, spread, strict=True)
        ]
        if not _in_order(tips, spread, self.statements, first.number):
            return ()
        tips = [item for item in tips if not item.domain.is_empty()]
        variable = self.bodies.index_name(f"{along}_block" if tips else along)
        body = self._loops(common, context, variable, copies)
        if not body:
            return ()
        if tips:
            singly = self._loops(tips, context, variable)
            body = (*body, *((Block(singly),) if self.statements.locals else singly))
        blocks = CBinary("/", CBinary("-", Id(first.end), Id(first.start)), Literal(str(copies)))
        rest = CBinary("+", Id(first.start), CBinary("*", blocks, Literal(str(copies))))
        condition = CBinary("<", Id(variable), Id(first.begin))
        loop = For(variable, Id(first.start), condition, Literal(str(copies)), body)
        if self.plan.turning:
            step = self.bodies.index_name(self.plan.turning)
            loop = to_and_fro(loop, CBinary("-", Id(first.begin), Literal(str(copies))), step)
        return (Declare("const ptrdiff_t", first.begin, rest), loop)

    @property
    def along(self) -> str | None:
        """The dimension that blocks run along; None without any."""
        return self.statements.items[0].ranged[self._blocked().number] if self.ranges else None

    def _blocked(self) -> Range:
        """The range that blocks run along."""
        return next((part for part in self.ranges if part.number == self.plan.block), self.ranges[0])

    def _loops(
        self, items: Sequence[NestStatement], context: Domain, jam: str = "", copies: int = 1
    ) -> tuple[Stmt, ...]:
        """The loops over all items; empty when `copies` > 1 points cannot run together.

        jam: C name of the first point of a block.
        """
        levels, bodies = self.statements.levels, self.bodies
        local = tuple(
            Declare(stage.dtype.c, name)
            for stage in self.statements.locals
            for name in bodies.local_names(stage, copies)
        )
        if not levels:
            return (*local, *(s for item in items for s in item.body([{}])))
        scheduled = [Scheduled(k, item.domain, item.schedule) for k, item in enumerate(items)]
        nests: Sequence[Nest] | None = generate(scheduled, context, levels)
        if nests is not None and copies > 1:
            nests = jammed(nests, [_position(item, self._blocked().number) for item in items])
        if nests is None:
            return ()

        def name(of: str) -> str:
            return jam if of == JAM else bodies.index_name(of)

        loops = LoopWriter(items, name, self._pragmas(copies), self.needs, copies).block(nests)
        return (*local, *(added_together(loops, self.plan.addends) if self.plan.addends > 1 else loops))

    def _pragmas(self, copies: int) -> Callable[[int, bool], tuple[Pragma, ...]]:
        levels, vector = self.statements.levels, self.plan.vector
        level = levels.index(vector) if vector in levels else -1

        def pragmas(depth: int, innermost: bool) -> tuple[Pragma, ...]:
            if not innermost or depth != level:
                return ()
            stages = self.statements.locals
            known = not any(stage.dtype.kind == "c" for stage in stages)  # OpenMP has none for their type
            if self.plan.kind not in ("map", "row", "reduce") or not known:
                return ()
            return (Vectors(tuple(self._reduction(stage, copies) for stage in stages)),)

        return pragmas

    def _reduction(self, stage: Stage, copies: int) -> tuple[str, tuple[str, ...]]:
        """How a stage's accumulators are combined, and their names."""
        op, names = stage.operation, tuple(self.bodies.local_names(stage, copies))
        if op in (Op.Sum, Op.Mul) or stage.dtype.kind != "f":
            return op.value, names
        helper = Helper(op.value, stage.dtype.suffix)
        self.needs.add(HelperReduction(helper))
        return helper.function, names


def _position(item: NestStatement, number: int) -> int:
    """Which of a statement's dimensions the blocks of that range run along; -1: none."""
    dim = item.ranged[number] if item.ranged else None
    return item.domain.dims.index(dim) if dim is not None else -1


def _common(items: Sequence[NestStatement]) -> NestStatement:
    """What all points of a block run; the argument where they all run the same."""
    domain = items[0].domain
    if all(domain.equals(item.domain) for item in items[1:]):
        return items[0]
    for item in items[1:]:
        domain = domain.intersect(item.domain)
    return replace(items[0], domain=domain)


def _spread(item: NestStatement, first: Range, copies: int) -> NestStatement:
    """The statement at all points of a block, from what it is at the first."""
    dim = item.ranged[first.number]
    domain = item.domain
    for copy in range(1, copies if dim is not None else 1):
        domain = domain.union(item.domain.moved(str(dim), copy))
    return replace(item, domain=domain)


def _in_order(
    tips: Sequence[NestStatement], common: Sequence[NestStatement], statements: Statements, number: int
) -> bool:
    """Whether what single points run beside the common part may come after it.

    Nothing that begins a result may come after what is added to it.  An accumulator does not outlive its
    loops, so that its result is computed by tips alone or not at all.
    """
    for k, tip in enumerate(tips):
        if tip.domain.is_empty():
            continue
        if tip.ranged[number] is None or not tip.result:
            return False
        late = tip.domain.onto(tip.result)
        others = common if statements.locals else common[k + 1 :]
        for other in others:
            if not other.result or not late.intersect(other.domain.onto(other.result)).is_empty():
                return False
    return True
