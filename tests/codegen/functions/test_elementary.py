"""Elementary functions: their errors over millions of points, special values, the same bits everywhere."""

from __future__ import annotations

import ctypes
import platform
import re
import subprocess
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from polymat import Options
from polymat.codegen.c.elements import FUNCTIONS
from polymat.codegen.c.needs import Helper, Need, Piece
from polymat.codegen.functions.elementary import ERRORS, function_needs, rearranges
from polymat.codegen.prelude import prelude
from polymat.runtime.libraryfile import build
from polymat.runtime.toolchain import find_compiler, flags_for

Values = npt.NDArray[Any]
POINTS = 1_000_000  # of each function and type, others with another seed
PIECE = 500_000
TYPES: dict[str, tuple[str, Any, Any]] = {
    "f32": ("float", np.float32, np.float64),
    "f64": ("double", np.float64, np.longdouble),
}


def error_function(x: Values) -> Values:
    """The C library's, of long doubles."""
    wide = np.ascontiguousarray(x, np.longdouble)
    result = np.empty_like(wide)
    addresses = [ctypes.c_void_p(array.ctypes.data) for array in (wide, result)]
    library("f64").wide_erf(*addresses, ctypes.c_ssize_t(wide.size))
    return result.astype(x.dtype)


REFERENCES: dict[str, Callable[..., Values]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "cosh": np.cosh,
    "erf": error_function,
    "cos": np.cos,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "hypot": np.hypot,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "pow": np.power,
    "sigmoid": lambda x: np.where(x < 0, np.exp(-np.abs(x)), 1) / (1 + np.exp(-np.abs(x))),
    "sin": np.sin,
    "sinh": np.sinh,
    "tan": np.tan,
    "tanh": np.tanh,
}
BINARY: frozenset[str] = frozenset({"atan2", "hypot", "pow"})
CASES = sorted((name, suffix) for name in FUNCTIONS for suffix in TYPES)
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-pedantic", "-Werror")
SPECIAL = (
    *(0.0, 1.0, 0.5, 0.75, 2.0, 3.0, 10.0, 25.0, 1e5, 1.01e5, 1e9, 1.1e9, 1e30, np.inf),
    *(88.72, 88.73, 87.4, 103.9, 104.1, 709.78, 709.79, 708.5, 745.1, 745.2, np.pi, np.pi / 2),
    *(
        5e-324,
        1e-323,
        1.5e-323,
        2e-323,
        4.5e-323,
        3e-45,
        4.3e-45,
        1.3e-44,
        1e-310,
        2.2e-308,
        1e-45,
        1e-40,
        1.1754944e-38,
        3.4e38,
        1.7e308,
        1e-30,
        1e-8,
    ),
)


def loop(name: str, suffix: str) -> str:
    """out[i] = f(a[i], b[i]) as a loop of vectors, and the same one number at a time."""
    ctype = TYPES[suffix][0]
    arguments = "a[i], b[i]" if name in BINARY else "a[i]"
    head = f"(const {ctype} *a, const {ctype} *b, {ctype} *out, ptrdiff_t n)\n{{\n    (void)b;\n"
    body = f"    for (ptrdiff_t i = 0; i < n; i++)\n        out[i] = _pm_{name}_{suffix}({arguments});\n}}\n"
    single = body.replace("i++)\n", 'i++) {\n        __asm__ volatile("");\n').replace("}\n", "    }\n}\n")
    return f"void {name}_{suffix}{head}#pragma omp simd\n{body}void one_{name}_{suffix}{head}{single}"


WIDE_ERF = """
void wide_erf(const long double *a, long double *out, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = __builtin_erfl(a[i]);
}
"""


@cache
def library(
    suffix: str, *needs: Need, flags: tuple[str, ...] = (), names: Iterable[str] = FUNCTIONS
) -> ctypes.CDLL:
    """Functions of a type as two loops."""
    helpers = {Helper(name, suffix) for name in names}
    loops = [WIDE_ERF, *(loop(name, suffix) for name in sorted(names))]
    built = build(prelude(frozenset(helpers | set(needs))) + "\n".join(loops), Options(cflags=flags))
    loaded = ctypes.CDLL(str(built.path))
    built.release()
    return loaded


def apply(case: str, *operands: Values, of: ctypes.CDLL | None = None) -> Values:
    arrays = [np.ascontiguousarray(operand) for operand in operands]
    out = np.empty_like(arrays[0])
    addresses = [ctypes.c_void_p(array.ctypes.data) for array in (arrays[0], arrays[-1], out)]
    getattr(of or library(case[-3:]), case)(*addresses, ctypes.c_ssize_t(out.size))
    return out


def points(rng: np.random.Generator, dtype: Any, count: int) -> Values:
    """Numbers of all magnitudes, and many where functions bend."""
    info = np.finfo(dtype)
    unsigned = np.dtype(f"u{info.bits // 8}")
    every = rng.integers(0, np.iinfo(unsigned).max, count // 5, dtype=unsigned).view(dtype) * dtype(1)
    scales = rng.choice([1.0, 5.0, 20.0, 90.0, 700.0, 1e4], count // 5)
    parts = (
        rng.normal(0, 1, count // 5),
        rng.uniform(-1, 1, count // 5) * scales,
        rng.normal(0, 1, count // 5) * 10.0 ** rng.uniform(-12, 0, count // 5),
        1 + rng.normal(0, 1, count // 5) * 10.0 ** rng.uniform(-9, -0.5, count // 5),
    )
    return np.concatenate([every, *(part.astype(dtype) for part in parts)])


@np.errstate(all="ignore")
def operands(rng: np.random.Generator, name: str, dtype: Any, count: int) -> tuple[Values, ...]:
    first = points(rng, dtype, count)
    if name not in BINARY:
        return (first,)
    second = rng.permutation(points(rng, dtype, count))
    # Half of them positive numbers whose power is of any magnitude.
    half = count // 2
    first[:half] = np.exp(rng.normal(0, 3, half))
    logs = np.log(first[:half].astype(np.float64))
    second[:half] = rng.uniform(-1, 1, half) * np.log(float(np.finfo(dtype).max)) / logs
    return first, second


def worst(name: str, suffix: str, *values: Values, of: ctypes.CDLL | None = None) -> float:
    """The largest error in units in the last place; results that are no finite numbers must be the same."""
    _, dtype, wide = TYPES[suffix]
    with np.errstate(all="ignore"):
        exact = REFERENCES[name](*(value.astype(wide) for value in values))
        expected = exact.astype(dtype)
    result = apply(f"{name}_{suffix}", *values, of=of)
    finite = np.isfinite(expected) & np.isfinite(result)
    same = (result == expected) | (np.isnan(result) & np.isnan(expected))
    edge = ~finite & ~same
    # What is nearly too large may be infinite on one side.
    largest = np.finfo(dtype).max
    assert np.all(np.abs(np.where(np.isfinite(expected), expected, result)[edge]) > largest * (1 - 1e-6))
    unit = np.spacing(np.maximum(np.abs(expected[finite]), np.finfo(dtype).tiny)).astype(wide)
    return float(np.max(np.abs(result[finite] - exact[finite]) / unit, initial=0.0))


@pytest.mark.parametrize(("name", "suffix"), CASES)
def test_errors(name: str, suffix: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(POINTS // PIECE):
        error = worst(name, suffix, *operands(rng, name, TYPES[suffix][1], PIECE))
        assert error <= ERRORS[name], f"{error:.2f} units in the last place"


def test_errors_are_stated() -> None:
    text = (Path(__file__).parents[3] / "docs" / "design.md").read_text()
    for units in set(ERRORS.values()):
        names = ", ".join(sorted(name for name in ERRORS if ERRORS[name] == units))
        assert f"| {units} | {names} |" in text


@pytest.mark.parametrize(("name", "suffix"), CASES)
def test_special_values(name: str, suffix: str) -> None:
    _, dtype, _ = TYPES[suffix]
    with np.errstate(all="ignore"):
        numbers = np.array([*SPECIAL, *(-value for value in SPECIAL), np.nan], np.float64).astype(dtype)
    values: tuple[Values, ...] = (numbers,)
    if name in BINARY:
        values = tuple(np.ascontiguousarray(grid.ravel()) for grid in np.meshgrid(numbers, numbers))
    assert worst(name, suffix, *values) <= ERRORS[name]
    with np.errstate(all="ignore"):
        expected = REFERENCES[name](*values)
    result = apply(f"{name}_{suffix}", *values)
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(result), ~known)
    np.testing.assert_array_equal(np.signbit(result[known]), np.signbit(expected[known]))
    np.testing.assert_array_equal(result == 0, expected == 0)


@pytest.mark.parametrize(("name", "suffix"), CASES)
def test_same_bits_everywhere(name: str, suffix: str, seed: int) -> None:
    """In vectors, in what is left over behind them, and one number at a time."""
    values = operands(np.random.default_rng(seed), name, TYPES[suffix][1], 5_000)
    whole = apply(f"{name}_{suffix}", *values)
    single = apply(f"one_{name}_{suffix}", *values)
    assert whole.tobytes() == single.tobytes()
    for start, count in ((0, 1), (1, 2), (3, 5), (17, 23), (40, 37), (100, 63)):
        part = apply(f"{name}_{suffix}", *(value[start : start + count] for value in values))
        assert part.tobytes() == whole[start : start + count].tobytes()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="a flag of x86")
@pytest.mark.parametrize("suffix", TYPES)
def test_powers_without_tables(suffix: str, seed: int) -> None:
    """A processor without vectors of 512 bits takes longer polynomials."""
    others = library(suffix, flags=("-mno-avx512f",), names=("pow",))
    values = operands(np.random.default_rng(seed), "pow", TYPES[suffix][1], PIECE)
    assert worst("pow", suffix, *values, of=others) <= ERRORS["pow"]
    few = [value[:5_000] for value in values]
    whole, single = (apply(f"{each}pow_{suffix}", *few, of=others) for each in ("", "one_"))
    assert whole.tobytes() == single.tobytes()


@pytest.mark.parametrize(("name", "suffix"), CASES)
def test_libm(name: str, suffix: str, seed: int) -> None:
    """With the need "libm" they are the C library's."""
    if name == "sigmoid":
        pytest.skip("libm has none")
    values = operands(np.random.default_rng(seed), name, TYPES[suffix][1], 500)
    libm = ctypes.CDLL("libm.so.6")
    function = getattr(libm, name + ("f" if suffix == "f32" else ""))
    kind = ctypes.c_float if suffix == "f32" else ctypes.c_double
    function.restype, function.argtypes = kind, [kind] * len(values)
    expected = np.array(
        [function(*map(float, point)) for point in zip(*values, strict=True)], values[0].dtype
    )
    np.testing.assert_array_equal(
        apply(f"{name}_{suffix}", *values, of=library(suffix, Piece.LIBM)), expected
    )


def assembly(functions: str, ctype: str, value: str, folder: Path) -> str:
    """The machine code of out[i] = value, of elements of a and b, for vectors of 256 bits, as text."""
    source, out = folder / "loop.c", folder / "loop.s"
    source.write_text(
        functions
        + f"void f(const {ctype} *a, const {ctype} *b, {ctype} *out, ptrdiff_t n)\n{{\n#pragma omp simd\n"
        + f"    for (ptrdiff_t i = 0; i < n; i++)\n        out[i] = {value};\n}}\n"
    )
    compiler = find_compiler()
    command = [compiler.path, *flags_for(compiler), "-march=x86-64-v3", "-O3", "-S", str(source)]
    subprocess.run([*command, "-o", str(out)], check=True, capture_output=True)
    return out.read_text()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names of registers of x86")
@pytest.mark.parametrize("suffix", TYPES)
def test_loops_with_several_are_vectors(suffix: str, tmp_path: Path) -> None:
    """However many are used in one loop, none is called for one number."""
    names = ("erf", "asinh", "atan2", "cbrt")
    ctype = TYPES[suffix][0]
    calls = [f"_pm_{name}_{suffix}({'a[i], b[i]' if name in BINARY else 'a[i]'})" for name in names]
    whole = " + ".join([*calls, *(call.replace("a[i]", "b[i]") for call in calls)])
    text = assembly(prelude(frozenset(Helper(name, suffix) for name in names)), ctype, whole, tmp_path)
    assert not re.search(rf"(call|jmp)\s+\S*_pm_({'|'.join(names)})_", text)
    assert "%ymm" in text


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names of registers of x86")
@pytest.mark.parametrize("name", ["atan", "asin", "acos"])
@pytest.mark.parametrize("suffix", TYPES)
def test_angles_are_computed_once(name: str, suffix: str, tmp_path: Path) -> None:
    """Of the smaller coordinate or of the difference, not of both: a vector takes one division."""
    call, ctype = f"_pm_{name}_{suffix}(a[i])", TYPES[suffix][0]
    text = assembly(prelude(frozenset({Helper(name, suffix)})), ctype, call, tmp_path)
    kind = "s" if suffix == "f32" else "d"
    stores = re.findall(rf"vmov[au]p{kind}\s+%ymm\d+, ?-?\d*\((?!%rsp|%rbp)", text)
    divisions = re.findall(rf"vdivp{kind}\s.*%ymm", text)
    assert 0 < len(divisions) <= len(stores)


@pytest.mark.parametrize("dtype", [pm.Complex, pm.ComplexFloat])
def test_absolute_values_of_complex_numbers(dtype: Any) -> None:
    """Of all magnitudes, infinite beside NaN included, in a loop of vectors."""
    size = pm.Parameter(pm.Int, "N")
    z = pm.Vector(dtype, "z", [size])
    lengths = pm.compile(pm.Abs(z), inputs=[z])
    part = np.float64 if dtype == pm.Complex else np.float32
    with np.errstate(all="ignore"):
        numbers = np.array([*SPECIAL, *(-value for value in SPECIAL), np.nan]).astype(part)
        pairs = [grid.ravel() for grid in np.meshgrid(numbers, numbers)]
        given = np.stack(pairs, axis=1).view(dtype.dtype)[:, 0]
        expected = np.abs(given)
    np.testing.assert_array_max_ulp(lengths(given), expected, 2)
    assert "_pm_cabs" in lengths.source
    assert "__builtin_cabs" not in lengths.source


def test_no_warnings(tmp_path: Path) -> None:
    source = tmp_path / "functions.c"
    source.write_text(prelude(function_needs()))
    compiler = find_compiler()
    command = [compiler.path, *flags_for(compiler), *WARNINGS, "-Wno-unused-function", "-c", str(source)]
    done = subprocess.run([*command, "-o", str(tmp_path / "functions.o")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(platform.machine() != "x86_64", reason="a flag of x86")
def test_without_multiply_adds(tmp_path: Path) -> None:
    """A processor that has none takes libm's."""
    source = tmp_path / "functions.c"
    text = prelude(frozenset({Helper("exp", "f32"), Helper("sin", "f64")}))
    source.write_text(text + "double f(double x) { return _pm_sin_f64(x); }\n")
    compiler = find_compiler()
    command = [compiler.path, "-std=gnu11", "-E", "-P", "-mno-fma", str(source)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "__builtin_sin(x)" in text
    assert "_pm_exp_f32" not in text


def test_flags_that_rearrange() -> None:
    assert rearranges(("-g", "-ffast-math"))
    assert rearranges(("-fassociative-math",))
    assert not rearranges(("-g", "-fno-math-errno"))
