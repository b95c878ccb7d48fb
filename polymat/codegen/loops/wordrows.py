"""Rows of 8- and 16-bit integers that are computed in floating point: words of 32 bits, of four or two each.

A compiler that takes them element by element loads vectors of as many elements as bytes, spreads each over
four vectors of numbers and packs those again, by shuffles that take longer than the arithmetic.  Of vectors
of words, shifts and masks give the first elements of all words, the second ones and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CUnary,
    Declare,
    Evaluate,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    always_evaluated,
    expressions,
    names_in,
)
from polymat.codegen.c.othernames import substituted
from polymat.codegen.c.rows import read_of
from polymat.codegen.loops.innermost import straight_range, with_innermost
from polymat.dataclass import dataclass
from polymat.lang.types import ScalarType

WORD, LANE = "_pm_word", "_pm_lane"  # with numbers: a word that is read; one element of the word written
LOW, HIGH = "_pm_word_low", "_pm_word_high"  # where a row begins and ends
REST, LAST = "_pm_word_rest", "_pm_word_last"  # how many elements are no whole word, and one of them
BITS = 32


def with_words(statements: Sequence[Stmt], arrays: Mapping[str, ScalarType]) -> tuple[Stmt, ...]:
    """The statements with those innermost loops over words that compute elements of the arrays from others.

    arrays: integers of one size; what is written are conversions of floating-point values.

    before:  for j: y[j] = (uint8_t)f((float)x[j])
    after:   for j by 4: word = x[j ... j + 3]; y[j ... j + 3] = f(word & 255) & 255 | f(word >> 8 ...) << 8
             for the last j: y[j] = (uint8_t)f((float)x[j])
    """

    def rewritten(loop: For) -> Block | None:
        found = straight_range(loop)
        row = _WordRow.of(loop, arrays)
        return row.over(*found) if found is not None and row is not None else None

    return with_innermost(statements, rewritten)


@dataclass(frozen=True, slots=True)
class _WordRow:
    """A loop over a row; reads: the elements that it reads along the row, each once."""

    loop: For
    arrays: Mapping[str, ScalarType]
    reads: tuple[Subscript, ...]

    @staticmethod
    def of(loop: For, arrays: Mapping[str, ScalarType]) -> _WordRow | None:
        """The loop, if all that changes along it are elements of these arrays that every point reads."""
        targets = [item.target for item in loop.body if isinstance(item, Assign)]
        if not targets or not all(_is_element(target, loop.variable, arrays) for target in targets):
            return None
        values = _values(loop.body)
        if not all(isinstance(item, Declare) or isinstance(_value(item), Cast) for item in loop.body):
            return None
        always = {e for e in always_evaluated(values) if _is_element(e, loop.variable, arrays)}
        found = dict.fromkeys(e for e in expressions(values) if e in always and isinstance(e, Subscript))
        rest = substituted(values, {element: Literal("0") for element in found})
        return _WordRow(loop, arrays, tuple(found)) if found and loop.variable not in names_in(rest) else None

    def over(self, start: CExpr, high: CExpr) -> Block:
        """The loop over whole words, and the one over the elements behind them."""
        variable, each = self.loop.variable, self._elements()
        inside = CBinary("<", Id(variable), CBinary("-", Id(HIGH), Literal(str(each - 1))))
        words = For(variable, Id(LOW), inside, Literal(str(each)), self._at_words(), self.loop.pragmas)
        place = CBinary("+", CBinary("-", Id(HIGH), Id(REST)), Id(LAST))
        last = (Declare("const ptrdiff_t", variable, place), *self.loop.body)
        length = CBinary("-", Id(HIGH), Id(LOW))
        return Block(
            (
                Declare("const ptrdiff_t", LOW, start),
                Declare("const ptrdiff_t", HIGH, high),
                Declare("const ptrdiff_t", REST, CBinary("%", length, Literal(str(each)))),
                words,
                For(LAST, Literal("0"), CBinary("<", Id(LAST), Id(REST)), Literal("1"), last),
            )
        )

    def _elements(self) -> int:
        return BITS // self._bits()

    def _bits(self) -> int:
        return 8 * next(iter(self.arrays.values())).size

    def _at_words(self) -> tuple[Stmt, ...]:
        """The statements for the elements of a word: all reads, then each element, then what is written."""
        loads = [
            Declare("const uint32_t", f"{WORD}{k}", CCall("_pm_word_load", (CUnary("&", read),)))
            for k, read in enumerate(self.reads)
        ]
        lanes = [item for lane in range(self._elements()) for item in self._at_lane(lane)]
        return (*loads, *lanes, *self._stores())

    def _at_lane(self, lane: int) -> list[Stmt]:
        """The locals and the results of one element."""
        known: dict[CExpr, CExpr] = {read: self._element(k, lane) for k, read in enumerate(self.reads)}
        made: list[Stmt] = []
        for number, item in enumerate(self.loop.body):
            value = substituted(_value(item), known)
            if isinstance(item, Declare):
                made.append(Declare(item.ctype, f"{item.name}_{lane}", value))
                known[Id(item.name)] = Id(f"{item.name}_{lane}")
            elif isinstance(value, Cast):
                bits: CExpr = Cast("uint32_t", Cast("int32_t", value.operand))
                if lane + 1 < self._elements():
                    bits = CBinary("&", bits, Literal(str((1 << self._bits()) - 1)))
                made.append(Declare("const uint32_t", f"{LANE}{number}_{lane}", bits))
        return made

    def _element(self, word: int, lane: int) -> CExpr:
        """What C makes of an element of a word in an expression: an int."""
        read, bits = self.reads[word], self._bits()
        assert isinstance(read.array, Id), "an element is one of a named array"
        value: CExpr = Id(f"{WORD}{word}")
        if self.arrays[read.array.name].kind == "i":
            left = _shifted(value, "<<", BITS - bits * (lane + 1))
            return _shifted(Cast("int32_t", left), ">>", BITS - bits)
        value = _shifted(value, ">>", bits * lane)
        if lane + 1 < self._elements():
            value = CBinary("&", value, Literal(str((1 << bits) - 1)))
        return Cast("int32_t", value)

    def _stores(self) -> list[Stmt]:
        made: list[Stmt] = []
        for number, item in enumerate(self.loop.body):
            if isinstance(item, Assign):
                word: CExpr = Id(f"{LANE}{number}_0")
                for lane in range(1, self._elements()):
                    place = _shifted(Id(f"{LANE}{number}_{lane}"), "<<", self._bits() * lane)
                    word = CBinary("|", word, place)
                made.append(Evaluate(CCall("_pm_word_store", (CUnary("&", item.target), word))))
        return made


def _is_element(expr: CExpr, variable: str, arrays: Mapping[str, ScalarType]) -> bool:
    """Whether an expression is the element of one of the arrays at a point of a row, or beside it."""
    read = read_of(expr, variable)
    return read is not None and read.array in arrays


def _values(body: Sequence[Stmt]) -> tuple[Evaluate, ...]:
    return tuple(Evaluate(value) for value in map(_value, body) if value is not None)


def _value(item: Stmt) -> CExpr | None:
    return item.value if isinstance(item, (Declare, Assign)) else None


def _shifted(value: CExpr, op: str, bits: int) -> CExpr:
    return CBinary(op, value, Literal(str(bits))) if bits else value
