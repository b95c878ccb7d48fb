"""The functions that take steps in segments (`polymat.graph.linesegments`): of one pass, and of all passes.

    before:  for each step: for i: B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1]);  for i: A[i] = ... B ...
    after:   for each pass: for each row: A0 = A[row];  B1 = 0.3 * (A0_2 + A0_1 + A0);  A1 = ... B1 ...;  ...

What a pass reads and what it makes of it in between are in registers, as many rows of them as are read again.
It goes on behind the last row of each segment with the first ones of the next, and what it makes of those is
then where they lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from polymat.codegen.c.ctree import (
    APART,
    Assign,
    Block,
    Braces,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Return,
    Stmt,
    Subscript,
    names_in,
    plus,
)
from polymat.codegen.c.needs import MIN_I64, Piece
from polymat.codegen.c.rows import RowPart, RowTypes
from polymat.codegen.loops.nestwriter import NestWriter
from polymat.codegen.memory.pads import place
from polymat.codegen.sectionloops import SectionLoops
from polymat.errors import InternalError
from polymat.graph.linesegments import computed, windows
from polymat.graph.segmented import RowPlace, SegmentedSteps
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.lang.expr import Load
from polymat.lang.traverse import loads_in, walk

SEGMENTS, PASS = "_pm_segments", "_pm_pass"
ROW, ROWS, SEAM = "_pm_row", "_pm_rows", "_pm_seam"  # of a segment, and where the first kept one is
FROM = "_pm_from"  # with a number: the first row of the last segment that a stage does not compute
COUNT, PASSES, PASS_NUMBER = "_pm_count", "_pm_passes", "_pm_number"
LOW, EXTENT, MEMORY, BYTES = "_pm_low", "_pm_extent", "_pm_memory", "_pm_bytes"
ZERO, ONE = Literal("0"), Literal("1")


def in_segments(loops: SectionLoops) -> tuple[Stmt, ...]:
    """Take those steps of a section that go in segments; `first` is the first step that is left then."""
    count = plus(CBinary("-", Id(loops.last), Id(loops.first)), 1)
    arguments = (Id("_pm_given"), Id("_pm_here"), Id("_pm_scalars"), count)
    taken = Assign(Id(loops.first), "+=", CCall(f"{SEGMENTS}_s{loops.number}", arguments))
    here = Declare("const ptrdiff_t", loops.step, Id(loops.first))
    return (Block((here, loops.given, loops.here, taken)),)


class SegmentWriter:
    """Writes both functions for the steps of one section.

    arguments: what unpacks the arguments of a step.
    """

    def __init__(
        self, writer: NestWriter, stages: Sequence[Stage], taken: SegmentedSteps, arguments: Sequence[Declare]
    ) -> None:
        found = RowTypes.of(stages[0].dtype, taken.lanes)
        if found is None:
            raise InternalError(f"bug in polymat: there are no vectors of {stages[0].dtype}")
        self.types, self.taken, self.arguments = found, taken, arguments
        self.bodies, self.size = writer.bodies, writer.size
        self.stages = {stage.name: stage for stage in stages}
        self.segments, self.before = taken.segments, dict(taken.segments.before)
        self.windows = windows(self.segments, self.stages, taken.steps)
        loads = (load.source.name for stage in stages for load in loads_in(computed(stage, self.before).expr))
        given = [name for name in dict.fromkeys(loads) if name not in self.before and name not in self.stages]
        self.arrays = [*self.segments.stages, *given]
        writer.needs.update(found.needs(RowPart.SEGMENTS), {Piece.WORKSPACE, Piece.PLACE, MIN_I64})

    def functions(self) -> tuple[CFunction, CFunction]:
        """The pass, and what runs all passes and returns how many steps these took."""
        inner = self._pass()
        return inner, self._all(inner)

    # ---- one pass ----

    def _pass(self) -> CFunction:
        body = [*self._kept(), self._loop()]
        used = names_in(body)
        scalars = [each for each in self.arguments if each.name in used - {*map(self._array, self.arrays)}]
        arrays = [CParameter(f"{self._pointer(name)}restrict ", self._array(name)) for name in self.arrays]
        sizes = [ROWS, SEAM, *(f"{FROM}{k}" for k in range(len(self.stages)))]
        parameters = [
            *(each for each in arrays if each.name in used),
            *(CParameter(each.ctype, each.name) for each in scalars),
            *(CParameter("const ptrdiff_t", name) for name in sizes),
        ]
        return CFunction(APART, PASS, tuple(parameters), tuple(body))

    def _kept(self) -> Iterator[Stmt]:
        """The rows that are read again, before there are any."""
        for (name, step), depth in self.windows.items():
            for back in range(1, depth + 1):
                yield Declare(self.types.vector, self._value(name, step, back), Braces((ZERO,)))

    def _loop(self) -> For:
        body: list[Stmt] = [
            Declare(f"const {self.types.vector}", self._value(name, -1), self.types.load(self._at(name, 0)))
            for name in self.segments.kept
        ]
        for step in range(self.taken.steps):
            for number in range(len(self.stages)):
                body += self._stage(number, step)
        last = self.taken.steps - 1
        for name in self.segments.kept:
            lag = self._lag(name, last)
            stored = self.types.store(self._at(name, -lag), Id(self._value(name, last)))
            body.append(Evaluate(stored))
        for (name, step), depth in self.windows.items():
            for back in range(depth, 0, -1):
                to, value = self._value(name, step, back), self._value(name, step, back - 1)
                body.append(Assign(Id(to), "=", Id(value)))
        end = plus(Id(ROWS), self.taken.beside)
        return For(ROW, ZERO, CBinary("<", Id(ROW), end), ONE, tuple(body))

    def _stage(self, number: int, step: int) -> Iterator[Stmt]:
        """A row of a stage, and in the rows that hold them the points of the last segment that stay."""
        name = self.segments.stages[number]
        stage, lag = self.stages[name], self._lag(name, step)
        writer = self.bodies.writer({})
        part = computed(stage, self.before)
        for node in walk(part.expr):
            if isinstance(node, Load):
                writer.ready[id(node)] = self._read(stage, node, step)
        value = Id(self._value(name, step))
        yield Declare(self.types.vector, value.name, writer.value(part.expr, stage.dtype))
        end = plus(Id(ROWS), (self.segments.spans[number][0] - self._low).const)
        given = (value, Id(self._array(name)), plus(Id(ROW), -lag), Id(f"{FROM}{number}"), end)
        kept = CCall(f"_pm_segments_kept_{self.types.suffix}", given)
        yield If(CBinary(">=", Id(ROW), Id(SEAM)), (Assign(value, "=", kept),))

    def _read(self, stage: Stage, load: Load, step: int) -> CExpr:
        """What a stage reads: rows that are kept, or of an array that nobody changes."""
        name, lag = load.source.name, self._lag(stage.name, step)
        apart = (load.indices[0] - Affine.name(stage.dims[0])).const
        if name not in self.before and name not in self.stages:
            return self.types.load(self._at(name, apart - lag))
        source, made = (self.before[name], step - 1) if name in self.before else (name, step)
        return Id(self._value(source, made, lag - self._lag(source, made) - apart))

    # ---- all passes ----

    def _all(self, inner: CFunction) -> CFunction:
        body = [*self._shape(), *self._memory(), *self._passes(inner)]
        used = names_in(body)
        unpacked = [each for each in self.arguments if each.name in used]
        parameters = (
            CParameter("void *const *", "_pm_arrays"),
            CParameter("const ptrdiff_t *", "_pm_sizes"),
            CParameter("const void *", "_pm_scalars"),
            CParameter("const ptrdiff_t", COUNT),
        )
        known = used | names_in(unpacked)
        silent = [Evaluate(Cast("void", Id(each.name))) for each in parameters if each.name not in known]
        comment = f"{self.taken}; how many steps were taken"
        return CFunction("ptrdiff_t", SEGMENTS, parameters, (*unpacked, *silent, *body), comment)

    def _shape(self) -> Iterator[Stmt]:
        """The rows, those that hold points which stay, and the passes; none where they are too few."""
        lanes = self.taken.lanes
        yield Declare("const ptrdiff_t", LOW, self.size(self._low))
        yield Declare("const ptrdiff_t", EXTENT, self.size(self.segments.extent))
        yield Declare("const ptrdiff_t", ROWS, CBinary("/", plus(Id(EXTENT), lanes - 1), Literal(str(lanes))))
        for number, (_, high) in enumerate(self.segments.spans):
            computed_points = self.size(high + 1 - self._low)
            others = CBinary("*", Literal(str(lanes - 1)), Id(ROWS))
            yield Declare("const ptrdiff_t", f"{FROM}{number}", CBinary("-", computed_points, others))
        begins: list[CExpr] = [Id(f"{FROM}{number}") for number in range(len(self.stages))]
        seam = reduce(lambda one, other: CCall(MIN_I64.function, (one, other)), begins)
        yield Declare("const ptrdiff_t", SEAM, seam)
        steps, passes = self.taken.steps, plus(Id(COUNT), -1)
        both = 2 if self.segments.even and steps % 2 else 1
        passes = CBinary("/", passes, Literal(str(both * steps)))
        passes = CBinary("*", passes, Literal(str(both))) if both > 1 else passes
        yield Declare("const ptrdiff_t", PASSES, passes)
        beside = plus(CBinary("-", Id(ROWS), Id(SEAM)), self.taken.beside)
        short = CBinary("<", Id(ROWS), CBinary("*", Literal(str(self.taken.least)), beside))
        few = CBinary("<", Id(COUNT), Literal(str(self.taken.fewest)))
        yield If(CBinary("||", few, short), (Return(ZERO),))

    def _memory(self) -> Iterator[Stmt]:
        """The arrays in segments, with rows before the first one and behind the last."""
        around = self.taken.front + self.taken.beside + self.taken.reach
        rows = Cast("double", plus(Id(ROWS), around))
        size = CBinary("*", Literal(f"{float(self.types.size)!r}"), rows)
        yield Declare("size_t", BYTES, ZERO)
        for name in self.arrays:
            yield Declare("const size_t", self._place(name), place(BYTES, size))
        large = CBinary(">", Id(BYTES), Literal(str(self.taken.room)))
        yield If(large, (Return(ZERO),))
        yield Declare("char *const ", MEMORY, CCall("_pm_workspace_take", (Id(BYTES),)))
        yield If(CBinary("==", Id(MEMORY), ZERO), (Return(ZERO),))
        for name in self.arrays:
            begins = Cast("void *", CBinary("+", Id(MEMORY), Id(self._place(name))))
            first = CBinary("+", Cast(f"{self.types.ctype} *", begins), Literal(str(self._front)))
            yield Declare(f"{self.types.ctype} *const ", self._rows(name), first)

    def _passes(self, inner: CFunction) -> Iterator[Stmt]:
        more = Literal(str(self.taken.beside + self.taken.reach))
        shape = (Id(EXTENT), Id(LOW), Id(ROWS))
        for name in self.arrays:
            yield self._call("in", Id(self._rows(name)), Id(self._given(name)), *shape)
            yield self._call("onwards", Id(self._rows(name)), Id(ROWS), more)
        rows: dict[str, CExpr] = {self._array(name): Id(self._rows(name)) for name in self.arrays}
        given = tuple(rows.get(each.name, Id(each.name)) for each in inner.parameters)
        last = self.taken.steps - 1
        body: list[Stmt] = [Evaluate(CCall(inner.name, given))]
        for name in self.segments.kept:
            first = Literal(str(self._place_of(name, last).first))
            body.append(self._call("back", Id(self._rows(name)), Id(ROWS), first))
            body.append(self._call("onwards", Id(self._rows(name)), Id(ROWS), more))
        yield For(PASS_NUMBER, ZERO, CBinary("<", Id(PASS_NUMBER), Id(PASSES)), ONE, tuple(body))
        for name in self.segments.kept:
            to = Cast(f"{self.types.ctype} *", Id(self._given(name)))
            yield self._call("out", to, Id(self._rows(name)), *shape)
        yield Evaluate(CCall("_pm_workspace_give", (Id(MEMORY),)))
        yield Return(CBinary("*", Id(PASSES), Literal(str(self.taken.steps))))

    # ---- names and places ----

    @property
    def _low(self) -> Affine:
        """The first point that any stage computes."""
        lows = [low for low, _ in self.segments.spans]
        return min(lows, key=lambda low: (low - lows[0]).const)

    @property
    def _front(self) -> int:
        """The elements before the first row."""
        return self.taken.front * self.taken.lanes

    def _place_of(self, name: str, step: int) -> RowPlace:
        return self.taken.places[step][self.segments.stages.index(name)]

    def _lag(self, name: str, step: int) -> int:
        return 0 if step < 0 else self._place_of(name, step).lag

    def _array(self, name: str) -> str:
        return self.bodies.array(name)

    def _given(self, name: str) -> str:
        """Where the state of a stage is that the first step reads, and where the last one leaves its own."""
        return self._array(next((read for read, made in self.before.items() if made == name), name))

    def _rows(self, name: str) -> str:
        return f"_pm_rows_{self._array(name)}"

    def _place(self, name: str) -> str:
        return f"_pm_at_{self._array(name)}"

    def _value(self, name: str, step: int, back: int = 0) -> str:
        """A vector of a stage after so many steps of a pass, `back` rows before the last one."""
        return f"_pm_{self._array(name)}_{step + 1}" + (f"_{back}" if back else "")

    def _pointer(self, name: str) -> str:
        return f"{'' if name in self.segments.kept else 'const '}{self.types.ctype} *"

    def _at(self, name: str, behind: int) -> Subscript:
        """Where a row begins, so far behind the one that is read."""
        row = CBinary("*", plus(Id(ROW), behind), self.types.lanes_text)
        return Subscript(Id(self._array(name)), row)

    def _call(self, function: str, *arguments: CExpr) -> Evaluate:
        return Evaluate(CCall(f"_pm_segments_{function}_{self.types.suffix}", arguments))
