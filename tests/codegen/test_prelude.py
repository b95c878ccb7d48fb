"""The C functions of the prelude: NumPy's results on every pair of awkward values, and no warnings."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from polymat.codegen.c.arithmetic import arithmetic_names
from polymat.codegen.prelude import prelude
from polymat.codegen.products.blockshape import Shape, joined
from polymat.errors import InternalError
from polymat.runtime.libraryfile import build
from polymat.runtime.toolchain import find_compiler, flags_for

Values = npt.NDArray[Any]
DTYPES: dict[str, tuple[str, Any]] = {
    "i16": ("int16_t", np.int16),
    "u8": ("uint8_t", np.uint8),
    "i32": ("int32_t", np.int32),
    "u32": ("uint32_t", np.uint32),
    "i8": ("int8_t", np.int8),
    "u16": ("uint16_t", np.uint16),
    "u64": ("uint64_t", np.uint64),
    "i64": ("int64_t", np.int64),
    "f32": ("float", np.float32),
    "f64": ("double", np.float64),
}
TRUTH: dict[str, tuple[str, Any]] = {"b8": ("uint8_t", np.bool_)}
COMPLEX: dict[str, tuple[str, Any]] = {
    "c64": ("float _Complex", np.complex64),
    "c128": ("double _Complex", np.complex128),
}
REFERENCES: dict[str, Callable[..., Values]] = {
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "min": np.minimum,
    "max": np.maximum,
}
BINARY = [(name, suffix) for name in REFERENCES for suffix in DTYPES] + [("min", "b8"), ("max", "b8")]
ALL_NEEDS = sorted(arithmetic_names() | {"workspace", "team", "math", "string", "complex", "products"})
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-pedantic", "-Werror")


def awkward(suffix: str) -> Values:
    """Ends of the range, zero, one, and what is special about the type."""
    dtype: np.dtype[Any] = np.dtype((DTYPES | TRUTH)[suffix][1])
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        info = np.finfo(dtype)
        tiny = [
            0.0,
            info.smallest_subnormal,
            info.tiny,
            0.1,
            0.5,
            1.0,
            1.5,
            2.0,
            3.0,
            7.3,
            1e6,
            info.max,
            np.inf,
        ]
        return np.array([*tiny, *(-value for value in tiny), np.nan], dtype)
    limits = np.iinfo(dtype)
    small = [-17, -8, -3, -2, -1, 0, 1, 2, 3, 5, 8, 100]
    values = [limits.min, limits.min + 1, limits.max // 2, limits.max - 1, limits.max, *small]
    return np.array(sorted({value for value in values if limits.min <= value <= limits.max}), dtype)


def loop_over(need: str) -> str:
    """A C function with the name of the need: out[i] = f(a[i], b[i]), or the reduction of a."""
    name, _, suffix = need.rpartition("_")
    ctype = (DTYPES | TRUTH | COMPLEX)[suffix][0]
    second = "int64_t" if name == "ipow" else ctype
    head = f"void {need}(const {ctype} *a, const {second} *b, {ctype} *out, ptrdiff_t n)\n{{\n    (void)b;\n"
    loop = "    for (ptrdiff_t i = 0; i < n; i++)\n"
    if not name.startswith("reduction"):
        arguments = "a[i]" if name in ("abs", "atan", "hidden", "i0", "sign") else "a[i], b[i]"
        return f"{head}{loop}        out[i] = _pm_{need}({arguments});\n}}\n"
    operator = f"_pm_{need.removeprefix('reduction_')}"
    return (
        f"{head}    {ctype} r = {'' if 'min' in name else '-'}INFINITY;\n"
        f"#pragma omp parallel for simd num_threads(2) reduction({operator} : r)\n"
        f"{loop}        r = {operator}(r, a[i]);\n    *out = r;\n}}\n"
    )


@cache
def library() -> ctypes.CDLL:
    """Every function of the prelude as a loop over arrays."""
    loops = [loop_over(need) for need in sorted(arithmetic_names())]
    built = build(prelude(arithmetic_names()) + "\n".join(loops))
    loaded = ctypes.CDLL(str(built.path))
    built.release()
    return loaded


def apply(need: str, a: Values, b: Values) -> Values:
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    out = np.empty_like(a)
    arguments = [ctypes.c_void_p(array.ctypes.data) for array in (a, b, out)]
    getattr(library(), need)(*arguments, ctypes.c_ssize_t(a.size))
    return out


def pairs(a: Values, b: Values) -> tuple[Values, Values]:
    left, right = np.meshgrid(a, b, indexing="ij")
    return left.ravel(), right.ravel()


@pytest.mark.parametrize(("name", "suffix"), BINARY)
def test_like_numpy(name: str, suffix: str) -> None:
    a, b = pairs(awkward(suffix), awkward(suffix))
    with np.errstate(all="ignore"):
        expected = REFERENCES[name](a, b)
    result = apply(f"{name}_{suffix}", a, b)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)
    if name in ("floordiv", "mod") and suffix.startswith("f"):
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(result[known]), np.signbit(expected[known]))


@pytest.mark.parametrize("suffix", ["f32", "f64"])
@pytest.mark.parametrize("name", ["floordiv", "mod"])
def test_random_quotients_like_numpy(name: str, suffix: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype = DTYPES[suffix][1]
    a = (rng.standard_normal(20_000) * 10.0 ** rng.integers(-5, 6, 20_000)).astype(dtype)
    b = (rng.standard_normal(20_000) * 10.0 ** rng.integers(-5, 6, 20_000)).astype(dtype)
    a[::7] = (b * rng.integers(-9, 9, 20_000))[::7].astype(dtype)
    np.testing.assert_array_equal(apply(f"{name}_{suffix}", a, b), REFERENCES[name](a, b))


@pytest.mark.parametrize("suffix", list(COMPLEX))
def test_complex_quotients_like_numpy(suffix: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype = COMPLEX[suffix][1]
    parts = rng.standard_normal((4, 5000)) * 10.0 ** rng.integers(-9, 10, (4, 5000))
    a, b = (parts[0] + 1j * parts[1]).astype(dtype), (parts[2] + 1j * parts[3]).astype(dtype)
    b[::50] = 0
    with np.errstate(all="ignore"):
        expected = a / b
    result = apply(f"div_{suffix}", a, b)
    np.testing.assert_allclose(result, expected, rtol=8 * np.finfo(dtype).eps)


@pytest.mark.parametrize("suffix", list(DTYPES))
def test_sign_like_numpy(suffix: str) -> None:
    a = awkward(suffix)
    np.testing.assert_array_equal(apply(f"sign_{suffix}", a, a), np.sign(a))


@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_what_is_hidden_from_the_compiler_is_itself(suffix: str) -> None:
    a = awkward(suffix)
    np.testing.assert_array_equal(apply(f"hidden_{suffix}", a, a), a)


@pytest.mark.parametrize("suffix", ["i16", "i32", "i64"])
def test_abs_like_numpy(suffix: str) -> None:
    a = awkward(suffix)
    np.testing.assert_array_equal(apply(f"abs_{suffix}", a, a), np.abs(a))


@pytest.mark.parametrize("suffix", ["i8", "i16", "u8", "u16", "i32", "u32", "i64", "u64"])
def test_integer_power(suffix: str) -> None:
    """It wraps; with a negative exponent it is the quotient towards zero."""
    dtype = np.dtype(DTYPES[suffix][1])
    a, b = pairs(awkward(suffix), awkward(suffix))
    modulus = 1 << (8 * dtype.itemsize)

    def power(base: int, exponent: int) -> int:
        if exponent < 0:
            return base if base == -1 and exponent % 2 else int(base in (1, -1))
        return int(pow(base, exponent, modulus))

    result = apply(f"pow_{suffix}", a, b)
    expected = [power(int(x), int(y)) % modulus for x, y in zip(a, b, strict=True)]
    assert [int(value) % modulus for value in result] == expected


@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_power_with_an_integer_exponent(suffix: str) -> None:
    dtype: Any = DTYPES[suffix][1]
    bases = np.array([0.0, 1.0, -1.0, 0.5, -1.5, 3.0, np.inf, np.nan], dtype)
    a, b = pairs(bases, np.array([-7, -2, -1, 0, 1, 2, 3, 12, np.iinfo(np.int64).min]))
    with np.errstate(all="ignore"):
        expected = np.power(a, b.astype(dtype))
    np.testing.assert_allclose(apply(f"ipow_{suffix}", a, b), expected, rtol=float(20 * np.finfo(dtype).eps))


@pytest.mark.parametrize("suffix", ["f32", "f64"])
@pytest.mark.parametrize("name", ["min", "max"])
def test_reduction(name: str, suffix: str, seed: int) -> None:
    a = np.random.default_rng(seed).standard_normal(1013).astype(DTYPES[suffix][1])
    reference = getattr(np, name)
    assert apply(f"reduction_{name}_{suffix}", a, a)[0] == reference(a)
    for position in (0, 500, 1012):
        with_nan = a.copy()
        with_nan[position] = np.nan
        assert np.isnan(apply(f"reduction_{name}_{suffix}", with_nan, a)[0])


@pytest.mark.parametrize("needs", [[need] for need in ALL_NEEDS] + [ALL_NEEDS, []])
def test_compiles_without_warnings(needs: list[str], tmp_path: Path) -> None:
    """Each need by itself, all together and none at all."""
    source = tmp_path / "prelude.c"
    source.write_text(prelude(frozenset(needs)))
    compiler = find_compiler()
    flags = [flag for flag in flags_for(compiler) if flag != "-shared"]  # nothing is linked, as clang says
    if compiler.kind == "clang":  # which mentions what is inline and not used, and attributes of gcc
        flags += ["-Wno-unused-function", "-Wno-unknown-attributes"]
    command = [compiler.path, *WARNINGS, *flags, "-fsyntax-only", str(source)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize("needs", list(itertools.permutations(["team", "min_f64", "workspace"])))
def test_text_does_not_depend_on_the_order_of_needs(needs: tuple[str, ...]) -> None:
    assert prelude(frozenset(needs)) == prelude(frozenset(["workspace", "team", "min_f64"]))


def test_only_what_is_needed() -> None:
    assert prelude(frozenset()) == "#include <stddef.h>\n#include <stdint.h>\n"
    text = prelude(frozenset({"floordiv_i32"}))
    assert "_pm_floordiv_i32" in text
    assert "omp.h" not in text
    assert text.count("static inline") == 1


def test_products_that_know_more_stand_for_those_that_do_not() -> None:
    """All would define the same names; without triangles the compiler leaves out what they need."""
    plain, halves = (Shape("f64", 32, 4, 2, known) for known in (False, True))
    walks = replace(plain, walks=True)
    several = [plain, halves, walks, halves | walks]
    assert [Shape.parse(shape.need) for shape in several] == several
    assert len({shape.need for shape in several}) == 4
    both = prelude(frozenset({plain.need, halves.need}))
    assert both == prelude(frozenset({halves.need}))
    assert both != prelude(frozenset({plain.need}))
    assert prelude(frozenset({walks.need, halves.need})) == prelude(frozenset({(halves | walks).need}))
    other = Shape("f32", 32, 4, 2)
    assert set(joined({plain.need, other.need})) == {plain.need, other.need}


def test_unknown_need() -> None:
    with pytest.raises(InternalError, match="bug in polymat: the C prelude has no floordiv_i7, teem"):
        prelude(frozenset({"teem", "floordiv_i7", "min_f64"}))
