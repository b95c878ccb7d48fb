"""The compiler that is found, the flags it gets, and what a user reads when it fails."""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import sys
import tempfile
import time
from pathlib import Path

import pytest

from polymat.errors import ToolchainError
from polymat.runtime import compilerprocess, cpu, toolchain
from polymat.runtime.settings import settings
from polymat.runtime.toolchain import compile_shared, find_compiler, flags_for

SOURCE = "int answer(void) { return 42; }\n"
FLOAT_MODE = """
#include <xmmintrin.h>
unsigned int float_mode(void) { return _mm_getcsr(); }
"""


def script(path: Path, body: str) -> Path:
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(0o755)
    return path


def compile_with(monkeypatch: pytest.MonkeyPatch, directory: Path, body: str, timeout: float = 60) -> None:
    """Compile with a shell script that is taken for gcc."""
    monkeypatch.setenv("POLYMAT_CC", str(script(directory / "fake-gcc", body)))
    compiler = find_compiler()
    compile_shared(SOURCE, directory / "out.so", compiler, flags_for(compiler), timeout=timeout)


def test_compiles_a_library(tmp_path: Path) -> None:
    compiler = find_compiler()
    out = tmp_path / "a directory with spaces, $(touch x) and 'quotes'" / "lib.so"
    out.parent.mkdir()
    compile_shared(SOURCE, out, compiler, flags_for(compiler))
    assert ctypes.CDLL(str(out)).answer() == 42


def test_a_compiler_that_is_killed_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its temporary ones go with the directory of the source."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    # Of a shell's background jobs it is ignored, and the interpreter leaves it so.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            compile_with(monkeypatch, tmp_path, 'touch "$TMPDIR/left.s"; kill -INT $PPID; sleep 9\n')
    finally:
        signal.signal(signal.SIGINT, before)
    assert [*place.iterdir()] == []


def test_first_candidate_in_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLYMAT_CC", raising=False)
    script(tmp_path / "clang", "exit 0\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_compiler().path == str(tmp_path / "clang")
    assert find_compiler().kind == "clang"
    script(tmp_path / "gcc", "exit 0\n")
    assert find_compiler().path == str(tmp_path / "gcc")


def test_kind_of_a_compiler_whose_name_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CC", str(script(tmp_path / "mycc", 'echo "clang version 19.1"\n')))
    assert find_compiler().kind == "clang"
    assert "-fcx-fortran-rules" not in flags_for(find_compiler())
    monkeypatch.setenv("POLYMAT_CC", str(script(tmp_path / "othercc", 'echo "mine (GCC) 14"\n')))
    assert find_compiler().kind == "gcc"


def test_command_with_arguments_and_path_with_spaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spaced = script(tmp_path / "my gcc", 'exec gcc "$@"\n')
    monkeypatch.setenv("POLYMAT_CC", str(spaced))
    assert (find_compiler().path, find_compiler().arguments) == (str(spaced), ())
    monkeypatch.setenv("POLYMAT_CC", f"'{spaced}' -DEXTRA=1")
    assert (find_compiler().path, find_compiler().arguments) == (str(spaced), ("-DEXTRA=1",))


def test_identity_changes_with_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = script(tmp_path / "gcc", "exit 0\n")
    monkeypatch.setenv("POLYMAT_CC", str(fake))
    before = find_compiler()
    assert find_compiler() == before
    os.utime(fake, ns=(0, 0))
    assert find_compiler().identity != before.identity
    monkeypatch.setenv("POLYMAT_CC", f"{fake} -m32")
    assert find_compiler().identity != before.identity


def test_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POLYMAT_CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolchainError) as caught:
        find_compiler()
    assert str(caught.value) == (
        "no C compiler found (looked for gcc, cc and clang in PATH)\n"
        'hint: install one ("apt install gcc", "dnf install gcc") or name it in POLYMAT_CC'
    )


@pytest.mark.parametrize("named", ["/nowhere/gcc", "no-such-compiler -O1", "unbalanced 'quote"])
def test_named_compiler_does_not_exist(named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POLYMAT_CC", named)
    with pytest.raises(ToolchainError, match="does not exist") as caught:
        find_compiler()
    assert repr(named) in str(caught.value)


def test_error_in_the_source_keeps_it(tmp_path: Path) -> None:
    compiler = find_compiler()
    with pytest.raises(ToolchainError) as caught:
        compile_shared("int broken(\n", tmp_path / "x.so", compiler, flags_for(compiler))
    error = caught.value
    kept = Path(error.source_path)
    assert kept.read_text() == "int broken(\n"
    kept.unlink()
    kept.parent.rmdir()
    assert error.command[0] == compiler.path
    assert "error:" in error.stderr
    text = str(error)
    assert text.startswith("the C compiler failed with status 1\ncommand: ")
    assert f"source kept at: {kept}" in text


@pytest.mark.parametrize(
    ("body", "message", "shown"),
    [
        ("printf 'bad \\377\\376 bytes' >&2; exit 3\n", "failed with status 3", "bad �� bytes"),
        ("kill -SEGV $$\n", "killed by signal 11", ""),
        ("exit 0\n", "reported success but wrote no library", ""),
        ("echo 'cannot write: No space left on device' >&2; exit 1\n", "status 1", "hint: the disk is full"),
        (
            "echo 'fatal error: stdint.h: No such file or directory' >&2; exit 1\n",
            "status 1",
            "hint: the C library headers are not installed",
        ),
        ("echo 'omp.h: No such file' >&2; exit 1\n", "status 1", "OpenMP runtime is not installed"),
        (
            "i=0; while [ $i -lt 9000 ]; do echo 12345; i=$((i+1)); done; exit 1\n",
            "status 1",
            "characters more",
        ),
    ],
)
def test_compiler_that_fails(
    body: str, message: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(ToolchainError, match=message) as caught:
        compile_with(monkeypatch, tmp_path, body)
    assert shown in str(caught.value)
    assert len(str(caught.value)) < 30_000


def test_compiler_that_hangs_is_stopped_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The child holds the pipe open: unless it dies too, reading the output would hang."""
    pid_file = tmp_path / "pid"
    body = f"sleep 600 & echo $! > '{pid_file}'; echo waiting >&2; wait\n"
    with pytest.raises(ToolchainError, match=r"stopped after 0\.5 s") as caught:
        compile_with(monkeypatch, tmp_path, body, timeout=0.5)
    assert "waiting" in caught.value.stderr
    child = Path(f"/proc/{pid_file.read_text().strip()}/status")
    deadline = time.monotonic() + 20
    while runs(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not runs(child)


def runs(status: Path) -> bool:
    """Tell whether a process is neither gone nor a zombie that waits to be collected."""
    try:
        return "State:\tZ" not in status.read_text()
    except OSError:
        return False


def test_compiler_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "bad-gcc"
    bad.write_bytes(b"\x7fELF not really")
    bad.chmod(bad.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("POLYMAT_CC", str(bad))
    with pytest.raises(ToolchainError, match="cannot start the C compiler"):
        compile_shared(SOURCE, tmp_path / "x.so", find_compiler(), ())


def test_no_room_for_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(ToolchainError, match=r"cannot write the C source .*No space left"):
        compile_shared(SOURCE, tmp_path / "x.so", find_compiler(), ())


@pytest.mark.parametrize("flag", ["-ffast-math", "-Ofast", "-funsafe-math-optimizations"])
@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="reads MXCSR")
def test_fast_math_flags_leave_the_process_alone(flag: str, tmp_path: Path) -> None:
    compiler = find_compiler()
    probe = tmp_path / "probe.so"
    compile_shared(FLOAT_MODE, probe, compiler, flags_for(compiler))
    float_mode = ctypes.CDLL(str(probe)).float_mode
    before = float_mode()
    out = tmp_path / "fast.so"
    flags = flags_for(compiler, (flag,))
    assert flag not in flags
    assert "-fassociative-math" in flags
    compile_shared(SOURCE, out, compiler, flags)
    assert ctypes.CDLL(str(out)).answer() == 42
    assert float_mode() == before
    assert repr(5e-324) == "5e-324"


@pytest.mark.parametrize("flag", ["-mdaz-ftz", "-mpc64", "@flags.txt", "-specs=x"])
def test_flags_that_change_the_process_are_refused(flag: str) -> None:
    with pytest.raises(ToolchainError, match="floating-point mode of the whole process"):
        flags_for(find_compiler(), (flag,))


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="crtfastmath.o is about x86 here")
def test_fast_math_hidden_in_the_command_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(ToolchainError, match="flush-to-zero"):
        compile_with(monkeypatch, tmp_path, 'exec gcc "$@" -ffast-math\n')


def test_native_cpu_is_stable_and_names_features() -> None:
    text = toolchain.native_cpu()
    assert text == toolchain.native_cpu()
    assert text.startswith(os.uname().machine + "|")
    assert toolchain.missing_features(text) == ()
    assert toolchain.missing_features(text + " avx9000") == ("avx9000",)
    assert toolchain.missing_features("vax|old|") == ("vax",)


def test_native_cpu_text() -> None:
    fields = {"vendor_id": "V|1", "model name": "M", "flags": "sse2 fpu avx2 hypervisor arat popcnt"}
    assert cpu._describe("x86_64", fields) == "x86_64|V/1 M|avx2 popcnt sse2"
    assert (
        cpu._describe("aarch64", {"CPU part": "0xd40", "Features": "sve asimd"}) == "aarch64|0xd40|asimd sve"
    )
    assert cpu._describe("riscv64", {}) == "riscv64||"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("POLYMAT_CACHE", "maybe"),
        ("POLYMAT_CACHE_LIMIT", "lots"),
        ("POLYMAT_CACHE_LIMIT", "-1"),
        ("POLYMAT_CACHE_LIMIT", "nan"),
        ("POLYMAT_KEEP_LIMIT", "all"),
    ],
)
def test_meaningless_settings_are_errors_when_used(name: str, value: str) -> None:
    asked = settings({name: value})
    with pytest.raises(ToolchainError, match=f"{name} is {value!r}"):
        _ = (asked.cache_mode, asked.cache_limit_bytes, asked.keep_limit_bytes)


def test_settings_are_typed() -> None:
    asked = settings({"POLYMAT_CACHE_LIMIT": "1.5", "POLYMAT_LOG": "fusion, cache,,fusion"})
    assert asked.cache_limit_bytes == 3 << 19
    assert asked.cache_mode == "on"
    assert asked.log == ("fusion", "cache")
    assert not asked.openmp_waits
    assert settings({"OMP_WAIT_POLICY": "active"}).openmp_waits


SLOW = 'sleep 1; exec gcc "$@"\n'


def test_a_compiler_that_gets_little_of_the_processor_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilerprocess, "group_seconds", lambda group: 0.2)
    compile_with(monkeypatch, tmp_path, SLOW, timeout=0.5)
    assert ctypes.CDLL(str(tmp_path / "out.so")).answer() == 42


@pytest.mark.parametrize("used", [0.01, 0.6])
def test_a_compiler_that_had_its_time_or_takes_none_is_stopped(
    used: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilerprocess, "group_seconds", lambda group: used)
    with pytest.raises(ToolchainError, match=r"stopped after 0\.5 s"):
        compile_with(monkeypatch, tmp_path, SLOW, timeout=0.5)


def test_what_limits_all_compilers_together_holds_on_a_busy_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilerprocess, "group_seconds", lambda group: 0.2)
    with compilerprocess.limited(0.8), pytest.raises(compilerprocess.TimeIsUpError):
        compile_with(monkeypatch, tmp_path, SLOW, timeout=0.5)
