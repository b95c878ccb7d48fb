"""A band-pass of second-order sections for a signal in blocks: each call hands its state to the next.

The blocks together are filtered as the whole signal would be, for two channels at once.
"""

import numpy as np
from scipy.signal import butter

import polymat as pm
from polymat import Double, Image, Int, Parameter, Signal

sections = butter(3, [0.05, 0.2], "bandpass", output="sos")
channels = 2

N = Parameter(Int, "N")
block = Signal(Double, "block", [channels, N])
state = Image(Double, "state", [len(sections), channels, 2])
filtered, following = pm.sosfilt(sections, block, zi=state)

step = pm.compile([filtered, following], name="step", inputs=[block, state], estimates={N: 4096})

signal = np.random.default_rng(0).normal(0.0, 1.0, (channels, 50_000))
memory = np.zeros((len(sections), channels, 2))
blocks = []
for begin in range(0, signal.shape[1], 4096):  # the last block is shorter
    result, memory = step(np.ascontiguousarray(signal[:, begin : begin + 4096]), memory)
    blocks.append(result)
streamed = np.concatenate(blocks, axis=1)

whole = pm.compile(pm.sosfilt(sections, block), name="whole")(signal)
assert np.allclose(streamed, whole, rtol=0.0, atol=1e-12)
difference = np.max(np.abs(streamed - whole))
print(f"{signal.shape[1]} samples in {len(blocks)} blocks; largest difference {difference:.1e}")
