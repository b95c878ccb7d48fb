"""What matrix algebra refuses: the class, the text, the hint, and the user's line."""

from __future__ import annotations

import numpy as np
import pytest

import polymat as pm
from tests.lang.refusals import Refusal, table

M, N, K = (pm.Parameter(pm.Int, name) for name in "MNK")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
whole = pm.Interval(pm.Int, 0, N - 1)
SCOPE = {
    "pm": pm,
    "np": np,
    "M": M,
    "N": N,
    "K": K,
    "i": i,
    "j": j,
    "alpha": pm.Parameter(pm.Double, "alpha"),
    "A": pm.Matrix(pm.Double, "A", [M, K]),
    "B": pm.Matrix(pm.Double, "B", [K, N]),
    "C": pm.Matrix(pm.Double, "C", [M, N]),
    "D": pm.Matrix(pm.Double, "D", [N, K]),
    "S": pm.Matrix(pm.Double, "S", [N, N]),
    "U": pm.Matrix(pm.UChar, "U", [N, N]),
    "F3": pm.Matrix(pm.Double, "F3", [3, 4]),
    "F5": pm.Matrix(pm.Double, "F5", [5, 2]),
    "x": pm.Vector(pm.Double, "x", [K]),
    "y": pm.Vector(pm.Double, "y", [K]),
    "v": pm.Vector(pm.Double, "v", [N]),
    "s": pm.Signal(pm.Double, "s", K),
    "image": pm.Image(pm.Double, "image", [N, N, N]),
    "f": pm.Function(([i, j], [whole, whole]), pm.Double, "f"),
    "inner": pm.Function(([i, j], [pm.Interval(pm.Int, 1, N - 2), whole]), pm.Double, "inner"),
    "lower": pm.Function(([i, j], [whole, pm.Interval(pm.Int, 0, i)]), pm.Double, "lower"),
}

SHAPES = """
A + C
ShapeError: A + C: A (M x K) and C (M x N) do not fit: extents K and N differ
hint: use one Parameter for extents that are always equal

B - D
ShapeError: B - D: B (K x N) and D (N x K) do not fit: extents K and N differ
hint: did you mean B - D.T?

A + x
ShapeError: A + x: A (M x K) and x (K) do not fit: ranks 2 and 1 differ

x + v
ShapeError: x + v: x (K) and v (N) do not fit: extents K and N differ
hint: use one Parameter for extents that are always equal

A @ C
ShapeError: cannot multiply A (M x K) by C (M x N): inner extents K and M differ
hint: did you mean A.T @ C?

A * D
ShapeError: cannot multiply A (M x K) by D (N x K): inner extents K and N differ
hint: did you mean A @ D.T?

C @ x
ShapeError: cannot multiply C (M x N) by x (K): inner extents N and K differ
hint: use one Parameter for extents that are always equal

B @ x
ShapeError: cannot multiply B (K x N) by x (K): inner extents N and K differ
hint: did you mean B.T @ x?

x @ D
ShapeError: cannot multiply x (K) by D (N x K): inner extents K and N differ
hint: did you mean x @ D.T?

x @ v
ShapeError: cannot multiply x (K) by v (N): inner extents K and N differ
hint: use one Parameter for extents that are always equal

F3 @ F5
ShapeError: cannot multiply F3 (3 x 4) by F5 (5 x 2): inner extents 4 and 5 differ

(A @ B) @ A
ShapeError: cannot multiply (A @ B) (M x N) by A (M x K): inner extents N and M differ
hint: did you mean (A @ B).T @ A?

S + image
ShapeError: S + image: image has 3 dimensions, a matrix has 2

S + inner
ShapeError: S + inner: inner cannot be taken as a whole, i goes from 1 to N - 2
hint: each interval must start at 0 and end at a size; index the function in a definition

lower @ S
ShapeError: lower @ S: lower cannot be taken as a whole, j goes from 0 to i
hint: each interval must start at 0 and end at a size; index the function in a definition

pm.Matrix(pm.Double, "Q", [N])
ShapeError: the Matrix Q has 2 extents, got 1
hint: Vector for one, Image for any number

pm.Vector(pm.Double, "q", [N, N])
ShapeError: the Vector q has 1 extent, got 2
hint: Matrix for two, Image for any number

pm.Signal(pm.Double, "q", [N, N, N])
ShapeError: the Signal q has a length, or channels and a length; got 3 extents

pm.elementwise_mul(A, B)
ShapeError: elementwise_mul(A, B): A (M x K) and B (K x N) do not fit: extents M and K differ
hint: use one Parameter for extents that are always equal

pm.dot(x, v)
ShapeError: dot(x, v): x (K) and v (N) do not fit: extents K and N differ
hint: use one Parameter for extents that are always equal

pm.dot(A, x)
ShapeError: dot: x must be a Vector, got A (M x K)

pm.outer(x, A)
ShapeError: outer: y must be a Vector, got A (M x K)

pm.transpose(x)
ShapeError: transpose: A must be a Matrix, got x (K)

pm.gemm(A, A, C, 1, 1)
ShapeError: gemm: A's columns and B's rows differ, K and M: A (M x K), A (M x K)
hint: use one Parameter for extents that are always equal

pm.gemm(A, B, D, 1, 1)
ShapeError: gemm: C's rows and A's rows differ, N and M: D (N x K), A (M x K)
hint: use one Parameter for extents that are always equal

pm.gemm(A, B, A, 1, 1)
ShapeError: gemm: C's columns and B's columns differ, K and N: A (M x K), B (K x N)
hint: use one Parameter for extents that are always equal

pm.symm(S, B, C, N, M, 1, 1)
ShapeError: symm: B is B (K x N), but M and N make it N x M
hint: A is M x M, B and C are M x N

pm.syrk(A, S, 1, 1)
ShapeError: syrk: C's rows and A's rows differ, N and M: S (N x N), A (M x K)
hint: use one Parameter for extents that are always equal

pm.syrk(D, D, 1, 1)
ShapeError: syrk: C's columns and A's rows differ, K and N: D (N x K), D (N x K)
hint: use one Parameter for extents that are always equal

pm.syr2k(A, B, S, 1, 1)
ShapeError: syr2k(A, B, S): A (M x K) and B (K x N) do not fit: extents M and K differ
hint: use one Parameter for extents that are always equal

pm.trmm(A, B, 1)
ShapeError: trmm: A's rows and A's columns differ, M and K: A (M x K), A (M x K)
hint: use one Parameter for extents that are always equal

pm.trmm(S, B, 1)
ShapeError: trmm: B's rows and A's columns differ, K and N: B (K x N), S (N x N)
hint: use one Parameter for extents that are always equal
"""

KINDS = """
x * y
LangError: x * y: the product of two vectors is ambiguous
hint: dot(x, y), outer(x, y) or elementwise_mul(x, y)

A @ 2
LangError: A @ 2: @ multiplies matrices and vectors, not scalars
hint: A * 2

alpha @ A
LangError: alpha @ A: @ multiplies matrices and vectors, not scalars
hint: alpha * A

1 / A
LangError: 1 / A: only division by a scalar is defined
hint: element by element, in a definition: 1 / A(i, j)

alpha / x
LangError: alpha / x: only division by a scalar is defined
hint: element by element, in a definition: alpha / x(i)

S / S
LangError: S / S: only division by a scalar is defined
hint: element by element, in a definition: S(i, j) / S(i, j)

S**2
LangError: S ** 2: ** is not defined on a whole Matrix
hint: index it, in a definition: S(i, j) ** 2

7 % S
LangError: 7 % S: % is not defined on a whole Matrix
hint: index it, in a definition: 7 % S(i, j)

S < S
LangError: S < S: < does not compare a whole Matrix
hint: Condition(S(i, j), "<", S(i, j))

abs(S)
LangError: abs(S): not defined on a whole Matrix
hint: index it, in a definition: Abs(S(i, j))

S[0, 1]
LangError: S is read with parentheses, not brackets
hint: S(i, j) in a definition

list(S)
LangError: S cannot be iterated over
hint: index it: S(i, j)

bool(S)
LangError: S has no truth value

S * i
LangError: S * i: i is not a scalar, it depends on indices
hint: index the other operand too, in a definition: alpha * A(i, j)

S(i, j) * S
LangError: S(i, j) * S: S(i, j) is not a scalar, it depends on indices
hint: index the other operand too, in a definition: alpha * A(i, j)

f + 1
LangError: f + 1: + is not defined on a whole Function
hint: index it, in a definition: f(i, j) + 1

2 * f
LangError: 2 * f: * is not defined on a whole Function
hint: index it, in a definition: 2 * f(i, j)

f + f
LangError: f + f: + is not defined on a whole Function
hint: index it, in a definition: f(i, j) + f(i, j)

f @ f
LangError: f @ f: @ is not defined on a whole Function
hint: index it, in a definition: f(i, j) @ f(i, j)

image / 2
LangError: image / 2: / is not defined on a whole Image
hint: index it, in a definition: image(i, j, k) / 2

-f
LangError: -f: not defined on a whole Function
hint: index it, in a definition: -f(i, j)

np.float64(2) * f
LangError: 2.0 * f: * is not defined on a whole Function
hint: index it, in a definition: 2.0 * f(i, j)

i + f
LangError: f stands in an expression without indices
hint: index it: f(i, j)

S + np.ones(3)
LangError: expected a number or an expression, got ndarray array([1., 1., 1.])
hint: declare an input for the array: Vector, Matrix or Image

np.ones((2, 2)) @ S
LangError: expected a number or an expression, got ndarray array([[1., 1.],
hint: declare an input for the array: Vector, Matrix or Image

S + [1, 2]
LangError: expected a number or an expression, got list [1, 2]

{} * S
LangError: expected a number or an expression, got dict {}

S * None
LangError: expected a number or an expression, got NoneType None

True * S
LangError: expected a number or an expression, got bool True

np.bool_(True) * S
LangError: expected a number or an expression, got bool np.True_

"2" * S
LangError: expected a number or an expression, got str '2'

S + s
LangError: S + s: s is a Signal, not a Matrix or Vector
hint: a signal's operators are element-wise; declare it a Vector, or index both in a definition

x * s
LangError: x * s: s is a Signal, not a Matrix or Vector
hint: a signal's operators are element-wise; declare it a Vector, or index both in a definition

pm.transpose(f)
LangError: transpose: A must be a Matrix, got the Function f
hint: transpose takes Matrix and Vector inputs and what is computed from them

pm.gemm([[1]], B, C, 1, 1)
LangError: gemm: A must be a Matrix, got list [[1]]
hint: arrays are given when the pipeline is called; declare an input for it here

pm.gemm(A, B, None, 1, 1)
LangError: gemm: C must be a Matrix, got NoneType None
hint: arrays are given when the pipeline is called; declare an input for it here

pm.dot(np.ones(2), x)
LangError: dot: x must be a Vector, got ndarray array([1., 1.])
hint: arrays are given when the pipeline is called; declare an input for it here

pm.elementwise_mul(A, 2)
LangError: elementwise_mul: B must be a Vector or Matrix, got 2
hint: arrays are given when the pipeline is called; declare an input for it here

pm.dot(s, s)
LangError: dot: x must be a Vector, got the Signal s
hint: declare it a Vector

pm.scalar_mul(A, B)
LangError: scalar_mul: alpha is a scalar, got B (K x N)

pm.gemm(A, B, C, None, 1)
LangError: expected a number or an expression, got NoneType None

pm.gemm(A, B, C, i, 1)
LangError: gemm's alpha: i is not a scalar, it depends on indices
hint: index the other operand too, in a definition: alpha * A(i, j)

pm.symm(S, S, S, 2.5, N, 1, 1)
NotAffineError: not affine: 2.5 is not an integer
hint: indices, bounds and case conditions are sums ...

U + 300
DtypeError: the integer 300 does not fit UChar

np.float16(2) * S
DtypeError: no element type for NumPy dtype float16

np.uint64(2) * S
DtypeError: no element type for NumPy dtype uint64

2**70 * S
DtypeError: the integer 1180591620717411303424 does not fit 64 bits
"""


@pytest.mark.parametrize("refusal", table(SHAPES) + table(KINDS))
def test_refusal(refusal: Refusal) -> None:
    refusal.check(SCOPE)


def test_error_is_located_at_the_users_line() -> None:
    a = pm.Matrix(pm.Double, "A", [M, K])
    with pytest.raises(pm.ShapeError) as caught:
        a @ a  # the line
    assert caught.value.location is not None
    assert caught.value.location.file == __file__
    assert caught.value.location.quote() == "a @ a  # the line"
