"""Processors are recognised by what the kernel says of them."""

from __future__ import annotations

import pytest

from polymat.machine import known
from polymat.machine.model import MEMORY, Machine
from polymat.machine.recognise import recognise

WIDE = "fpu sse2 fma avx avx2 avx512f"
NARROW = "fpu sse2 fma avx avx2"
ROWS = [row for row in vars(known).values() if isinstance(row, Machine)]


def x86(vendor: str, family: int, model: int, flags: str) -> dict[str, str]:
    names = {"intel": "GenuineIntel", "amd": "AuthenticAMD"}
    return {"vendor_id": names[vendor], "cpu family": str(family), "model": str(model), "flags": flags}


@pytest.mark.parametrize(
    ("cpuinfo", "name", "bits", "units"),
    [
        (x86("intel", 6, 63, NARROW), "haswell", 256, 2),
        (x86("intel", 6, 158, NARROW), "skylake", 256, 2),
        (x86("intel", 6, 85, WIDE), "skylake_avx512", 512, 2),
        (x86("intel", 6, 106, WIDE), "icelake_server", 512, 2),
        (x86("intel", 6, 126, WIDE), "icelake_client", 512, 1),
        (x86("intel", 6, 143, WIDE), "sapphire_rapids", 512, 2),
        (x86("intel", 6, 143, NARROW), "sapphire_rapids", 256, 2),
        (x86("intel", 6, 151, NARROW), "alderlake", 256, 2),
        (x86("amd", 23, 1, NARROW), "zen", 256, 1),
        (x86("amd", 23, 49, NARROW), "zen2", 256, 2),
        (x86("amd", 25, 1, NARROW), "zen3", 256, 2),
        (x86("amd", 25, 17, WIDE), "zen4", 512, 1),
        (x86("amd", 25, 17, NARROW), "zen4", 256, 2),
        (x86("amd", 25, 250, WIDE), "zen4", 512, 1),
        (x86("amd", 26, 2, WIDE), "zen5", 512, 2),
        (x86("amd", 26, 36, WIDE), "zen5_client", 512, 1),
        (x86("intel", 6, 42, "sse2 avx"), "generic", 256, 1),
        (x86("intel", 15, 4, "sse2"), "generic", 128, 1),
        (x86("intel", 19, 1, WIDE), "generic", 512, 2),
        ({}, "generic", 128, 2),
        ({"vendor_id": "AuthenticAMD", "cpu family": "x", "model": "", "flags": WIDE}, "generic", 512, 2),
    ],
)
def test_x86(cpuinfo: dict[str, str], name: str, bits: int, units: int) -> None:
    row = recognise(cpuinfo, "x86_64")
    assert (row.microarchitecture, row.vector_bits, row.fma_units) == (name, bits, units)
    assert row.vector_registers == (32 if bits == 512 else 16)


@pytest.mark.parametrize(
    ("implementer", "part", "name", "units"),
    [
        ("0x41", "0xd0c", "neoverse_n1", 2),
        ("0x41", "0xd40", "neoverse_v1", 4),
        ("0x41", "0xd49", "neoverse_n2", 2),
        ("0x41", "0xd4f", "neoverse_v2", 4),
        ("0x61", "0x022", "apple", 4),
        ("0x41", "0xd08", "generic_arm", 2),
        ("", "", "generic_arm", 2),
    ],
)
def test_arm(implementer: str, part: str, name: str, units: int) -> None:
    row = recognise({"CPU implementer": implementer, "CPU part": part, "Features": "asimd"}, "aarch64")
    assert (row.microarchitecture, row.fma_units) == (name, units)
    assert (row.vector_bits, row.vector_registers) == (128, 32)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.microarchitecture)
def test_every_row_is_plausible(row: Machine) -> None:
    assert 8 << 10 <= row.l1_bytes <= 256 << 10
    assert 2 * row.l1_bytes <= row.l2_bytes <= row.l3_bytes <= row.cores * (8 << 20)
    assert 1e9 < row.hertz < 6e9
    assert 3 <= row.fma_latency <= 6
    for cache in row.caches:
        assert cache.bytes == cache.sets * cache.ways * cache.line_bytes
    rates = [row.bandwidth(level) for level in range(1, MEMORY + 1)]
    assert rates == sorted(rates, reverse=True)
    assert row.l1_bandwidth <= 3 * row.hertz * row.vector_bits / 8
    assert row.memory_bandwidth <= row.memory_bandwidth_total
