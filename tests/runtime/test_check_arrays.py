"""Every call that is refused, and in which words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm
from polymat.errors import ArgumentError, InternalError
from polymat.runtime.check_arrays import overlaps_itself, same_view, shares_memory
from polymat.runtime.compiled import Compiled
from tests.runtime import hand_written as kernels

A, B = np.ones((4, 3)), np.ones((3, 5))


def refuses(text: str, call: Compiled, *args: Any, **kwargs: Any) -> None:
    """The call raises ArgumentError with this text, hint included."""
    with pytest.raises(ArgumentError, match=f"^{re.escape(text)}") as caught:
        call(*args, **kwargs)
    assert str(caught.value).startswith(f"{call.signature.name}(): ")


def test_matching(mm: Compiled) -> None:
    usage = "\nhint: mm(A, B, *, out=None)"
    refuses("mm(): argument A is missing" + usage, mm)
    refuses("mm(): argument B is missing" + usage, mm, A)
    refuses("mm(): argument A is missing" + usage, mm, B=B)
    refuses("mm(): takes 2 positional arguments, got 3" + usage, mm, A, B, np.empty((4, 5)))
    twice = pm.compile(pm.Vector(pm.Double, "v", [pm.Parameter(pm.Int, "N")]) * 2, name="twice")
    refuses("twice(): takes 1 positional argument, got 2\nhint: twice(v, *, out=None)", twice, A[0], A[0])
    refuses("mm(): argument A is given twice, by position and by name", mm, A, A=A)
    refuses("mm(): argument A is given twice, by position and by name", mm, A, B, A=A)
    refuses("mm(): unknown argument 'X'" + usage, mm, A, B, X=1)
    refuses("mm(): unknown argument 'Out'\nhint: did you mean out? mm(", mm, A, B, Out=1)
    refuses("mm(): unknown argument 'K': dimension 1 of A sets it, it is not passed", mm, A, B, K=3)
    refuses("mm(): unknown argument '\\x00'", mm, A, B, **{"\0": 1})
    fixed = "; a size that compile(sizes=...) fixed is not passed"
    refuses("mm(): unknown argument 'size'" + usage + fixed, mm, A, B, size=5)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "is None"),
        ([[1.0]], "is of type list"),
        (1.0, "is of type float"),
        (np.float64(1), "is of type float64"),
        ("text", "is of type str"),
    ],
)
def test_not_an_array(mm: Compiled, value: Any, shown: str) -> None:
    text = f"mm(): argument B {shown}: expected a numpy.ndarray of float64, shape (K, N)"
    refuses(text, mm, A, value)
    refuses(text, mm, A, B=value)


def test_lists_come_with_a_hint(mm: Compiled) -> None:
    with pytest.raises(ArgumentError, match=re.escape("hint: np.asarray(A, dtype=np.float64)")):
        mm(A.tolist(), B)


@pytest.mark.parametrize(
    "dtype", ["float32", "int64", "bool", "O", "U8", "S8", "V8", "M8[s]", "f4,f4", "longdouble"]
)
def test_wrong_dtype(mm: Compiled, dtype: str) -> None:
    wrong = np.zeros((4, 3), dtype=dtype)
    refuses(
        f"mm(): argument A has dtype {wrong.dtype}: expected float64\nhint: A.astype(np.float64)",
        mm,
        wrong,
        B,
    )
    out = np.zeros((4, 5), dtype=dtype)
    hint = "\nhint: np.empty((4, 5), dtype=np.float64) makes"
    refuses(f"mm(): argument out has dtype {wrong.dtype}: expected float64{hint}", mm, A, B, out=out)


def test_foreign_byte_order(mm: Compiled) -> None:
    swapped = A.astype(A.dtype.newbyteorder())
    text = f"mm(): argument A has dtype {swapped.dtype} (not in this machine's byte order): expected float64"
    refuses(text + "\nhint: A.astype(np.float64)", mm, swapped, B)


def test_masked_arrays(mm: Compiled) -> None:
    masked = np.ma.masked_array(A, mask=A > 0)
    text = "mm(): argument A is a masked array, whose mask would be lost"
    refuses(text, mm, masked, B)
    refuses("mm(): argument out is a masked array", mm, A, B, out=np.ma.zeros((4, 5)))


def test_wrong_rank(mm: Compiled) -> None:
    text = "mm(): argument A has 1 dimension, shape (4,): expected 2 dimensions, (M, K)"
    refuses(text, mm, A[:, 0], B)
    refuses("mm(): argument B has 3 dimensions, shape (1, 3, 5): expected 2", mm, A, B[None])
    refuses("mm(): argument B has 0 dimensions, shape (): expected 2", mm, A, np.array(1.0))
    deep = np.zeros((1,) * (64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32))
    refuses("mm(): argument B has", mm, A, deep)


def test_inconsistent_sizes(mm: Compiled, axpy: Compiled) -> None:
    text = "mm(): argument B has shape (5, 2): expected dimension 0 to be K = 4, which A's dimension 1 sets"
    refuses(text, mm, np.ones((3, 4)), np.ones((5, 2)))
    text = "axpy(): argument Y has shape (0,): expected dimension 0 to be N = 3, which X's dimension 0 sets"
    refuses(text, axpy, 1.0, np.ones(3), np.ones(0))


def test_sizes_that_do_not_fit_their_row(directory: Path) -> None:
    halves = kernels.halves(directory)
    text = "halves(): argument X has shape (6,): expected dimension 0 to be 2*N + 1 for some integer N"
    refuses(text, halves, np.ones(6))
    refuses("halves(): refused for N = 1: requires N >= 2", halves, np.ones(3))
    refuses("halves(): argument X has shape (0,)", halves, np.ones(0))
    text = "halves(): argument out has shape (4,): expected (3,), which is ((N//2) + 1,) for Y"
    refuses(text, halves, np.ones(9), out=np.ones(4))


def test_least_and_greatest_sizes(directory: Path, mm: Compiled) -> None:
    lower, fill = kernels.lower(directory), kernels.fill(directory)
    text = "lower(): size N = 0, which A's dimension 0 sets: expected at least 1"
    refuses(text, lower, np.ones((0, 0)))
    for value in (0, -1, -(2**63)):
        refuses(f"fill(): size T = {value}, which is passed by name: expected at least 1", fill, T=value)
    for value in (2**48 + 1, 2**62, 2**63 - 1):
        refuses(f"fill(): size T = {value}, which is passed by name: expected at most {2**48}", fill, T=value)
    huge = np.broadcast_to(np.float64(0), (2**59, 1))
    refuses(f"mm(): size M = {2**59}, which A's dimension 0 sets: expected at most", mm, huge, B)
    refuses(f"mm(): size M = {2**59}", mm, np.empty((2**59, 0)), np.empty((0, 2**59)))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "is True: expected an integer (int64), not a truth value"),
        (np.False_, "is False: expected an integer (int64), not a truth value"),
        (1.0, "is 1.0, a float: expected an integer (int64)\nhint: int(T)"),
        ("1", "is '1', a str: expected an integer (int64)"),
        (None, "is None: expected an integer (int64)"),
        (np.ones(2, dtype=int), "is an array of shape (2,) and dtype int64: expected an integer (int64)"),
        (2**63, f"is {2**63}: expected int64, from {-(2**63)} to {2**63 - 1}"),
        (-(10**30), f"is {-(10**30)}: expected int64"),
    ],
)
def test_sizes_by_name(directory: Path, value: Any, text: str) -> None:
    refuses(f"fill(): argument T {text}", kernels.fill(directory), T=value)


@pytest.mark.parametrize("value", [None, "3", float("nan"), np.float32("inf"), [3], np.ones(2), object()])
def test_no_conversion_is_advised_that_fails_itself(directory: Path, value: Any) -> None:
    with pytest.raises(pm.ArgumentError, match="argument T is") as refusal:
        kernels.fill(directory)(T=value)
    assert not refusal.value.hint


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integer_scalars(directory: Path, dtype: str) -> None:
    echo, limits = kernels.echo(directory, dtype), np.iinfo(dtype)
    call = f"{echo.signature.name}():"
    for value in (limits.min - 1, limits.max + 1, 10**40):
        text = f"{call} argument value is {value}: expected {dtype}, from {limits.min} to {limits.max}"
        refuses(text, echo, int(value), pad=0)
    odd: list[Any] = [True, np.True_, np.array(True), 1.0, np.float64(1), 1j, "1", None, [1], np.ones(1)]
    odd += [np.timedelta64(1, "s"), np.datetime64(1, "s"), b"1", object()]
    for wrong in odd:
        refuses(f"{call} argument value is ", echo, wrong, pad=0)
    refuses(f"{call} argument value is missing", echo, pad=0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_float_and_complex_scalars(directory: Path, dtype: str) -> None:
    echo = kernels.echo(directory, dtype)
    call = f"{echo.signature.name}():"
    wrongs: list[Any] = [True, np.True_, "1", None, [1.0], np.array(1.0), np.ones(1), np.longdouble(1)]
    wrongs += [np.timedelta64(1, "s"), np.datetime64(1, "s"), np.array(1), b"1", object()]
    if not dtype.startswith("complex"):
        wrongs += [1j, np.complex64(1)]
        parts = "\nhint: value.real or abs(value)"
        refuses(
            f"{call} argument value is 1j, a complex: expected a real number ({dtype}){parts}",
            echo,
            1j,
            pad=0,
        )
    else:
        wrongs += [np.clongdouble(1)]
    for wrong in wrongs:
        refuses(f"{call} argument value is ", echo, wrong, pad=0)
    for inexact in (2**60 + 1, -(2**53 + 1), 10**400, np.uint64(2**64 - 1)):
        part = "float32" if dtype in ("float32", "complex64") else "float64"
        text = f"{call} argument value is the integer {inexact}, which no {part} is exactly"
        refuses(text, echo, inexact, pad=0)


def test_overflow_to_infinity(directory: Path) -> None:
    for dtype, values in (
        ("float32", [1e39, -3.5e38, np.float64(1e300)]),
        ("complex64", [1e39, 1e39j, np.complex128(-1e39)]),
    ):
        echo = kernels.echo(directory, dtype)
        for value in values:
            with pytest.raises(ArgumentError, match=f"argument value is .*: too large for {dtype}"):
                echo(value, pad=0)
    refuses("echo_float32(): argument value is ", kernels.echo(directory, "float32"), 2**128, pad=0)
    assert np.isfinite(kernels.echo(directory, "float32")(3.4028235e38, pad=0)[0])


def test_an_index_method_that_fails_is_heard(directory: Path) -> None:
    class Broken:
        def __index__(self) -> int:
            raise ZeroDivisionError("from the user")

    with pytest.raises(ZeroDivisionError, match="from the user"):
        kernels.fill(directory)(T=Broken())


def test_out_of_wrong_shape(mm: Compiled) -> None:
    text = "mm(): argument out has shape (5, 4): expected (4, 5), which is (M, N) for C"
    refuses(text, mm, A, B, out=np.empty((5, 4)))
    refuses("mm(): argument out has 1 dimension", mm, A, B, out=np.empty(20))
    refuses("mm(): argument out is of type list", mm, A, B, out=[np.empty((4, 5))])
    refuses("mm(): argument out is a tuple of 2: expected 1, one for each of C", mm, A, B, out=(None, None))


def test_out_that_cannot_be_written(mm: Compiled) -> None:
    out = np.empty((4, 5))
    out.flags.writeable = False
    refuses(
        "mm(): argument out is read-only\nhint: np.empty((4, 5), dtype=np.float64) makes", mm, A, B, out=out
    )
    refuses("mm(): argument out is read-only", mm, A, B, out=np.broadcast_to(0.0, (4, 5)))


def test_out_of_several_outputs(both: Compiled) -> None:
    x = np.ones(3)
    text = "both(): argument out is of type ndarray: expected a tuple of 2 arrays (S, D)"
    refuses(text, both, x, x, out=np.empty(3))
    refuses("both(): argument out is a tuple of 1: expected 2", both, x, x, out=(np.empty(3),))
    refuses("both(): argument out[1] has shape (2,): expected (3,)", both, x, x, out=(None, np.empty(2)))
    shared = np.empty(5)
    text = "both(): arguments out[0] and out[1] share memory"
    refuses(text, both, x, x, out=(shared[:3], shared[2:]))
    refuses(text, both, x, x, out=(shared[:3], shared[:3]))
    refuses(text, both, x, x, out=(shared[::2], shared[:3]))
    kept = np.zeros(6)
    both(x, x, out=(kept[::2], kept[1::2]))
    np.testing.assert_array_equal(kept, [2, 0, 2, 0, 2, 0])


def test_partial_overlap_with_an_input(axpy: Compiled, mm: Compiled) -> None:
    memory = np.arange(8.0)
    text = "axpy(): argument out shares memory with X, but is not the same array"
    hint = "\nhint: pass a copy of one of them, or X itself as out"
    refuses(text + hint, axpy, 1.0, memory[:4], np.ones(4), out=memory[1:5])
    refuses(text, axpy, 1.0, memory[:4], np.ones(4), out=memory[3::-1])
    refuses(text, axpy, 1.0, memory[::2], np.ones(4), out=memory[:4])
    refuses("axpy(): argument out shares memory with Y", axpy, 1.0, np.ones(4), memory[:4], out=memory[3:7])
    square = np.ones((4, 4))
    refuses("mm(): argument out shares memory with A", mm, square, square, out=square.T)
    larger = np.ones((5, 4))  # A by itself would not fit
    with pytest.raises(pm.ArgumentError) as refused:
        mm(larger[:2], square, out=larger[1:3])
    assert refused.value.hint == "pass a copy of one of them, or A itself as out"
    with pytest.raises(pm.ArgumentError) as refused:
        mm(larger, square[:, :3], out=np.ndarray((5, 3), np.float64, larger.data, 8))
    assert refused.value.hint == "pass a copy of one of them"
    np.testing.assert_array_equal(memory, np.arange(8.0))
    np.testing.assert_array_equal(square, np.ones((4, 4)))


def test_out_that_overlaps_itself(axpy: Compiled) -> None:
    x = np.ones(3)
    for strides in ((0,), (4,), (-4,)):
        memory = np.zeros(8)
        out = np.lib.stride_tricks.as_strided(memory[3:], shape=(3,), strides=strides)
        refuses("axpy(): argument out has elements that overlap in memory", axpy, 1.0, x, x, out=out)


def test_a_reversed_view_of_one_element_is_the_same_array(axpy: Compiled) -> None:
    x = np.ones(1)
    np.testing.assert_array_equal(axpy(2.0, x, x, out=x[::-1]), [3])


def test_overlap_of_random_views_is_exact(seed: int, directory: Path) -> None:
    reverse = kernels.reverse(directory)
    random = np.random.default_rng(seed)
    for _ in range(2000):
        memory = np.arange(24.0)
        x, out = (_random_view(random, memory) for _ in range(2))
        count = min(len(x), len(out))
        x, out = x[:count], out[:count]
        expected = x[::-1].copy()
        untouched = np.ones(24, dtype=bool)
        untouched[[int(element) for element in out]] = False
        try:
            reverse(x, out=out)
        except ArgumentError:
            assert np.shares_memory(x, out)
            assert not same_view(x, out)
            continue
        assert same_view(x, out) or not np.shares_memory(x, out)
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(memory[untouched], np.arange(24.0)[untouched])


def _random_view(random: np.random.Generator, memory: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    start, stop = sorted(random.integers(0, len(memory) + 1, 2))
    return memory[start:stop][:: int(random.choice([-3, -2, -1, 1, 2, 3]))]


def test_overlap_too_hard_to_decide_counts_as_overlap() -> None:
    memory = np.zeros(10**6, dtype=np.int8)
    shape, random = (3,) * 11, np.random.default_rng(3)
    views = [
        np.lib.stride_tricks.as_strided(memory, shape, tuple(random.integers(1000, 40000, 11).tolist()))
        for _ in range(2)
    ]
    assert shares_memory(*views) in (True, False)
    assert not overlaps_itself(np.zeros((0, 3))[:, ::2])


def test_arguments_are_untouched_by_a_refused_call(mm: Compiled) -> None:
    out = np.full((4, 5), 7.0)
    for wrong in (np.ones((2, 2)), None, np.ones((3, 5), dtype=np.float32)):
        with pytest.raises(ArgumentError):
            mm(A, wrong, out=out)
    np.testing.assert_array_equal(out, np.full((4, 5), 7.0))


def test_a_refusal_without_a_reason_is_a_bug(mm: Compiled) -> None:
    with pytest.raises(InternalError, match=r"bug in polymat: mm\(\): the call was refused"):
        mm._reconsider((A, B), {})


def test_hostile_arguments_never_crash(seed: int, mm: Compiled, axpy: Compiled, both: Compiled) -> None:
    """Every pair out of many odd values is a right answer or an error of ours."""
    big = np.broadcast_to(np.float64(1), (3, 2**47))
    odd: list[Any] = [None, 0, 1.5, "x", b"x", [], (), {}, object(), int, np.float64, Ellipsis, slice(1), big]
    odd += [np.zeros(s) for s in ((), 0, 3, (3, 3), (0, 3), (3, 0), (1, 1, 1))]
    odd += [np.zeros((3, 3), dtype=d) for d in ("O", "f4", ">f8", "c16", "M8[s]", "S1", "f8,f8")]
    odd += [np.asfortranarray(np.eye(3)), np.eye(3)[::-1], np.ma.zeros((3, 3)), np.zeros(3).view(np.recarray)]
    for first in odd:
        for second in odd:
            for call in (mm, both):
                for out in (None, first, (second, None), np.zeros((3, 3))):
                    _survives(call, first, second, out=out)
            _survives(axpy, first, second, second)


def _survives(call: Compiled, *args: Any, **kwargs: Any) -> None:
    try:
        call(*args, **kwargs)
    except (ArgumentError, MemoryError):
        return


def test_a_complex_argument_is_not_told_to_lose_a_part(directory: Path) -> None:
    axpy = kernels.axpy(directory)
    with pytest.raises(ArgumentError) as refused:
        axpy(2.0, np.ones(3, complex), np.ones(3))
    assert "X has dtype complex128: expected float64" in str(refused.value)
    assert refused.value.hint.startswith("X.real or abs(X)")
    assert "astype" not in str(refused.value)
