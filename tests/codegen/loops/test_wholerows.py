"""Loops over whole rows that follow each other in memory are one loop."""

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
from polymat.codegen.c.ctree import (
    Assign,
    CBinary,
    CExpr,
    CFunction,
    Evaluate,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.c.render import function_text
from polymat.codegen.c.vectorloops import VECTORS
from polymat.codegen.loops.wholerows import as_one_loop

N, M, K = (Parameter(Int, name) for name in "NMK")
LENGTHS = (0, 1, 2, 3, 5, 7, 8, 13, 17)


def times(left: CExpr, right: CExpr) -> CExpr:
    return CBinary("*", left, right)


def plus(left: CExpr, right: CExpr) -> CExpr:
    return CBinary("+", left, right)


def loop(variable: str, start: CExpr, end: CExpr, *body: Stmt, vectors: bool = False) -> For:
    pragmas = (VECTORS,) if vectors else ()
    return For(variable, start, CBinary("<", Id(variable), end), Literal("1"), body, pragmas)


def assigned(*indices: CExpr) -> Assign:
    to, *read = indices
    value: CExpr = Literal("1.0")
    for number, each in enumerate(read):
        value = CBinary("+", value, Subscript(Id("xyz"[number]), each))
    return Assign(Subscript(Id("a"), to), "=", value)


def written(*statements: Stmt) -> str:
    text = function_text(CFunction("void", "f", (), as_one_loop(statements)))
    return " ".join(text.split("{", 1)[1].rsplit("}", 1)[0].split())


ROW, AT, PLANE, ZERO = Id("i"), Id("j"), Id("p"), Literal("0")
LENGTH = Id("m")
PLACE = plus(times(ROW, LENGTH), AT)


def rows(*body: Stmt, end: CExpr = LENGTH) -> For:
    return loop("i", Id("begin"), Id("end"), loop("j", ZERO, end, *body, vectors=True))


def test_rows_that_follow_each_other() -> None:
    assert written(rows(assigned(PLACE, PLACE))) == (
        "#pragma omp simd for (ptrdiff_t j = begin * m; j < end * m; j++) { a[j] = 1.0 + x[j]; }"
    )


def test_planes_of_such_rows() -> None:
    place = plus(times(plus(times(PLANE, Id("n")), ROW), LENGTH), AT)
    inner = loop("i", ZERO, Id("n"), loop("j", ZERO, LENGTH, assigned(place, place), vectors=True))
    assert written(loop("p", Id("begin"), Id("end"), inner)) == (
        "#pragma omp simd for (ptrdiff_t j = begin * (n * m); j < end * (n * m); j++) { a[j] = 1.0 + x[j]; }"
    )


def test_less_than_no_elements_are_none() -> None:
    """Less than no rows of less than no elements are no elements, and not their product."""
    less = CBinary("-", LENGTH, Literal("1"))
    place = plus(times(ROW, less), AT)
    whole = "(m - 1 > 0 ? m - 1 : 0)"
    assert written(rows(assigned(place), end=less)) == (
        f"#pragma omp simd for (ptrdiff_t j = begin * {whole}; j < end * {whole}; j++) {{ a[j] = 1.0; }}"
    )


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7])
def test_squares_with_less_than_no_side(size: int) -> None:
    A, c = Matrix(Double, "A", [N, N]), Parameter(Double, "c")
    i, j, k = (Variable(Int, name) for name in "ijk")
    inner, short = Interval(Int, 0, N - 3), Interval(Int, 0, N - 2)
    plane = Function(([i, j], [inner, short]), Double, "plane")
    plane.defn = [c * c]
    solid = Function(([i, k, j], [inner, short, short]), Double, "solid")
    solid.defn = [c + 0.0]
    compiled = pm.compile([plane, solid, A + c], inputs=[A], options=pm.Options(inline=False))
    given = np.ones((size, size))
    shapes = [*((max(size - 2, 0), *[max(size - 1, 0)] * rank) for rank in (1, 2)), (size, size)]
    rooms = [np.full(int(np.prod(shape)) + 64, 9.0) for shape in shapes]
    outs = tuple(room[32:-32].reshape(shape) for room, shape in zip(rooms, shapes, strict=True))
    results = compiled(given, c=1.5, out=outs)
    for result, room, expected in zip(results, rooms, (2.25, 1.5, 2.5), strict=True):
        assert (result == expected).all()
        assert (room[:32] == 9.0).all()
        assert (room[-32:] == 9.0).all()


@pytest.mark.parametrize(
    "statement",
    [
        rows(assigned(PLACE, AT)),
        rows(assigned(PLACE, ROW)),
        rows(assigned(PLACE, plus(times(ROW, LENGTH), plus(AT, Literal("1"))))),
        rows(assigned(plus(times(ROW, Id("n")), AT))),
        rows(assigned(PLACE), end=CBinary("-", LENGTH, Literal("1"))),
        rows(assigned(times(AT, LENGTH))),
        loop("i", Id("begin"), Id("end"), Evaluate(ROW), loop("j", ZERO, LENGTH, assigned(PLACE))),
        loop("i", Id("begin"), Id("end"), loop("j", Literal("1"), LENGTH, assigned(PLACE))),
    ],
)
def test_other_loops_stay_as_they_are(statement: For) -> None:
    assert as_one_loop((statement,)) == (statement,)


def part() -> Any:
    """Rows without their last elements, which do not follow each other."""
    A, i, j = Matrix(Double, "A", [N, M]), Variable(Int, "i"), Variable(Int, "j")
    result = Function(([i, j], [Interval(Int, 0, N - 1), Interval(Int, 0, M - 2)]), Double, "F")
    result.defn = [A(i, j) + 1.0]
    return result


def dot() -> Any:
    A, B = Matrix(Double, "A", [N, M]), Matrix(Double, "B", [N, M])
    i, j = Variable(Int, "i"), Variable(Int, "j")
    points = [Interval(Int, 0, N - 1), Interval(Int, 0, M - 1)]
    result = Reduction(([], []), ([i, j], points), Double, "D")
    result.defn = [Reduce(result(), A(i, j) * B(i, j), Op.Sum)]
    return result


# What is compiled, the shapes of what it is called with, and whether it is one loop.
PROGRAMS: dict[str, tuple[Callable[[], Any], str, bool]] = {
    "map": (lambda: 2.0 * Matrix(Float, "A", [N, M]) + 1.0, "NM", True),
    "integers": (lambda: 3 * Matrix(Long, "A", [N, M]), "NM", True),
    "volume": (lambda: 2.0 * Image(Double, "A", [N, K, M]) + 1.0, "NKM", True),
    "broadcast": (lambda: Matrix(Double, "A", [N, M]) - Vector(Double, "x", [M]), "NM M", False),
    "part": (part, "NM", False),
    "all": (lambda: Matrix(Double, "A", [N, M]).sum(), "NM", True),
    "squares": (lambda: (Matrix(Float, "A", [N, M]) ** 2).sum(), "NM", True),
    "all of a volume": (lambda: Image(Double, "A", [N, K, M]).sum(), "NKM", True),
    "dot": (dot, "NM NM", True),
    "largest": (lambda: Matrix(Double, "A", [N, M]).max(), "NM", True),
    "three columns": (lambda: Matrix(Double, "A", [N, 3]).max(), "N3", True),
    "transposed": (lambda: pm.transpose(Matrix(Double, "A", [N, M])) + 1.0, "NM", False),
}
KINDS = {"map": np.float32, "squares": np.float32, "integers": np.int64}
EMPTY = ("largest",)  # has no value of no elements


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_loop_computes_what_the_interpreter_does(name: str) -> None:
    make, shapes, is_one = PROGRAMS[name]
    compiled = pm.compile(make())
    ends = ("_pm_begin0 * M", "_pm_begin0 * 3", "_pm_begin0 * (K * M)")
    assert any(f"{each};" in compiled.source for each in ends) == is_one
    rng = np.random.default_rng(4)
    for length in LENGTHS[name in EMPTY or name == "part" :]:
        for rows in (1, 2, 3, 11):
            sizes = {"N": rows, "M": length, "K": 5, "3": 3}
            shaped = [tuple(sizes[each] for each in shape) for shape in shapes.split()]
            arrays = [rng.integers(-9, 9, shape).astype(KINDS.get(name, np.float64)) for shape in shaped]
            np.testing.assert_allclose(compiled(*arrays), compiled.reference(*arrays), rtol=1e-12)
