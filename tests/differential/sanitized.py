"""Random programs under the address and undefined-behaviour sanitizers: `python -m tests.differential.sanitized`.

Generated code is compiled with the sanitizers and run in this process, which has to have libasan loaded
first (`command` makes the call that does); an access outside an array ends it with a report.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

FLAGS = (
    "-O0",
    "-g1",
    "-fno-unroll-loops",
    "-fno-peel-loops",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=undefined",
)
ROOT = Path(__file__).resolve().parents[2]


def sanitizer() -> Path | str:
    """The library that must be loaded first, or why there is none."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return "gcc is not installed"
    command = [compiler, "-print-file-name=libasan.so"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    library = Path(found)
    return library.resolve() if library.is_absolute() and library.exists() else "libasan is not installed"


def environment(library: Path) -> dict[str, str]:
    """Of a process that runs this module.

    Python's own objects come from its own allocator, three quarters of the time: what generated code is given
    are arrays, whose elements NumPy has from the C library.
    """
    return {
        **os.environ,
        "LD_PRELOAD": str(library),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "POLYMAT_CC": "gcc",
    }


def command(seed: int, count: int, variants: Sequence[str], first: int = 0) -> list[str]:
    """The command that runs `count` programs under each of the variants."""
    numbers = ["--seed", str(seed), "--count", str(count), "--first", str(first)]
    return [sys.executable, "-m", "tests.differential.sanitized", *numbers, *variants]


def main() -> int:
    """Run programs under variants; 1 when a result is wrong.  The sanitizers end the process themselves."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    from tests.differential.compare import VARIANTS, failures
    from tests.differential.random_programs import program

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("POLYMAT_SEED", "1")))
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("variants", nargs="*", metavar="VARIANT", help=f"of {', '.join(VARIANTS)}")
    asked = parser.parse_args()
    found: list[str] = []
    for word in asked.variants or VARIANTS:
        variant = VARIANTS[word]
        sanitized = replace(variant, options=replace(variant.options, cflags=FLAGS))
        for first in range(asked.first, asked.first + asked.count, 10):
            numbers = range(first, min(first + 10, asked.first + asked.count))
            found += failures([program(asked.seed, number) for number in numbers], sanitized)
        print(f"{word}: {asked.count} programs of seed {asked.seed}", flush=True)
    print("\n".join(found))
    return bool(found)


def run_all(module: str = "tests.differential.sanitized") -> int:
    """A module again, with the sanitizers loaded and the same arguments."""
    library = sanitizer()
    if isinstance(library, str):
        print(library, file=sys.stderr)
        return 2
    arguments = [sys.executable, "-m", module, *sys.argv[1:]]
    return subprocess.run(arguments, cwd=ROOT, env=environment(library)).returncode


if __name__ == "__main__":
    sys.exit(main() if "libasan" in os.environ.get("LD_PRELOAD", "") else run_all())
