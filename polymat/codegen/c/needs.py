"""What programs ask of `polymat.codegen.prelude`: pieces of C, by values that say all that their texts need.

Those that are here may be asked for from everywhere.  Others are `polymat.codegen.c.rows.RowNeed`, the
routines of libraries of `polymat.codegen.routines.cblas` and `fftw`, and shapes of register blocks: `Shape`,
`FilterShape` and `RecursiveShape`.
"""

from __future__ import annotations

from enum import Enum

from polymat.dataclass import dataclass
from polymat.userkernel import Microkernel


class Need:
    """A piece of the prelude.  Its string is for readers alone."""

    __slots__ = ()


class Piece(Need, Enum):
    """A piece that there is once."""

    COMPLEX = "complex"  # headers of C
    MATH = "math"
    STRING = "string"
    ARGUMENT = "argument"  # reads arguments
    PRODUCTS = "products"  # complex ones by clang
    MEMORY = "memory"
    WORKSPACE = "workspace"
    KEPT = "kept"
    PROCESSOR = "processor"  # asks what the processor has
    PLACE = "place"
    HALF = "half"  # numbers of half precision
    GATHERED = "gathered"  # several gathered elements side by side
    NEIGHBOURS = "neighbours"  # those of rows whose places are neighbours
    SHARES = "shares"  # equal shares of rows by their elements
    GRID = "grid"  # shares of rows and columns
    PROGRESS = "progress"  # tells threads that follow each other how far each has come
    TRAILING = "trailing"  # lets threads take steps by turns; needs that
    OUTSIDE = "outside"  # looks at inputs whose values were declared
    PAST = "past"  # writes memory past the caches
    EVEN = "even"  # tells that a condition holds as often as not
    WORDS = "words"  # several small integers each
    FEW_ENTRIES = "fewentries"  # of four bytes, looked up by permutations
    BYTE_TABLE = "bytetable"  # entries of one byte, looked up by permutations
    WIDE_TABLE = "widetable"  # more of them, at places of two bytes
    TEAM = "team"
    CURVE = "curve"
    CLOCK = "clock"  # of groups, for audits
    BLOCKS = "blocks"  # prices of products by register blocks
    LIBM = "libm"  # all elementary functions are libm's

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Helper(Need):
    """A function of elements: of `polymat.codegen.c.arithmetic`, or an elementary one.

    operation: "floordiv", say.  suffix: that of the type, "i32" say.
    """

    operation: str
    suffix: str

    def __str__(self) -> str:
        return f"{self.operation}_{self.suffix}"

    @property
    def function(self) -> str:
        """The name in C."""
        return f"_pm_{self}"


@dataclass(frozen=True, slots=True)
class HelperReduction(Need):
    """The OpenMP reduction by a helper, which has its name."""

    helper: Helper

    def __str__(self) -> str:
        return f"reduction_{self.helper}"


@dataclass(frozen=True, slots=True)
class UserKernel(Need):
    """A microkernel of the user's."""

    kernel: Microkernel

    def __str__(self) -> str:
        return f"microkernel_{self.kernel.name}"


FLOORDIV_I64, MIN_I64, MAX_I64 = (Helper(operation, "i64") for operation in ("floordiv", "min", "max"))
