"""Routines of BLAS libraries that generated C may call: their prototypes, and C wrappers for them.

The need "cblas_dgemm" defines `_pm_cblas_dgemm`, which takes what the routine takes but for the order, which
is always row-major: enumerations as `int` (the constants of CBLAS), extents and strides as `ptrdiff_t`,
complex scalars by value.  It calls through a table that `polymat.codegen.routines.libraries` fills at run
time, so that the generated library does not depend on any BLAS when it is linked.

A BLAS with integers of 32 bits is used (LP64): extents, strides and leading dimensions must not exceed
`INT_LIMIT`, which the caller of a wrapper sees to.  A leading dimension of 0 (of an empty matrix) becomes 1.
"""

from __future__ import annotations

from dataclasses import dataclass

INT_LIMIT = 2**31 - 1
# The enumerations of CBLAS.
ROW_MAJOR = 101
NO_TRANS, TRANS, CONJ_TRANS = 111, 112, 113
UPPER, LOWER = 121, 122
NON_UNIT, UNIT = 131, 132
LEFT, RIGHT = 141, 142

_TYPES = {"s": "float", "d": "double", "c": "float _Complex", "z": "double _Complex"}
_REAL = {"s": "float", "d": "double", "c": "float", "z": "double"}

# Parameters in order: o the order (not of the wrapper), e an enumeration, i an extent or stride, l a leading
# dimension, s a scalar, r a real scalar, a an array that is read, w one that is written.
_LAYOUTS: dict[str, tuple[str, str]] = {
    "gemm": ("sdcz", "oeeiiisalalswl"),
    "symm": ("sdcz", "oeeiisalalswl"),
    "hemm": ("cz", "oeeiisalalswl"),
    "syrk": ("sdcz", "oeeiisalswl"),
    "herk": ("cz", "oeeiiralrwl"),
    "syr2k": ("sdcz", "oeeiisalalswl"),
    "her2k": ("cz", "oeeiisalalrwl"),
    "trmm": ("sdcz", "oeeeeiisalwl"),
    "trsm": ("sdcz", "oeeeeiisalwl"),
    "gemv": ("sdcz", "oeiisalaiswi"),
    "ger": ("sd", "oiisaiaiwl"),
    "geru": ("cz", "oiisaiaiwl"),
    "gerc": ("cz", "oiisaiaiwl"),
    "symv": ("sd", "oeisalaiswi"),
    "hemv": ("cz", "oeisalaiswi"),
    "trmv": ("sdcz", "oeeeialwi"),
    "trsv": ("sdcz", "oeeeialwi"),
    "dot": ("sd", "iaiai"),
    "dotu_sub": ("cz", "iaiaiw"),
    "dotc_sub": ("cz", "iaiaiw"),
    "axpy": ("sdcz", "isaiwi"),
    "scal": ("sdcz", "iswi"),
    "nrm2": ("sd", "iai"),
    "_nrm2": ("cz", "iai"),
}
_RETURN_REAL = {"dot", "nrm2", "_nrm2"}
# What those without a conjugate are called for complex numbers; a complex sum is returned through an address.
_COMPLEX = {"ger": "geru", "dot": "dotu_sub", "dotc": "dotc_sub", "nrm2": "_nrm2"}


@dataclass(frozen=True, slots=True)
class _Routine:
    """One routine of CBLAS; `letter` is s, d, c or z."""

    name: str
    letter: str
    layout: str
    returns: str


def _routines() -> dict[str, _Routine]:
    found: dict[str, _Routine] = {}
    for base, (letters, layout) in _LAYOUTS.items():
        for letter in letters:
            returns = _REAL[letter] if base in _RETURN_REAL else "void"
            found[_name(base, letter)] = _Routine(_name(base, letter), letter, layout, returns)
    return found


def _name(base: str, letter: str) -> str:
    """The norms of complex vectors are called after both types: scnrm2, dznrm2."""
    stem = {"c": "sc", "z": "dz"}[letter] + base[1:] if base[0] == "_" else letter + base
    return f"cblas_{stem}"


_ROUTINES = _routines()


def blas_routine(routine: str, dtype: str) -> str:
    """The name in CBLAS of a routine such as "gemm" for a NumPy dtype; KeyError for what is not there."""
    letter = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}[dtype]
    base = _COMPLEX.get(routine, routine) if letter in "cz" else routine
    return _ROUTINES[_name(base, letter)].name


def has_routine(routine: str, dtype: str) -> bool:
    """Whether `blas_routine` has an answer."""
    try:
        return bool(blas_routine(routine, dtype))
    except KeyError:
        return False


def routine_layout(name: str) -> tuple[str, str]:
    """The letter of the type of a routine, by its name in CBLAS, and what its parameters are, a letter each.

    o the order, e an enumeration, i an extent or stride, l a leading dimension, s a scalar, r a real scalar,
    a an array that is read, w one that is written.
    """
    return _ROUTINES[name].letter, _ROUTINES[name].layout


def blas_routine_names() -> frozenset[str]:
    """Every name that may be a need."""
    return frozenset(_ROUTINES)


def blas_wrapper(name: str, slot: int) -> str:
    """The C function `_pm_<name>`, which calls what is in a slot of the table of routines."""
    routine = _ROUTINES[name]
    found = [_argument(routine, letter, f"p{position}") for position, letter in enumerate(routine.layout)]
    types, parameters, arguments = ([*filter(None, texts)] for texts in zip(*found, strict=True))
    call = f"((routine *)_pm_routines[{slot}])({', '.join(arguments)});"
    value = "" if routine.returns == "void" else "return "
    return _folded(
        f"static inline {routine.returns} _pm_{name}({', '.join(parameters)})",
        "{",
        f"    typedef {routine.returns} routine({', '.join(types)});",
        f"    {value}{call}",
        "}",
    )


def _argument(routine: _Routine, letter: str, name: str) -> tuple[str, str, str]:
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
