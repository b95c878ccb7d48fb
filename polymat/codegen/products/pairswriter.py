"""Products of complex matrices by the register blocks of real ones (`polymat.product.pairs`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, reduce

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CUnary,
    Declare,
    For,
    Id,
    If,
    Literal,
    Stmt,
)
from polymat.codegen.c.needs import MIN_I64
from polymat.codegen.loops.bodies import BodyWriter
from polymat.codegen.loops.nestfunction import NestFunction, run_nest
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.memory.pads import Pad
from polymat.codegen.memory.storage import Buffer
from polymat.codegen.products.contractionwriter import ContractionWriter, kernel_nest
from polymat.codegen.products.panelswriter import PanelsWriter
from polymat.graph.monomials import Factor
from polymat.graph.stage import Ref, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import binary
from polymat.plan.kernel import KernelPlan
from polymat.product.pairs import FIRST, PART, WIDTH, Pairs, reals_of
from polymat.tilesize.plain import plan_stage

_LAST, _VALUE, _RE, _IM = "_pm_last_pair", "_pm_value", "_pm_re", "_pm_im"
_ROOM = 2  # times the last level's block of a packed operand that pairs take
_FEW_ROWS = 4
_TWO = Literal("2")

_COLUMNS = """\
/* Columns of a complex operand of so many lines that are pairs at a time: whole register blocks. */
static inline ptrdiff_t _pm_paired_columns(double lines, double columns, double room, ptrdiff_t unit)
{
    const double most = room / (4.0 * (lines < 1.0 ? 1.0 : lines));
    const double whole = most < (double)unit ? (double)unit : (double)((ptrdiff_t)most / unit * unit);
    return (ptrdiff_t)(columns < whole ? columns : whole);
}
"""


def product_nest(
    writer: StageWriter, stage: Stage, plan: KernelPlan, along: Sequence[str | None], kind: str
) -> NestFunction:
    """The nest of a contraction over run-time ranges of dimensions of its result."""
    if plan.packed_depth:
        return PanelsWriter(writer, stage, plan, along).nest(kind)
    if not plan.pairs:
        return kernel_nest(writer, stage, plan, along, kind)
    return PairsWriter(writer, stage, plan, along).nest(kind)


def _times(first: CExpr, second: CExpr) -> CExpr:
    return CBinary("*", first, second)


class PairsWriter(ContractionWriter):
    """Writes the nest of a complex product: some columns of pairs, and their product, after the other."""

    @cached_property
    def pairs(self) -> Pairs:
        """The complex product."""
        return self.plan.pairs[self.number - 1]

    @cached_property
    def bodies(self) -> BodyWriter:
        """The writers of expressions for addresses, also of the pairs, and of arrays as real values."""
        writer, pairs = self.writer, self.pairs
        views = {reals_of(self.stage.name): self._as_reals(self.stage.name, joined=True)}
        if pairs.read is not None:
            views[reals_of(pairs.read)] = self._as_reals(pairs.read, joined=pairs.reals_joined)
        if pairs.written:
            views[pairs.array] = self._pairs_buffer()
        return BodyWriter(writer.pipeline, {**writer.storage, **views}, writer.names, writer.needs)

    def _as_reals(self, source: str, *, joined: bool) -> Buffer:
        """An array of complex values as one of real values: its last dimension twice as long, or one more."""
        buffer = self.writer.storage[source]
        *extents, last = buffer.extents
        *origin, low = buffer.origin
        extents += [last.scale(2)] if joined else [last, Affine((), 2)]
        origin += [low.scale(2)] if joined else [low, Affine()]
        return replace(
            buffer, name=reals_of(source), dtype=self.dtype, extents=tuple(extents), origin=tuple(origin)
        )

    def _pairs_buffer(self) -> Buffer:
        """The pairs, as large as they are at a time."""
        dims = [dim for form in self.found.right.indices[:-1] for dim in form.names()]
        extents = (*map(self.found.extent, dims), Affine.name(WIDTH).scale(2))
        origin = (*(self.found.bounds[dim][0] for dim in dims), Affine.name(FIRST).scale(2))
        return Buffer(self.pairs.array, self.dtype, "scratchpad", extents, origin)

    @property
    def extra_pads(self) -> tuple[Pad, ...]:
        """The memory of the pairs."""
        if not self.pairs.written:
            return ()
        room = CBinary("*", self._lines(), Cast("double", self._width()))
        room = CBinary("*", Literal(f"{4.0 * self.dtype.size}"), room)
        return (Pad(self.bodies.array(self.pairs.array), self.dtype.c, room),)

    @cached_property
    def _loops(self) -> NestFunction:
        """Loops for a few rows, beside which the pairs are not worth writing."""
        plan = plan_stage(self.plan.group, self.stage, self.writer.pipeline.context)
        return self.writer.ranged(self.stage, plan, self.along, "few")

    @property
    def alternatives(self) -> tuple[CFunction, ...]:
        """The loops."""
        return self._loops.functions if self._writes else ()

    @property
    def _writes(self) -> bool:
        """Whether there are pairs to write."""
        return any(pairs.written for pairs in self.plan.pairs)

    def guarded(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The body, or loops for a few rows."""
        if not self._writes:
            return body
        rows = reduce(_times, map(self.length, (self.found.rows, *self.found.more_rows)))
        return (If(CBinary("<", rows, Literal(str(_FEW_ROWS))), (run_nest(self._loops),), body),)

    def range(self, dim: str) -> tuple[CExpr, CExpr]:
        """Of the columns, the real ones, which are pairs at the moment."""
        if dim != self.found.columns:
            return super().range(dim)
        if self.pairs.written:
            return CBinary("*", _TWO, Id(FIRST)), CBinary("*", _TWO, Id(_LAST))
        begin, end = super().range(dim)
        return (_times(_TWO, begin), _times(_TWO, end)) if dim in self.along else (begin, end)

    def _result(self) -> Factor:
        own = tuple(Affine.name(dim) for dim in self.stage.dims)
        return Factor(Ref(reals_of(self.stage.name), self.dtype, is_input=False), own)

    def _product_added(self) -> tuple[Stmt, ...]:
        if not self.pairs.written:
            return (*self._declared(), *super()._product_added())
        self.writer.texts.setdefault("_pm_paired_columns", _COLUMNS)
        begin, end = super().range(self.found.columns)
        if self.found.columns not in self.along:
            begin, end = map(self.writer.bodies.size, self._columns_bounds())
        after = CBinary("+", Id(FIRST), Id(WIDTH))
        last = Declare("const ptrdiff_t", _LAST, CCall(MIN_I64.function, (after, end)))
        body = (last, *super()._product_added())
        condition = CBinary("<", Id(FIRST), end)
        columns = For(FIRST, begin, condition, Id(WIDTH), body)
        return (*self._declared(), Declare("const ptrdiff_t", WIDTH, self._width()), columns)

    def _columns_bounds(self) -> tuple[Affine, Affine]:
        low, high = self.stage.box[-1]
        return low, high + 1

    def _declared(self) -> Iterator[Declare]:
        """The arrays as real values."""
        for source in (self.pairs.read, self.stage.name):
            if source is None:
                continue
            view = reals_of(source)
            const = "" if source == self.stage.name else "const "
            pointer = f"{const}{self.dtype.c} *"
            array = Cast(pointer, Id(self.writer.bodies.array(source)))
            yield Declare(f"{pointer}const ", self.bodies.array(view), array)

    def _run(self) -> Stmt:
        """The product, after its pairs."""
        return Block((self._paired(), super()._run())) if self.pairs.written else super()._run()

    def _lines(self) -> CExpr:
        """How many columns of one value each the pairs have."""
        extents = [self._bounds(dim)[1] - self._bounds(dim)[0] + 1 for dim in self.pairs.lines]
        counts: list[CExpr] = [CCall("_pm_extent", (self.size(extent),)) for extent in extents]
        return reduce(_times, counts)

    def _width(self) -> CExpr:
        """How many columns are pairs at a time."""
        low, after = self._columns_bounds()
        blocks = self.plan.blocks
        columns = CCall("_pm_extent", (self.size(after - low),))
        room = Literal(f"{float(_ROOM * blocks.nc * blocks.kc)}")
        unit = Literal(str(max(1, blocks.columns // 2)))
        return CCall("_pm_paired_columns", (self._lines(), columns, room, unit))

    def _bounds(self, dim: str) -> tuple[Affine, Affine]:
        """Smallest and largest index of a dimension of the complex product."""
        return self.pairs.depth if dim == self.found.depth else self.found.bounds[dim]

    def _paired(self) -> Stmt:
        """Loops that write the pairs: what real and what imaginary parts of the left operand multiply."""
        found, pairs, bodies = self.found, self.pairs, self.writer.bodies
        variables = {dim: Id(bodies.index_name(dim)) for dim in (*pairs.lines, *found.outer, found.columns)}
        value = pairs.right.expr if pairs.scale is None else binary("*", pairs.scale, pairs.right.expr)
        re, im, dtype = Id(_RE), Id(_IM), self.stage.dtype
        below: tuple[CExpr, CExpr] = (im, CUnary("-", re)) if pairs.left.conjugated else (CUnary("-", im), re)
        lines: tuple[tuple[CExpr, CExpr], ...] = ((re, im),) if pairs.is_beside_reals else ((re, im), below)
        body: tuple[Stmt, ...] = (
            Declare(f"const {dtype.c}", _VALUE, bodies.writer(variables).value(value, dtype)),
            Declare(f"const {self.dtype.c}", _RE, CUnary("__real__ ", Id(_VALUE))),
            Declare(f"const {self.dtype.c}", _IM, CUnary("__imag__ ", Id(_VALUE))),
            *(
                Assign(self._pair(variables, part, component), "=", each)
                for part, line in enumerate(lines)
                for component, each in enumerate(line)
            ),
        )
        for dim in (found.columns, *reversed(pairs.lines)):
            begin, end = self._complex_range(dim)
            name = variables[dim].name
            body = (For(name, begin, CBinary("<", Id(name), end), Literal("1"), body),)
        return body[0]

    def _complex_range(self, dim: str) -> tuple[CExpr, CExpr]:
        """The indices of a dimension whose values are pairs at the moment."""
        if dim == self.found.columns:
            return Id(FIRST), Id(_LAST)
        if dim == self.found.depth:
            return self.size(self.pairs.depth[0]), self.size(self.pairs.depth[1] + 1)
        return self.range(dim)

    def _pair(self, variables: dict[str, Id], part: int, component: int) -> CExpr:
        """An element of the pairs of a value."""

        def doubled(dim: str, offset: int) -> CExpr:
            twice = CBinary("*", _TWO, variables[dim])
            return CBinary("+", twice, Literal("1")) if offset else twice

        def index(dim: str) -> CExpr:
            if dim == self.found.columns:
                return doubled(dim, component)
            if dim == PART:
                return Literal(str(part))
            return doubled(dim, part) if dim == self.found.depth and self.pairs.joined else variables[dim]

        dims = [dim for form in self.found.right.indices for dim in form.names()]
        return self.bodies.element(self.pairs.array, tuple(map(index, dims)))
