"""The routines of BLAS that calls may be of, one row each: all that is said of a routine alone.

What a row does not hold is code: a matcher in `polymat.idiom` finds the calls, a writer in
`polymat.codegen.routines` puts their arguments together, and a case in `polymat.runtime.blascases` tries the
routine out.  With op(X) as the operands' `transposed` and `conjugated` say, and all sums over k, a row's
formula says what the routine computes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from polymat.dataclass import dataclass

Start: TypeAlias = Literal["scaled", "added", "replaced", "set"]

HALF = 0.5  # of a square: what lies on one side of its diagonal
LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}


@dataclass(frozen=True, slots=True)
class Form:
    """A routine of CBLAS for some types: its name and its parameters.

    letters: of the types, of s, d, c and z.  name: without the letter.
    parameters: in order, a letter each: o the order, e an enumeration, i an extent or stride, l a leading
    dimension, s a scalar, r a real scalar, a an array that is read, w one that is written.
    returns: whether it returns a real number.
    """

    letters: str
    name: str
    parameters: str
    returns: bool = False

    def cblas_name(self, letter: str) -> str:
        """The name in CBLAS, with the letter of a type."""
        return f"cblas_{letter}{self.name}"


@dataclass(frozen=True, slots=True)
class Timed:
    """How calibration measures a routine.

    name: of the measurement.  roles: the axes whose extents describe a call, in order.
    arguments: in C, with these extents as x, y, z and matrices or vectors at a, b and c.  There a holds
    zeros, b and c ones, and the diagonal of a triangular matrix counts as ones: what is done again and again
    neither overflows nor vanishes.
    """

    name: str
    roles: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Routine:
    """One routine of BLAS.

    level: 1 for vectors, 2 for a matrix and vectors, 3 for matrices alone.
    start: what the result holds before: "scaled": anything, which the call scales; "added": what is added to,
    which must be set even if it is zero; "replaced": an operand, which the result overwrites; "set":
    anything, which is not read.
    triangle_of: of which a triangle alone is computed or read.
    products: of elements at a step of all axes.
    timed: as measured; transposed: with the last of its matrices transposed alone, None where that is the
    same.  like: another routine that was measured in its place.
    loops_do: whether loops are as quick, so that it is called only where calls are wanted in any case.
    spreads: whether it may spread infinities and NaN to elements that have no part in them.
    rounds: whether it divides or takes roots, which not every order does without rounding.
    """

    name: str
    level: Literal[1, 2, 3]
    formula: str
    forms: tuple[Form, ...]
    start: Start = "scaled"
    triangle_of: Literal["result", "operand"] | None = None
    products: float = 1.0
    timed: Timed | None = None
    transposed: Timed | None = None
    like: str = ""
    loops_do: bool = False
    spreads: bool = False
    rounds: bool = False

    @property
    def points(self) -> float:
        """Multiplications at a step of all axes: half, where a triangle saves the other half."""
        return self.products * (1.0 if self.triangle_of is None else HALF)

    @property
    def overwrites(self) -> bool:
        """Whether it computes the result from nothing, instead of adding to it."""
        return self.start in ("replaced", "set")

    @property
    def is_scaled_before(self) -> bool:
        """Whether it takes no scale, so that the operand it replaces is scaled before."""
        return self.start == "replaced" and all("s" not in form.parameters for form in self.forms)

    def form(self, dtype: str) -> Form | None:
        """The form of this routine in CBLAS for a NumPy dtype; None where there is none."""
        return next((form for form in self.forms if LETTERS[dtype] in form.letters), None)


_ROWS = (
    Routine(
        "gemm", 3, "result(m, n) += alpha A(m, k) B(k, n)", (Form("sdcz", "gemm", "oeeiiisalalswl"),),
        timed=Timed("gemm", "mnk", "(111, 111, x, y, z, one, a, z, b, y, zero, c, y)"),
        transposed=Timed("gemm_t", "mnk", "(111, 112, x, y, z, one, a, z, b, z, zero, c, y)"),
    ),
    Routine(
        "symm", 3, "as gemm, A symmetric (side left, m x m) or B (side right, n x n)",
        (Form("sdcz", "symm", "oeeiisalalswl"),),
        timed=Timed("symm", "mn", "(141, 122, x, y, one, a, x, b, y, zero, c, y)"),
    ),
    Routine(
        "syrk", 3, "result(m, n) += alpha A(m, k) A(n, k) in one triangle of the result",
        (Form("sdcz", "syrk", "oeeiisalswl"),), triangle_of="result",
        timed=Timed("syrk", "mk", "(122, 111, x, y, one, a, y, zero, c, x)"),
    ),
    Routine(
        "herk", 3, "result(m, n) += alpha A(m, k) conj(A(n, k)) in one triangle of the result",
        (Form("cz", "herk", "oeeiiralrwl"),), triangle_of="result", like="syrk",
    ),
    Routine(
        "syr2k", 3, "result(m, n) += alpha (A(m, k) B(n, k) + B(m, k) A(n, k)) in one triangle of the result",
        (Form("sdcz", "syr2k", "oeeiisalalswl"),), triangle_of="result", products=2.0,
        timed=Timed("syr2k", "mk", "(122, 111, x, y, one, a, y, b, y, zero, c, x)"),
    ),
    Routine(
        "trmm", 3, "result(m, n) = alpha T(m, k) B(k, n) (side left) or alpha B(m, k) T(k, n), T triangular",
        (Form("sdcz", "trmm", "oeeeeiisalwl"),), start="replaced", triangle_of="operand",
        timed=Timed("trmm", "mn", "(141, 122, 112, 132, x, y, one, a, x, c, y)"), spreads=True,
    ),
    Routine(
        "trsm", 3, "T result = alpha B (side left) or result T = alpha B, T triangular",
        (Form("sdcz", "trsm", "oeeeeiisalwl"),), start="replaced", triangle_of="operand",
        timed=Timed("trsm", "mn", "(141, 122, 111, 132, x, y, one, a, x, c, y)"), spreads=True, rounds=True,
    ),
    Routine(
        "gemv", 2, "result(m) += alpha A(m, k) x(k)", (Form("sdcz", "gemv", "oeiisalaiswi"),),
        timed=Timed("gemv", "mk", "(111, x, y, one, a, y, b, 1, zero, c, 1)"),
        transposed=Timed("gemv_t", "km", "(112, x, y, one, a, y, b, 1, zero, c, 1)"),
    ),
    Routine(
        "ger", 2, "result(m, n) += alpha x(m) y(n)",
        (Form("sd", "ger", "oiisaiaiwl"), Form("cz", "geru", "oiisaiaiwl")), start="added", loops_do=True,
        timed=Timed("ger", "mn", "(x, y, one, b, 1, b, 1, c, y)"),
    ),
    Routine(
        "gerc", 2, "result(m, n) += alpha x(m) conj(y(n))", (Form("cz", "gerc", "oiisaiaiwl"),),
        start="added", loops_do=True, like="ger",
    ),
    Routine(
        "syr", 2, "result(m, n) += alpha x(m) x(n) in one triangle of the result",
        (Form("sd", "syr", "oeisaiwl"),), start="added", triangle_of="result", loops_do=True,
        timed=Timed("syr", "m", "(122, x, one, b, 1, c, x)"),
    ),
    Routine(
        "symv", 2, "as gemv, A symmetric", (Form("sd", "symv", "oeisalaiswi"),),
        timed=Timed("symv", "m", "(122, x, one, a, x, b, 1, zero, c, 1)"),
    ),
    Routine(
        "trmv", 2, "result(m) = alpha T(m, k) x(k), T triangular", (Form("sdcz", "trmv", "oeeeialwi"),),
        start="replaced", triangle_of="operand",
        timed=Timed("trmv", "m", "(122, 111, 132, x, a, x, c, 1)"),
    ),
    Routine(
        "trsv", 2, "T result = alpha x, T triangular", (Form("sdcz", "trsv", "oeeeialwi"),),
        start="replaced", triangle_of="operand",
        timed=Timed("trsv", "m", "(122, 111, 132, x, a, x, c, 1)"), rounds=True,
    ),
    Routine(
        "dot", 1, "result += alpha x(k) y(k)",
        (Form("sd", "dot", "iaiai", returns=True), Form("cz", "dotu_sub", "iaiaiw")), loops_do=True,
        timed=Timed("dot", "k", "(x, a, 1, b, 1)"),
    ),
    Routine(
        "dotc", 1, "result += alpha conj(x(k)) y(k)", (Form("cz", "dotc_sub", "iaiaiw"),), loops_do=True,
        like="dot",
    ),
    Routine(
        "axpy", 1, "result(m) += alpha x(m)", (Form("sdcz", "axpy", "isaiwi"),), start="added", loops_do=True,
        timed=Timed("axpy", "m", "(x, one, a, 1, c, 1)"),
    ),
    Routine(
        "scal", 1, "result(m) = alpha x(m)", (Form("sdcz", "scal", "iswi"),), start="replaced", loops_do=True,
        timed=Timed("scal", "m", "(x, one, c, 1)"),
    ),
    # The loops that stand in for a norm sum up in the result, so that it is of the type of its vector.
    Routine(
        "nrm2", 1, "result = sqrt(sum of |x(k)|^2), computed without overflow in between",
        (Form("sd", "nrm2", "iai", returns=True),), start="set", loops_do=True, rounds=True,
        timed=Timed("nrm2", "k", "(x, a, 1)"),
    ),
)  # fmt: skip
ROUTINES = {row.name: row for row in _ROWS}


def measurements() -> Iterator[tuple[Timed, Routine]]:
    """Everything that is measured, and of which routine."""
    for row in _ROWS:
        for timed in (row.timed, row.transposed):
            if timed is not None:
                yield timed, row


def timed_as(routine: str, *, transposed: bool) -> Timed:
    """The routine by whose measured times a call is priced; transposed: the last of its matrices alone is."""
    row = ROUTINES[ROUTINES[routine].like or routine]
    found = (row.transposed if transposed else None) or row.timed
    assert found is not None, row.name
    return found
