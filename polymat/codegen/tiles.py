"""Groups of stages in one tile loop: the functions of the tiles, and which part of each stage a tile runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polymat.codegen.alikenests import with_one_function
from polymat.codegen.c.ctree import (
    APART,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    Declare,
    Evaluate,
    For,
    Id,
    Literal,
    Stmt,
    names_in,
    plus,
)
from polymat.codegen.c.needs import FLOORDIV_I64, MAX_I64, MIN_I64, Piece
from polymat.codegen.loops.crossing import WIDTH, declare_width
from polymat.codegen.loops.nestfunction import NestFunction
from polymat.codegen.loops.ranges import Range
from polymat.codegen.loops.rowtiles import FIRST, RowTiles, row_tiles
from polymat.codegen.loops.stagecode import StageWriter
from polymat.codegen.loops.toandfro import to_and_fro
from polymat.codegen.memory.storage import TILE, WHOLE, inside, part_begin
from polymat.codegen.tilememory import accumulated, scratchpads
from polymat.codegen.tilenumbers import numbered, tile_count
from polymat.codegen.tilerows import ROWS, ROWS_STOP, STOP, is_by_rows, with_call
from polymat.codegen.tilerun import LAST, TileCode
from polymat.graph.aligned import Member, grid
from polymat.graph.stage import Part, Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Load
from polymat.plan.loops import LoopPlan
from polymat.plan.tile import TilePlan

MANY = 8  # pieces of stages whose nests are not inlined; with three, 256 x 256 points took 1.02 of the time


class TileWriter:
    """Writes the functions of one tiled group."""

    def __init__(self, stages: StageWriter, plan: TilePlan, number: int) -> None:
        self.stages = stages.with_storage(inside(stages.pipeline, plan, stages.storage))
        self.stages.aliased = stages.aliased | plan.at_one_place
        self.stages.fences = {}
        self.plan = plan
        self.number = number

    def code(self) -> TileCode:
        """All functions of the group."""
        nests, own = self._apart(self._nests())
        hulls = [self._hull(level, nests) for level in range(len(self.plan.dims))]
        rows = row_tiles(self.stages, self.plan, self.number)
        function, arguments = self._tiles(nests, hulls, rows)
        privates = tuple(accumulated(self.stages, self.plan, m) for m in self.plan.members if m.private)
        pads = scratchpads(self.stages, self.plan)
        pads += [pad for _, nest in nests for pad in nest.pads]
        helpers = [f for p in privates for f in (p.start.function, p.clear, p.merge)[: 3 if p.copied else 1]]
        self.stages.needs.update({MIN_I64, MAX_I64, Piece.PLACE, Piece.WORKSPACE})
        by_number = self.plan.is_numbered
        return TileCode(
            number=self.number,
            tiles=function,
            arguments=arguments,
            functions=(
                *own,
                *helpers,
                *(rows.functions if rows else ()),
                function,
            ),
            hull=(Literal("0"), tile_count(self.plan, hulls)) if by_number else hulls[0],
            size=1 if by_number else self.plan.sizes[0],
            pads=tuple(pads),
            privates=privates,
            ahead=tuple(each for _, nest in nests for each in nest.ahead),
        )

    def _apart(
        self, nests: list[tuple[Member, NestFunction]]
    ) -> tuple[list[tuple[Member, NestFunction]], list[CFunction]]:
        """The nests and their functions, not inlined where gcc would take long for all of them in one.

        Those alike are then one function.  Sums stay as they are: of a few rows they took up to 1.07 times as
        long.
        """
        stages = [self.stages.pipeline.stage(member.stage) for member in self.plan.members]
        pieces = sum(len(part.domain.pieces()) for stage in stages for part in stage.parts)
        if pieces < MANY or any(stage.is_reduction for stage in stages):
            return nests, [f for _, nest in nests for f in nest.functions]
        found, functions = with_one_function([nest for _, nest in nests])
        apart = [replace(f, returns=APART) if f.returns == "void" else f for f in functions]
        return [(member, nest) for (member, _), nest in zip(nests, found, strict=True)], apart

    def _nests(self) -> list[tuple[Member, NestFunction]]:
        """The nests of all members; of joint ones at the place of the first, kept if one of them is."""
        joint = dict(self.plan.joint)
        by_name = {member.stage: member for member in self.plan.members}
        nests: list[tuple[Member, NestFunction]] = []
        for member in self.plan.members:
            if member.stage in joint.values():
                continue
            stage = self.stages.pipeline.stage(member.stage)
            if member.stage not in joint:
                nests += self._alone(member, stage)
                continue
            other = by_name[joint[member.stage]]
            kept = replace(member, scratch=member.scratch and other.scratch)
            nests.append((kept, self._joint((member, other))))
        return nests

    def _joint(self, members: Sequence[Member]) -> NestFunction:
        parts = []
        for member in members:
            loops = self.plan.loops[member.stage]
            assert isinstance(loops, LoopPlan), "only loops can be joint"
            parts.append((self.stages.pipeline.stage(member.stage), loops, member))
        return self.stages.joint(parts)

    def _alone(self, member: Member, stage: Stage) -> list[tuple[Member, NestFunction]]:
        """What a stage runs in a tile: its nest, and one that writes out what the tile owns of a copy."""
        found = [(member, self._nest(member, stage))]
        if member.copied:
            value = Load(stage.ref, tuple(map(Affine.name, stage.dims)), stage.dtype, stage.at, ())
            part = Part(stage.domain, None, value, stage.at)
            whole = replace(stage, name=WHOLE + stage.name, parts=(part,), op=None, accumulations=())
            owned = replace(member, margins=((0, 0),) * len(member.margins))
            inner = stage.dims[-1]
            plan = LoopPlan(self.plan.group, "map", stage.dims, None, inner, "what the tile owns is written")
            found.append((owned, self.stages.ranged(whole, plan, member.dims, "copy")))
        return found

    def _nest(self, member: Member, stage: Stage) -> NestFunction:
        loops = self.plan.fitting(member)
        if member.private:
            return self.stages.partial(stage, loops, member.dims)
        return self.stages.ranged(stage, loops, member.dims)

    def _tiles(
        self,
        nests: Sequence[tuple[Member, NestFunction]],
        hulls: Sequence[tuple[CExpr, CExpr]],
        rows: RowTiles | None,
    ) -> tuple[CFunction, tuple[CExpr, ...]]:
        parameters, calls = self._calls(nests, hulls)
        body = (*self._part_begins(), *(rows.tile(calls) if rows else calls))
        levels = range(len(self.plan.dims))
        if self.plan.is_numbered:
            ends = [self._end(level, hulls[level][1]) for level in levels]
            body = numbered(self.plan, hulls, ends, body, self._turning)
        else:
            for level in levels if self.plan.rolling else reversed(levels):
                body = (self._loop(level, body, hulls),)
        if rows:
            body = (*rows.before, *body, *rows.behind)
        body = (*body, *(self.stages.fences or {}).values())
        if self.plan.crossing is not None:
            body = (declare_width(self.plan.crossing, self._size), *body)
        used = names_in(body)
        for size in self.stages.pipeline.sizes:
            known_as = self.stages.names.get("size", size.name)
            if known_as in used:
                parameters.setdefault(known_as, CParameter("const ptrdiff_t", known_as))
        outer = (CParameter("const ptrdiff_t", FIRST), CParameter("const ptrdiff_t", LAST))
        arguments = tuple(Id(name) for name in parameters)
        comment = f"{self.plan}\n{self.plan.why}".rstrip()
        name = f"_pm_tiles_{self.number}"
        return CFunction(
            *("void", name, (*parameters.values(), *outer), body, comment), runs_others=True
        ), arguments

    def _calls(
        self, nests: Sequence[tuple[Member, NestFunction]], hulls: Sequence[tuple[CExpr, CExpr]]
    ) -> tuple[dict[str, CParameter], list[Stmt]]:
        """The calls of all nests, some of them in loops over rows, and what these are handed."""
        parameters: dict[str, CParameter] = {}
        calls: list[Stmt] = []
        for member, nest in nests:
            for parameter in nest.function.parameters[: len(nest.arguments)]:
                if not parameter.name.startswith(TILE):
                    known = parameters.get(parameter.name)
                    if known is None or "const " not in parameter.ctype:
                        parameters[parameter.name] = _unrestricted(parameter)
            ranges = [bound for part in nest.ranges for bound in self._bounds(member, part, hulls)]
            call = Evaluate(CCall(nest.function.name, (*nest.arguments, *ranges)))
            calls = with_call(self.plan, calls, call, by_rows=is_by_rows(self.plan, member))
        return parameters, calls

    def _loop(self, level: int, body: tuple[Stmt, ...], hulls: Sequence[tuple[CExpr, CExpr]]) -> Stmt:
        tile, size = Id(f"{TILE}{level}"), self._tile_size(level)
        low, high = (plus(Id(FIRST), -self.plan.run_up), Id(LAST)) if level == 0 else hulls[level]
        declared = self._end(level, high)
        if level == 0 and self.plan.backwards:
            return self._backwards(tile, (declared, *body))
        loop = For(tile.name, low, CBinary("<", tile, high), size, (declared, *body))
        return loop if level or not self._turning else to_and_fro(loop, self._last_tile(), self._turning)

    def _end(self, level: int, high: CExpr) -> Declare:
        """Where a tile ends along a dimension that its tiles cover up to `high`."""
        stop: CExpr = CBinary("+", Id(f"{TILE}{level}"), self._tile_size(level))
        if grid(self.plan.members, level) == 1:  # else the last tile ends at a multiple of all scales, too
            stop = CCall(MIN_I64.function, (stop, high))
        return Declare("const ptrdiff_t", f"{STOP}{level}", stop)

    def _tile_size(self, level: int) -> CExpr:
        crossed = self.plan.crossing is not None and level == len(self.plan.dims) - 1
        return Id(WIDTH) if crossed else Literal(str(self.plan.sizes[level]))

    def _backwards(self, tile: Id, body: tuple[Stmt, ...]) -> Stmt:
        """The same tiles of the first dimension from the last on; none where FIRST is not before LAST."""
        condition = CBinary("&&", CBinary(">=", tile, Id(FIRST)), CBinary("<", tile, Id(LAST)))
        return For(tile.name, self._last_tile(), condition, Literal(str(-self.plan.sizes[0])), body)

    def _last_tile(self) -> CExpr:
        """Where the last tile of the first dimension begins."""
        first, size = Id(FIRST), Literal(str(self.plan.sizes[0]))
        before = CBinary("/", CBinary("-", CBinary("-", Id(LAST), first), Literal("1")), size)
        return CBinary("+", first, CBinary("*", before, size))

    def _bounds(
        self, member: Member, part: Range, hulls: Sequence[tuple[CExpr, CExpr]]
    ) -> tuple[CExpr, CExpr]:
        """Begin and end of a stage's range in a tile or some rows: with its margins, inside its domain."""
        before, behind = member.margins[part.number]
        scale = member.scale(part.number)
        tile, stop = Id(f"{TILE}{part.number}"), Id(f"{STOP}{part.number}")
        if part.number == len(self.plan.dims) - 1 and is_by_rows(self.plan, member):
            tile, stop = Id(ROWS), Id(ROWS_STOP)
        begin, end = plus(tile, -before), plus(stop, behind)
        if self.plan.rolling and part.number == 0:
            begin = plus(tile, behind)  # each stage goes on where it ended
            if before + behind != self.plan.run_up:
                begin = CCall(MAX_I64.function, (begin, plus(Id(FIRST), -before)))
        if scale > 1:
            begin = self._divided(begin, scale - 1, scale)
            end = self._divided(end, scale - 1, scale)
        low, high = self._size(part.low), self._size(part.high + 1)
        on_grid = grid(self.plan.members, part.number) > 1
        rolling = self.plan.rolling and part.number == 0
        if begin != tile or low != hulls[part.number][0] or (rolling and self.plan.run_up):
            begin = CCall(MAX_I64.function, (begin, low))
        if end != stop or on_grid or high != hulls[part.number][1]:
            end = CCall(MIN_I64.function, (end, high))
        return begin, end

    def _part_begins(self) -> list[Stmt]:
        """Where the scratchpads of stages at other scales than the tile's begin."""
        found: list[Stmt] = []
        for member in self.plan.members:
            for level in range(len(self.plan.dims)):
                scale, name = member.scale(level), part_begin(level, member.stage)
                if scale > 1 and (member.scratch or member.copied) and not (self.plan.rolling and level == 0):
                    first = plus(Id(f"{TILE}{level}"), -member.margins[level][0])
                    found.append(Declare("const ptrdiff_t", name, self._divided(first, scale - 1, scale)))
        return found

    def _divided(self, value: CExpr, more: int, divisor: int) -> CExpr:
        """floor((value + more) / divisor)."""
        self.stages.needs.add(FLOORDIV_I64)
        return CCall(FLOORDIV_I64.function, (plus(value, more), Literal(str(divisor))))

    def _hull(self, level: int, nests: Sequence[tuple[Member, NestFunction]]) -> tuple[CExpr, CExpr]:
        """What the tiles cover along a dimension: the ranges of the stages that are kept.

        It begins at a common multiple of all scales.
        """
        kept = [(member, nest) for member, nest in nests if not member.scratch]
        parts = [(m.scale(level), part) for m, n in kept for part in n.ranges if part.number == level]
        lows = list(dict.fromkeys(part.low.scale(scale) for scale, part in parts))
        highs = list(dict.fromkeys(part.high.scale(scale) + 1 for scale, part in parts))
        first, last = self._extreme("min", lows), self._extreme("max", highs)
        common = grid(self.plan.members, level)
        if common > 1 and lows != [Affine()]:
            first = CBinary("*", Literal(str(common)), self._divided(first, 0, common))
        return first, last

    def _extreme(self, function: str, forms: Sequence[Affine]) -> CExpr:
        result = self._size(forms[0])
        for form in forms[1:]:
            result = CCall(f"_pm_{function}_i64", (result, self._size(form)))
        return result

    @property
    def _turning(self) -> str:
        return self.plan.turning and self.stages.names.get("size", self.plan.turning)

    def _size(self, form: Affine) -> CExpr:
        return self.stages.size(form)


def _unrestricted(parameter: CParameter) -> CParameter:
    return CParameter(parameter.ctype.replace("restrict ", ""), parameter.name)
