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
    "pm": pm,
    "F": pm.Parameter(pm.Double, "F"),
    "N": N,
    "K": K,
    "i": i,
    "s": pm.Signal(pm.Double, "s", K),
    "t": pm.Signal(pm.Double, "t", N),
    "c": pm.Signal(pm.Double, "c", 3),
    "x": pm.Vector(pm.Double, "x", [K]),
    "m": pm.Signal(pm.Complex, "m", [N, 3]),
    "w": pm.Matrix(pm.Double, "w", [3, 3]),
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

s + f
ShapeError: s + f: f has 2 dimensions, a signal has one

s[3]
LangError: s[3] is a single sample
hint: s(3) in a definition; a slice s[a:b] is a signal

s.max()[::2]
ShapeError: s.max()[::2]: s.max() is a single number and has no samples

s.max().fir([1.0, 2.0])
ShapeError: fir: s.max() is a single number and has no samples

s.max().down(2)
ShapeError: down: s.max() is a single number and has no samples

s.max().up(2)
ShapeError: up: s.max() is a single number and has no samples

pm.rfft(s.max())
ShapeError: rfft: s.max() is a single number and has no samples

s.max().resample(4)
ShapeError: resample: s.max() is a single number and has no samples

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

s.fir(x, mode="even")
LangError: fir: mode is 'valid', 'causal', 'same' or 'full', got 'even'

s.fir(S)
ShapeError: fir: the taps S (N x N) have 2 dimensions, not one

s.fir([])
ShapeError: fir: there are no taps

s.fir(["a"] * 65)
LangError: fir: the values are a sequence of numbers, got list ['a', 'a', 'a', 'a', 'a', 'a', 'a', 'a',

s.interp_fft(0)
LangError: interp_fft: the factor is a positive integer, got 0

s.resample(N)
ShapeError: resample: which of the lengths K and N is larger depends on the sizes
hint: interp_fft(u) for a multiple of the length; where the one is a number, the other is one too

s.resample(2 * K - 3)
ShapeError: resample: which of the lengths K and 2*K - 3 is larger depends on the sizes
hint: interp_fft(u) for a multiple of the length; where the one is a number, the other is one too

pm.Signal(pm.Double, "e", 0).resample(4)
ShapeError: resample: e (0) has no samples

s.resample(0)
ShapeError: resample: the length is positive, got 0, of s (K)

c.resample(-2)
ShapeError: resample: the length is positive, got -2, of c (3)

pm.rfft(pm.fft(s))
DtypeError: rfft: fft(s) is Complex, not real
hint: fft(fft(s))

pm.fft(pm.Image(pm.Double, "T", [N, N, 3]))
ShapeError: fft: T (N x N x 3) is no Signal or Vector

pm.irfft(c, 0)
ShapeError: irfft: 0 samples of c (3)

pm.irfft(s)
DtypeError: irfft: s is Double, a spectrum is complex
hint: rfft(s) is a spectrum

pm.upfirdn([1.0, 2.0], s, 0)
LangError: upfirdn: up is a positive integer, got 0

pm.upfirdn([1.0, 2.0], s, 2, 0)
LangError: upfirdn: down is a positive integer, got 0

pm.upfirdn([1.0, 2.0], s, 2, -1)
LangError: upfirdn: down is a positive integer, got -1

pm.upfirdn([1.0, 2.0], s, 2, "a")
LangError: upfirdn: down is a positive integer, got str 'a'

pm.resample_poly(s, 3, -2)
LangError: resample_poly: down is a positive integer, got -2

pm.resample_poly(s, 1.5, 2)
LangError: resample_poly: up is a positive integer, got 1.5

pm.resample_poly(s, 0, 1)
LangError: resample_poly: up is a positive integer, got 0

pm.stft(s, 3, 2)
LangError: stft: the window is a Vector, a Signal or a sequence of numbers, got 3

pm.stft(s, None, 2)
LangError: stft: the window is a Vector, a Signal or a sequence of numbers, got NoneType None

pm.stft(s, "hann", 4)
LangError: stft: the window is a Vector, a Signal or a sequence of numbers, got str 'hann'
hint: get_window('hann', length)

pm.stft(s, ("kaiser", 8.0), 4)
LangError: stft: the window is a Vector, a Signal or a sequence of numbers, got tuple ('kaiser', 8.0)
hint: get_window(('kaiser', 8.0), length)

pm.stft(s, w, 2)
ShapeError: stft: the window w (3 x 3) has 2 dimensions, not one

pm.istft(m, "hann", 4)
LangError: istft: the window is a Vector, a Signal or a sequence of numbers, got str 'hann'
hint: get_window('hann', length)

pm.frames(s, 4, 2, 3.0)
LangError: frames: the window is a Vector, a Signal or a sequence of numbers, got 3.0

pm.correlate(s, "abc")
LangError: fir: the taps are a Vector, a Signal or a sequence of numbers, got str 'abc'

pm.correlate(s, ["a"])
LangError: correlate: the taps are a Vector, a Signal or a sequence of numbers, got list ['a']

pm.correlate(s, None)
LangError: fir: the taps are a Vector, a Signal or a sequence of numbers, got NoneType None

pm.kaiser_beta("a")
LangError: kaiser_beta: the attenuation is a number, got str 'a'

pm.kaiser(5, "a")
LangError: kaiser: beta is a number, got str 'a'

pm.kaiser(-5, 2.0)
LangError: kaiser: the length is a non-negative integer, got -5

pm.firwin(11, float("nan"))
LangError: firwin: a cut-off is nan, not a frequency

pm.firwin(11, None)
LangError: firwin: a cut-off is None, not a frequency

pm.sosfilt([[1, 2, 3, 1, 5, 6], [1, 2, 3, 0, 5, 6]], s)
LangError: sosfilt: a0 of section 1 is 0

pm.sosfilt(["abcdef"], s)
ShapeError: sosfilt: sections are rows of six numbers, got list ['abcdef']

pm.sosfilt([[1, 2], [3]], s)
ShapeError: sosfilt: sections are rows of six numbers, got list [[1, 2], [3]]

pm.sosfilt([[1j, 0, 0, 1, 0, 0]], s)
LangError: sosfilt: sections are real numbers, got list [[1j, 0, 0, 1, 0, 0]] of complex128

pm.lfilter([1.0], [0.0, 1.0], s)
LangError: lfilter: a[0] is 0

pm.lfilter([1.0], s, s)
LangError: lfilter: a is a list of 1 to 64 real numbers, got s
hint: a Vector of them has a length that is a number

pm.sosfilt(S, s)
ShapeError: sosfilt: sections are rows of six numbers, got S (N x N)
hint: a Matrix of them has a number of rows that is known

pm.lfilter([1.0, 2.0], [1.0, 0.5, 0.2], s, zi=s)
ShapeError: lfilter: the state zi of s (K) is 2, got s (K)
hint: declare it as a Vector; that of SciPy's lfilter_zi has this shape for one channel

pm.lfilter([1.0], [1.0, 0.5], c, zi=[0.0])
ShapeError: lfilter: the state zi of c (3) is 1, got list [0.0]
hint: declare it as a Vector; that of SciPy's lfilter_zi has this shape for one channel

pm.sosfilt([[1, 2, 3, 1, 5, 6]], m, zi=w)
ShapeError: sosfilt: the state zi of m (N x 3) is 1 x N x 2, got w (3 x 3)
hint: declare it as an Image; that of SciPy's sosfilt_zi has this shape for one channel

pm.lfilter([2.0], [1.0], s, zi=x)
LangError: lfilter: a filter of one number has no state

pm.sosfilt([[1, 2, 3, 1, 5, 6]], s, axis=1)
LangError: sosfilt: axis is an integer from -1 to 0 for s (K), got 1

pm.lfilter([1.0], np.ones(40), m, axis=0)
LangError: lfilter: order 39, and above 16 there is no zi, axis=0 or Vector b or a
hint: sosfilt: sections of second order are more exact as well

pm.sosfilt([1.0, 2.0], s)
ShapeError: sosfilt: sections are rows of six numbers, got list [1.0, 2.0]

pm.firwin(24, F, pass_zero=False)
LangError: firwin: 24 taps cannot pass the highest frequency
hint: an odd number of them, 25

pm.firwin(25, F, pass_zero="bandpass")
LangError: firwin: 'bandpass' does not go with 1 cut-off

pm.firwin(0, F)
LangError: firwin: the length is a positive integer, got 0

pm.firwin(9, 0.5, window=("tukey", F))
LangError: the window str 'tukey' takes numbers
hint: of windows, ("kaiser", beta) alone is computed inside a pipeline

s.fir(2.0)
LangError: fir: the taps are a Vector, a Signal or a sequence of numbers, got 2.0

s.fir(np.ones((2, 2)))
LangError: fir: the taps are a Vector, a Signal or a sequence of numbers, got ndarray ...

s.fir([1, "2"])
LangError: fir: tap 1 is str '2', not a number

s.fir([True])
LangError: fir: tap 0 is bool True, not a number

s.fir(pm.firwin(11, 1.5))
LangError: firwin: Invalid cutoff frequency: ...

pm.firwin(11, 0.3, window="none")
LangError: firwin: ...

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
