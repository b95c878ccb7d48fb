"""The C compiler: which one, with which flags, and what is said when it fails."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from polymat.dataclass import dataclass
from polymat.errors import ToolchainError
from polymat.runtime.compilerprocess import INSTALL_HINT, Outcome, TimeIsUpError, run_compiler
from polymat.runtime.cpu import missing_features, native_cpu
from polymat.runtime.flags import changes_float_mode, check_flags, compile_flags
from polymat.runtime.settings import settings
from polymat.runtime.workplaces import no_room, scratch_directory

__all__ = [
    "Compiler",
    "compile_object",
    "compile_shared",
    "compiler_version",
    "find_compiler",
    "flags_for",
    "link_shared",
    "missing_features",
    "native_cpu",
    "predefined",
]

Kind = Literal["gcc", "clang"]
_CANDIDATES = ("gcc", "cc", "clang")
_SOURCE_NAME = "polymat.c"
_COMPILE_SECONDS = 60.0
_VERSION_SECONDS = 20.0
_KEPT_STDERR = 20_000
_MISSING_HEADER = re.compile(  # in gcc's words and in clang's
    r"fatal error: '?(bits/|gnu/|sys/)?[a-z0-9_-]+\.h('? file not found|: No such file or directory)"
)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler.

    path: as it is started (not resolved: a compiler cache is a link whose name decides what it does).
    identity: changes when the compiler is replaced; part of every cache key.
    arguments: fixed arguments that belong to the command, as in POLYMAT_CC="ccache gcc".
    """

    path: str
    kind: Kind
    identity: str
    arguments: tuple[str, ...] = ()


def find_compiler() -> Compiler:
    """The compiler named by POLYMAT_CC, else the first of gcc, cc, clang that is installed."""
    wanted = settings().cc
    if wanted:
        return _named_compiler(wanted)
    for name in _CANDIDATES:
        path = shutil.which(name)
        if path is not None:
            return _compiler(path, ())
    raise ToolchainError("no C compiler found (looked for gcc, cc and clang in PATH)", hint=INSTALL_HINT)


def flags_for(compiler: Compiler, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
    """All flags of a compilation; `extra` are the user's and come last."""
    return compile_flags(compiler.kind, extra)


def compile_shared(
    source: str,
    out: Path,
    compiler: Compiler,
    flags: tuple[str, ...],
    *,
    timeout: float = _COMPILE_SECONDS,
) -> None:
    """Compile one C text into the shared library `out`.

    A failure is a `ToolchainError` with the command, the compiler's words and the path of the kept source.
    """
    check_flags(flags)
    _compile(source, out, _command(compiler, flags, out), ("-lm",), timeout)
    _check_float_mode(out, source, compiler, flags)


def compile_object(source: str, out: Path, compiler: Compiler, flags: tuple[str, ...]) -> None:
    """Compile one C text into the object file `out`; failures are those of `compile_shared`."""
    check_flags(flags)
    compiling = tuple(flag for flag in flags if flag != "-shared" and not flag.startswith("-Wl,"))
    _compile(source, out, (*_command(compiler, compiling, out), "-c"), (), _COMPILE_SECONDS)


def link_shared(
    objects: Sequence[Path], out: Path, compiler: Compiler, flags: tuple[str, ...], source: str
) -> None:
    """Link object files, which were made of `source`, into the shared library `out`."""
    command = (*_command(compiler, flags, out), *map(str, objects), "-lm")
    outcome = run_compiler(command, _COMPILE_SECONDS, str(out.parent))
    _check_outcome(outcome, command, None, out, _COMPILE_SECONDS)
    _check_float_mode(out, source, compiler, flags)


def _command(compiler: Compiler, flags: tuple[str, ...], out: Path) -> tuple[str, ...]:
    return (compiler.path, *compiler.arguments, *flags, "-o", str(out))


def _check_float_mode(out: Path, source: str, compiler: Compiler, flags: tuple[str, ...]) -> None:
    if changes_float_mode(out, source):
        raise ToolchainError(
            "the compiled library would switch flush-to-zero on in the whole process",
            command=_command(compiler, flags, out),
            hint="remove fast-math flags from Options.cflags or from the command in POLYMAT_CC",
        )


def _compile(
    source: str, out: Path, command: tuple[str, ...], libraries: tuple[str, ...], timeout: float
) -> None:
    """Run a command on a file of that source, which is kept if it fails."""
    directory = scratch_directory("polymat-cc-")
    source_path = directory / _SOURCE_NAME
    keep = False
    try:
        source_path.write_text(source, encoding="utf-8")
        whole = (*command, str(source_path), *libraries)
        outcome = run_compiler(whole, timeout, str(directory))
        _check_outcome(outcome, whole, source_path, out, timeout)
    except TimeIsUpError:  # which says nothing of the source
        raise
    except ToolchainError:
        keep = True
        raise
    except OSError as error:
        raise no_room("the C source", directory, error) from error
    finally:
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)


def compiler_version(compiler: Compiler) -> str:
    """The first line of `--version`."""
    command = (compiler.path, *compiler.arguments, "--version")
    outcome = run_compiler(command, _VERSION_SECONDS)
    if outcome.returncode != 0 or not outcome.text.strip():
        raise ToolchainError(
            f"{compiler.path} does not answer --version",
            command=command,
            stderr=outcome.text,
            hint=INSTALL_HINT,
        )
    return outcome.text.strip().splitlines()[0]


# Runs of the compiler, told by its path, size and time: another one is asked anew.
@lru_cache(maxsize=16)
def predefined(compiler: Compiler, flags: tuple[str, ...]) -> frozenset[str]:
    """The macros that a compiler defines with these flags; none where it does not accept them."""
    command = (compiler.path, *compiler.arguments, *flags, "-dM", "-E", "-x", "c", os.devnull)
    outcome = run_compiler(command, _VERSION_SECONDS)
    if outcome.returncode != 0:
        return frozenset()
    lines = (line.split() for line in outcome.text.splitlines())
    return frozenset(words[1] for words in lines if words[:1] == ["#define"])


def _named_compiler(wanted: str) -> Compiler:
    path = shutil.which(wanted)
    if path is not None:
        return _compiler(path, ())
    try:
        program, *arguments = shlex.split(wanted)
    except ValueError:
        program, arguments = wanted, []
    path = shutil.which(program)
    if path is None:
        found = next((file for file in (wanted, program) if os.path.exists(file)), None)
        missing = f": there is no program {program!r}" if arguments else ""
        trouble = "does not exist" + missing if found is None else f"is not usable: {found} is not executable"
        raise ToolchainError(f"the C compiler POLYMAT_CC={wanted!r} {trouble}", hint=INSTALL_HINT)
    return _compiler(path, tuple(arguments))


def _compiler(path: str, arguments: tuple[str, ...]) -> Compiler:
    real = os.path.realpath(path)
    try:
        status = os.stat(real)
    except OSError as error:
        raise ToolchainError(f"cannot use the C compiler {path}: {error}", hint=INSTALL_HINT) from error
    identity = "\0".join((path, *arguments, real, str(status.st_size), str(status.st_mtime_ns)))
    return Compiler(path, _kind(os.path.basename(real), path, arguments, identity), identity, arguments)


# As above.
@lru_cache(maxsize=16)
def _kind(name: str, path: str, arguments: tuple[str, ...], identity: str) -> Kind:
    """The family by the file's name; only a name that tells nothing costs a run of the compiler."""
    if "clang" in name:
        return "clang"
    if "gcc" in name:
        return "gcc"
    text = compiler_version(Compiler(path, "gcc", identity, arguments))
    return "clang" if "clang" in text.lower() else "gcc"


def _check_outcome(
    outcome: Outcome, command: tuple[str, ...], source_path: Path | None, out: Path, timeout: float
) -> None:
    if outcome.returncode is None:
        message = f"the C compiler was stopped after {timeout:g} s"
    elif outcome.returncode < 0:
        message = f"the C compiler was killed by signal {-outcome.returncode}"
    elif outcome.returncode > 0:
        message = f"the C compiler failed with status {outcome.returncode}"
    elif not out.is_file() or out.stat().st_size == 0:
        message = "the C compiler reported success but wrote no library"
    else:
        return
    text = outcome.text
    if len(text) > _KEPT_STDERR:
        text = text[:_KEPT_STDERR] + f"\n... {len(text) - _KEPT_STDERR} characters more"
    kept = "" if source_path is None else str(source_path)
    raise ToolchainError(message, command=command, stderr=text, source_path=kept, hint=_failure_hint(outcome))


def _failure_hint(outcome: Outcome) -> str:
    text = outcome.text
    if outcome.returncode in (None, -9):
        return "the compiler hangs or lacks memory: try another one with POLYMAT_CC"
    if "No space left on device" in text:
        return "the disk is full: TMPDIR and POLYMAT_CACHE_DIR name other directories"
    if "omp.h" in text or "-lgomp" in text or "-lomp" in text or "libgomp.spec" in text:
        return (
            'the OpenMP runtime is not installed ("apt install libgomp1", for clang "apt install libomp-dev")'
        )
    if _MISSING_HEADER.search(text):
        return 'the C library headers are not installed ("apt install libc6-dev")'
    return ""
