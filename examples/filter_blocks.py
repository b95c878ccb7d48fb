"""A filter for a signal that arrives in blocks: the last samples of each are kept for the next one.

The blocks together are filtered exactly as the whole signal would be.
"""

import numpy as np

import polymat as pm
from polymat import Double, Int, Parameter, Signal

taps = pm.firwin(127, 0.2)
kept = len(taps) - 1  # samples before a block that its first results need

B = Parameter(Int, "B")
state = Signal(Double, "state", kept)
block = Signal(Double, "block", B)
samples = pm.concatenate([state, block])
filtered, following = samples.fir(taps), samples[B:]

step = pm.compile([filtered, following], name="step", inputs=[state, block], estimates={B: 4096})

signal = np.random.default_rng(0).normal(0.0, 1.0, 50_000)
memory = np.zeros(kept)
blocks = []
for begin in range(0, signal.size, 4096):  # the last block is shorter
    result, memory = step(memory, signal[begin : begin + 4096])
    blocks.append(result)
streamed = np.concatenate(blocks)

whole = pm.compile(Signal(Double, "x", B).fir(taps, mode="causal"), name="whole")(signal)
assert np.allclose(streamed, whole, rtol=0.0, atol=1e-12)
assert np.allclose(streamed, np.convolve(signal, taps)[: signal.size])
difference = np.max(np.abs(streamed - whole))
print(f"{signal.size} samples in {len(blocks)} blocks; largest difference {difference:.1e}")
