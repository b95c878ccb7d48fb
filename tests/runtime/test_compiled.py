from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from polymat.codegen.c.abi import Row
from polymat.errors import ArgumentError
from polymat.runtime.compiled import Compiled
from tests.runtime import hand_written as kernels

Doubles = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def reverse(directory: Path) -> Compiled:
    return kernels.reverse(directory)


def counted(*shape: int) -> Doubles:
    """Different small integers, so that sums are exact and a misread element shows."""
    return np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape)


def test_result_is_a_new_array(mm: Compiled) -> None:
    a, b = counted(4, 3), counted(3, 5)
    result = mm(a, b)
    assert type(result) is np.ndarray
    assert result.dtype == np.float64
    assert result.flags.c_contiguous
    assert result.flags.owndata
    np.testing.assert_array_equal(result, a @ b)


def test_arguments_by_name_in_any_order(mm: Compiled) -> None:
    a, b = counted(4, 3), counted(3, 5)
    for result in (mm(A=a, B=b), mm(B=b, A=a), mm(a, B=b)):
        np.testing.assert_array_equal(result, a @ b)


def test_names_that_are_not_interned(mm: Compiled) -> None:
    a, b = counted(2, 2), counted(2, 2)
    out = np.empty((2, 2))
    text = "".join(["o", "u", "t"])
    assert mm(**{"".join(["", "A"]): a, "".join(["B", ""]): b, text: out}) is out
    np.testing.assert_array_equal(out, a @ b)


def test_out_is_returned_and_written(mm: Compiled) -> None:
    a, b, out = counted(4, 3), counted(3, 5), np.full((4, 5), np.nan)
    assert mm(a, b, out=out) is out
    np.testing.assert_array_equal(out, a @ b)
    np.testing.assert_array_equal(mm(a, b, out=None), a @ b)
    assert mm(a, b, out=(out,)) is out


def _layouts(array: Doubles) -> list[Doubles]:
    """The same matrix with other strides, offsets and alignments."""
    rows, columns = array.shape
    wide = np.full((2 * rows, 3 * columns), np.nan)
    wide[::2, ::3] = array
    padded = np.full((rows + 2, columns + 2), np.nan)
    padded[1:-1, 1:-1] = array
    memory = np.empty(array.nbytes + 1, dtype=np.uint8)
    unaligned = memory[1:].view(np.float64).reshape(array.shape)
    unaligned[...] = array
    return [
        np.asfortranarray(array),
        array[::-1, ::-1].copy()[::-1, ::-1],
        np.asfortranarray(array[::-1])[::-1],
        wide[::2, ::3],
        padded[1:-1, 1:-1],
        unaligned,
    ]


@pytest.mark.parametrize("layout", range(6))
def test_any_strides_are_read_and_written(mm: Compiled, layout: int) -> None:
    a, b = counted(4, 3), counted(3, 5)
    strange_a, strange_b = _layouts(a)[layout], _layouts(b)[layout]
    np.testing.assert_array_equal(mm(strange_a, strange_b), a @ b)
    out = _layouts(np.zeros((4, 5)))[layout]
    assert mm(strange_a, strange_b, out=out) is out
    np.testing.assert_array_equal(out, a @ b)


def test_writing_through_strides_leaves_the_gaps(mm: Compiled) -> None:
    a, b, memory = counted(2, 2), counted(2, 2), np.full((4, 4), 7.0)
    mm(a, b, out=memory[::2, ::2])
    expected = np.full((4, 4), 7.0)
    expected[::2, ::2] = a @ b
    np.testing.assert_array_equal(memory, expected)


def test_zero_strides_of_inputs(mm: Compiled) -> None:
    a, b = np.broadcast_to(counted(1, 3), (4, 3)), np.broadcast_to(np.float64(2), (3, 5))
    np.testing.assert_array_equal(mm(a, b), a @ b)


def test_read_only_inputs_subclasses_and_equivalent_dtypes(mm: Compiled, tmp_path: Path) -> None:
    a, b = counted(4, 3), counted(3, 5)
    expected = a @ b
    a.flags.writeable = False
    mapped: Any = np.memmap(tmp_path / "b", dtype=np.float64, mode="w+", shape=(3, 5))
    mapped[:] = b
    result = mm(a, mapped)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, expected)
    pickled = pickle.loads(pickle.dumps(np.dtype(np.float64)))
    np.testing.assert_array_equal(mm(a.view(pickled), b), expected)
    np.testing.assert_array_equal(mm(a, b.view(np.dtype("f8", metadata={"unit": "m"}))), expected)


def test_out_may_be_a_subclass(mm: Compiled, tmp_path: Path) -> None:
    out: Any = np.memmap(tmp_path / "out", dtype=np.float64, mode="w+", shape=(2, 2))
    assert mm(counted(2, 2), counted(2, 2), out=out) is out
    np.testing.assert_array_equal(np.asarray(out), counted(2, 2) @ counted(2, 2))


@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 5), (4, 0, 5), (4, 3, 0), (0, 0, 0), (1, 1, 1)])
def test_empty_and_tiny_extents(mm: Compiled, m: int, k: int, n: int) -> None:
    a, b, out = counted(m, k), counted(k, n), np.full((m, n), np.nan)
    np.testing.assert_array_equal(mm(a, b), a @ b)
    np.testing.assert_array_equal(mm(a.T.copy().T, b, out=out), a @ b)


def test_arrays_without_dimension(directory: Path) -> None:
    dot = kernels.dot(directory)
    x, y, start = counted(3), counted(3), np.array(0.5)
    result = dot(x, y, start)
    assert type(result) is np.ndarray
    assert result.shape == ()
    assert result == 14.5
    assert dot(x, y, start, out=start) is start
    assert start == 14.5


def test_several_outputs(both: Compiled) -> None:
    x, y = counted(4), np.full(4, 3.0)
    result = both(x, y)
    assert type(result) is tuple
    np.testing.assert_array_equal(result, (x + y, x - y))
    difference = np.empty(4)
    total, given = both(x, y, out=(None, difference))
    assert given is difference
    np.testing.assert_array_equal((total, given), (x + y, x - y))


def test_in_place_without_a_copy_where_that_is_right(axpy: Compiled) -> None:
    x, y = counted(5), np.ones(5)
    assert axpy(2.0, x, y, out=x) is x
    np.testing.assert_array_equal(x, 2 * counted(5) + 1)
    assert axpy(2.0, x, x, out=x) is x
    np.testing.assert_array_equal(x, 3 * (2 * counted(5) + 1))


def test_in_place_through_a_copy_where_it_would_be_wrong(reverse: Compiled, both: Compiled) -> None:
    x = counted(5)
    assert reverse(x, out=x) is x
    np.testing.assert_array_equal(x, counted(5)[::-1])
    x, y = counted(4), np.full(4, 3.0)
    both(x, y, out=(y, x))
    np.testing.assert_array_equal((y, x), (counted(4) + 3, counted(4) - 3))


def test_in_place_with_strides(reverse: Compiled) -> None:
    memory = counted(10)
    view = memory[::2]
    reverse(view, out=memory[::2])
    np.testing.assert_array_equal(memory[::2], counted(10)[::2][::-1])
    np.testing.assert_array_equal(memory[1::2], counted(10)[1::2])


def test_interleaved_arrays_do_not_overlap(reverse: Compiled) -> None:
    memory = counted(10)
    reverse(memory[::2], out=memory[1::2])
    np.testing.assert_array_equal(memory[1::2], counted(10)[::2][::-1])
    np.testing.assert_array_equal(memory[::2], counted(10)[::2])


def test_what_a_pipeline_does_not_write(directory: Path) -> None:
    lower = kernels.lower(directory)
    a = counted(4, 4)
    wanted = np.tril(a.T)
    np.testing.assert_array_equal(lower(a), wanted)
    outside = ~np.tri(4, dtype=bool)
    for out in (np.full((4, 4), 7.0), np.full((4, 4), 7.0, order="F")):
        np.full((4, 4), np.nan)  # what np.empty will find
        lower(a, out=out)
        np.testing.assert_array_equal(out, np.where(outside, 7.0, wanted))
    for array in (a.copy(), np.asfortranarray(a)):
        lower(array, out=array)
        np.testing.assert_array_equal(array, np.where(outside, a, wanted))


def test_sizes_from_rows_and_derived_sizes(directory: Path) -> None:
    halves = kernels.halves(directory)
    for n in (2, 3, 8, 9):
        np.testing.assert_array_equal(halves(counted(2 * n + 1)), counted(n // 2 + 1))


@pytest.mark.parametrize(
    "row", [(0, 1, 1), (3, 2, 1), (-3, 3, 2), (9, -1, 1), (20, -3, 1), (7, -3, 2), (0, 5, 5)]
)
def test_sizes_are_solved_for(directory: Path, row: tuple[int, int, int]) -> None:
    """The extent is (constant + 2 M + coefficient N) // divisor."""
    constant, coefficient, divisor = row
    form = Row(constant - 10, ((0, 2), (1, coefficient)), divisor)
    measure = kernels.measure(directory, form)
    for n in range(-20, 20):
        extent = (constant + coefficient * n) // divisor
        if extent >= 0:
            assert measure(np.empty(5), np.empty(extent)) == n


def test_derived_sizes_round_down(directory: Path) -> None:
    excess = kernels.excess(directory)
    for n in range(8):
        np.testing.assert_array_equal(excess(np.empty(n)), np.ones(max((n - 3) // 2 + 2, 0)))


def test_unaligned_arrays_reach_no_kernel(reverse: Compiled) -> None:
    memory = np.zeros(3 * 8 + 1, dtype=np.uint8)
    x = memory[1:].view(np.float64)
    x[:] = counted(3)
    np.testing.assert_array_equal(reverse(x), counted(3)[::-1])
    reverse(counted(3), out=x)
    np.testing.assert_array_equal(x, counted(3)[::-1])


def test_sizes_by_name(directory: Path) -> None:
    fill = kernels.fill(directory)
    np.testing.assert_array_equal(fill(T=3), np.full(12, 3.0))
    np.testing.assert_array_equal(fill(T=np.uint8(1)), np.full(4, 1.0))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integer_scalars(directory: Path, dtype: str) -> None:
    echo = kernels.echo(directory, dtype)
    limits = np.iinfo(dtype)
    most = min(int(limits.max), 2**63 - 1)  # in expressions an integer scalar is an int64
    for value in (limits.min, most, 7, np.int64(7), np.uint8(7), np.array(7)):
        result = echo(value, pad=0)
        assert result.dtype == dtype
        assert result[0] == value


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_float_and_complex_scalars(directory: Path, dtype: str) -> None:
    echo = kernels.echo(directory, dtype)
    values = [0.1, -0.0, 3, np.float32(0.1), np.float16(0.5), np.float64(0.1), np.int8(-3), 2**24, 2**100]
    values += [float("inf"), 1e-300]
    if dtype.startswith("complex"):
        values += [1 - 0.1j, np.complex64(1 - 0.1j), np.complex128(2j), complex("inf")]
    for value in values:
        result = echo(value, pad=0)
        assert result.dtype == dtype
        assert result[0] == np.dtype(dtype).type(value)
    assert np.isnan(echo(float("nan"), pad=0)[0])
    assert np.signbit(echo(-0.0, pad=0)[0].real)


def test_more_arguments_than_the_stack_holds(directory: Path) -> None:
    for count in (1, 40, 150):
        total = kernels.total(directory, count)
        vectors = [np.full(3, float(index)) for index in range(count)]
        named = {f"X{index}": vector for index, vector in enumerate(vectors)}
        expected = np.full(3, count * (count - 1) / 2)
        np.testing.assert_array_equal(total(*vectors), expected)
        np.testing.assert_array_equal(total(**dict(reversed(named.items()))), expected)


def test_a_linear_operator_of_scipy(directory: Path) -> None:
    """SciPy asks with vectors of the dtype that it is told; without one it tries int8, which is refused."""
    linalg: Any = pytest.importorskip("scipy.sparse.linalg")
    double = kernels.single(directory, "float64")
    operator = linalg.LinearOperator((5, 5), matvec=double, dtype=np.float64)
    np.testing.assert_array_equal(operator @ counted(5), 2 * counted(5))
    solution, status = linalg.cg(operator, counted(5))
    assert status == 0
    np.testing.assert_allclose(solution, counted(5) / 2)
    with pytest.raises(ArgumentError, match="argument X has dtype int8: expected float64"):
        linalg.LinearOperator((5, 5), matvec=double)
