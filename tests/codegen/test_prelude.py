"""The C functions of the prelude: NumPy's results on every pair of awkward values, and no warnings."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from polymat.codegen.c.arithmetic import arithmetic_needs
from polymat.codegen.c.needs import Helper, HelperReduction, Need, Piece, UserKernel
from polymat.codegen.c.rows import RowNeed, RowPart, RowTypes
from polymat.codegen.prelude import prelude
from polymat.codegen.products.blockshape import Shape, joined
from polymat.codegen.routines.cblas import cblas_routine
from polymat.codegen.routines.fftw import FftNeed
from polymat.codegen.signals.filterblocks import FilterShape
from polymat.codegen.signals.recursiveblocks import RecursiveShape
from polymat.errors import InternalError
from polymat.lang.types import Double
from polymat.runtime.libraryfile import build
from polymat.runtime.toolchain import find_compiler, flags_for
from polymat.userkernel import Microkernel

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


def chosen(a: Values, b: Values) -> Values:
    """The first where it is less."""
    found: Values = np.where(np.less(a, b), a, b)
    return found


REFERENCES: dict[str, Callable[..., Values]] = {
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "min": np.minimum,
    "max": np.maximum,
    "choose": chosen,
}
ALONE: dict[str, Callable[..., Values]] = {"minalone": np.minimum, "maxalone": np.maximum}
MASKED: dict[str, Callable[..., Values]] = {"minmasked": np.minimum, "maxmasked": np.maximum}
BINARY = [
    *((name, suffix) for name in REFERENCES for suffix in DTYPES),
    *(("min", "b8"), ("max", "b8")),
    *((name, suffix) for name in ALONE for suffix in DTYPES),
    *((name, suffix) for name in MASKED for suffix in ("f32", "f64")),
]
PIECES = (Piece.WORKSPACE, Piece.TEAM, Piece.MATH, Piece.STRING, Piece.COMPLEX, Piece.PRODUCTS)
ALL_NEEDS: list[Need] = sorted((*arithmetic_needs(), *PIECES), key=str)
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-pedantic", "-Werror")


def named(needs: Sequence[Need]) -> str:
    """What a test of some needs is called."""
    return "-".join(map(str, needs)) if len(needs) < 4 else "all"


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


def loop_over(need: Helper | HelperReduction) -> str:
    """A C function with the name of the need: out[i] = f(a[i], b[i]), or the reduction of a."""
    helper = need.helper if isinstance(need, HelperReduction) else need
    ctype = (DTYPES | TRUTH | COMPLEX)[helper.suffix][0]
    second = "int64_t" if helper.operation == "ipow" else ctype
    head = f"void {need}(const {ctype} *a, const {second} *b, {ctype} *out, ptrdiff_t n)\n{{\n    (void)b;\n"
    loop = "    for (ptrdiff_t i = 0; i < n; i++)\n"
    if need is helper:
        unary = ("abs", "cube", "hidden", "i0", "sign", "square")
        arguments = "a[i]" if helper.operation in unary else "a[i], b[i]"
        arguments = (
            f"__real__ a[i] < __real__ b[i], {arguments}" if helper.operation == "choose" else arguments
        )
        return f"{head}{loop}        out[i] = {helper.function}({arguments});\n}}\n"
    return (
        f"{head}    {ctype} r = {'' if helper.operation == 'min' else '-'}INFINITY;\n"
        f"#pragma omp parallel for simd num_threads(2) reduction({helper.function} : r)\n"
        f"{loop}        r = {helper.function}(r, a[i]);\n    *out = r;\n}}\n"
    )


@cache
def library() -> ctypes.CDLL:
    """Every function of the prelude as a loop over arrays."""
    loops = [loop_over(need) for need in sorted(arithmetic_needs(), key=str)]
    built = build(prelude(arithmetic_needs()) + "\n".join(loops))
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
        expected = (REFERENCES | ALONE | MASKED)[name](a, b)
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


def test_integers_need_no_header_that_takes_long_to_read() -> None:
    assert "<math.h>" not in prelude(frozenset((Helper("min", "i64"), Helper("floordiv", "u8"))))
    assert "<math.h>" in prelude(frozenset((Helper("min", "i64"), Helper("floordiv", "f64"))))


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


@pytest.mark.parametrize("needs", [*([need] for need in ALL_NEEDS), ALL_NEEDS, []], ids=named)
def test_compiles_without_warnings(needs: list[Need], tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    "needs", [*itertools.permutations([Piece.TEAM, Helper("min", "f64"), Piece.WORKSPACE])], ids=named
)
def test_text_does_not_depend_on_the_order_of_needs(needs: tuple[Need, ...]) -> None:
    assert prelude(frozenset(needs)) == prelude(
        frozenset([Piece.WORKSPACE, Piece.TEAM, Helper("min", "f64")])
    )


def test_only_what_is_needed() -> None:
    assert prelude(frozenset()) == "#include <stddef.h>\n#include <stdint.h>\n"
    text = prelude(frozenset({Helper("floordiv", "i32")}))
    assert "_pm_floordiv_i32" in text
    assert "omp.h" not in text
    assert text.count("static inline") == 1


def test_products_that_know_more_stand_for_those_that_do_not() -> None:
    """All would define the same names; without triangles the compiler leaves out what they need."""
    plain, halves = (Shape("f64", 32, 4, 2, known) for known in (False, True))
    walks = replace(plain, walks=True)
    several = [plain, halves, walks, halves | walks]
    assert len(set(map(str, several))) == 4
    both = prelude(frozenset({plain, halves}))
    assert both == prelude(frozenset({halves}))
    assert both != prelude(frozenset({plain}))
    assert prelude(frozenset({walks, halves})) == prelude(frozenset({(halves | walks)}))
    other = Shape("f32", 32, 4, 2)
    assert set(joined({plain, other})) == {plain, other}


def test_unknown_need() -> None:
    class Team(Need):
        def __str__(self) -> str:
            return "teem"

    with pytest.raises(InternalError, match="bug in polymat: the C prelude has no floordiv_i7, teem"):
        prelude(frozenset({Team(), Helper("floordiv", "i7"), Helper("min", "f64")}))


ROWS = RowTypes("f32", 8)
ONE_OF_EACH: tuple[Need, ...] = (
    Helper("min", "f64"),
    HelperReduction(Helper("min", "f64")),
    Shape("f32", 32, 4, 2),
    FilterShape("f64", 8, 4, 2, 4),
    RecursiveShape("f64", 8, (0, 1), (1,), 4),
    cblas_routine("cblas_ddot"),
    UserKernel(Microkernel("block", "static void block(void) {}", Double, 6, 8)),
    *FftNeed,
    *(RowNeed(part, ROWS) for part in RowPart),
    *(piece for piece in Piece if piece is not Piece.LIBM),  # which says how others are written
)


def test_every_kind_of_need_is_here() -> None:
    kinds = {kind.__name__ for kind in Need.__subclasses__() if kind.__module__.startswith("polymat.")}
    assert {type(need).__name__ for need in ONE_OF_EACH} == kinds


@pytest.mark.parametrize("need", ONE_OF_EACH, ids=str)
def test_every_need_has_a_text(need: Need) -> None:
    """Nothing that may be asked for is left out."""
    assert len(prelude(frozenset({need}))) > len(prelude(frozenset()))


def test_order_of_types() -> None:
    """Vectors come before what uses them, and of each the single precision first."""
    types = [RowTypes("f64", 4), RowTypes("f32", 8)]
    text = prelude(frozenset().union(*(each.needs(RowPart.TOTAL) for each in types)))
    names = [f"_pm_row_{name}_{suffix}(" for name in ("load", "total") for suffix in ("f32", "f64")]
    assert [*map(text.index, names)] == sorted(map(text.index, names))
