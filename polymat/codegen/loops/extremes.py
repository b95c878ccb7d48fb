"""Minima and maxima along rows, in explicit vectors: NaN wins, as in NumPy.

C compilers keep one vector of them, whose next comparison waits for the one before, and compare its lanes one
by one with branches.  Here a single one is kept in several vectors side by side, several ones (rows that run
together) in one each, and lanes are compared by shuffles; what whole vectors leave of a row is one more
vector, the last of the row, some of whose elements are compared twice.  Measured (Zen 4, float, one thread):
the largest of each row of 448 took 0.3 of the time.  Sums, products and quotients are computed in vectors
right before they are compared; all else is, for many elements first, in a loop whose points are independent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from polymat.codegen.c.countingloops import BEHIND, HIGH, LOW, where_long
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CCall,
    CExpr,
    Declare,
    Evaluate,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    names_in,
)
from polymat.codegen.c.kernels import statements
from polymat.codegen.c.lanes import SHUFFLES
from polymat.codegen.c.needs import MIN_I64, Helper
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import RowTypes
from polymat.codegen.c.vectorloops import VECTORS
from polymat.codegen.c.vectortypes import memory_suffix
from polymat.codegen.loops.accumulators import PLACE, ROW_BEGIN, ROW_BYTES
from polymat.codegen.loops.gatheredrows import NOT_UNROLLED
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.codegen.loops.lanesums import LANES
from polymat.codegen.loops.rowvectors import RowVectors
from polymat.dataclass import dataclass

LAST = "_pm_last_at"  # where the next of the vectors behind the turns of the loop begins
TERMS, COUNT = "_pm_terms", "_pm_count"  # a row of terms, and how many there are in it
MOST_TERMS = 512  # a few KiB, in the first-level cache and on the stack
KINDS = {"min": "least", "max": "largest"}


def with_extremes(
    statements: Sequence[Stmt], types: RowTypes, arrays: Collection[str]
) -> tuple[Stmt, ...] | None:
    """The statements with their innermost loops around minima or maxima in vectors; None without any.

    arrays: those that have elements of that type.  Elements of rows, and arithmetic on them, are compared
    where they are; of a single minimum or maximum other terms are written into a row of their own first.

    before:  for k: m = max(m, x[k] * z)
    after:   for k by 32: v0 = max(v0, x[k ...] * z), .., v3 = max(v3, x[k + 24 ...] * z);  the vectors
             that are left;  m = max(m, the lanes of v0, .., v3);  the loop as it was for rows of less

    before:  for k: m = max(m, exp(x[k] - y[k]))
    after:   for rows of k: for p: t[p] = exp(x[k + p] - y[k + p]);  m = max(m, t[p]) for all p, as above
    """
    found = False

    def rewritten(loop: For) -> Stmt | None:
        nonlocal found
        made, span = _Extremes.of(loop, types, arrays), straight_range(loop)
        if span is None:
            return None
        block = _computed(loop, types, span) if made is None else made.block(loop, span)
        found = found or block is not None
        return block

    made = with_innermost(statements, rewritten, sums=True)
    return made if found else None


def masked(kind: str, suffix: str) -> Helper:
    """The function that compares two numbers without a branch, "min" or "max"."""
    return Helper(f"{kind}masked", suffix)


@dataclass(frozen=True, slots=True)
class _Extremes:
    """The variables of a loop that compares, and the vectors of what each is compared with.

    kind: "min" or "max".  same: what vectors are computed with that is the same for the whole row, by name.
    """

    types: RowTypes
    kind: str
    variable: str
    terms: tuple[tuple[str, CExpr], ...]
    same: tuple[tuple[str, CExpr], ...]

    @staticmethod
    def of(loop: For, types: RowTypes, arrays: Collection[str]) -> _Extremes | None:
        """Those of a loop; None where it does anything else."""
        functions = {f"_pm_{kind}_{types.suffix}": kind for kind in KINDS}
        kinds, terms = set(), []
        for statement in loop.body:
            match statement:
                case Assign(Id(name), "=", CCall(function, (Id(same), value))) if name == same:
                    if function not in functions:
                        return None
                    kinds.add(functions[function])
                    terms.append((name, value))
                case _:
                    return None
        names = {name for name, _ in terms}
        vectors = RowVectors(types, loop.variable, arrays, frozenset(names))
        found = [(name, vector) for name, value in terms if (vector := vectors.of(value)) is not None]
        if len(kinds) != 1 or not len(names) == len(found) == len(terms):
            return None
        return _Extremes(types, kinds.pop(), loop.variable, tuple(found), vectors.same)

    def block(self, loop: For, span: tuple[CExpr, CExpr]) -> Stmt:
        """Whole vectors, those that are left, and the lanes; less than one vector element by element.

        Of a loop whose lanes are combined by a function gcc writes the lanes to memory and combines them all.
        Of comparisons one after the other it makes branches, which half of random numbers take, and of masks
        vectors of rows side by side; less so where it writes the turns of a loop out.
        """
        short = replace(loop, pragmas=NOT_UNROLLED, body=tuple(map(self._masked, loop.body)))
        same = (Declare(f"const {self.types.ctype}", name, value) for name, value in self.same)
        return where_long(short, span, self.types.lanes_text, (*same, *self._vectors()))

    def _masked(self, statement: Stmt) -> Stmt:
        assert isinstance(statement, Assign), "it compares"
        assert isinstance(statement.value, CCall), "by a function"
        value = replace(statement.value, function=masked(self.kind, self.types.suffix).function)
        return replace(statement, value=value)

    def _vectors(self) -> Iterator[Stmt]:
        lanes, low, high, behind = self.types.lanes_text, Id(LOW), Id(HIGH), Id(BEHIND)
        side = ROW_BYTES // self.types.size if len(self.terms) == 1 else 1
        names = [[f"{LANES}_{k * side + n}" for n in range(side)] for k in range(len(self.terms))]
        first: dict[CExpr, CExpr] = {Id(self.variable): low}
        for (_, term), vectors in zip(self.terms, names, strict=True):
            for name in vectors:
                yield Declare(self.types.vector, name, substituted(term, first))
        turn = Literal(str(side * self.types.lanes))
        turns = CBinary("*", CBinary("/", CBinary("-", high, low), turn), turn)
        yield Declare("const ptrdiff_t", BEHIND, CBinary("+", low, turns))
        body = tuple(
            self._compared(name, term, n * self.types.lanes)
            for (_, term), vectors in zip(self.terms, names, strict=True)
            for n, name in enumerate(vectors)
        )
        yield For(self.variable, low, CBinary("<", Id(self.variable), behind), turn, body)
        end = CCall(MIN_I64.function, (Id(LAST), CBinary("-", high, lanes)))
        at = Declare("const ptrdiff_t", self.variable, end)
        left = tuple(
            self._compared(vectors[0], term, 0) for (_, term), vectors in zip(self.terms, names, strict=True)
        )
        yield For(LAST, behind, CBinary("<", Id(LAST), high), lanes, (at, *left))
        for (name, _), vectors in zip(self.terms, names, strict=True):
            every: CExpr = Id(vectors[0])
            for vector in vectors[1:]:
                every = CCall(self._both, (every, Id(vector)))
            lane = CCall(f"_pm_row_{KINDS[self.kind]}_{self.types.suffix}", (every,))
            yield Assign(Id(name), "=", CCall(f"_pm_{self.kind}_{self.types.suffix}", (Id(name), lane)))

    @property
    def _both(self) -> str:
        return f"_pm_row_{self.kind}_{self.types.suffix}"

    def _compared(self, name: str, term: CExpr, offset: int) -> Stmt:
        """Compare the vector so many elements from here on with one of those side by side."""
        point = CBinary("+", Id(self.variable), Literal(str(offset))) if offset else Id(self.variable)
        moved = substituted(term, {Id(self.variable): point}) if offset else term
        return Assign(Id(name), "=", CCall(self._both, (Id(name), moved)))


def _computed(loop: For, types: RowTypes, span: tuple[CExpr, CExpr]) -> Stmt | None:
    """The loop over rows of terms, each written and then compared; None where there is more than one term."""
    *before, last = loop.body
    match last:
        case Assign(Id(name), "=", CCall(function, (Id(same), value))) if name == same:
            if function not in {f"_pm_{kind}_{types.suffix}" for kind in KINDS}:
                return None
        case _:
            return None
    if not all(isinstance(each, Declare) for each in before) or name in names_in([*before, Evaluate(value)]):
        return None
    begin, count, term = Id(ROW_BEGIN), Id(COUNT), Subscript(Id(TERMS), Id(PLACE))
    here = Declare("const ptrdiff_t", loop.variable, CBinary("+", begin, Id(PLACE)))
    inside, one = CBinary("<", Id(PLACE), count), Literal("1")
    written = For(PLACE, Literal("0"), inside, one, (here, *before, Assign(term, "=", value)), (VECTORS,))
    compared = replace(last, value=CCall(function, (Id(name), term)))
    over = For(PLACE, Literal("0"), inside, one, (compared,), loop.pragmas)
    extremes = _Extremes.of(over, types, {TERMS})
    assert extremes is not None, "it compares the elements of a row"
    most = Literal(str(MOST_TERMS))
    left = CCall(MIN_I64.function, (CBinary("-", span[1], begin), most))
    row = (Declare("const ptrdiff_t", COUNT, left), written, extremes.block(over, (Literal("0"), count)))
    rows = For(ROW_BEGIN, span[0], CBinary("<", begin, span[1]), most, row)
    return Block((Declare(types.ctype, f"{TERMS}[{MOST_TERMS}]"), rows))


def extremes_text(types: RowTypes) -> str:
    """A piece of the prelude; it stands after that of `single_sums_text`."""
    return "\n".join([SHUFFLES, *(_text(types, kind, sign) for kind, sign in (("min", "<"), ("max", ">")))])


def _text(types: RowTypes, kind: str, sign: str) -> str:
    suffix, both = types.suffix, f"_pm_row_{kind}_{types.suffix}"
    steps, step = [], types.lanes // 2
    while step > 0:
        other = ", ".join(str(lane ^ step) for lane in range(types.lanes))
        steps.append(f"all = {both}(all, __builtin_shufflevector(all, all, {other}))")
        step //= 2
    macros = {"OF_TWO(a, b)": f"_pm_{kind}_{suffix}(a, b)"}
    macros |= {"ORDERED(end)": f"__builtin_ia32_{kind}{memory_suffix(suffix)}##end"}
    macros["COMPARED"] = f"__builtin_ia32_cmp{memory_suffix(suffix)}512_mask"
    found = f"_pm_row_{KINDS[kind]}_{suffix}"
    return types.kernel("extremes", BEFORE=sign, BOTH=both, FOUND=found, HALVES=statements(steps), **macros)
