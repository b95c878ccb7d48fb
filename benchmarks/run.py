"""Every figure that README and docs state: `make bench`, or `python -m benchmarks.run [--only NAME]`."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys

from polymat.machine.probe import probe
from polymat.runtime.toolchain import compiler_version, find_compiler

PARTS = {
    "limits": ("benchmarks.limits",),
    "compile": ("benchmarks.compile_time",),
    "call": ("benchmarks.call_overhead",),
    "polybench-1": ("benchmarks.demo", "--threads", "1"),
    "polybench-2": ("benchmarks.demo", "--threads", "2"),
    "small-1": ("benchmarks.demo", "--threads", "1", "--size", "SMALL"),
}


def header() -> str:
    """The machine, the compiler and the day, without which no figure means anything."""
    machine = probe()
    lines = [
        f"date      {datetime.date.today().isoformat()}",
        f"machine   {machine.name}, {machine.cores} cores, {machine.vector_bits}-bit vectors, "
        f"L1d {machine.l1_bytes >> 10} KiB, L2 {machine.l2_bytes >> 10} KiB, L3 {machine.l3_bytes >> 20} MiB",
        f"compiler  {compiler_version(find_compiler())}",
        f"python    {platform.python_version()}",
        f"load      {os.getloadavg()[0]:.1f} when the run began",
    ]
    return "\n".join(lines)


def main() -> int:
    """Run the parts one after the other, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=sorted(PARTS), action="append")
    chosen = parser.parse_args().only or list(PARTS)
    sys.stdout.write(header() + "\n")
    failures = 0
    for name in chosen:
        sys.stdout.write(f"\n== {name}\n")
        sys.stdout.flush()
        failures += subprocess.run([sys.executable, "-m", *PARTS[name]], check=False).returncode != 0
    return failures


if __name__ == "__main__":
    sys.exit(main())
