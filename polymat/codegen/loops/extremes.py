"""Minima and maxima along rows, in explicit vectors: NaN wins, as in NumPy.

C compilers keep one vector of them, whose next comparison waits for the one before, and compare its lanes one
by one with branches.  Here a single one is kept in several vectors side by side, several ones (rows that run
together) in one each, and lanes are compared by shuffles; what whole vectors leave of a row is one more
vector, the last of the row, some of whose elements are compared twice.  Measured (Zen 4, float, one thread):
the largest of each row of 448 took 0.3 of the time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from polymat.codegen.c.ctree import (
    Assign,
    Binary,
    Block,
    Call,
    CExpr,
    Declare,
    For,
    Id,
    If,
    Literal,
    Stmt,
    substituted,
)
from polymat.codegen.c.elements import INTEGERS
from polymat.codegen.c.lanes import SHUFFLES
from polymat.codegen.c.rows import RowTypes, read_of
from polymat.codegen.loops.accumulators import ROW_BYTES, VECTORISED
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.codegen.loops.lanesums import BEHIND, HIGH, LANES, LOW

LAST = "_pm_last_at"  # where the next of the vectors behind the turns of the loop begins
KINDS = {"min": "least", "max": "largest"}


def with_extremes(
    statements: Sequence[Stmt], types: RowTypes, arrays: Collection[str]
) -> tuple[Stmt, ...] | None:
    """The statements with their innermost loops around minima or maxima in vectors; None without any.

    arrays: those that have elements of that type.  Only elements of rows, and their magnitudes, are compared.

    before:  for k: m = max(m, x[k])
    after:   for k by 32: v0 = max(v0, x[k ...]), .., v3 = max(v3, x[k + 24 ...]);  the vectors that are left;
             m = max(m, the lanes of v0, .., v3);  the loop as it was for rows of less than one vector
    """
    found = False

    def rewritten(loop: For) -> Stmt | None:
        nonlocal found
        made, span = _Extremes.of(loop, types, arrays), straight_range(loop)
        if made is None or span is None:
            return None
        found = True
        return made.block(loop, span)

    made = with_innermost(statements, rewritten, sums=True)
    return made if found else None


@dataclass(frozen=True, slots=True)
class _Extremes:
    """The variables of a loop that compares, and what each is compared with; kind: "min" or "max"."""

    types: RowTypes
    kind: str
    variable: str
    terms: tuple[tuple[str, CExpr], ...]

    @staticmethod
    def of(loop: For, types: RowTypes, arrays: Collection[str]) -> _Extremes | None:
        """Those of a loop; None where it does anything else."""
        functions = {f"_pm_{kind}_{types.suffix}": kind for kind in KINDS}
        kinds, terms = set(), []
        for statement in loop.body:
            match statement:
                case Assign(Id(name), "=", Call(function, (Id(same), value))) if name == same:
                    read = read_of(_element(value), loop.variable)
                    if function not in functions or read is None or read.array not in arrays:
                        return None
                    kinds.add(functions[function])
                    terms.append((name, value))
                case _:
                    return None
        if len(kinds) != 1 or len({name for name, _ in terms}) != len(terms):
            return None
        return _Extremes(types, kinds.pop(), loop.variable, tuple(terms))

    def block(self, loop: For, span: tuple[CExpr, CExpr]) -> Stmt:
        """Whole vectors, those that are left, and the lanes; the loop as it was for less than one vector."""
        inside = replace(loop, start=Id(LOW), condition=Binary("<", Id(loop.variable), Id(HIGH)))
        known = (Declare("const ptrdiff_t", LOW, span[0]), Declare("const ptrdiff_t", HIGH, span[1]))
        room = Binary(">=", Binary("-", Id(HIGH), Id(LOW)), self.types.lanes_text)
        return Block((*known, If(room, tuple(self._vectors()), (inside,))))

    def _vectors(self) -> Iterator[Stmt]:
        lanes, low, high, behind = self.types.lanes_text, Id(LOW), Id(HIGH), Id(BEHIND)
        side = ROW_BYTES // self.types.size if len(self.terms) == 1 else 1
        names = [[f"{LANES}_{k * side + n}" for n in range(side)] for k in range(len(self.terms))]
        first: dict[CExpr, CExpr] = {Id(self.variable): low}
        for (_, term), vectors in zip(self.terms, names, strict=True):
            for name in vectors:
                yield Declare(self.types.vector, name, self._vector(substituted(term, first)))
        turn = Literal(str(side * self.types.lanes))
        turns = Binary("*", Binary("/", Binary("-", high, low), turn), turn)
        yield Declare("const ptrdiff_t", BEHIND, Binary("+", low, turns))
        body = tuple(
            self._compared(name, term, n * self.types.lanes)
            for (_, term), vectors in zip(self.terms, names, strict=True)
            for n, name in enumerate(vectors)
        )
        yield For(self.variable, low, Binary("<", Id(self.variable), behind), turn, body)
        end = Call("_pm_min_i64", (Id(LAST), Binary("-", high, lanes)))
        at = Declare("const ptrdiff_t", self.variable, end)
        left = tuple(
            self._compared(vectors[0], term, 0) for (_, term), vectors in zip(self.terms, names, strict=True)
        )
        yield For(LAST, behind, Binary("<", Id(LAST), high), lanes, (at, *left))
        for (name, _), vectors in zip(self.terms, names, strict=True):
            every: CExpr = Id(vectors[0])
            for vector in vectors[1:]:
                every = Call(self._both, (every, Id(vector)))
            lane = Call(f"_pm_row_{KINDS[self.kind]}_{self.types.suffix}", (every,))
            yield Assign(Id(name), "=", Call(f"_pm_{self.kind}_{self.types.suffix}", (Id(name), lane)))

    @property
    def _both(self) -> str:
        return f"_pm_row_{self.kind}_{self.types.suffix}"

    def _compared(self, name: str, term: CExpr, offset: int) -> Stmt:
        """Compare the vector so many elements from here on with one of those side by side."""
        point = Binary("+", Id(self.variable), Literal(str(offset))) if offset else Id(self.variable)
        moved = substituted(term, {Id(self.variable): point}) if offset else term
        return Assign(Id(name), "=", Call(self._both, (Id(name), self._vector(moved))))

    def _vector(self, term: CExpr) -> CExpr:
        """The vector that begins at a term."""
        vector = self.types.load(_element(term))
        return Call(f"_pm_row_abs_{self.types.suffix}", (vector,)) if isinstance(term, Call) else vector


def _element(term: CExpr) -> CExpr:
    """What a term is made of: an element, or what it is the magnitude of."""
    match term:
        case Call(function, (element,)) if function in VECTORISED:
            return element
        case _:
            return term


def extremes_text(need: str) -> str:
    """What goes by this name in the prelude, `extremes_f32x16` say; after `total_f32x16`."""
    suffix, lanes = need.removeprefix("extremes_").split("x")
    types = RowTypes(suffix, int(lanes))
    texts = [
        SHUFFLES,
        f"typedef {INTEGERS[suffix]} {_lane(types)} __attribute__((vector_size({types.size})));",
    ]
    for kind, sign in (("min", "<"), ("max", ">")):
        texts.append(_text(types, kind, sign))
    return "\n".join(texts)


def _lane(types: RowTypes) -> str:
    return f"{types.vector}_chosen"


def _text(types: RowTypes, kind: str, sign: str) -> str:
    suffix, vector, both = types.suffix, types.vector, f"_pm_row_{kind}_{types.suffix}"
    steps, step = [], types.lanes // 2
    while step > 0:
        other = ", ".join(str(lane ^ step) for lane in range(types.lanes))
        steps.append(f"    all = {both}(all, __builtin_shufflevector(all, all, {other}));\n")
        step //= 2
    return f"""\
/* Lane by lane; a NaN on either side is the result. */
static inline {vector} {both}({vector} a, {vector} b)
{{
    const {_lane(types)} first = ({_lane(types)})((a {sign} b) | (a != a));
    return ({vector})((first & ({_lane(types)})a) | (~first & ({_lane(types)})b));
}}

static inline {types.ctype} _pm_row_{KINDS[kind]}_{suffix}({vector} all)
{{
#ifdef _PM_SHUFFLES
{"".join(steps)}    return all[0];
#else
    {types.ctype} found = all[0];
    for (int lane = 1; lane < {types.lanes}; lane++)
        found = _pm_{kind}_{suffix}(found, all[lane]);
    return found;
#endif
}}
"""
