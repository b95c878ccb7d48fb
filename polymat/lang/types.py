"""Element types and NumPy's promotion rules over them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from polymat.dataclass import dataclass
from polymat.errors import DtypeError, Location


@dataclass(frozen=True, slots=True)
class ScalarType:
    """An element type: `name` in the language, `c` in C, `dtype` in NumPy, `suffix` in helper names.

    A weak type is that of a Python literal: it adapts to what it meets (NumPy's NEP 50).
    """

    name: str
    c: str
    dtype: str
    suffix: str
    kind: str
    weak: bool = False

    def __repr__(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return _BYTES[self.dtype]


Bool = ScalarType("Bool", "uint8_t", "bool", "b8", "b")
Int = ScalarType("Int", "int32_t", "int32", "i32", "i")
Long = ScalarType("Long", "int64_t", "int64", "i64", "i")
Short = ScalarType("Short", "int16_t", "int16", "i16", "i")
Int8 = ScalarType("Int8", "int8_t", "int8", "i8", "i")
UInt16 = ScalarType("UInt16", "uint16_t", "uint16", "u16", "u")
UInt64 = ScalarType("UInt64", "uint64_t", "uint64", "u64", "u")
UChar = ScalarType("UChar", "uint8_t", "uint8", "u8", "u")
UInt = ScalarType("UInt", "uint32_t", "uint32", "u32", "u")
# Storage alone: an element counts as a Float wherever it is read.  In C it is the sixteen bits; NumPy has no
# type for bfloat16, whose arrays are those bits there, too.
Half = ScalarType("Half", "uint16_t", "float16", "f16", "f")
BFloat16 = ScalarType("BFloat16", "uint16_t", "uint16", "bf16", "f")
STORED = (Half, BFloat16)
Float = ScalarType("Float", "float", "float32", "f32", "f")
Double = ScalarType("Double", "double", "float64", "f64", "f")
ComplexFloat = ScalarType("ComplexFloat", "float _Complex", "complex64", "c64", "c")
Complex = ScalarType("Complex", "double _Complex", "complex128", "c128", "c")

ALL_TYPES = (
    Bool,
    Int8,
    Short,
    Int,
    Long,
    UChar,
    UInt16,
    UInt,
    UInt64,
    Half,
    BFloat16,
    Float,
    Double,
    ComplexFloat,
    Complex,
)
_BYTES = {t.dtype: np.dtype(t.dtype).itemsize for t in ALL_TYPES}
_BY_DTYPE = {t.dtype: t for t in ALL_TYPES if t != BFloat16} | {"bfloat16": BFloat16}

WEAK_INT = ScalarType("int literal", "int64_t", "int64", "i64", "i", weak=True)
WEAK_FLOAT = ScalarType("float literal", "double", "float64", "f64", "f", weak=True)
WEAK_COMPLEX = ScalarType("complex literal", "double _Complex", "complex128", "c128", "c", weak=True)
# An integer parameter: as weak as a literal beside floating-point values (NumPy 2's rule for Python's
# integers); not known before the call, so that among integers it is a Long and never wraps.
SCALAR_INT = ScalarType("int scalar", "int64_t", "int64", "i64", "i", weak=True)
_WEAK_ORDER = (WEAK_INT, SCALAR_INT, WEAK_FLOAT, WEAK_COMPLEX)


def type_of_dtype(dtype: object) -> ScalarType:
    """Return the language's type for a NumPy dtype."""
    found = _BY_DTYPE.get(np.dtype(dtype).name)  # type: ignore[call-overload]
    if found is None:
        raise DtypeError(f"no element type for NumPy dtype {dtype}")
    return found


def check_type(dtype: object, what: str, at: Location | None) -> ScalarType:
    """Return `dtype` if it is one of the language's element types."""
    if isinstance(dtype, ScalarType) and not dtype.weak:
        return dtype
    raise DtypeError(f"{what} needs an element type, got {dtype!r}", at=at, hint=_meant(dtype))


def _meant(dtype: object) -> str:
    """The element type that NumPy's name or type stands for; all of them where it is neither."""
    named = isinstance(dtype, str) and len(dtype) > 1  # one letter is rather the name of what is declared
    if named or isinstance(dtype, type | np.dtype):
        with suppress(TypeError):
            found = _BY_DTYPE.get(np.dtype(dtype).name)  # type: ignore[call-overload]
            if found is not None:
                return f"pm.{found.name}"
    return f"one of {', '.join(t.name for t in ALL_TYPES)}"


def promote(left: ScalarType, right: ScalarType) -> ScalarType:
    """Type of `left + right` by NumPy's rules; sixteen bits are for storage, and count as single ones."""
    if left is right:
        return computed_with(left)
    left, right = computed_with(left), computed_with(right)
    if left == right:
        return left
    if left.weak and right.weak:
        return max(left, right, key=_WEAK_ORDER.index)
    if left.weak:
        left, right = right, left
    if right == SCALAR_INT and left.kind in "iu":
        right = Long
    if right.weak:
        return _with_literal(left, right.kind)
    return _BY_DTYPE[np.result_type(np.dtype(left.dtype), np.dtype(right.dtype)).name]


def _with_literal(dtype: ScalarType, kind: str) -> ScalarType:
    """Type of an array and a Python literal: the array's, unless the literal is of a higher kind."""
    if dtype == Bool:
        return {"i": Long, "f": Double, "c": Complex}[kind]
    if kind == "i" or dtype.kind == "c" or kind == dtype.kind:
        return dtype
    if kind == "f":
        return Double
    return ComplexFloat if dtype == Float else Complex


def computed_with(dtype: ScalarType) -> ScalarType:
    """Type in which elements are computed with: of sixteen bits, which are for storage, single precision."""
    return Float if dtype in STORED else dtype


def quotient_type(left: ScalarType, right: ScalarType) -> ScalarType:
    """Type of `left / right`: integers divide to Double as in NumPy."""
    common = promote(left, right)
    if common.kind in "iub":
        return WEAK_FLOAT if common.weak else Double
    return common


def floating(dtype: ScalarType) -> ScalarType:
    """Type of a mathematical function of `dtype`: 8- and 16-bit integers give Float, others Double."""
    if dtype.kind in "fc":
        return computed_with(dtype)
    if dtype.weak:
        return WEAK_FLOAT
    return Float if dtype.size <= 2 else Double


def real_part(dtype: ScalarType) -> ScalarType:
    """Type of the modulus or a component of a value of `dtype`."""
    if dtype.kind != "c":
        return dtype
    if dtype.weak:
        return WEAK_FLOAT
    return Float if dtype == ComplexFloat else Double


_REAL_ONLY = frozenset(
    (
        *("floor", "ceil", "round", "sign", "i0", "exp2", "expm1", "log1p", "log2", "log10"),
        *("cbrt", "erf", "sigmoid"),
    )
)
_SAME_TYPE = frozenset({"floor", "ceil", "round", "sign", "conj"})
_TO_REAL = frozenset({"abs", "real", "imag"})


def strong(dtype: ScalarType) -> ScalarType:
    """Type of an array of `dtype`: of literals alone NumPy's default types."""
    return {"i": Long, "f": Double, "c": Complex}[dtype.kind] if dtype.weak else dtype


def summed_type(dtype: ScalarType) -> ScalarType:
    """Type of a sum or a product of many elements of `dtype`: integers in 64 bits."""
    if dtype.kind in "fc":
        return computed_with(dtype)
    return UInt64 if dtype.kind == "u" else Long


def call_type(function: str, dtype: ScalarType) -> ScalarType | None:
    """Type of a mathematical function of a value of `dtype`; None where it has no meaning."""
    if dtype == Bool or (dtype.kind == "c" and function in _REAL_ONLY):
        return None
    if function in _SAME_TYPE:
        return dtype
    return real_part(dtype) if function in _TO_REAL else floating(dtype)


def index_type(declared: ScalarType) -> ScalarType:
    """Type in expressions of an index: integers count in 64 bits and do not wrap."""
    return Long if declared.kind in "iu" else declared


def scalar_type(declared: ScalarType) -> ScalarType:
    """Type in expressions of a parameter."""
    return SCALAR_INT if declared.kind in "iu" else declared


def can_store(value: ScalarType, target: ScalarType) -> bool:
    """Say whether a value may be stored without `Cast`: NumPy's same-kind rule."""
    if value == SCALAR_INT and target.kind in "iu":
        value = Long
    if value.weak and target == Bool:
        return False
    if value.weak:
        return "ifc".index(value.kind) <= "ifc".index(target.kind.replace("u", "i"))
    source, place = (np.dtype(computed_with(each).dtype) for each in (value, target))
    return bool(np.can_cast(source, place, "same_kind"))


def lossy(value: ScalarType, target: ScalarType) -> str:
    """How a value goes to a type that cannot store it as it is: of a complex one a real one is made first."""
    if value.kind != "c" or target.kind == "c":
        return f"Cast({target}, ...)"
    return "Real(...) or Abs(...)" if target.kind == "f" else f"Cast({target}, Real(...))"


def to_bfloat16(values: Any) -> Any:
    """The sixteen bits of numbers of single precision, rounded to the nearest, of two to the even one."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    with np.errstate(over="ignore"):  # of what is no number
        rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    quiet = bits >> 16 | 0x40
    return np.where((bits & 0x7FFFFFFF) > 0x7F800000, quiet, rounded).astype(np.uint16)


def from_bfloat16(bits: Any) -> Any:
    """The numbers that sixteen bits are, in single precision."""
    return (np.asarray(bits, np.uint16).astype(np.uint32) << 16).view(np.float32)
