"""Loops that run to sizes which may be small have a version for each small value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Double,
    Float,
    Function,
    Image,
    Int,
    Interval,
    Long,
    Matrix,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Variable,
    Vector,
)
from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import Assign, CBinary, CFunction, CParameter, For, Id, Literal, Subscript
from polymat.codegen.c.render import function_text
from polymat.codegen.loops.shortsizes import MOST_FUNCTIONS, for_short_sizes, in_versions
from polymat.tilesize.shortloops import FEW_POINTS, WRITTEN_OUT

N, M, K = (Parameter(Int, name) for name in "NMK")
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 13, 17)


def loop(variable: str, end: str, *body: Any, start: str = "0") -> For:
    return For(variable, Literal(start), CBinary("<", Id(variable), Id(end)), Literal("1"), tuple(body))


SET = Assign(Subscript(Id("a"), Id("k")), "=", Literal("0.0"))
GIVEN = tuple(CParameter("const ptrdiff_t", name) for name in "nk")


def function(*body: Any, returns: str = "void", runs_others: bool = False) -> CFunction:
    parameters = (CParameter("double *", "a"), *GIVEN)
    return CFunction(returns, "f", parameters, body, "a comment", runs_others=runs_others)


def test_a_version_for_each_value_and_one_for_all_others() -> None:
    whole, chosen = in_versions(function(loop("i", "n", loop("j", "k", SET))), {"k": (2, 3)})
    assert function_text(whole).startswith(
        "static inline __attribute__((always_inline)) void f_of_any(double *a, "
    )
    assert function_text(chosen) == (
        "/* a comment */\nstatic void f(double *a, const ptrdiff_t n, const ptrdiff_t k)\n{\n"
        "    if (k == 2) {\n        f_of_any(a, n, 2);\n        return;\n    }\n"
        "    if (k == 3) {\n        f_of_any(a, n, 3);\n        return;\n    }\n"
        "    f_of_any(a, n, k);\n}\n"
    )


@pytest.mark.parametrize(
    "same",
    [
        function(loop("j", "k", SET)),  # entered once
        function(loop("i", "n", loop("j", "k", SET, start="1"))),
        function(loop("i", "k", loop("j", "n", SET))),
        function(loop("i", "n", loop("j", "k", SET)), runs_others=True),
        function(loop("i", "n", loop("j", "k", SET)), returns="__attribute__((noinline)) void"),
    ],
)
def test_other_functions_have_no_versions(same: CFunction) -> None:
    assert in_versions(same, {"k": (2, 3)}) == (same,)


def test_programs_of_many_functions_have_no_versions() -> None:
    one = function(loop("i", "n", loop("j", "k", SET)))
    assert [len(each) for each in for_short_sizes([[one] * MOST_FUNCTIONS], Names(), {"k": (2,)})] == [
        2 * MOST_FUNCTIONS
    ]
    assert for_short_sizes([[one] * MOST_FUNCTIONS, [one]], Names(), {"k": (2,)}) == [
        [one] * MOST_FUNCTIONS,
        [one],
    ]


def versions(result: Any, **compiling: Any) -> set[int]:
    source = pm.compile(result, **compiling).source
    return {n for n in range(100) if f"(M == {n}) {{" in source}


def test_what_is_expected_of_a_size_says_which_versions_there_are() -> None:
    def centred() -> Any:
        return Matrix(Double, "A", [N, M]) - Vector(Double, "x", [M])

    assert versions(centred()) == {*FEW_POINTS}
    assert versions(centred(), estimates={M: 7}) == {7}
    assert versions(centred(), estimates={M: WRITTEN_OUT + 1}) == set()
    assert versions(centred(), sizes={M: 3}) == set()
    assert versions(centred(), options=pm.Options(unroll=False)) == set()
    assert versions(2.0 * Vector(Double, "x", [M])) == set()


def outer() -> Any:
    X = Matrix(Double, "X", [N, M])
    n, i, j = (Variable(Int, name) for name in "nij")
    rows, points = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)
    result = Reduction(([i, j], [rows, rows]), ([n, i, j], [points, rows, rows]), Double, "P")
    result.defn = [Reduce(result(i, j), X(n, i) * X(n, j) + 1.0, Op.Sum)]
    return result


def before_and_after() -> Any:
    """Rows read at another place, so that loops along them have a beginning and an end of their own."""
    A, i, j = Matrix(Double, "A", [N, M]), Variable(Int, "i"), Variable(Int, "j")
    result = Function(([i, j], [Interval(Int, 0, N - 1), Interval(Int, 0, M - 1)]), Double, "F")
    result.defn = [A(i, j) + A(i, M - 1 - j)]
    return result


# What is compiled, and the shapes of what it is called with.
PROGRAMS: dict[str, tuple[Callable[[], Any], str]] = {
    "map": (lambda: 2.0 * Matrix(Float, "A", [N, M]) + 1.0, "NM"),
    "integers": (lambda: 3 * Matrix(Long, "A", [N, M]), "NM"),
    "broadcast": (lambda: Matrix(Double, "A", [N, M]) - Vector(Double, "x", [M]), "NM M"),
    "all": (lambda: Matrix(Double, "A", [N, M]).sum(), "NM"),
    "largest": (lambda: Matrix(Double, "A", [N, M]).max(), "NM"),
    "columns": (lambda: Matrix(Double, "A", [N, M]).sum(axis=0), "NM"),
    "rows": (lambda: Matrix(Double, "A", [N, M]).sum(axis=1), "NM"),
    "least of rows": (lambda: Matrix(Float, "A", [N, M]).min(axis=1), "NM"),
    "places": (lambda: Matrix(Double, "A", [N, M]).argmin(axis=1), "NM"),
    "middle": (lambda: Image(Double, "A", [N, K, M]).sum(axis=1), "NKM"),
    "variance": (lambda: Image(Double, "A", [N, K, M]).var(axis=1), "NKM"),
    "outer": (outer, "NM"),
    "turned": (before_and_after, "NM"),
}
KINDS = {"map": np.float32, "least of rows": np.float32, "integers": np.int64}
EMPTY = ("largest", "least of rows", "places")  # have no value of no elements


@pytest.mark.parametrize("name", PROGRAMS)
def test_versions_compute_what_the_interpreter_does(name: str) -> None:
    make, shapes = PROGRAMS[name]
    compiled = pm.compile(make())
    rng = np.random.default_rng(4)
    for length in LENGTHS[name in EMPTY :]:
        for rows in (1, 2, 3, 11):
            sizes = {"N": rows, "M": length, "K": 5}
            shaped = [tuple(sizes[each] for each in shape) for shape in shapes.split()]
            arrays = [rng.integers(-9, 9, shape).astype(KINDS.get(name, np.float64)) for shape in shaped]
            np.testing.assert_allclose(compiled(*arrays), compiled.reference(*arrays), rtol=1e-12)
