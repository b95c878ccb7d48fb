"""What signals refuse: the class, the text, the hint, and the user's line."""

from __future__ import annotations

import numpy as np
import pytest

import polymat as pm
from tests.lang.refusals import Refusal, table

N, K = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Int, "K")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
whole = pm.Interval(pm.Int, 0, N - 1)
SCOPE = {
    "np": np,
    "N": N,
    "i": i,
    "s": pm.Signal(pm.Double, "s", K),
    "t": pm.Signal(pm.Double, "t", N),
    "c": pm.Signal(pm.Double, "c", 3),
    "x": pm.Vector(pm.Double, "x", [K]),
    "S": pm.Matrix(pm.Double, "S", [N, N]),
    "f": pm.Function(([i, j], [whole, whole]), pm.Double, "f"),
}

SIGNALS = """
s + t
ShapeError: s + t: s (K) and t (N) do not fit: extents K and N differ
hint: use one Parameter for extents that are always equal

s * x
LangError: s * x: x is a Vector, not a Signal
hint: a signal is not a matrix: declare both alike, or index both in a definition

s * S
LangError: s * S: S is a Matrix, not a Signal
hint: a signal is not a matrix: declare both alike, or index both in a definition

s @ s
LangError: s @ s: @ is not defined on a whole Signal
hint: index it, in a definition: s(i) @ s(i)

s + f
ShapeError: s + f: f has 2 dimensions, a signal has one

s[3]
LangError: s[3] is a single sample
hint: s(3) in a definition; a slice s[a:b] is a signal

s[i:]
LangError: the slice bound i of s depends on a variable
hint: index s in a definition, as s(i)

s[1.5:]
NotAffineError: not affine: 1.5 is not an integer
hint: indices, bounds and case conditions are sums ...

s[::0]
LangError: the step of a slice is an integer other than 0, got 0

s[::N]
LangError: the step of a slice is an integer other than 0, got N

s[True:]
LangError: expected a number or an expression, got bool True

s.down(0)
LangError: down: the factor is a positive integer, got 0

s.down(-2)
LangError: down: the factor is a positive integer, got -2

s.up(2.0)
LangError: up: the factor is a positive integer, got 2.0

s.up(True)
LangError: up: the factor is a positive integer, got bool True

s.up(N)
LangError: up: the factor is a positive integer, got N

s.fir(x, mode="same")
LangError: fir: mode is 'valid' or 'causal', got 'same'

s.fir(S)
ShapeError: fir: the taps S (N x N) have 2 dimensions, not one

s.fir([])
ShapeError: fir: there are no taps

s.fir([0.0] * 65)
LangError: fir: 65 taps are too many to write out, at most 64
hint: declare them as an input: h = Vector(Double, "h", [T])

s.fir(2.0)
LangError: fir: the taps are a Vector, a Signal or a sequence of numbers, got 2.0

s.fir(np.ones((2, 2)))
LangError: fir: the taps are a Vector, a Signal or a sequence of numbers, got ndarray ...

s.fir([1, "2"])
LangError: expected a number or an expression, got str '2'

s.fir([1, i])
LangError: fir: i is not a scalar, it depends on indices
hint: index the other operand too, in a definition: alpha * A(i, j)

s.fir([x])
LangError: fir: a tap is a number, got x (K)

c.fir([1, 2, 3, 4])
ShapeError: fir: c (3) is shorter than its 4 taps
hint: mode='causal' keeps the length
"""


@pytest.mark.parametrize("refusal", table(SIGNALS))
def test_refusal(refusal: Refusal) -> None:
    refusal.check(SCOPE)
