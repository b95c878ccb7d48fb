"""One test of the whole text, as the user sees it, for every leaf of the error tree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polymat as pm
from polymat.errors import counted, unreachable
from tests.errors.told import told

M, N, K, L = (pm.Parameter(pm.Int, name) for name in "MNKL")
i = pm.Variable(pm.Int, "i")
A, B = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [L, K])
x, u = pm.Vector(pm.Double, "x", [N]), pm.Vector(pm.UChar, "u", [N])


def test_lang_error() -> None:
    def program() -> None:
        x * x

    assert told(pm.LangError, program) == (
        "x * x: the product of two vectors is ambiguous\n"
        "    x * x\n"
        "hint: dot(x, x), outer(x, x) or elementwise_mul(x, x); Images of one dimension multiply by elements"
    )


def test_shape_error() -> None:
    def program() -> None:
        A @ B

    assert told(pm.ShapeError, program) == (
        "cannot multiply A (M x K) by B (L x K): inner extents K and L differ\n"
        "    A @ B\n"
        "hint: did you mean A @ B.T?"
    )


def test_dtype_error() -> None:
    def program() -> None:
        u + 300

    assert told(pm.DtypeError, program) == "the integer 300 does not fit UChar\n    u + 300"


def test_not_affine_error() -> None:
    def program() -> None:
        x(i * i)

    assert told(pm.NotAffineError, program) == (
        "not affine: i * i\n"
        "    x(i * i)\n"
        "hint: indices, bounds and case conditions are sums of integer multiples of variables and sizes, "
        "// and % by constants"
    )


def test_invalid_name_error() -> None:
    def program() -> None:
        pm.Parameter(pm.Int, "register")

    assert told(pm.InvalidNameError, program) == (
        "'register' cannot name a Parameter: a C keyword\n"
        '    pm.Parameter(pm.Int, "register")\n'
        "hint: register_, say"
    )


def test_name_clash_error() -> None:
    def program() -> None:
        pm.Function(([i, i], [pm.Interval(pm.Int, 0, N), pm.Interval(pm.Int, 0, N)]), pm.Double, "f")

    assert told(pm.NameClashError, program).startswith("two variables of f are named i\n    pm.Function(")


def test_undefined_error() -> None:
    f = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "f")
    assert told(pm.UndefinedError, lambda: f.defn) == (
        "f was never given a definition\n"
        '    f = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "f")'
    )


def pointwise(name: str, value: list[object]) -> pm.Function:
    f = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, name)
    f.defn = value
    return f


def test_bounds_error() -> None:
    f = pointwise("f", [x(i + 1)])
    assert told(pm.BoundsError, lambda: pm.compile(f)) == (
        "f reads x(i + 1) outside x: at i = 0 with N = 1 this is x(1), "
        "and x has indices 0..N-1\n"
        '    f = pointwise("f", [x(i + 1)])\n'
        "hint: narrow the interval, put the access under a Case or Select, or give constraints= on the sizes"
    )


def test_coverage_error() -> None:
    f = pointwise("f", [pm.Case(pm.Condition(i, ">", 0), x(i))])
    assert told(pm.CoverageError, lambda: pm.compile(f)) == (
        "no case of f defines the point i = 0 (with N = 1)\n"
        "    f = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, name)\n"
        "hint: add a Case, or give the function a default="
    )


def test_cycle_error() -> None:
    f = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "f")
    f.defn = [2 * f(i)]
    assert told(pm.CycleError, lambda: pm.compile(f)) == (
        "f needs its own value: f(0) reads f(i) = f(0) (with N = 1)\n"
        "    f.defn = [2 * f(i)]\n"
        "hint: a function may read points that come earlier in some order only"
    )


def test_argument_error() -> None:
    doubled = pm.compile(pointwise("doubled", [2 * x(i)]))
    with pytest.raises(pm.ArgumentError) as caught:
        doubled(np.ones((2, 2)))
    assert str(caught.value) == (
        "doubled(): argument x has 2 dimensions, shape (2, 2): expected 1 dimension, (N,)"
    )


def test_toolchain_error(tmp_path: Path) -> None:
    with pytest.raises(pm.ToolchainError) as caught:
        pm.load(tmp_path / "nothing.json")
    assert str(caught.value) == f"cannot read {tmp_path}/nothing.json: No such file or directory"


def test_internal_error() -> None:
    with pytest.raises(pm.InternalError) as caught:
        unreachable(3)  # type: ignore[arg-type]
    assert str(caught.value) == "bug in polymat: unexpected 3"


def test_errors_are_also_what_python_would_raise() -> None:
    pairs = [
        (pm.ShapeError, ValueError),
        (pm.DtypeError, TypeError),
        (pm.BoundsError, IndexError),
        (pm.InvalidNameError, ValueError),
        (pm.ArgumentError, ValueError),
        (pm.ToolchainError, OSError),
    ]
    for error, python in pairs:
        assert issubclass(error, python)
        assert issubclass(error, pm.PolymatError)


def test_counts_have_the_word_for_so_many() -> None:
    assert [counted(number, "tap") for number in (0, 1, 2)] == ["0 taps", "1 tap", "2 taps"]
    assert counted(1, "index", "indices") == "1 index"
    assert counted(x.shape[0], "index", "indices") == "N indices"
