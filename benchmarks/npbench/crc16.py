"""NPBench crc16: the check sum of bytes that X.25 has (polynomial 0x1021, bits from the lowest on)."""

from __future__ import annotations

import numpy as np

from benchmarks.npbench.stages import mapped
from benchmarks.polybench.kernel import Array, Arrays, Description, Sizes, parameters, size_table, variables
from benchmarks.program import Program, between
from polymat import Case, Cast, Condition, Function, UChar, UInt16, Vector

POLYNOMIAL = 0x8408  # its bits in reverse
START = 0xFFFF


def build() -> Description:
    """Describe what eight steps make of each byte, the rest after each byte of the data, and the last one."""
    (N,) = sizes = parameters("N")
    n, k, byte = variables("n k byte")
    data = Vector(UChar, "data", [N])
    table = Function(([k, byte], [between(0, 8), between(0, 255)]), UInt16, "table")
    before = table(k - 1, byte)
    shifted = (before >> 1) ^ ((before & 1) * POLYNOMIAL)
    table.defn = [Case(Condition(k, "==", 0), Cast(UInt16, byte)), Case(Condition(k, ">=", 1), shifted)]
    rest = Function(([n], [between(0, N)]), UInt16, "rest")
    old = rest(n - 1)
    after = (old >> 8) ^ table(8, Cast(UChar, (old ^ data(n - 1)) & 255))
    rest.defn = [Case(Condition(n, "==", 0), START), Case(Condition(n, ">=", 1), after)]
    last = rest(N) ^ START
    crc = mapped("crc", (), (), (last << 8) | (last >> 8), UInt16)
    return Description((crc,), (data,), sizes)


def inputs(sizes: Sizes, rng: np.random.Generator) -> Arrays:
    """Return random bytes."""
    return {"data": rng.integers(0, 256, sizes["N"], dtype=np.uint8)}


def reference(data: Array) -> Arrays:
    """Solve with NumPy's table, byte by byte."""
    table = np.arange(256)
    for _ in range(8):
        table = (table >> 1) ^ ((table & 1) * POLYNOMIAL)
    rests, rest = table.tolist(), START
    for byte in data.tolist():
        rest = (rest >> 8) ^ rests[(rest ^ byte) & 255]
    last = rest ^ START
    return {"crc": np.array((last << 8 | last >> 8) & 0xFFFF, np.uint16)}


PROGRAM = Program(
    name="crc16",
    sizes=size_table("N", S=(1600,), M=(16_000,), L=(160_000,), PAPER=(1_000_000,)),
    build=build,
    inputs=inputs,
    reference=reference,
    operations=5,
    traffic=1,
    tolerance=0,
    points=lambda sizes: sizes["N"],
)
