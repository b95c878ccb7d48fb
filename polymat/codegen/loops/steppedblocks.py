"""The function in which points that need no others take their steps, a block of neighbours at a time.

before:  for each step: for each x: u[x] = f(u[x], a[x] / b[x])
after:   for each block of x: v = u[x], w = a[x] / b[x]; for each step: v = f(v, w); u[x] = v

The states of a block stay in the first-level cache.  Where no step changes a block any more, it is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from polymat.codegen.c.cexpr import ExpressionWriter
from polymat.codegen.c.ctree import (
    Assign,
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
    Literal,
    Stmt,
    Subscript,
    Ternary,
    names_in,
    plus,
)
from polymat.codegen.c.needs import MAX_I64, MIN_I64
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.vectorloops import VECTORS, Vectors
from polymat.codegen.loops.bodies import BodyWriter
from polymat.dataclass import dataclass
from polymat.graph.pointsteps import PointSteps, invariants
from polymat.graph.stage import Stage
from polymat.lang.expr import Expr, SelectExpr
from polymat.lang.traverse import names_of

POINTS = "_pm_points"
BLOCK = 64  # points that take their steps together: some vectors, so that none waits for another
MULTIPLE = 16  # of points: whole vectors, so that what is left of a row needs no other loop
BEGIN, END = "_pm_begin", "_pm_end"  # of the first dimension's indices
FIRST, LAST = "_pm_first_step", "_pm_last_step"
FROM, COUNT, WIDE, AT, MORE = "_pm_from", "_pm_count", "_pm_wide", "_pm_k", "_pm_more"
ZERO, ONE = Literal("0"), Literal("1")


@dataclass(frozen=True, eq=False)
class SteppedBlocks:
    """Writes the function of one section; stages: of a step, as they run."""

    bodies: BodyWriter
    stages: Sequence[Stage]
    points: PointSteps

    def function(self, arguments: Sequence[Declare]) -> CFunction:
        """`_pm_points`: all steps of the points with some first indices.

        arguments: what unpacks arrays, sizes and scalars; those that the loops need are there.
        """
        self.bodies.needs.update({MIN_I64, MAX_I64})
        body = self._rows()
        used = names_in([body])
        unpacked = [each for each in arguments if each.name in used and each.name != self._step]
        parameters = [CParameter("void *const *", "_pm_arrays"), CParameter("const ptrdiff_t *", "_pm_sizes")]
        parameters.append(CParameter("const void *", "_pm_scalars"))
        parameters += [CParameter("const ptrdiff_t", name) for name in (FIRST, LAST, BEGIN, END)]
        known = used | names_in(unpacked)
        silent = [Evaluate(Cast("void", Id(each.name))) for each in parameters if each.name not in known]
        return CFunction("void", POINTS, tuple(parameters), (*unpacked, *silent, body), f"{self.points}")

    @property
    def _step(self) -> str:
        return self.bodies.names.get("size", self.points.step)

    def _rows(self) -> For:
        """The loops over all dimensions but the last, around those over blocks."""
        loop = self._blocks()
        dims = [*enumerate(self.stages[0].dims)]
        for level, dim in reversed(dims[:-1]):
            low, high = self._ends(level)
            name = self.bodies.index_name(dim)
            loop = For(name, low, CBinary("<", Id(name), high), ONE, (loop,))
        return loop

    def _ends(self, level: int) -> tuple[CExpr, CExpr]:
        """The first index along a dimension, and the one behind the last; of the first one those given."""
        low, high = self.points.span[level]
        if level == 0:
            return Id(BEGIN), Id(END)
        return self.bodies.size(low), self.bodies.size(high + 1)

    def _blocks(self) -> For:
        low, high = self._ends(len(self.stages[0].dims) - 1)
        left = CBinary("-", high, Id(FROM))
        whole = CBinary("/", plus(Id(COUNT), MULTIPLE - 1), Literal(str(MULTIPLE)))
        body = (
            Declare("const ptrdiff_t", COUNT, CCall(MIN_I64.function, (Literal(str(BLOCK)), left))),
            Declare("const ptrdiff_t", WIDE, CBinary("*", whole, Literal(str(MULTIPLE)))),
            *self._fixed_declared,
            *(self._array(ctype, name) for name, ctype, _ in self._columns),
            self._filled(),
            self._padded(),
            *self._steps(),
            self._stored(),
        )
        return For(FROM, low, CBinary("<", Id(FROM), high), Literal(str(BLOCK)), body)

    # ---- what a block has ----

    def _array(self, ctype: str, name: str) -> Declare:
        return Declare(f"_Alignas(64) {ctype}", f"{name}[{BLOCK}]")

    @cached_property
    def _kept(self) -> dict[str, str]:
        """By stage, the array that has its state; of another one, what the name of its value begins with."""
        return {stage.name: f"_pm_state{number}" for number, stage in enumerate(self.stages)}

    @cached_property
    def _states(self) -> list[Stage]:
        """The stages that make states."""
        made = {*self.points.states.values()}
        return [stage for stage in self.stages if stage.name in made]

    @cached_property
    def _parts(self) -> tuple[tuple[Expr, CExpr, Id, bool], ...]:
        """What steps do not change: its value, the variable that has it, and whether it differs in a row."""
        found: list[tuple[Expr, CExpr, Id, bool]] = []
        known: dict[CExpr, Id] = {}
        for stage in self.stages:
            writer = self._writer(stage, {})
            for node in invariants(stage.parts[0].expr, self.points.states, self.points.step):
                value = writer.value(node, node.dtype, exact=True)
                name = known.setdefault(value, Id(f"_pm_fixed{len(known)}"))
                found.append((node, value, name, stage.dims[-1] in names_of([node])))
        return tuple(found)

    @property
    def _fixed_declared(self) -> Iterator[Declare]:
        """The numbers that a whole row has."""
        seen = {name: (node, value) for node, value, name, differs in self._parts if not differs}
        for name, (node, value) in seen.items():
            yield Declare(f"const {node.dtype.c}", name.name, value)

    @cached_property
    def _columns(self) -> tuple[tuple[str, str, CExpr], ...]:
        """The arrays of a block, with the types of their elements and what these are at first."""
        found = []
        for source, name in self.points.states.items():
            stage = next(each for each in self.stages if each.name == name)
            point = [self._index(stage)[dim] for dim in stage.dims]
            found.append((self._kept[name], stage.dtype.c, self.bodies.element(source, tuple(point))))
        moving = {name: (node, value) for node, value, name, differs in self._parts if differs}
        found += [(name.name, node.dtype.c, value) for name, (node, value) in moving.items()]
        return tuple(dict((each[0], each) for each in found).values())

    def _index(self, stage: Stage, *, inside: bool = False) -> dict[str, CExpr]:
        """The indices of a point of the block; inside: that of the last one behind it, too."""
        dims = zip(stage.dims[:-1], self.stages[0].dims, strict=False)
        values: dict[str, CExpr] = {dim: Id(self.bodies.index_name(own)) for dim, own in dims}
        here: CExpr = Id(AT)
        if inside:
            here = CCall(MIN_I64.function, (Id(AT), plus(Id(COUNT), -1)))
        return {**values, stage.dims[-1]: CBinary("+", Id(FROM), here)}

    def _writer(self, stage: Stage, ready: Mapping[int, CExpr], *, inside: bool = False) -> ExpressionWriter:
        """Writes what a stage computes at a point, of the arrays of the block."""
        point = self._index(stage, inside=inside)

        def index(name: str) -> CExpr:
            return point[name] if name in point else Id(self.bodies.names.get("size", name))

        def element(name: str, indices: tuple[CExpr, ...]) -> CExpr:
            if name in self.points.states:
                return Subscript(Id(self._kept[self.points.states[name]]), Id(AT))
            return (
                Id(f"{self._kept[name]}_next") if name in self._kept else self.bodies.element(name, indices)
            )

        return ExpressionWriter(index, self.bodies.scalar, element, self.bodies.needs, ready)

    # ---- the loops of a block ----

    def _over(self, stop: CExpr, body: Sequence[Stmt], start: CExpr = ZERO) -> For:
        return For(AT, start, CBinary("<", Id(AT), stop), ONE, tuple(body), (VECTORS,))

    def _filled(self) -> For:
        each = [Assign(Subscript(Id(name), Id(AT)), "=", value) for name, _, value in self._columns]
        return self._over(Id(COUNT), each)

    def _padded(self) -> For:
        """Points behind the end of a row are what its last one is, and stored nowhere."""
        last = plus(Id(COUNT), -1)
        each = [
            Assign(Subscript(Id(name), Id(AT)), "=", Subscript(Id(name), last)) for name, *_ in self._columns
        ]
        return For(AT, Id(COUNT), CBinary("<", Id(AT), Id(WIDE)), ONE, tuple(each))

    def _steps(self) -> Iterator[Stmt]:
        """The steps of a block, until none may change it."""
        step, leaves = self._step, bool(self.points.changing)
        goes_on: CExpr = CBinary("<=", Id(step), Id(LAST))
        loop = self._over(Id(WIDE), [*self._taken()])
        if not leaves:
            yield For(step, Id(FIRST), goes_on, ONE, (loop,))
            return
        loop = For(*(loop.variable, loop.start, loop.condition, loop.step, loop.body), (_ANY,))
        yield Declare("int", MORE, ONE)
        again = CBinary("&&", goes_on, Id(MORE))
        yield For(step, Id(FIRST), again, ONE, (Assign(Id(MORE), "=", ZERO), loop))

    def _taken(self) -> Iterator[Stmt]:
        """A step of a point: its values, the states kept, then whether any of these may have changed."""
        fixed = {
            id(node): Subscript(name, Id(AT)) if differs else name for node, _, name, differs in self._parts
        }
        chosen: dict[CExpr, CExpr] = {}
        changed: dict[CExpr, None] = {}
        for stage in self.stages:
            writer, expr = self._writer(stage, fixed, inside=True), stage.parts[0].expr
            if (goes_on := self.points.changing.get(stage.name)) is not None:
                yield from self._asked(writer, goes_on, chosen, changed)
            value = substituted(writer.value(expr, stage.dtype), chosen)
            yield Declare(f"const {stage.dtype.c}", f"{self._kept[stage.name]}_next", value)
        for stage in self._states:
            kept = self._kept[stage.name]
            yield Assign(Subscript(Id(kept), Id(AT)), "=", Id(f"{kept}_next"))
        for each in changed:
            yield Assign(Id(MORE), "|=", each)

    def _asked(
        self,
        writer: ExpressionWriter,
        goes_on: Expr,
        chosen: dict[CExpr, CExpr],
        changed: dict[CExpr, None],
    ) -> Iterator[Declare]:
        """Declare the condition on which a step changes a point, where it is not known yet.

        All choices by it then ask one variable, so that rounding cannot have them differ.
        """
        assert isinstance(goes_on, SelectExpr)
        value = writer.value(goes_on)
        assert isinstance(value, Ternary)
        if value.condition not in chosen:
            name = Id(f"_pm_chosen{len(chosen)}")
            yield Declare("const int", name.name, substituted(value.condition, chosen))
            chosen[value.condition] = name
        flag = chosen[value.condition]
        changed[Ternary(flag, value.then, value.otherwise)] = None

    def _stored(self) -> For:
        each = []
        for stage in self._states:
            point = tuple(self._index(stage)[dim] for dim in stage.dims)
            place = self.bodies.element(stage.name, point)
            each.append(Assign(place, "=", Subscript(Id(self._kept[stage.name]), Id(AT))))
        return self._over(Id(COUNT), each)


_ANY = Vectors((("|", (MORE,)),))
