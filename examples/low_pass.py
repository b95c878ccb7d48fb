"""A low-pass filter over a noisy tone, then every fourth sample of what is left."""

import numpy as np

import polymat as pm
from polymat import Double, Int, Parameter, Signal, Vector

N, T = Parameter(Int, "N"), Parameter(Int, "T")
x = Signal(Double, "x", N)
taps = Vector(Double, "taps", [T])
smooth = x.fir(taps, mode="causal").down(4)

# x and taps are both one-dimensional: inputs= says which comes first.
low_pass = pm.compile(smooth, name="low_pass", inputs=[x, taps])

# A windowed sinc that keeps a twentieth of the band.
delays = np.arange(101) - 50
sinc = np.sinc(delays / 20) * np.hamming(101)
sinc /= sinc.sum()

time = np.arange(20_000) / 1000.0
tone = np.sin(2 * np.pi * 3.0 * time)
noisy = tone + np.random.default_rng(0).normal(0.0, 1.0, time.size)

clean = low_pass(noisy, sinc)
assert np.allclose(clean, np.convolve(noisy, sinc)[: time.size : 4])

# A causal filter of 101 taps is 50 samples late.
wanted = np.sin(2 * np.pi * 3.0 * (time[::4] - 0.050))
settled = slice(25, None)
print(f"noise before: {np.std(noisy - tone):.2f}")
print(f"noise after:  {np.std((clean - wanted)[settled]):.2f}")
print(f"{noisy.size} samples in, {clean.size} out")
print(low_pass)
