"""The machine as the kernel describes it, on this host and on made-up ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymat.machine.cachesizes import FoundCaches
from polymat.machine.cpuinfo import first_processor
from polymat.machine.cpus import cpu_quota, usable_cpus
from polymat.machine.model import Machine
from polymat.machine.probe import machine_from, probe

INTEL = {
    "vendor_id": "GenuineIntel",
    "cpu family": "6",
    "model name": "Xeon",
    "cpu MHz": "3000.0",
    "flags": "fma avx avx2 avx512f",
}


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


def cache_files(cpu: int, *caches: tuple[str, str, str, str]) -> dict[str, str]:
    """Files of sysfs for caches given as (level, type, size, processors that share it)."""
    files: dict[str, str] = {}
    for index, (level, kind, size, shared) in enumerate(caches):
        entry = f"cpu{cpu}/cache/index{index}"
        files |= {
            f"{entry}/level": level,
            f"{entry}/type": kind,
            f"{entry}/size": size,
            f"{entry}/shared_cpu_list": shared,
            f"{entry}/coherency_line_size": "64",
        }
    return files


def test_this_machine_is_plausible() -> None:
    machine = probe()
    assert probe() is machine
    assert 1 <= machine.cores <= usable_cpus()
    assert 4 << 10 <= machine.l1_bytes <= machine.l2_bytes <= machine.l3_bytes
    assert machine.l3_bytes <= max(machine.l2_bytes, machine.cores * (4 << 20))
    assert machine.vector_bits in (128, 256, 512)
    assert machine.name
    assert 1e9 < machine.peak_flops(8) < 1e12


def test_virtual_machine_with_the_last_level_of_its_host(tmp_path: Path) -> None:
    """What a guest with two cores was seen to report: 480 MB."""
    files = cache_files(
        0,
        ("1", "Data", "48K", "0"),
        ("1", "Instruction", "32K", "0"),
        ("2", "Unified", "2048K", "0"),
        ("3", "Unified", "491520K", "0-1"),
    )
    for index, ways in ((0, "12"), (2, "16"), (3, "15")):
        files[f"cpu0/cache/index{index}/ways_of_associativity"] = ways
    xeon = INTEL | {"model": "143"}
    machine = machine_from(xeon, write(tmp_path, files), "x86_64", frozenset({0, 1}), 2)
    assert machine == Machine(
        name="Xeon",
        cores=2,
        l1_bytes=48 << 10,
        l2_bytes=2 << 20,
        l3_bytes=8 << 20,
        l1_ways=12,
        l2_ways=16,
        l3_ways=15,
        vector_bits=512,
        vector_registers=32,
        fma_units=2,
        fma_latency=4,
        hertz=3.0e9,
        l1_bandwidth=machine.l1_bandwidth,
        l2_bandwidth=machine.l2_bandwidth,
        l3_bandwidth=machine.l3_bandwidth,
        microarchitecture="sapphire_rapids",
    )


def test_hyperthreads_count_once(tmp_path: Path) -> None:
    files = cache_files(
        0, ("1", "Data", "32K", "0,4"), ("2", "Unified", "1M", "0,4"), ("3", "Unified", "8192K", "0-7")
    )
    files["cpu0/topology/thread_siblings_list"] = "0,4"
    root = write(tmp_path, files)
    machine = machine_from(INTEL, root, "x86_64", frozenset(range(8)), 8)
    assert (machine.cores, machine.l1_bytes, machine.l2_bytes, machine.l3_bytes) == (
        4,
        32 << 10,
        1 << 20,
        8 << 20,
    )
    assert machine_from(INTEL, root, "x86_64", frozenset(range(4)), 4).cores == 4
    assert machine_from(INTEL, root, "x86_64", frozenset(range(8)), 1).cores == 1


def test_level_two_shared_by_a_cluster_is_divided(tmp_path: Path) -> None:
    files = cache_files(0, ("1", "Data", "64K", "0"), ("2", "Unified", "4096K", "0-3"))
    machine = machine_from({"CPU part": "0xd08"}, write(tmp_path, files), "aarch64", frozenset(range(4)), 4)
    assert machine.l2_bytes == 1 << 20
    assert (machine.name, machine.vector_bits, machine.vector_registers) == ("aarch64 0xd08", 128, 32)


@pytest.mark.parametrize("architecture", ["x86_64", "aarch64", "riscv64"])
def test_nothing_is_known(architecture: str, tmp_path: Path) -> None:
    machine = machine_from({}, tmp_path, architecture, frozenset({0, 1, 2, 3}), 4)
    assert machine.cores == 4
    assert 0 < machine.l1_bytes < machine.l2_bytes < machine.l3_bytes
    assert (machine.line_bytes, machine.name) == (64, architecture)
    assert machine.peak_flops(8) > 0


def test_nonsense_is_not_believed(tmp_path: Path) -> None:
    files = cache_files(
        0, ("1", "Data", "-3K", "x"), ("2", "Unified", "9999G", "0"), ("3", "Unified", "", "0-1")
    )
    files["cpu0/cache/index0/coherency_line_size"] = "7"
    files["cpu0/cpufreq/cpuinfo_max_freq"] = "fast"
    files["cpu0/topology/thread_siblings_list"] = "0-99999999999"
    machine = machine_from(INTEL, write(tmp_path, files), "x86_64", frozenset({0}), 1)
    assert (machine.l1_bytes, machine.l2_bytes, machine.l3_bytes) == (32 << 10, 4 << 20, 4 << 20)
    assert (machine.line_bytes, machine.hertz, machine.cores) == (64, 3.0e9, 1)


def test_a_processor_without_a_third_level(tmp_path: Path) -> None:
    files = cache_files(0, ("1", "Data", "48K", "0"), ("2", "Unified", "1024K", "0-3"))
    machine = machine_from({"CPU part": "0xd08"}, write(tmp_path, files), "aarch64", frozenset(range(4)), 4)
    assert machine.l3_bytes == machine.l2_bytes == 256 << 10
    assert [cache.level for cache in machine.caches] == [1, 2]


def test_hidden_caches_are_those_of_the_table_or_of_the_c_library(tmp_path: Path) -> None:
    zen = {"vendor_id": "AuthenticAMD", "cpu family": "26", "model": "2", "flags": "fma avx avx512f"}
    machine = machine_from(zen, tmp_path, "x86_64", frozenset({0, 1}), 2)
    assert (machine.l1_bytes, machine.l2_bytes, machine.l3_bytes) == (48 << 10, 1 << 20, 8 << 20)
    assert [cache.sets for cache in machine.caches[:2]] == [64, 1024]
    asked = {
        1: FoundCaches(64 << 10, 16, 64),
        2: FoundCaches(2 << 20, 8, 64),
        3: FoundCaches(400 << 20, 0, 64),
    }
    machine = machine_from(zen, tmp_path, "x86_64", frozenset({0, 1}), 2, asked)
    assert (machine.l1_bytes, machine.l2_bytes, machine.l3_bytes) == (64 << 10, 2 << 20, 8 << 20)
    assert (machine.l1_ways, machine.l2_ways, machine.l3_ways) == (16, 8, 16)


def test_sysfs_is_believed_before_the_c_library(tmp_path: Path) -> None:
    files = cache_files(0, ("1", "Data", "32K", "0"), ("2", "Unified", "1024K", "0"))
    asked = {1: FoundCaches(64 << 10), 2: FoundCaches(2 << 20)}
    machine = machine_from(INTEL, write(tmp_path, files), "x86_64", frozenset({0}), 1, asked)
    assert (machine.l1_bytes, machine.l2_bytes) == (32 << 10, 1 << 20)


def test_several_last_levels_count_as_far_as_the_process_reaches(tmp_path: Path) -> None:
    files = cache_files(
        0, ("1", "Data", "32K", "0"), ("2", "Unified", "512K", "0"), ("3", "Unified", "8192K", "0-3")
    )
    root = write(tmp_path, files)
    assert machine_from(INTEL, root, "x86_64", frozenset(range(8)), 8).l3_bytes == 16 << 20
    assert machine_from(INTEL, root, "x86_64", frozenset(range(4)), 4).l3_bytes == 8 << 20


@pytest.mark.parametrize(
    ("frequency", "moment", "hertz"),
    [
        ("4500000", "800.0", 4.5e9),
        ("2000000", "3100.5", 2e9),
        ("", "3100.5", 3.1005e9),
        ("", "2445.4", 2.8e9),  # what a virtual machine shows; it runs faster
        ("", "399.9", 2.8e9),
        ("1e9", "inf", 2.8e9),
        ("99999999", "", 2.8e9),
    ],
)
def test_clock(frequency: str, moment: str, hertz: float, tmp_path: Path) -> None:
    write(tmp_path, {"cpu0/cpufreq/cpuinfo_max_freq": frequency})
    machine = machine_from(INTEL | {"cpu MHz": moment}, tmp_path, "x86_64", frozenset({0}), 1)
    assert machine.hertz == hertz


def test_a_quota_leaves_the_caches_of_the_cores_it_pays_for(tmp_path: Path) -> None:
    files = cache_files(
        0, ("1", "Data", "32K", "0"), ("2", "Unified", "512K", "0"), ("3", "Unified", "65536K", "0-15")
    )
    machine = machine_from(INTEL, write(tmp_path, files), "x86_64", frozenset(range(16)), 2)
    assert (machine.cores, machine.l3_bytes) == (2, 8 << 20)
    assert machine.memory_bandwidth <= machine.memory_bandwidth_total <= 2 * machine.memory_bandwidth


def test_only_the_first_processor_is_read(tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    path.write_bytes(b"model name\t: first \xff\nflags : a: b\n\nmodel name\t: second\n")
    assert first_processor(path) == {"model name": "first �", "flags": "a: b"}
    assert first_processor(tmp_path / "missing") == {}


@pytest.mark.parametrize(
    ("membership", "files", "quota"),
    [
        ("0::/", {}, None),
        ("0::/", {"cpu.max": "max 100000"}, None),
        ("0::/", {"cpu.max": "150000 100000"}, 1.5),
        (
            "0::/a/b",
            {"cpu.max": "max 100000", "a/cpu.max": "200000 100000", "a/b/cpu.max": "300000 100000"},
            2.0,
        ),
        ("0::/../../elsewhere", {"cpu.max": "50000 100000"}, 0.5),
        ("4:cpu,cpuacct:/x", {"cpu/x/cpu.cfs_quota_us": "250000", "cpu/x/cpu.cfs_period_us": "100000"}, 2.5),
        ("4:cpu:/x", {"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, None),
        ("4:memory:/x", {"memory/x/cpu.cfs_quota_us": "1", "memory/x/cpu.cfs_period_us": "1"}, None),
        ("garbage", {"cpu.max": "0 0"}, None),
    ],
)
def test_cpu_quota(membership: str, files: dict[str, str], quota: float | None, tmp_path: Path) -> None:
    (tmp_path / "cgroup").write_text(membership + "\n")
    assert cpu_quota(tmp_path / "cgroup", write(tmp_path / "fs", files)) == quota


def test_no_control_groups(tmp_path: Path) -> None:
    assert cpu_quota(tmp_path / "missing", tmp_path) is None
