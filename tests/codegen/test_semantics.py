"""Corners of arithmetic, compiled and interpreted, against NumPy: every element, one compilation a type."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from polymat import Condition, Int, Interval, Op, Parameter, Reduce, Reduction, Select, Variable, Vector
from polymat.lang.types import type_of_dtype

Array = npt.NDArray[Any]
Twins = tuple[Callable[..., Any], Callable[..., Any]]
N = Parameter(Int, "N")
i = Variable(Int, "i")
whole = Interval(Int, 0, N - 1)
FLOATS = ("float32", "float64")
VALUES = [Op.Sum, Op.Mul, Op.Min, Op.Max]
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def check(twins: Mapping[str, Twins], arrays: Mapping[str, Array], ulps: int = 4, *flags: str) -> None:
    """Each pair of functions, one of loads and one of arrays, must agree in type and value."""
    loads = {name: Vector(type_of_dtype(a.dtype), name, [N])(i) for name, a in arrays.items()}
    outputs = []
    for position, (make, _) in enumerate(twins.values()):
        value = make(**loads)
        outputs.append(pm.Function(([i], [whole]), value.dtype, f"f{position}"))
        outputs[-1].defn = [value]
    compiled = pm.compile(outputs, name="corners", options=pm.Options(fuse=False, cflags=flags))
    used = {a.name: arrays[a.name] for a in compiled.signature.inputs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = {word: np.asarray(twin(**arrays)) for word, (_, twin) in twins.items()}
        results = [
            found if len(outputs) > 1 else (found,)
            for found in (compiled(**used), compiled.reference(**used))
        ]
    for word, *found in zip(twins, *results, strict=True):
        for how, actual in zip(("compiled", "interpreted"), found, strict=True):
            same(f"{how} {word}", actual, wanted[word], arrays, ulps)


def same(word: str, actual: Array, wanted: Array, arrays: Mapping[str, Array], ulps: int) -> None:
    assert actual.dtype == wanted.dtype, f"{word}: {actual.dtype}, expected {wanted.dtype}"
    with np.errstate(all="ignore"):
        equal = (actual == wanted) | (np.isnan(actual) & np.isnan(wanted))
        if actual.dtype.kind in "fc":
            equal |= np.abs(actual - wanted) <= ulps * np.finfo(actual.dtype).eps * np.abs(wanted)
            equal &= (np.signbit(actual.real) == np.signbit(wanted.real)) | (wanted != 0)
    if not np.all(equal):
        k = int(np.flatnonzero(~equal)[0])
        operands = {name: a[k] for name, a in arrays.items()}
        raise AssertionError(f"{word}: {operands} gives {actual[k]!r}, expected {wanted[k]!r}")


def pairs(values: Any, dtype: str) -> dict[str, Array]:
    """x and y: every pair of the values."""
    x, y = np.meshgrid(np.array(values, dtype), np.array(values, dtype))
    return {"x": x.ravel().copy(), "y": y.ravel().copy()}


ARITHMETIC: dict[str, Twins] = {
    "x + y": (lambda x, y: x + y,) * 2,
    "x - y": (lambda x, y: x - y,) * 2,
    "x * y": (lambda x, y: x * y,) * 2,
    "x / y": (lambda x, y: x / y,) * 2,
    "x // y": (lambda x, y: x // y,) * 2,
    "x % y": (lambda x, y: x % y,) * 2,
    "-x": (lambda x, y: -x,) * 2,
    "x ** 0": (lambda x, y: x**0,) * 2,
    "x ** 2": (lambda x, y: x**2,) * 2,
    "x ** 3": (lambda x, y: x**3,) * 2,
    "x ** 7": (lambda x, y: x**7,) * 2,
    "7 - x": (lambda x, y: 7 - x,) * 2,
    "7 // x": (lambda x, y: 7 // x,) * 2,
    "7 % x": (lambda x, y: 7 % x,) * 2,
    "Abs": (lambda x, y: pm.Abs(x), lambda x, y: np.abs(x)),
    "Min": (lambda x, y: pm.Min(x, y), lambda x, y: np.minimum(x, y)),
    "Max": (lambda x, y: pm.Max(x, y), lambda x, y: np.maximum(x, y)),
    "Sign": (lambda x, y: pm.Sign(x), lambda x, y: np.sign(x)),
    "x < y": (lambda x, y: Select(Condition(x, "<", y), x, y), lambda x, y: np.where(x < y, x, y)),
    "x == y": (lambda x, y: Select(Condition(x, "==", y), x, 3), lambda x, y: np.where(x == y, x, 3)),
    "x != y": (lambda x, y: Select(Condition(x, "!=", y), x, 3), lambda x, y: np.where(x != y, x, 3)),
    "x + 1 > x": (
        lambda x, y: Select(Condition(x + 1, ">", x), x, 3),
        lambda x, y: np.where(x + 1 > x, x, 3),
    ),
}
FLOAT_CORNERS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 7.0, np.nan, np.inf, -np.inf, 3e38, 1e-40)


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats(dtype: str) -> None:
    check(ARITHMETIC, pairs([*FLOAT_CORNERS, np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal], dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_larger_and_the_smaller_of_floats_and_constants(dtype: str) -> None:
    """Constants on the right are compared once, those on the left as variables are."""
    twins: dict[str, Twins] = {}
    for value in (0.0, 6.0, -np.inf, np.nan):
        for name, twin in (("Max", np.maximum), ("Min", np.minimum)):
            make, kind = getattr(pm, name), np.dtype(dtype).type(value)
            twins[f"{name}(x, {value})"] = (
                lambda x, f=make, v=value: f(x, v),
                lambda x, f=twin, v=kind: f(x, v),
            )
            twins[f"{name}({value}, x)"] = (
                lambda x, f=make, v=value: f(v, x),
                lambda x, f=twin, v=kind: f(v, x),
            )
    check(twins, {"x": np.array([*FLOAT_CORNERS, 6.0, 10.0] * 9, dtype)})


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_of_floats(dtype: str) -> None:
    names = "Sin Cos Tan Sinh Cosh Tanh Exp Log Sqrt Floor Ceil".split()
    twins: dict[str, Twins] = {
        name: (lambda x, f=getattr(pm, name): f(x), lambda x, f=getattr(np, name.lower()): f(x))
        for name in names
    }
    for name, twin in (("Asin", np.arcsin), ("Acos", np.arccos), ("Atan", np.arctan)):
        twins[name] = (lambda x, f=getattr(pm, name): f(x), lambda x, f=twin: f(x))
    twins["x ** 0.5"] = (lambda x: x**0.5,) * 2
    twins["x ** -1.5"] = (lambda x: x**-1.5,) * 2
    twins["Sin(Atan(x))"] = (lambda x: pm.Sin(pm.Atan(x)), lambda x: np.sin(np.arctan(x)))
    twins["Sqrt(x * x)"] = (lambda x: pm.Sqrt(x * x), lambda x: np.sqrt(x * x))
    twins["2 ** x"] = (lambda x: 2**x,) * 2
    check(twins, {"x": np.array([*FLOAT_CORNERS, 10.0, -0.75, 88.0], dtype)}, ulps=8)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap_and_divide_by_zero(dtype: str) -> None:
    limits = np.iinfo(dtype)
    values = {0, 1, 2, 3, 5, 7, limits.max, limits.max - 1, limits.max // 2, limits.min, limits.min + 1}
    if limits.min:
        values |= {-1, -2, -7}
    check(ARITHMETIC, pairs(sorted(values), dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_to_other_types(dtype: str) -> None:
    limits = np.iinfo(dtype)
    twins: dict[str, Twins] = {
        t.name: (lambda x, t=t: pm.Cast(t, x), lambda x, t=t: x.astype(t.dtype))
        for t in (pm.Int, pm.Long, pm.Short, pm.UChar, pm.UInt, pm.Float, pm.Double, pm.Complex)
    }
    twins["Sqrt"] = (
        lambda x: pm.Sqrt(x),
        lambda x: np.sqrt(x.astype("float32") if dtype in ("uint8", "int8") else x),
    )
    twins["x * 0.5"] = (lambda x: x * 0.5,) * 2
    check(twins, {"x": np.array([0, 1, 2, 77, limits.max, limits.max - 1, limits.min], dtype)}, 4, "-O1")


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_compared_with_literals_beyond_their_type(dtype: str) -> None:
    literals = (-1, -(2**40), 300, 2**40, 0.5)
    twins: dict[str, Twins] = {
        f"x {op} {value}": (
            lambda x, y, op=op, value=value: Select(Condition(x, op, value), x, y),
            lambda x, y, op=op, value=value: np.where(COMPARE[op](x, value), x, y),
        )
        for op in ("<", ">=", "==")
        for value in literals
    }
    check(twins, pairs((0, 1, 2, 100), dtype), 4, "-O1")


COMPARE: dict[str, Any] = {"<": np.less, ">=": np.greater_equal, "==": np.equal}


def test_wrapping_does_not_depend_on_where_it_happens() -> None:
    """Only a condition, a cast or an index computes with integers: they wrap around there, too."""
    x = Vector(Int, "x", [N])
    f = pm.Function(([i], [whole]), pm.Double, "f")
    f.defn = [Select(Condition(x(i) + 1, ">", x(i)), 1.0, 2.0) + pm.Cast(pm.Double, x(i) * 2)]
    data = np.array([1, 2**31 - 1], np.int32)
    assert pm.compile(f)(data).tolist() == [3.0, 0.0]


def test_integers_wrap_beside_the_least_of_them() -> None:
    """Conversions to longer types show whether sums had 64 bits, as -2147483648 has in C."""
    x, least = Vector(Int, "x", [N]), -(2**31)
    outputs: list[pm.Function] = []
    for value in (x(i) - least, x(i) + least, least - x(i), x(i) * least):
        outputs.append(pm.Function(([i], [whole]), pm.Long, f"f{len(outputs)}"))
        outputs[-1].defn = [pm.Cast(pm.Long, value)]
    data, low = np.array([0, 1, -1, 5, least, -least - 1], np.int32), np.int32(least)
    all_wanted = (data - low, data + low, low - data, data * low)
    for found, wanted in zip(pm.compile(outputs)(data), all_wanted, strict=True):
        assert found.tolist() == wanted.tolist()


MIXED: dict[str, Twins] = {
    "a + b": (lambda a, b, c, d, e: a + b,) * 2,
    "a < b": (
        lambda a, b, c, d, e: Select(Condition(a, "<", b), a, 1),
        lambda a, b, c, d, e: np.where(a < b, a, 1),
    ),
    "Min(a, b)": (lambda a, b, c, d, e: pm.Min(a, b), lambda a, b, c, d, e: np.minimum(a, b)),
    "c * a": (lambda a, b, c, d, e: c * a,) * 2,
    "c * d": (lambda a, b, c, d, e: c * d,) * 2,
    "e * a": (lambda a, b, c, d, e: e * a,) * 2,
    "e * b": (lambda a, b, c, d, e: e * b,) * 2,
    "e * d": (lambda a, b, c, d, e: e * d,) * 2,
    "e + c": (lambda a, b, c, d, e: e + c,) * 2,
    "d + 0.1": (lambda a, b, c, d, e: d + 0.1,) * 2,
    "a + 0.1": (lambda a, b, c, d, e: a + 0.1,) * 2,
    "d + 1j": (lambda a, b, c, d, e: d + 1j,) * 2,
    "a + 1j": (lambda a, b, c, d, e: a + 1j,) * 2,
    "d + numpy": (lambda a, b, c, d, e: d + np.float64(0.1),) * 2,
    "d == 0.1": (
        lambda a, b, c, d, e: Select(Condition(d, "==", 0.1), d, 1.0),
        lambda a, b, c, d, e: np.where(d == 0.1, d, np.float32(1)),
    ),
}


def test_types_are_mixed_as_in_numpy() -> None:
    a = np.array([-1, 0, 5, -(2**31), 2**31 - 1, 123456789], np.int32)
    b = np.array([2**32 - 1, 0, 5, 2**31, 7, 3], np.uint32)
    c = np.array([1.5, -2.25, 1e300, 0.1, 3.0, -0.5])
    d = np.array([0.1, 0.2, 1e30, -1.5, 3.25, 7.0], np.float32)
    e = np.array([1 + 2j, 0.1j, -3.5, 2 - 1j, 0.3 + 0.7j, 1e10], np.complex64)
    check(MIXED, {"a": a, "b": b, "c": c, "d": d, "e": e})


LITERALS: dict[str, Twins] = {
    "0.1": (lambda f, d: f * 0.1,) * 2,
    "1e30": (lambda f, d: f * 1e30,) * 2,
    "1e-45": (lambda f, d: f * 1e-45, lambda f, d: f * np.float32(1e-45)),
    "largest": (lambda f, d: d * 1.7976931348623157e308,) * 2,
    "subnormal": (lambda f, d: d * 5e-324,) * 2,
    "near": (lambda f, d: d + 2.2250738585072011e-308,) * 2,
    "inf": (lambda f, d: d - float("inf"),) * 2,
    "nan": (lambda f, d: d + float("nan"),) * 2,
    "-0.0": (lambda f, d: d * -0.0,) * 2,
    "least long": (lambda f, d: pm.Cast(pm.Long, d) * -(2**63), lambda f, d: d.astype("int64") * -(2**63)),
    "least int": (lambda f, d: pm.Cast(Int, d) * -(2**31), lambda f, d: d.astype("int32") * -(2**31)),
    "largest uint": (
        lambda f, d: pm.Cast(pm.UInt, d) * (2**32 - 1),
        lambda f, d: d.astype("uint32") * (2**32 - 1),
    ),
    "complex": (lambda f, d: d * (0.1 - 2e300j),) * 2,
}


def test_literals_keep_every_digit() -> None:
    check(LITERALS, {"f": np.array([1, 2, 3], np.float32), "d": np.array([1.0, 2.0, 0.5])}, ulps=0)


COMPLEX: dict[str, Twins] = {
    **{op: twins for op, twins in ARITHMETIC.items() if op in ("x + y", "x - y", "x * y", "x / y", "-x")},
    "1 / x": (lambda x, y: 1 / x,) * 2,
    "x ** y": (lambda x, y: x**y,) * 2,
    "x ** 0": (lambda x, y: x**0,) * 2,
    "x ** 2": (lambda x, y: x**2,) * 2,
    "x ** 5": (lambda x, y: x**5,) * 2,
    "x ** -3": (lambda x, y: x**-3,) * 2,
    "Abs": (lambda x, y: pm.Abs(x), lambda x, y: np.abs(x)),
    "Conj": (lambda x, y: pm.Conj(x), lambda x, y: np.conj(x)),
    "Real": (lambda x, y: pm.Real(x), lambda x, y: x.real),
    "Imag": (lambda x, y: pm.Imag(x), lambda x, y: x.imag),
    **{
        name: (lambda x, y, f=getattr(pm, name): f(x), lambda x, y, f=twin: f(x))
        for name, twin in (
            ("Exp", np.exp),
            ("Log", np.log),
            ("Sqrt", np.sqrt),
            ("Sin", np.sin),
            ("Cosh", np.cosh),
            ("Acos", np.arccos),
        )
    },
}


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers(dtype: str) -> None:
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(4, 60))
    arrays = {"x": (parts[0] + 1j * parts[1]).astype(dtype), "y": (parts[2] + 1j * parts[3]).astype(dtype)}
    check(COMPLEX, arrays, ulps=64)


def test_complex_zeros_and_infinities() -> None:
    parts = (0.0, 1.0, -2.0, np.inf, -np.inf, np.nan)
    twins = {
        word: COMPLEX[word] for word in ("x + y", "x - y", "x * y", "x / y", "-x", "x ** 0", "Abs", "Real")
    }
    values = [complex(a, b) for a in parts for b in parts]
    check(twins, {name: a + 0.0 for name, a in pairs(values, "complex128").items()})


@pytest.mark.covering
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("count", [1, 7, 40])
def test_reductions_over_nan_and_infinity(dtype: str, count: int) -> None:
    """A NaN anywhere is the result of a minimum; sums of opposite infinities are NaN."""
    rows = np.zeros((count + 3, count), dtype)
    rows[np.arange(count), np.arange(count)] = np.nan
    rows[count] = np.inf
    rows[count + 1] = -np.inf
    rows[count + 2, 0], rows[count + 2, -1] = np.inf, -np.inf
    j, M = Variable(Int, "j"), Parameter(Int, "M")
    A = pm.Matrix(type_of_dtype(dtype), "A", [M, N])
    outputs = []
    for op in VALUES:
        r = Reduction(
            ([i], [Interval(Int, 0, M - 1)]), ([i, j], [Interval(Int, 0, M - 1), whole]), A.dtype, op.name
        )
        r.defn = [Reduce(r(i), A(i, j), op)]
        outputs.append(r)
    compiled = pm.compile(outputs, name="reduced")
    with np.errstate(all="ignore"):
        wanted = (rows.sum(1), rows.prod(1), rows.min(1), rows.max(1))
    for found, expected in zip(compiled(rows), wanted, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_reductions_over_nothing(dtype: str) -> None:
    """The neutral element."""
    x = Vector(type_of_dtype(dtype), "x", [N])
    outputs = []
    for op in VALUES:
        r = Reduction(([], []), ([i], [whole]), x.dtype, op.name)
        r.defn = [Reduce(r(), x(i), op)]
        outputs.append(r)
    found = pm.compile(outputs, name="nothing")(np.zeros(0, dtype))
    limits: Any = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else None
    least, largest = (limits.min, limits.max) if limits else (-np.inf, np.inf)
    assert [value.item() for value in found] == [0, 1, largest, least]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_sums_and_products_wrap(dtype: str) -> None:
    data = np.full(37, np.iinfo(dtype).max - 3, dtype)
    x = Vector(type_of_dtype(dtype), "x", [N])
    outputs = []
    for op in (Op.Sum, Op.Mul):
        r = Reduction(([], []), ([i], [whole]), x.dtype, op.name)
        r.defn = [Reduce(r(), x(i), op)]
        outputs.append(r)
    total, product = pm.compile(outputs, name="wrapped")(data)
    assert (total, product) == (data.sum(dtype=dtype), data.prod(dtype=dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_integers_have_no_negative_zero(dtype: str) -> None:
    values = np.array([-0.9, -0.3, -0.0, 0.0, 0.3, -1.5, 2.5, -0.1], dtype)
    whole_part = {"inverse": (lambda a: 1.0 / pm.Cast(Int, a), lambda a: 1.0 / a.astype(np.int32))}
    check(whole_part, {"a": values})


def test_a_reversed_read_is_no_null_pointer() -> None:
    """gcc 12 at -O1 took such a read for one at address 0, and left out the call of the whole loop."""
    a, r = Vector(Int, "a", [5]), Vector(pm.Short, "r", [1])
    quotient = pm.Function(([i], [Interval(Int, 2, 4)]), pm.Complex, "quotient")
    quotient.defn = [(r(0) + a(4 - i)) / (pm.Abs(pm.Tanh(a(i - 1))) + 1)]
    compiled = pm.compile(quotient, options=pm.Options(cflags=("-O1",)))
    given = np.zeros(1, np.int16), np.ones(5, np.int32)
    np.testing.assert_allclose(compiled(*given), compiled.reference(*given), rtol=1e-15)


def test_selected_values_are_of_both_types() -> None:
    """C's own common type of a long and a float is float, of an int and an unsigned int unsigned."""
    arrays: dict[str, Array] = {
        "h": np.array([-3, 5, 7], np.int16),
        "a": np.array([-(2**31), 2**31 - 1, 16777217], np.int32),
        "b": np.array([2**32 - 1, 3, 16777217], np.uint32),
        "n": np.array([2**62 + 1, -(2**53) - 1, 7], np.int64),
        "d": np.array([0.1, -3.0, 7.0], np.float32),
        "c": np.array([0.1, 1e300, -7.0]),
        "e": np.array([0.1j, 3.0, -7 + 1j], np.complex64),
    }

    def pair(x: str, y: str) -> Twins:
        return (
            lambda **v: Select(Condition(v["h"], ">", 0), v[x], v[y]),
            lambda **v: np.where(v["h"] > 0, v[x], v[y]),
        )

    check({f"{x} or {y}": pair(x, y) for x in arrays for y in arrays}, arrays)
