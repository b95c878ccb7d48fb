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
hint: did you mean D.T?

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

x * D
ShapeError: cannot multiply x (K) by D (N x K): inner extents K and N differ
hint: did you mean x @ D.T? Or, element by element: elementwise_mul(x, D)

x @ v
ShapeError: cannot multiply x (K) by v (N): inner extents K and N differ
hint: use one Parameter for extents that are always equal

F3 @ F5
ShapeError: cannot multiply F3 (3 x 4) by F5 (5 x 2): inner extents 4 and 5 differ

(A @ B) @ A
ShapeError: cannot multiply (A @ B) (M x N) by A (M x K): inner extents N and M differ
hint: did you mean (A @ B).T @ A?

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
hint: dot(x, y), outer(x, y) or elementwise_mul(x, y); Images of one dimension multiply by elements

A @ 2
LangError: A @ 2: @ multiplies matrices and vectors, not scalars
hint: A * 2

alpha @ A
LangError: alpha @ A: @ multiplies matrices and vectors, not scalars
hint: alpha * A

S[i, 0]
LangError: S is read with parentheses, not brackets, at indices that vary
hint: S(i, j) in a definition

S[S > 0]
LangError: S[(S > 0)]: brackets take integers, slices, None and ...
hint: pm.where(condition, S, 0) keeps what a condition selects

S[0.5]
LangError: S[0.5]: brackets take integers, slices, None and ...

S[0, 0, 1]
ShapeError: S (N x N) has 2 dimensions, got 3 indices

S[N]
BoundsError: S[N]: N is outside a dimension of extent N

S[..., ...]
LangError: S: brackets have one ... at most

S.sum(axis=2)
ShapeError: sum: S (N x N) has 2 dimensions, there is no axis 2
hint: axes are 0 to 1, or -1 for the last

S.max(axis=(0, -2))
ShapeError: S.max(axis=(0, -2)): an axis is there twice

S.mean(axis="rows")
LangError: mean: the axis is an integer, several in a tuple, or None, got str 'rows'

S.argmax(axis=(0, 1))
LangError: argmax: the axis is an integer or None, got tuple (0, 1)

S.sum(keepdims=1)
LangError: sum: keepdims is True or False, got 1

S.var(ddof=0.5)
LangError: var: ddof is an integer, got 0.5

pm.Vector(pm.Double, "q", [0]).max()
ShapeError: q.max(): q (0) has no elements along a dimension

inner.sum()
ShapeError: inner.sum(): inner cannot be taken as a whole, i goes from 1 to N - 2
hint: each interval must start at 0 and end at a size; index the function in a definition

inner[0]
ShapeError: inner[0]: inner cannot be taken as a whole, i goes from 1 to N - 2
hint: each interval must start at 0 and end at a size; index the function in a definition

A - v[:, None]
ShapeError: A - v[:, None]: A (M x K) and v[:, None] (N x 1) do not fit: extents M and N differ
hint: use one Parameter for extents that are always equal

A * A
ShapeError: cannot multiply A (M x K) by A (M x K): inner extents K and M differ
hint: element by element: elementwise_mul(A, A)

S * x
ShapeError: cannot multiply S (N x N) by x (K): inner extents N and K differ
hint: element by element: elementwise_mul(S, x)

pm.where(i, S, 0)
LangError: where needs a Condition, got Variable
hint: Condition(i, "==", 0), say

pm.where(pm.Condition(i, ">", 0), S, 0)
LangError: where: i is not a scalar, it depends on indices
hint: index the other operand too, in a definition: alpha * A(i, j)

pm.Case(S > 0, 1)
LangError: Case needs a Condition, got Mask
hint: Condition(i, "==", 0), say

S < "a"
LangError: expected a number or an expression, got str 'a'

S & (S > 0)
LangError: S & (S > 0): & is for two truth values or for two integers
hint: (A > 0) & (B > 0), say; Cast(Int, b) of a truth value beside an integer

S << 1
LangError: S << 1: << shifts the bits of integers
hint: x * 2 and x / 2 of floating-point values; Cast(Int, b) of a truth value

np.cumsum(A)
LangError: cumsum of A (M x K) without an axis takes all elements in a row
hint: one of its axes, axis=0 say

np.sort(S)
LangError: np.sort is not defined on whole functions and inputs
hint: compile what comes before and after, and sort between the calls

np.sum(S, dtype=float)
DtypeError: Cast needs an element type, got <class 'float'>
hint: pm.Double

np.var(S, dtype=float)
LangError: np.var with dtype= is not defined on whole functions and inputs
hint: A.astype(pm.Double).var() converts the elements first

np.sqrt(S, dtype=float)
LangError: np.sqrt with dtype= is not defined on whole functions and inputs
hint: write it with polymat's own functions, or index them in a definition

list(S)
LangError: S cannot be iterated over
hint: index it: S(i, j)

bool(S > 0)
LangError: (S > 0) has no truth value while the pipeline is being described
hint: pm.where(condition, A, B) chooses element by element; combine conditions with & and |

S * i
LangError: S * i: i is not a scalar, it depends on indices
hint: index the other operand too, in a definition: alpha * A(i, j)

S(i, j) * S
LangError: S(i, j) * S: S(i, j) is not a scalar, it depends on indices
hint: index the other operand too, in a definition: alpha * A(i, j)

i + f
LangError: i + f: i is not a scalar, it depends on indices
hint: index the other operand too, in a definition: alpha * A(i, j)

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

np.longdouble(2) * S
DtypeError: no element type for NumPy dtype float128

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
