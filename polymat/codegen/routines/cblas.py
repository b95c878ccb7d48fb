"""Routines of BLAS libraries that generated C may call: their prototypes, and C wrappers for them.

A routine as a need defines `_pm_cblas_dgemm`, say, which takes what the routine takes but for the order,
which is always row-major: enumerations as `int` (the constants of CBLAS), extents and strides as `ptrdiff_t`,
complex scalars by value.  It calls through a table that `polymat.codegen.routines.librarylinks` fills at run
time, so that the generated library does not depend on any BLAS when it is linked.

A BLAS with integers of 32 bits is used (LP64): extents, strides and leading dimensions must not exceed
`INT_LIMIT`, which the caller of a wrapper sees to.  A leading dimension of 0 (of an empty matrix) becomes 1.
"""

from __future__ import annotations

from polymat.codegen.c.needs import Need
from polymat.dataclass import dataclass
from polymat.idiom.routines import ROUTINES, Form, Routine

INT_LIMIT = 2**31 - 1
# The enumerations of CBLAS.
ROW_MAJOR = 101
NO_TRANS, TRANS, CONJ_TRANS = 111, 112, 113
UPPER, LOWER = 121, 122
NON_UNIT, UNIT = 131, 132
LEFT, RIGHT = 141, 142

_TYPES = {"s": "float", "d": "double", "c": "float _Complex", "z": "double _Complex"}
_REAL = {"s": "float", "d": "double", "c": "float", "z": "double"}


@dataclass(frozen=True, slots=True)
class CblasRoutine(Need):
    """One routine of CBLAS: what it has of a row of `ROUTINES` for a type; `letter` is s, d, c or z."""

    letter: str
    form: Form
    row: Routine

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The name of the routine in CBLAS, with the letter of the type."""
        return self.form.cblas_name(self.letter)

    @property
    def returns(self) -> str:
        """The type in C of what it returns."""
        return _REAL[self.letter] if self.form.returns else "void"


_ROUTINES = {
    routine.name: routine
    for row in ROUTINES.values()
    for form in row.forms
    for routine in (CblasRoutine(letter, form, row) for letter in form.letters)
}


def cblas_routine(name: str) -> CblasRoutine:
    """A routine by its name in CBLAS."""
    return _ROUTINES[name]


def cblas_routines() -> tuple[CblasRoutine, ...]:
    """Every routine."""
    return tuple(_ROUTINES.values())


def blas_wrapper(routine: CblasRoutine, slot: int) -> str:
    """The C function `_pm_<name>`, which calls what is in a slot of the table of routines."""
    found = [
        _argument(routine, letter, f"p{position}") for position, letter in enumerate(routine.form.parameters)
    ]
    types, parameters, arguments = ([*filter(None, texts)] for texts in zip(*found, strict=True))
    call = f"((routine *)_pm_routines[{slot}])({', '.join(arguments)});"
    value = "" if routine.returns == "void" else "return "
    return _folded(
        f"static inline {routine.returns} _pm_{routine.name}({', '.join(parameters)})",
        "{",
        f"    typedef {routine.returns} routine({', '.join(types)});",
        f"    {value}{call}",
        "}",
    )


def _argument(routine: CblasRoutine, letter: str, name: str) -> tuple[str, str, str]:
    """Its type in CBLAS, the parameter of the wrapper ("": none), and what the wrapper passes."""
    scalar, real = _TYPES[routine.letter], _REAL[routine.letter]
    by_address = routine.letter in "cz"
    pointed = "void" if by_address else scalar
    return {
        "o": ("int", "", str(ROW_MAJOR)),
        "e": ("int", f"int {name}", name),
        "i": ("int", f"ptrdiff_t {name}", f"(int){name}"),
        "l": ("int", f"ptrdiff_t {name}", f"{name} > 0 ? (int){name} : 1"),
        "s": ("const void *" if by_address else scalar, f"{scalar} {name}", f"{'&' * by_address}{name}"),
        "r": (real, f"{real} {name}", name),
        "a": (f"const {pointed} *", f"const {scalar} *{name}", name),
        "w": (f"{pointed} *", f"{scalar} *{name}", name),
    }[letter]


def _folded(*lines: str) -> str:
    """The lines, long ones broken after commas."""
    text: list[str] = []
    for line in lines:
        rest = line
        while len(rest) > 110:
            cut = rest.rindex(", ", 0, 110) + 1
            text.append(rest[:cut])
            rest = "        " + rest[cut + 1 :]
        text.append(rest)
    return "\n".join(text) + "\n"
