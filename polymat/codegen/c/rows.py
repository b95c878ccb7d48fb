"""Elements of rows, and rows as vectors: types and accesses in C."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from enum import Enum
from typing import TypeGuard

from polymat.codegen.c.ctree import CBinary, CCall, CExpr, CUnary, Evaluate, Id, Literal, Subscript, names_in
from polymat.codegen.c.elements import C_TYPES, ELEMENT_BYTES
from polymat.codegen.c.kernels import kernel, kernel_text
from polymat.codegen.c.needs import Need
from polymat.codegen.c.vectortypes import lane_macros, processor_macros
from polymat.dataclass import dataclass
from polymat.lang.types import ScalarType

ALIGNED_BYTES = 64  # of vectors of which one instruction takes any that lies in two neighbours
LANES_OF_WORDS = 8  # of such vectors, of elements of eight bytes
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]*)?(e[-+]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class RowTypes:
    """Vectors of a number of elements of one floating-point type.  suffix: "f32" or "f64"."""

    suffix: str
    lanes: int

    @staticmethod
    def of(dtype: ScalarType, lanes: int) -> RowTypes | None:
        """Vectors of a type; None of one that has none."""
        return RowTypes(dtype.suffix, lanes) if dtype.suffix in C_TYPES else None

    def kernel(self, name: str, **macros: object) -> str:
        """A header of `kernels/rows` for these vectors; macros: those that it takes beside the usual ones."""
        header = f"rows/{name}"
        usual = lane_macros(self.suffix, self.lanes) | processor_macros(self.suffix)
        takes = dict(kernel(header).takes)
        wanted = {macro: value for macro, value in usual.items() if macro in takes}
        return kernel_text(header, self.suffix, wanted | macros)

    @property
    def ctype(self) -> str:
        """The C type of an element."""
        return C_TYPES[self.suffix]

    @property
    def vector(self) -> str:
        """The C type of a vector."""
        return f"_pm_row_{self.suffix}"

    def needs(self, *parts: RowPart) -> set[RowNeed]:
        """The vectors, and what else is asked for of them."""
        return {RowNeed(part, self) for part in (RowPart.VECTORS, *parts)}

    @property
    def turning(self) -> str:
        """The function that turns a vector round."""
        return f"_pm_row_backwards_{self.suffix}"

    @property
    def storing_parts(self) -> str:
        """The function that writes some lanes of a vector."""
        return f"_pm_row_store_part_{self.suffix}"

    @property
    def size(self) -> int:
        """Bytes of a vector."""
        return self.lanes * ELEMENT_BYTES[self.suffix]

    @property
    def lanes_text(self) -> Literal:
        """The number of elements in C."""
        return Literal(str(self.lanes))

    def is_number(self, text: str) -> bool:
        """Whether a literal is a number of this very type: C converts no other beside a vector."""
        bare = text.removesuffix("f")
        has_type = (bare != text) == (self.suffix == "f32")
        return has_type and _NUMBER.fullmatch(bare) is not None and ("." in bare or "e" in bare)

    def load(self, element: CExpr) -> CExpr:
        """The vector that begins at an element."""
        return CCall(f"_pm_row_load_{self.suffix}", (CUnary("&", element),))

    def backwards(self, vector: CExpr) -> CExpr:
        """A vector with its lanes in the opposite order."""
        return CCall(self.turning, (vector,))

    def store(self, element: CExpr, value: CExpr) -> CExpr:
        """Write a vector to where an element begins."""
        return CCall(f"_pm_row_store_{self.suffix}", (CUnary("&", element), value))

    def behind(self, now: CExpr, following: CExpr, shift: int) -> CExpr:
        """The vector that begins `shift` elements behind the first of two neighbours."""
        if shift in (0, self.lanes):
            return following if shift else now
        return CCall(f"_PM_ROW_BEHIND_{self.suffix}", (now, following, Literal(str(shift))))

    def store_part(self, element: CExpr, value: CExpr, begin: CExpr, end: CExpr) -> CExpr:
        """Write the lanes from `begin` on and before `end`, of which some or all may be none."""
        return CCall(self.storing_parts, (CUnary("&", element), value, begin, end))

    def last(self, element: CExpr, count: CExpr) -> CExpr:
        """The vector that begins at an element, with 0 in place of all but the last `count` lanes."""
        return CCall(f"_pm_row_last_{self.suffix}", (CUnary("&", element), count))

    def first(self, element: CExpr, count: CExpr) -> CExpr:
        """The vector of which only the first `count` elements are there, with 0 in place of the others."""
        mask = CCall(f"_PM_PART_MASK_{self.suffix}", (count,))
        return CCall(f"_pm_part_load_{self.suffix}", (CUnary("&", element), mask))

    def stream(self, element: CExpr, value: CExpr) -> CExpr:
        """Write a vector past the caches, to an element that begins a line."""
        return CCall(f"_pm_row_stream_{self.suffix}", (CUnary("&", element), value))

    def streamed(self) -> CExpr:
        """The fence between stores past the caches and telling other threads of them."""
        return CCall(f"_pm_row_streamed_{self.suffix}", ())

    def here(self, at: CExpr) -> CExpr:
        """A constant of this vector type, computed anew where it is needed."""
        return CCall(f"_pm_row_here_{self.suffix}", (at,))

    def gather(self, element: CExpr, apart: CExpr) -> CExpr:
        """The vector of elements from one on, each so many behind the one before."""
        return CCall(f"_pm_row_gather_{self.suffix}", (CUnary("&", element), apart))

    def scatter(self, element: CExpr, apart: CExpr, value: CExpr) -> CExpr:
        """Write a vector to elements from one on, each so many behind the one before."""
        return CCall(f"_pm_row_scatter_{self.suffix}", (CUnary("&", element), apart, value))

    def spread(self, element: CExpr) -> CExpr:
        """The vector that has an element in every lane."""
        return CCall(f"_pm_row_spread_{self.suffix}", (element,))

    def turn(self, address: CExpr) -> CExpr:
        """How many elements behind an address the next line begins."""
        return CCall(f"_pm_row_turn_{self.suffix}", (address,))

    def turned(self, now: CExpr, following: CExpr, turn: CExpr) -> CExpr:
        """The vector that begins so many elements, known at run time, behind the first of two neighbours."""
        return CCall(f"_pm_row_turned_{self.suffix}", (now, following, turn))


class RowPart(Enum):
    """A part of the C for vectors of rows; they are in the order of the text, each after what it uses."""

    VECTORS = "rows"
    APART = "apart"  # vectors of elements that lie apart
    LINES = "lines"  # stores of parts and of whole lines
    SUMS = "sums"  # of rows in vectors
    TOTAL = "total"  # parts of a vector, and the sum of its lanes
    BACKWARDS = "backwards"  # vectors of rows that are read from their ends
    EXTREMES = "extremes"  # minima and maxima in vectors
    SEGMENTS = "segments"  # arrays as rows of points of segments
    LANED = "laned"  # vectors of which some first lanes count


@dataclass(frozen=True, slots=True)
class RowNeed(Need):
    """The need of a part of the C for vectors of rows."""

    part: RowPart
    types: RowTypes

    def __str__(self) -> str:
        return f"{self.part.value}_{self.types.suffix}x{self.types.lanes}"


def rows_text(types: RowTypes) -> str:
    """The types and the shift of the vectors."""
    s = types.suffix
    indices = ", ".join(f"shift + {lane}" if lane else "shift" for lane in range(types.lanes))
    macro = f"#define _PM_ROW_BEHIND_{s}(now, next, shift)"
    places = f"(_pm_row_places_{s}){{{indices}}}"
    behind = (
        "/* The vector that begins some elements behind the first of two neighbours. */",
        *(_aligned(macro, types) if types.size == ALIGNED_BYTES else ()),
        f"#{'el' if types.size == ALIGNED_BYTES else ''}if defined(__clang__) || __GNUC__ >= 12",
        f"{macro} __builtin_shufflevector(now, next, {indices})",
        "#else",
        f"{macro} __builtin_shuffle(now, next, {places})",
        "#endif",
    )
    return "\n".join([types.kernel("vectors"), *behind, ""])


def _aligned(macro: str, types: RowTypes) -> tuple[str, str]:
    """One instruction that needs no vector of places, which gcc has in mind for no shift.

    It leaves both vectors as they are, where a permutation writes over one of them.
    """
    places = f"(_pm_row_places_{types.suffix})"
    kind, lanes = ("q", "char") if types.lanes == LANES_OF_WORDS else ("d", "short")
    given = f"{places}(next), {places}(now), shift, {places}{{0}}, (unsigned {lanes})-1"
    return (
        "#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)",
        f"{macro} (_pm_row_{types.suffix})__builtin_ia32_align{kind}512_mask({given})",
    )


def apart_text(types: RowTypes) -> str:
    """A piece of the prelude; it stands after that of `rows_text`."""
    elements = [f"first[{lane} * apart]" for lane in range(types.lanes)]
    stores = (f"{element} = value[{lane}]" for lane, element in enumerate(elements))
    return types.kernel("apart", GATHERED=", ".join(elements), SCATTERED=", ".join(stores))


def segments_text(types: RowTypes) -> str:
    """A piece of the prelude; it stands after that of `rows_text`."""
    turned = f"_PM_ROW_BEHIND_{types.suffix}(all, all, "
    macros = {"ONWARDS(all)": f"{turned}1)", "BACK(all)": f"{turned}{types.lanes - 1})"}
    return types.kernel("segments", **macros)


def laned_text(types: RowTypes) -> str:
    """A piece of the prelude; it stands after that of `rows_text`."""
    return types.kernel("laned")


@dataclass(frozen=True, slots=True)
class RowRead:
    """An element `offset` elements behind the point of a loop; row: the array, and what else tells where."""

    expr: Subscript
    array: str
    row: tuple[str, object]
    offset: int

    @property
    def place(self) -> object:
        """Where it is in its array."""
        return self.row[1], self.offset


def read_of(expr: CExpr, variable: str, sign: int = 1) -> RowRead | None:
    """An element whose index is the loop's variable plus what does not change; None of any other.

    sign: -1 where the variable is subtracted, and its elements are read backwards.
    """
    if not isinstance(expr, Subscript) or not isinstance(expr.array, Id):
        return None
    numbers = [(sign, term, integer_of(term)) for sign, term in index_terms(expr.index)]
    offset = sum(sign * number for sign, _, number in numbers if number is not None)
    rest = sorted(((sign, _folded(term)) for sign, term, number in numbers if number is None), key=repr)
    point = (sign, _folded(Id(variable)))
    if point not in rest:
        return None
    rest.remove(point)
    if variable in names_in([Evaluate(term) for _, term in rest]):
        return None
    return RowRead(expr, expr.array.name, (expr.array.name, tuple(rest)), offset)


def is_element(node: CExpr, arrays: Container[str]) -> TypeGuard[Subscript]:
    """Whether it is an element of one of these arrays, by its name."""
    return isinstance(node, Subscript) and isinstance(node.array, Id) and node.array.name in arrays


def integer_of(term: CExpr) -> int | None:
    """The value of a whole number."""
    return int(term.text) if isinstance(term, Literal) and term.text.isdecimal() else None


def index_terms(expr: CExpr, sign: int = 1) -> Iterator[tuple[int, CExpr]]:
    """The terms that an index adds up, with their signs."""
    match expr:
        case CBinary("+", left, right):
            yield from index_terms(left, sign)
            yield from index_terms(right, sign)
        case CBinary("-", left, right):
            yield from index_terms(left, sign)
            yield from index_terms(right, -sign)
        case _:
            yield sign, expr


def _folded(expr: CExpr) -> CExpr:
    """The same with numbers of each sum added up, so that rows of two points compare: i + 1 - 1 is i + 0."""
    match expr:
        case CBinary("+" | "-"):
            terms = [(s, t if isinstance(t, Id) else _folded(t)) for s, t in index_terms(expr)]
            total = sum(sign * (integer_of(term) or 0) for sign, term in terms)
            kept = [(sign, term) for sign, term in terms if integer_of(term) is None]
            made: CExpr = Literal(str(total))
            for sign, term in sorted(kept, key=repr):
                made = CBinary("+" if sign > 0 else "-", made, term)
            return made
        case CBinary(op, left, right):
            return CBinary(op, _folded(left), _folded(right))
        case Id():
            return CBinary("+", Literal("0"), expr)
        case _:
            return expr
