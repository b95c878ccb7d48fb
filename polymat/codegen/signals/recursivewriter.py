"""Recursive filters as nests: coefficients and states in arrays, one call, and the last samples copied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.c.ctree import (
    Assign,
    CBinary,
    CCall,
    CExpr,
    CParameter,
    Declare,
    Evaluate,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.needs import Piece
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.memory.pads import Pad
from polymat.codegen.signals.recursiveblocks import RecursiveShape
from polymat.errors import InternalError
from polymat.graph.stage import Stage
from polymat.idiom.recursiveends import Ending
from polymat.lang.affine import Affine
from polymat.lang.expr import Const, Expr
from polymat.lang.types import WEAK_INT
from polymat.plan.library import RecursivePlan

ZERO, ONE = Literal("0"), Literal("1")
CHANNELS, COEFFICIENTS, STARTS, LAST = "_pm_channels", "_pm_factors", "_pm_starts", "_pm_last_samples"
NUMBER = Const(1, WEAK_INT)  # a coefficient that is none


def recursive_nest(
    writer: StageWriter, stage: Stage, plan: RecursivePlan, along: Sequence[str | None], kind: str
) -> NestFunction:
    """The nest of recursive filters in a row, over a run-time range of their channels."""
    del stage
    if kind == "part" or any(dim not in (None, plan.parallel) for dim in along):
        raise InternalError(f"bug in polymat: a part of the recursive filter {plan.result}")
    return _RecursiveWriter(writer, plan, along).nest(kind)


class _RecursiveWriter:
    """Writes the nest of recursive filters."""

    def __init__(self, writer: StageWriter, plan: RecursivePlan, along: Sequence[str | None]) -> None:
        self.writer, self.plan, self.found = writer, plan, plan.recursion
        stage, section = self.found.stage, self.found.section
        self.box = dict(zip(stage.dims, stage.box, strict=True))
        self.channel = next(iter(self.found.channels), None)
        self.ranges = [
            Range(k, *self.box[dim]) for k, dim in enumerate(along) if dim is not None and dim == self.channel
        ]
        forward, back = sorted(section.forward), sorted(section.back)
        offsets = tuple(forward), tuple(back)
        self.shape = RecursiveShape(stage.dtype.suffix, plan.lanes, *offsets, plan.width)
        self.factors = [section.forward[j] for j in forward] + [section.back[k] for k in back]
        self.pad = f"_pm_states_of_{plan.result}"

    def nest(self, kind: str) -> NestFunction:
        """The function, with its memory."""
        writer, plan, count = self.writer, self.plan, self.found.count
        writer.needs.update({self.shape, Piece.PLACE})
        dtype = self.found.stage.dtype
        body: tuple[Stmt, ...] = (
            Declare("const ptrdiff_t", CHANNELS, self._channels()),
            *self._memory(),
            *self._coefficients(),
            *self._starts(),
            Evaluate(self._call()),
            *(statement for ending in plan.endings for statement in self._ending(ending)),
        )
        stages = [writer.pipeline.stage(name) for name in plan.group.stages]
        nest = writer.as_nest(stages, plan, body, kind, self.ranges)
        depth = self.shape.depth
        fixed = self.shape.tables(count) + count * len(self.factors) + dtype.size
        each = (2 * count + 1) * depth
        channels = CCall("_pm_extent", (self._all(),)) if self.channel is not None else Literal("1.0")
        total = CBinary("+", Literal(f"{float(fixed)}"), CBinary("*", Literal(f"{float(each)}"), channels))
        pad = Pad(self.pad, dtype.c, CBinary("*", Literal(f"{float(dtype.size)}"), total))
        function = nest.function
        parameters = (CParameter(f"{pad.ctype} *", pad.array), *function.parameters)
        return replace(
            nest,
            function=replace(function, parameters=parameters),
            arguments=(Id(pad.array), *nest.arguments),
            pads=(pad,),
        )

    # ---- where things are ----

    def _all(self) -> CExpr:
        """How many channels there are altogether."""
        assert self.channel is not None  # asked for where there are any
        low, high = self.box[self.channel]
        return self.writer.size(high - low + 1)

    def _begin(self) -> CExpr:
        """The first channel of the nest."""
        assert self.channel is not None  # asked for where there are any
        return Id(self.ranges[0].begin) if self.ranges else self.writer.size(self.box[self.channel][0])

    def _channels(self) -> CExpr:
        if self.channel is None:
            return ONE
        return CBinary("-", Id(self.ranges[0].end), Id(self.ranges[0].begin)) if self.ranges else self._all()

    def _memory(self) -> tuple[Stmt, ...]:
        """What follows the working memory: coefficients, and of the rest what the nest itself asks for.

        These are what the first results start from, and behind that the last samples of every signal.
        """
        count, kind = self.found.count, f"{self.found.stage.dtype.c} *const "
        first = CBinary("+", Id(self.pad), Literal(str(self.shape.tables(count))))
        second = CBinary("+", Id(COEFFICIENTS), Literal(str(count * len(self.factors))))
        starts = CBinary("*", Id(CHANNELS), Literal(str(count * self.shape.depth)))
        third = CBinary("+", Id(STARTS), starts)
        declared = [Declare(kind, COEFFICIENTS, first)]
        if self.found.starts or self.plan.endings:
            declared.append(Declare(kind, STARTS, second))
        if self.plan.endings:
            declared.append(Declare(kind, LAST, third))
        return tuple(declared)

    def _chain_point(self) -> dict[str, CExpr]:
        chain = self.found.chain
        return {} if chain is None else {chain: Id(self.writer.bodies.index_name(chain))}

    def _over_chain(self, body: tuple[Stmt, ...], first: int = 1) -> tuple[Stmt, ...]:
        """A loop over the sections, or over all signals; none where there is no chain."""
        chain = self.found.chain
        if chain is None:
            return body
        variable = self.writer.bodies.index_name(chain)
        limit = CBinary("<=", Id(variable), Literal(str(self.found.count)))
        return (For(variable, Literal(str(first)), limit, ONE, body),)

    def _over_channels(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        if self.channel is None:
            return body
        variable = self.writer.bodies.index_name(self.channel)
        end = CBinary("+", self._begin(), Id(CHANNELS))
        return (For(variable, self._begin(), CBinary("<", Id(variable), end), ONE, body),)

    def _place(self, signals: int, first: int, size: int) -> CExpr:
        """Where the elements for a section and a channel begin: `size` of each of so many signals."""
        found: CExpr = ZERO
        chain, channel = self.found.chain, self.channel
        if channel is not None:
            index = CBinary("-", Id(self.writer.bodies.index_name(channel)), self._begin())
            found = CBinary("*", index, Literal(str(signals * size)))
        if chain is not None:
            position: CExpr = Id(self.writer.bodies.index_name(chain))
            position = CBinary("-", position, Literal(str(first))) if first else position
            found = CBinary("+", found, CBinary("*", position, Literal(str(size))))
        return found

    # ---- what is computed ----

    def _value(self, expr: Expr, point: dict[str, CExpr]) -> CExpr:
        return self.writer.bodies.writer(point).value(expr, self.found.stage.dtype, exact=True)

    def _coefficients(self) -> tuple[Stmt, ...]:
        """The coefficients of every section, those of the signal first."""
        point, size = self._chain_point(), len(self.factors)
        begin: CExpr = ZERO
        if self.found.chain is not None:
            index = CBinary("-", point[self.found.chain], ONE)
            begin = CBinary("*", index, Literal(str(size)))
        stores = []
        for k, factor in enumerate(self.factors):
            target = Subscript(Id(COEFFICIENTS), CBinary("+", begin, Literal(str(k))))
            stores.append(Assign(target, "=", self._value(NUMBER if factor is None else factor, point)))
        return self._over_chain(tuple(stores))

    def _starts(self) -> tuple[Stmt, ...]:
        """What the first results of every section and channel have added, or are."""
        if not self.found.starts:
            return ()
        depth, point = self.shape.depth, self._chain_point()
        if self.channel is not None:
            point[self.channel] = Id(self.writer.bodies.index_name(self.channel))
        begin = self._place(self.found.count, 1, depth)
        stores = []
        for n in range(depth):
            expr = self.found.starts.get(n, Const(0, WEAK_INT))
            target = Subscript(Id(STARTS), CBinary("+", begin, Literal(str(n))))
            stores.append(Assign(target, "=", self._value(expr, point)))
        return self._over_channels(self._over_chain(tuple(stores)))

    def _call(self) -> CExpr:
        """The call for all channels of the nest."""
        bodies, found, plan = self.writer.bodies, self.found, self.plan
        low, high = self.box[found.time]
        point: dict[str, CExpr] = {found.time: self.writer.size(low)}
        outer = [dim for dim in found.stage.dims if dim != found.chain]
        own = dict(zip(outer, plan.indices, strict=True))
        if self.channel is not None:
            point[self.channel] = self._begin()
        result = {own[dim]: value for dim, value in point.items()}
        target = tuple(Affine.name(dim) for dim in self.writer.pipeline.stage(plan.result).dims)
        inputs = [bodies.address(found.signal.name, found.indices, point)]
        outputs = [bodies.address(plan.result, target, result)]
        for dim in (self.channel, found.time):
            inputs.append(ZERO if dim is None else bodies.step(found.signal.name, found.indices, dim))
            outputs.append(ZERO if dim is None else bodies.step(plan.result, target, own[dim]))
        count = self.writer.size(high - low + 1)
        start = 0 if not found.starts else 2 if found.is_given else 1
        first = (Id(CHANNELS), count, Literal(str(found.count)), Id(COEFFICIENTS), Literal(str(start)))
        return CCall(f"_pm_recursive_{self.shape.name}", (*first, *inputs, *outputs, Id(self.pad)))

    def _ending(self, ending: Ending) -> tuple[Stmt, ...]:
        """Copy the last samples of every signal."""
        bodies, stage, found = self.writer.bodies, ending.stage, self.found
        assert found.chain is not None  # only chains have endings
        age = bodies.index_name(ending.age)
        point = {ending.age: Id(age), ending.chain: Id(bodies.index_name(found.chain))}
        if self.channel is not None:
            point[ending.channels[0]] = Id(bodies.index_name(self.channel))
        target = bodies.at(stage.name, tuple(Affine.name(dim) for dim in stage.dims), point)
        begin = self._place(found.count + 1, 0, self.shape.depth)
        copied = Assign(target, "=", Subscript(Id(LAST), CBinary("+", begin, Id(age))))
        _, high = stage.box[stage.dims.index(ending.age)]
        limit = CBinary("<=", Id(age), Literal(str(high.const)))
        return self._over_channels(self._over_chain((For(age, ZERO, limit, ONE, (copied,)),), first=0))
