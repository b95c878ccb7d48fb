"""Calls with small sizes, from Python and from C: without questions about memory and threads."""

from __future__ import annotations

import ctypes
import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from benchmarks.factorisations import build_banded
from polymat.codegen.program import Program
from polymat.codegen.smallcalls import MOST_BYTES
from polymat.driver import levels, request_for
from polymat.options import Options
from tests.fixed import NARROW
from tests.hosts import CompileFor
from tests.tolerance import assert_close

M, N, K = (pm.Parameter(pm.Long, name) for name in "MNK")
A, B = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
BRANCH = re.compile(r"if \(\(size_t\)\(?[MNK |]+\)? < (\d+)\)")
OWN = Options(blas="never")


def product(options: Options = OWN, **sizes: Any) -> pm.Compiled:
    """A times B."""
    return pm.compile(A @ B, name="product", inputs=[A, B], options=options, **sizes)


def arrays(m: int, n: int, k: int) -> tuple[Any, Any]:
    """Two matrices."""
    rng = np.random.default_rng(m * 10_000 + n * 100 + k)
    return rng.standard_normal((m, k)), rng.standard_normal((k, n))


def from_c(compiled: pm.Compiled, directory: Path, *inputs: Any, sizes: tuple[int, ...]) -> Any:
    """The result of the saved library's own prototype, in an array with a guard behind it."""
    compiled.save(directory)
    function = ctypes.CDLL(str(directory / "libproduct.so"))["product"]
    rows, columns = inputs[0].shape[0], inputs[1].shape[1]
    memory = np.full(rows * columns + 9, np.nan)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*inputs, memory)]
    assert function(*pointers, *map(ctypes.c_ssize_t, sizes)) == 0
    assert np.isnan(memory[rows * columns :]).all()
    return memory[: rows * columns].reshape(rows, columns)


def bound_of(compiled: pm.Compiled) -> int:
    """The size from which calls are asked about; 0: all are."""
    found = BRANCH.findall(compiled.source)
    assert len(found) in (0, 2)  # in the entry for Python and in the prototype
    return int(found[0]) if found else 0


def test_around_the_bound(tmp_path: Path) -> None:
    compiled = product()
    bound = bound_of(compiled)
    assert bound >= 8
    edge = (bound - 1, bound, bound + 1)
    shapes = [(0, 3, 2), (3, 0, 2), (3, 2, 0), (10, 39, 0), (1, 1, 1), (5, 1, 7), (1, 9, 4), (7, 8, 9)]
    shapes += [(m, n, k) for m in edge for n in edge for k in edge]
    for number, (m, n, k) in enumerate(shapes):
        a, b = arrays(m, n, k)
        expected = compiled.reference(a, b)
        called = from_c(compiled, tmp_path / str(number), a, b, sizes=(m, k, n))
        for result in (called, compiled(a, b)):
            assert_close(result, expected, roundings=k + 4, magnitude=np.abs(a) @ np.abs(b))


@pytest.mark.parametrize(
    "shape", [(4, 4, 4), (3, 5, 7), (8, 8, 8), (1, 1, 1), (0, 2, 2), (2, 2, 0), (17, 19, 9)]
)
def test_fixed_sizes_are_not_asked_about(shape: tuple[int, int, int], tmp_path: Path) -> None:
    m, n, k = shape
    compiled = product(sizes={M: m, N: n, K: k})
    assert "_pm_team_paying(_pm_threads" not in compiled.source
    a, b = arrays(m, n, k)
    for result in (from_c(compiled, tmp_path, a, b, sizes=()), compiled(a, b)):
        assert_close(result, compiled.reference(a, b), roundings=k + 4, magnitude=np.abs(a) @ np.abs(b))


def test_a_team_that_was_asked_for_is_asked_about() -> None:
    assert bound_of(product(Options(blas="never", threads=2, parallel_threshold=0))) == 0


def test_small_temporaries_are_on_the_stack(tmp_path: Path, compile_for: CompileFor) -> None:
    compile_for(NARROW)
    C = pm.Matrix(pm.Double, "C", [N, N])
    as_written = replace(OWN, reassociate=False)
    compiled = pm.compile(A @ B @ C, name="product", inputs=[A, B, C], options=as_written)
    assert "_pm_workspace_take(_pm_bytes)" in compiled.source
    bound = bound_of(compiled)
    assert bound >= 8
    room = re.findall(r"_Alignas\(64\) double _pm_local_\w+\[(\d+)\];", compiled.source)
    assert len(room) == 2
    assert {int(count) for count in room} == {(bound - 1) ** 2}
    for number, (m, n, k) in enumerate(itertools.product((0, 1, bound - 1, bound), repeat=3)):
        a, b = arrays(m, n, k)
        c = np.random.default_rng(n).standard_normal((n, n))
        magnitude = np.abs(a) @ np.abs(b) @ np.abs(c)
        called = from_c(compiled, tmp_path / str(number), a, b, c, sizes=(m, k, n))
        for result in (called, compiled(a, b, c)):
            assert_close(result, compiled.reference(a, b, c), roundings=k + n + 8, magnitude=magnitude)


@pytest.mark.parametrize(("stages", "is_local"), [(2, True), (3, False)])
def test_large_temporaries_are_in_the_workspace(stages: int, is_local: bool) -> None:
    """One of them fits on the stack, two do not."""
    length = MOST_BYTES // 8 - 50
    x, k = pm.Vector(pm.Double, "x", [length]), pm.Variable(pm.Int, "k")
    last: Any = x
    for number in range(stages):
        stage = pm.Function(([k], [pm.Interval(pm.Int, 0, length - 1)]), pm.Double, f"stage{number}")
        stage.defn = [last(length - 1 - k) + 0.5]
        last = stage
    options = Options(blas="never", fuse=False, inline=False)
    compiled = pm.compile(last, name="reversals", inputs=[x], options=options)
    assert ("_pm_local_" in compiled.source) == is_local
    assert ("_pm_workspace_take(_pm_bytes)" in compiled.source) != is_local
    given = np.arange(float(length))
    expected = (given if stages % 2 == 0 else given[::-1]) + 0.5 * stages
    np.testing.assert_array_equal(compiled(given), expected)


def test_norms_of_vectors(tmp_path: Path) -> None:
    """One number between two stages."""
    x = pm.Vector(pm.Double, "x", [N])
    norm = pm.Function(([], []), pm.Double, "norm")
    norm.defn = [pm.Sqrt(pm.dot(x, x)())]
    compiled = pm.compile(norm, name="norm", inputs=[x], options=OWN)
    bound = bound_of(compiled)
    compiled.save(tmp_path)
    function = ctypes.CDLL(str(tmp_path / "libnorm.so"))["norm"]
    for n in (0, 1, 5, bound - 1, bound, bound + 1):
        given, result = np.random.default_rng(n).standard_normal(n), np.full(1, np.nan)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (given, result)]
        assert function(*pointers, ctypes.c_ssize_t(n)) == 0
        for value in (result[0], compiled(given)):
            np.testing.assert_allclose(value, np.linalg.norm(given), rtol=1e-13)


@pytest.mark.parametrize("dtype", [pm.Float, pm.Double])
def test_small_products_of_fixed_sizes_are_straight_code(dtype: Any) -> None:
    """With a scale and something to add to, of transposed and strided operands, of parts of vectors."""
    straight = 0
    rng = np.random.default_rng(5)
    i, j, k = (pm.Variable(pm.Int, name) for name in "ijk")
    for m, n, depth in [(3, 5, 7), (2, 17, 3), (9, 2, 5), (8, 8, 8), (4, 31, 1), (17, 3, 4)]:
        left = pm.Matrix(dtype, "left", [depth, m])
        right = pm.Matrix(dtype, "right", [2 * depth, n])
        start = pm.Matrix(dtype, "start", [m, n])
        rows, columns, sums = (pm.Interval(pm.Int, 0, extent - 1) for extent in (m, n, depth))
        result = pm.Reduction(([i, j], [rows, columns]), ([i, j, k], [rows, columns, sums]), dtype, "result")
        result.defn = [pm.Reduce(result(i, j), left(k, i) * right(2 * k, j), pm.Op.Sum)]
        last = pm.Function(([i, j], [rows, columns]), dtype, "last")
        last.defn = [1.5 * result(i, j) + start(i, j)]
        shapes = ((depth, m), (2 * depth, n), (m, n))
        inputs = [rng.standard_normal(shape).astype(dtype.dtype) for shape in shapes]
        for outputs, given in (([result], inputs[:2]), ([last], inputs)):
            images = [left, right, start][: len(given)]
            compiled = pm.compile(outputs, inputs=images, options=replace(OWN, cflags=("-O1",)))
            straight += "_pm_unrolled_block_" in compiled.source
            assert_close(
                compiled(*given),
                compiled.reference(*given),
                roundings=depth + 6,
                magnitude=1.5 * np.abs(inputs[0].T) @ np.abs(inputs[1][::2]) + np.abs(inputs[2]),
            )
    assert straight > 4


@pytest.mark.parametrize(
    ("sizes", "is_there"), [((8, 6, 7), True), (("M", 6, 7), False), (("M", "N", "K"), False)]
)
def test_only_products_of_fixed_sizes_have_straight_code(sizes: tuple[Any, ...], is_there: bool) -> None:
    """The C compiler takes it through half of its passes before it leaves out what never runs."""
    m, n, k = (pm.Parameter(pm.Int, each) if isinstance(each, str) else each for each in sizes)
    left, right = pm.Matrix(pm.Double, "left", [m, k]), pm.Matrix(pm.Double, "right", [k, n])
    compiled = pm.compile(left @ right, options=OWN)
    assert ("_pm_unrolled_block_" in compiled.source) == is_there
    numbers = np.random.default_rng(3)
    a, b = numbers.standard_normal((8, 7)), numbers.standard_normal((7, 6))
    np.testing.assert_allclose(compiled(a, b), a @ b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("output", "unrolls"), [(A @ B, False), (A @ B + 1.0, True)])
def test_only_register_blocks_are_left_as_they_are_written(output: Any, unrolls: bool) -> None:
    """What is beside a product is loops of the compiler's, which unrolls them."""
    found = levels(request_for([output], name="product", options=OWN))
    program = next(level for name, level in found if name == "codegen")
    assert isinstance(program, Program)
    assert ("-fno-unroll-loops" not in program.flags) == unrolls


def test_one_sum_and_long_vectors() -> None:
    """Tiles of which threads have copies are run alone below the bound, which is larger for vectors."""
    x, y = pm.Vector(pm.Double, "x", [N]), pm.Vector(pm.Double, "y", [N])
    k = pm.Variable(pm.Int, "k")
    every = pm.Interval(pm.Int, 0, N - 1)
    dot = pm.Reduction(([], []), ([k], [every]), pm.Double, "dot")
    dot.defn = [pm.Reduce(dot(), x(k) * y(k), pm.Op.Sum)]
    for output, inputs in ((dot, [x, y]), (2 * x, [x])):
        compiled = pm.compile(output, name="vectors", inputs=inputs, options=OWN)
        bound = bound_of(compiled)
        assert bound >= 256
        for n in (0, 1, 7, 255, bound - 1, bound, bound + 1, 5000):
            given = np.random.default_rng(n).standard_normal((len(inputs), n))
            assert_close(compiled(*given), compiled.reference(*given), roundings=n + 4, magnitude=3.0 * n + 1)


def test_steps_of_single_elements_ask_for_nothing() -> None:
    """A sum and what is made of it, along diagonals that are gone through backwards."""
    described = build_banded()
    points = Options(skip=("lanes",))  # not eight rows side by side, which have room for their columns
    request = request_for(described.outputs[0], inputs=described.inputs, options=points)
    program = next(level for name, level in levels(request) if name == "codegen")
    assert isinstance(program, Program)
    assert "_pm_workspace" not in str(program)
    assert "_pm_team_paying(_pm_threads" not in str(program)
