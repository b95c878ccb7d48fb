"""Libraries for a processor: which one, and what a C program is told on another."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.c.abi import PROCESSOR_LACKS
from polymat.errors import ToolchainError
from polymat.runtime.cpu import features_of, header_for, missing_features

N = pm.Parameter(pm.Int, "N")
x = pm.Vector(pm.Double, "x", [N])
X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the targets are those of x86-64")
PROGRAM = """\
#include <stdio.h>
#include "twice.h"

int main(void)
{
    const double x[2] = {1, 2};
    double out[2] = {7, 7};
    const int first = twice(x, out, 2), second = twice(x, out, 2);
    printf("%d %d %g %g\\n", first, second, out[0], out[1]);
    return 0;
}
"""


def answer(directory: Path, source: str, flags: tuple[str, ...]) -> str:
    (directory / "twice.c").write_text(source)
    (directory / "main.c").write_text(PROGRAM)
    command = ["gcc", "-std=gnu11", *flags, "-fopenmp", "main.c", "twice.c", "-lm", "-o", "main"]
    subprocess.run(command, cwd=directory, check=True)
    return subprocess.run([directory / "main"], capture_output=True, text=True, check=True).stdout.strip()


@X86
def test_a_c_program_is_told_that_the_processor_lacks_something(tmp_path: Path) -> None:
    twice = pm.compile((x + x).named("twice"), options=pm.Options(target="x86-64-v2"))
    twice.save(tmp_path)
    has = '__builtin_cpu_supports("popcnt") != 0'
    assert has in twice.source
    flags = ("-march=x86-64-v2",)
    assert answer(tmp_path, twice.source, flags) == "0 0 2 4"
    assert (
        answer(tmp_path, twice.source.replace(has, "0"), flags) == f"{PROCESSOR_LACKS} {PROCESSOR_LACKS} 7 7"
    )
    assert answer(tmp_path, twice.source.replace(has, "0"), ("-march=x86-64",)) == "0 0 2 4"


@X86
def test_what_a_target_needs() -> None:
    twice = pm.compile((x + x).named("twice"), options=pm.Options(target="x86-64-v3"))
    assert twice.cpu.startswith("x86_64|x86-64-v3|")
    features = features_of(twice.cpu)
    assert {"avx2", "fma", "bmi2", "sse4_2", "pni", "abm"} <= set(features)
    assert not any(name.startswith("avx512") for name in features)
    assert "It needs a processor with abm, avx, avx2," in twice.header
    assert twice(np.ones(3)).tolist() == [2.0, 2.0, 2.0]
    assert missing_features("x86_64|x86-64-v9|avx2 avx9") == ("avx9",)


def test_targets_that_are_none() -> None:
    with pytest.raises(ToolchainError, match="does not know the target 'pentium99'"):
        pm.compile(x + x, options=pm.Options(target="pentium99"))
    for wrong in ("", "-O3", "a b"):
        with pytest.raises(pm.LangError, match=r"Options.target is '.*', not the name of a processor"):
            pm.Options(target=wrong)
    with pytest.raises(pm.LangError, match=r"Options\.target is 3, not a string"):
        pm.Options(target=3)  # type: ignore[arg-type]


def test_a_header_that_needs_nothing() -> None:
    assert header_for("/* f */\n", ()) == "/* f */\n"
