"""A table of known processors: what the kernel does not tell about them, and sizes where it hides them."""

from __future__ import annotations

from dataclasses import replace

from polymat.dataclass import dataclass
from polymat.machine.model import Machine

_KIB = 1 << 10
_MIB = 1 << 20

# Bandwidths are what simple loops sustain on one core at the clock of the row, not what the data path could.
# l3_bytes belongs to `cores` cores; cores and l3_bytes matter as their quotient only.
GENERIC = Machine(
    name="generic",
    cores=4,
    l1_bytes=32 * _KIB,
    l2_bytes=512 * _KIB,
    l3_bytes=8 * _MIB,
    hertz=2.5e9,
    l1_bandwidth=1.2e11,
    l2_bandwidth=6.0e10,
    l3_bandwidth=3.0e10,
    memory_bandwidth=1.0e10,
    memory_bandwidth_total=2.5e10,
)
HASWELL = replace(
    GENERIC,
    microarchitecture="haswell",
    l2_bytes=256 * _KIB,
    fma_latency=5,
    hertz=3.3e9,
    l1_bandwidth=1.8e11,
    l2_bandwidth=8.0e10,
    l3_bandwidth=4.0e10,
    memory_bandwidth=1.1e10,
    memory_bandwidth_total=4.5e10,
)
SKYLAKE = replace(HASWELL, microarchitecture="skylake", l2_ways=4, fma_latency=4, hertz=3.6e9)
ALDERLAKE = replace(
    SKYLAKE,
    microarchitecture="alderlake",
    l1_bytes=48 * _KIB,
    l1_ways=12,
    l2_bytes=1280 * _KIB,
    l2_ways=10,
    l3_bytes=12 * _MIB,
    l3_ways=12,
    hertz=4.5e9,
    l1_bandwidth=3.5e11,
    l2_bandwidth=1.8e11,
    l3_bandwidth=5.0e10,
    memory_bandwidth=2.5e10,
    memory_bandwidth_total=6.0e10,
)
SKYLAKE_AVX512 = replace(
    GENERIC,
    microarchitecture="skylake_avx512",
    l2_bytes=1 * _MIB,
    l2_ways=16,
    l3_bytes=4 * 1408 * _KIB,
    l3_ways=11,
    vector_bits=512,
    vector_registers=32,
    hertz=2.8e9,
    l1_bandwidth=2.8e11,
    l2_bandwidth=1.2e11,
    l3_bandwidth=2.2e10,
    memory_bandwidth=1.2e10,
    memory_bandwidth_total=8.0e10,
)
ICELAKE_SERVER = replace(
    SKYLAKE_AVX512,
    microarchitecture="icelake_server",
    l1_bytes=48 * _KIB,
    l1_ways=12,
    l2_bytes=1280 * _KIB,
    l2_ways=20,
    l3_bytes=4 * 1536 * _KIB,
    l3_ways=12,
    hertz=3.0e9,
    l1_bandwidth=3.2e11,
    memory_bandwidth_total=1.2e11,
)
SAPPHIRE_RAPIDS = replace(
    ICELAKE_SERVER,
    microarchitecture="sapphire_rapids",
    l2_bytes=2 * _MIB,
    l2_ways=16,
    l3_bytes=4 * 1920 * _KIB,
    l3_ways=15,
    l2_bandwidth=1.4e11,
    memory_bandwidth_total=1.8e11,
)
# The client parts of that generation have one unit of 512 bits, made of two of 256.
ICELAKE_CLIENT = replace(
    ICELAKE_SERVER,
    microarchitecture="icelake_client",
    l2_bytes=512 * _KIB,
    l2_ways=8,
    l3_bytes=8 * _MIB,
    l3_ways=16,
    fma_units=1,
    hertz=3.8e9,
    l3_bandwidth=4.0e10,
    memory_bandwidth=1.8e10,
    memory_bandwidth_total=4.0e10,
)
ZEN = replace(
    GENERIC,
    microarchitecture="zen",
    fma_units=1,
    fma_latency=5,
    hertz=3.3e9,
    l1_bandwidth=9.0e10,
    l2_bandwidth=7.0e10,
    memory_bandwidth=1.6e10,
    memory_bandwidth_total=5.0e10,
)
ZEN2 = replace(ZEN, microarchitecture="zen2", fma_units=2, l3_bytes=16 * _MIB, l1_bandwidth=1.8e11)
ZEN3 = replace(
    ZEN2,
    microarchitecture="zen3",
    fma_latency=4,
    hertz=3.5e9,
    l2_bandwidth=9e10,
    l3_bandwidth=5e10,
    memory_bandwidth=2.2e10,
)
# 512-bit operations take the 256-bit units twice.
ZEN4 = replace(
    ZEN3,
    microarchitecture="zen4",
    l2_bytes=1 * _MIB,
    vector_bits=512,
    vector_registers=32,
    fma_units=1,
    hertz=3.7e9,
    l1_bandwidth=2.0e11,
    l2_bandwidth=1.1e11,
    l3_bandwidth=6.0e10,
    memory_bandwidth=2.5e10,
    memory_bandwidth_total=7.0e10,
)
ZEN5 = replace(
    ZEN4,
    microarchitecture="zen5",
    l1_bytes=48 * _KIB,
    l1_ways=12,
    l2_ways=16,
    fma_units=2,
    hertz=4.0e9,
    l1_bandwidth=5.0e11,
    l2_bandwidth=2.4e11,
    l3_bandwidth=1.1e11,
    memory_bandwidth=4.0e10,
    memory_bandwidth_total=1.2e11,
)
ZEN5_CLIENT = replace(ZEN5, microarchitecture="zen5_client", fma_units=1, l1_bandwidth=2.5e11)
GENERIC_ARM = replace(
    GENERIC,
    microarchitecture="generic_arm",
    l1_ways=4,
    vector_bits=128,
    vector_registers=32,
    hertz=2.4e9,
    l1_bandwidth=6.5e10,
    l2_bandwidth=4.0e10,
    l3_bandwidth=2.0e10,
)
NEOVERSE_N1 = replace(
    GENERIC_ARM,
    microarchitecture="neoverse_n1",
    l1_bytes=64 * _KIB,
    l2_bytes=1 * _MIB,
    l3_bytes=4 * _MIB,
    hertz=2.6e9,
    l3_bandwidth=2.5e10,
    memory_bandwidth=1.5e10,
    memory_bandwidth_total=1.2e11,
)
NEOVERSE_V1 = replace(
    NEOVERSE_N1,
    microarchitecture="neoverse_v1",
    fma_units=4,
    l1_bandwidth=1.1e11,
    l2_bandwidth=6.0e10,
    l3_bandwidth=3.5e10,
    memory_bandwidth=2.5e10,
    memory_bandwidth_total=2.2e11,
)
APPLE = replace(
    GENERIC_ARM,
    microarchitecture="apple",
    l1_bytes=128 * _KIB,
    l1_ways=8,
    l2_bytes=3 * _MIB,
    l2_ways=12,
    l3_bytes=8 * _MIB,
    line_bytes=128,
    fma_units=4,
    hertz=3.2e9,
    l1_bandwidth=1.4e11,
    l2_bandwidth=9.0e10,
    l3_bandwidth=6.0e10,
    memory_bandwidth=5.0e10,
    memory_bandwidth_total=6.5e10,
)


@dataclass(frozen=True, slots=True)
class _Row:
    """Who a processor is: x86 by vendor, family and model, Arm by implementer and part, as the kernel says.

    models: empty for all of a family; feature: an instruction-set flag it must have.
    """

    machine: Machine
    vendor: str
    family: int
    models: tuple[range, ...] = ()
    feature: str = ""


def _models(*numbers: int) -> tuple[range, ...]:
    return tuple(range(number, number + 1) for number in numbers)


_INTEL, _AMD, _ARM, APPLE_IMPLEMENTER = "GenuineIntel", "AuthenticAMD", "0x41", "0x61"
TABLE = (
    _Row(HASWELL, _INTEL, 6, _models(0x3C, 0x3F, 0x45, 0x46, 0x3D, 0x47, 0x4F, 0x56)),
    _Row(SKYLAKE_AVX512, _INTEL, 6, _models(0x55)),
    _Row(SKYLAKE, _INTEL, 6, _models(0x4E, 0x5E, 0x8E, 0x9E, 0xA5, 0xA6)),
    _Row(ICELAKE_SERVER, _INTEL, 6, _models(0x6A, 0x6C)),
    _Row(SAPPHIRE_RAPIDS, _INTEL, 6, _models(0x8F, 0xCF, 0xAD, 0xAE)),
    _Row(ICELAKE_CLIENT, _INTEL, 6, _models(0x7D, 0x7E, 0x8C, 0x8D, 0xA7)),
    _Row(ALDERLAKE, _INTEL, 6, _models(0x97, 0x9A, 0xB7, 0xBA, 0xBF, 0xAA, 0xAC, 0xC5, 0xC6, 0xBD)),
    _Row(ZEN2, _AMD, 23, (range(0x30, 0x100),)),
    _Row(ZEN, _AMD, 23),
    _Row(ZEN4, _AMD, 25, (range(0x10, 0x20), range(0x60, 0x80), range(0xA0, 0xB0))),
    _Row(ZEN4, _AMD, 25, feature="avx512f"),
    _Row(ZEN3, _AMD, 25),
    _Row(ZEN5_CLIENT, _AMD, 26, (range(0x20, 0x30), range(0x60, 0x80))),
    _Row(ZEN5, _AMD, 26),
    _Row(NEOVERSE_N1, _ARM, 0xD0C),
    _Row(replace(NEOVERSE_N1, microarchitecture="neoverse_n2"), _ARM, 0xD49),
    _Row(NEOVERSE_V1, _ARM, 0xD40),
    _Row(replace(NEOVERSE_V1, microarchitecture="neoverse_v2", l2_bytes=2 * _MIB), _ARM, 0xD4F),
)
