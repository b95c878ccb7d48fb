"""The levels of memory of a machine, as the data-movement and working-set models see them."""

from __future__ import annotations

from math import inf

from polymat.dataclass import dataclass
from polymat.machine.model import Machine

# Cycles until a load is answered, typical of x86 and ARM servers since 2013; they only weigh levels against
# each other in the cost of a variant.
LATENCY_CYCLES = {"L1": 5, "L2": 14, "L3": 50, "memory": 250}


@dataclass(frozen=True, slots=True)
class Level:
    """A level of memory for one thread.

    bytes: what it holds for the thread.  bandwidth: bytes a second out of it towards the core, for the
    thread.  latency: seconds.
    """

    name: str
    bytes: float
    bandwidth: float
    latency: float


def hierarchy(machine: Machine, threads: int = 1) -> tuple[Level, ...]:
    """The caches that exist, nearest first, and memory; the threads share the last level and memory."""
    threads = max(1, min(threads, machine.cores))
    l3_bytes, l3_bandwidth = machine.l3_bytes / threads, machine.l3_bandwidth
    memory = min(machine.memory_bandwidth, machine.memory_bandwidth_total / threads)
    levels = (
        ("L1", float(machine.l1_bytes), machine.l1_bandwidth),
        ("L2", float(machine.l2_bytes), machine.l2_bandwidth),
        ("L3", l3_bytes, l3_bandwidth),
        ("memory", inf, memory),
    )
    found: list[Level] = []
    for name, size, bandwidth in levels:
        if size > (found[-1].bytes if found else 0):
            found.append(Level(name, size, bandwidth, LATENCY_CYCLES[name] / machine.hertz))
    return tuple(found)


def register_bytes(machine: Machine) -> int:
    """Bytes of the vector registers."""
    return machine.vector_registers * machine.vector_bits // 8
