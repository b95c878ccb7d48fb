"""What a newcomer tries: printing, NumPy's functions, misspelt attributes, guards of two kinds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import polymat as pm
from tests.lang.refusals import Refusal, table

N, i = pm.Parameter(pm.Int, "N"), pm.Variable(pm.Int, "i")
whole = pm.Interval(pm.Int, 0, N - 1)
x, y = pm.Vector(pm.Double, "x", [N]), pm.Vector(pm.Double, "y", [N])
f = pm.Function(([i], [whole]), pm.Double, "f")
r = pm.Reduction(([], []), ([i], [whole]), pm.Double, "r")
SCOPE = {name: getattr(pm, name) for name in pm.__all__}
SCOPE |= {"compile": pm.compile, "np": np, "math": math, "N": N, "i": i, "x": x, "y": y, "f": f, "r": r}
SCOPE |= {"A": pm.Matrix(pm.Double, "A", [N, 3]), "B": pm.Matrix(pm.Double, "B", [3, 4])}

REFUSALS = """
np.sin(x(i))
LangError: np.sin is not defined on polymat's expressions, got x(i)
hint: write Sin(x(i)) in a definition

float(A.sum())
LangError: float() of A.sum(), which has no value while the pipeline is being described
hint: compile it, and take float() of what a call returns; pm.Exp and others for those of math

math.exp(A)
LangError: float() of A, which has no value while the pipeline is being described
hint: compile it, and take float() of what a call returns; pm.Exp and others for those of math

A[0] = 1
LangError: A is what it was described as: nothing is assigned to its parts
hint: pm.where(condition, value, A), or a Function with a Case for each part

A[A.argmax(axis=1)]
LangError: A[A.argmax(axis=1)]: brackets take integers, slices, None and ...
hint: nothing is read at indices that an array holds: index with the result of A.argmax(axis=1) in NumPy

A[A > 0]
LangError: A[(A > 0)]: brackets take integers, slices, None and ...
hint: pm.where(condition, A, 0) keeps what a condition selects

np.cumsum(A)
LangError: cumsum of A (N x 3) without an axis takes all elements in a row
hint: one of its axes, axis=0 say

np.add.accumulate(x, axis=1)
ShapeError: cumsum: x (N) has 1 dimension, there is no axis 1
hint: axes are 0 to 0, or -1 for the last

np.logaddexp.accumulate(x)
LangError: np.logaddexp.accumulate is not defined on whole functions and inputs
hint: write it with polymat's own functions, or index them in a definition

x.fir([1.0, 2.0])
NoAttributeError: x is no Signal and has no fir
hint: declare it a Signal; pm.convolve, pm.upfirdn and pm.resample_poly take a Vector as well

np.diff(x)
LangError: np.diff is not defined on whole functions and inputs
hint: A[1:] - A[:-1]

np.fft.rfft(x)
LangError: np.fft.rfft is not defined on whole functions and inputs
hint: pm.rfft

np.convolve(x, [1.0, 2.0])
LangError: np.convolve is not defined on whole functions and inputs
hint: pm.convolve

np.linalg.norm(x)
LangError: np.linalg.norm is not defined on whole functions and inputs
hint: pm.Sqrt((A**2).sum())

np.linalg.inv(B)
LangError: np.linalg.inv is not defined on whole functions and inputs
hint: write it with polymat's own functions, ...

np.histogram(x)
LangError: np.histogram is not defined on whole functions and inputs
hint: a Reduction h over i: Reduce(h(Clamp(bin_of(i), 0, bins - 1)), 1, Op.Sum)

np.concatenate([x, x])
LangError: np.concatenate is not defined on whole functions and inputs
hint: pm.concatenate of signals and vectors; of others a Function with a Case for each: ...

np.vstack([A, A])
LangError: np.vstack is not defined on whole functions and inputs
hint: a Function with a Case for each: ...

concatenate([A, A])
ShapeError: concatenate: A (N x 3) is no Signal or Vector
hint: a Function with a Case for each: Case(Condition(i, '<', M), A(i, j)), B(i - M, j) behind

np.roll(x, 1)
LangError: np.roll is not defined on whole functions and inputs
hint: pm.pad(A, (1, 0), 'wrap')[:-1] for one place

~A
LangError: ~A: it is Double, and ~ is of truth values and of integers
hint: A == 0, say

A.astype(np.float32)
DtypeError: Cast needs an element type, got <class 'numpy.float32'>
hint: pm.Float

Vector("uint8", "p", [N])
DtypeError: a Vector needs an element type, got 'uint8'
hint: pm.UChar

Vector(float, "p", [N])
DtypeError: a Vector needs an element type, got <class 'float'>
hint: pm.Double

Vector("q", Double, [N])
DtypeError: a Vector needs an element type, got 'q'
hint: one of Bool...

sosfilt([[1, 0, 0, 1, 0, 0]], A)
ShapeError: sosfilt: A (N x 3) is no Signal or Vector
hint: the rows of a Signal are channels: Signal(Double, 'x', [2, N])

np.maximum(x(i), 0)
LangError: np.maximum is not defined on polymat's expressions, got x(i), 0
hint: write Max(x(i), 0) in a definition

np.maximum(0, x(i))
LangError: np.maximum is not defined on polymat's expressions, got 0, x(i)
hint: write Max(0, x(i)) in a definition

np.imag(x(i)) + 1
LangError: np.imag is not defined on polymat's expressions, got x(i)
hint: write Imag(x(i)) in a definition

np.nan_to_num(x(i))
LangError: np.nan_to_num is not defined on polymat's expressions, got x(i)
hint: write it with polymat's own functions, in a definition

np.where(A > 0, A, N) + np.clip(N, 0, 3)
LangError: np.clip is not defined on polymat's expressions, got N, 0, 3
hint: write Clamp(N, 0, 3) in a definition

np.ones(3) * x(i)
LangError: expected a number or an expression, got ndarray array([1., 1., 1.])
hint: declare an input for the array: Vector, Matrix or Image

math.sin(x(i))
LangError: an expression has no value while the pipeline is being described: float cannot convert it
hint: polymat's own functions take expressions: ...

Cast(x(i), Int)
DtypeError: Cast needs an element type, got x(i)
hint: one of Bool, Int8, ...

f.defn = [Reduce(r(), x(i), Op.Sum)]
LangError: expected a number or an expression, got ReduceEntry Reduce(r(), x(i), Op.Sum)
hint: a Reduce is an entry of the definition of a Reduction, not of a Function

x.defn = [1.0]
LangError: the Vector x has no defn to set
hint: x is given at call time; define a Function

f.def_ = [1.0]
LangError: the Function f has no def_ to set
hint: a definition is given by f.defn = [...]

x(i) + np.longdouble(1)
DtypeError: no element type for NumPy dtype float128

A @ B.T
ShapeError: cannot multiply A (N x 3) by B.T (4 x 3): inner extents 3 and 4 differ
hint: did you mean A @ B?
"""


@pytest.mark.parametrize("refusal", table(REFUSALS))
def test_refusal(refusal: Refusal) -> None:
    refusal.check(SCOPE)


def test_expressions_print_as_they_are_written() -> None:
    total = x(i) + y(i) * 2
    assert (str(total), repr(total)) == ("x(i) + y(i) * 2",) * 2
    assert repr(pm.Condition(x(i), ">", 0)) == "x(i) > 0"


def test_numpy_scalars_on_the_left() -> None:
    assert str(np.float64(2) * x(i)) == "2.0 * x(i)"
    assert str(np.float32(1) - x(i)) == "1.0 - x(i)"  # type: ignore[operator]
    assert isinstance(np.float64(2) * x, pm.Function)


@pytest.mark.parametrize("swapped", [False, True])
def test_affine_half_of_a_guard_bounds_the_access(swapped: bool) -> None:
    inside, positive = pm.Condition(i, ">", 0), pm.Condition(x(i), ">", 0)
    guard = positive & inside if swapped else inside & positive
    g = pm.Function(([i], [whole]), pm.Double, "g")
    g.defn = [pm.Select(guard, pm.Sin(x(i - 1)) * pm.Sin(x(i - 1)), 0.0)]
    compiled = pm.compile([g])
    data = np.array([1.0, -2.0, 3.0, 4.0])
    expected = np.array([0.0, 0.0, np.sin(-2.0) ** 2, np.sin(3.0) ** 2])
    np.testing.assert_allclose(compiled(x=data), expected, rtol=1e-14)
    np.testing.assert_allclose(compiled.reference(x=data), expected, rtol=1e-14)


def test_the_other_branch_keeps_the_whole_domain() -> None:
    g = pm.Function(([i], [whole]), pm.Double, "g")
    g.defn = [pm.Select(pm.Condition(i, "<=", 0) & pm.Condition(x(i), ">", 0), 0.0, x(i - 1))]
    with pytest.raises(pm.BoundsError):
        pm.compile([g])


def test_functions_that_numpy_takes_in_floating_point() -> None:
    """Of integers they are no integers, and powers are Double whatever they are of."""
    N = pm.Parameter(pm.Int, "N")
    q, u, x = pm.Vector(pm.Int, "q", [N]), pm.Vector(pm.UChar, "u", [N]), pm.Vector(pm.Float, "x", [N])

    def cases(q: Any, x: Any) -> list[Any]:
        return [
            np.float_power(q, 2),
            np.float_power(2, q),
            np.float_power(x, q),
            np.fabs(q),
            np.rint(q),
            np.rint(x),
        ]

    given = (np.array([-2, 0, 3], np.int32), np.array([1.5, -2.5, 4.0], np.float32))
    compiled = pm.compile(cases(q, x), inputs=[q, x])
    for call in (compiled, compiled.reference):
        for found, wanted in zip(call(*given), cases(*given), strict=True):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=1e-15)
    assert (np.fabs(u).dtype, np.rint(u).dtype) == (pm.Float, pm.Float)
    truths = pm.Vector(pm.Bool, "truths", [N])
    assert (np.square(truths).dtype, np.square(u).dtype) == (pm.Int8, pm.UChar)
    with pytest.raises(pm.LangError, match=r"np\.reciprocal of the Int q: NumPy cuts"):
        np.reciprocal(q)


def test_parts_of_complex_numbers_by_numpys_functions() -> None:
    z: Any = pm.Vector(pm.Complex, "z", [2])
    compiled = pm.compile([np.real(z), np.imag(z), np.reciprocal(z)], options=pm.Options(cflags=("-O1",)))
    found = compiled(np.array([3 + 4j, 2j]))
    assert [each.tolist() for each in found[:2]] == [[3, 0], [4, 2]]
    np.testing.assert_allclose(found[2], [0.12 - 0.16j, -0.5j], rtol=1e-15)
    with pytest.raises(pm.LangError, match=r"np\.fabs has no meaning for complex values, got z"):
        np.fabs(z)


def test_axes_of_a_transpose_are_those_of_the_array() -> None:
    A = pm.Matrix(pm.Double, "A", [2, 3])
    assert [str(extent) for extent in A.transpose(-1, -2).shape] == ["3", "2"]
    with pytest.raises(pm.ShapeError, match="has 2 dimensions, got the axes 3, 0"):
        A.transpose(3, 0)
