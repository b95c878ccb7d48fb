"""What polymat finds on this machine, a line a question; a question that fails reports its own error."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

from polymat.codegen.routines.librarylinks import library_needs, routines_of
from polymat.dataclass import dataclass
from polymat.errors import counted
from polymat.idiom.librarymodel import Kind
from polymat.machine.cpus import affinity, cpu_quota
from polymat.machine.probe import probe
from polymat.runtime.cache import cache_directory
from polymat.runtime.cachedir import prepare_directory
from polymat.runtime.cacheroom import entries
from polymat.runtime.calibration import calibration_lines, failed_lately, stored_calibration
from polymat.runtime.libraries import found_libraries
from polymat.runtime.librarystore import model_lines, stored_model
from polymat.runtime.openmp import loaded_openmp, openmp_warning
from polymat.runtime.providers import tried_provider
from polymat.runtime.recycling import kept_limit
from polymat.runtime.settings import CalibrateMode, settings
from polymat.runtime.threads import get_num_threads
from polymat.runtime.toolchain import compiler_version, find_compiler, flags_for

_KIB, _MIB, _GIB = 1 << 10, 1 << 20, 1 << 30
_PACKAGES = ("numpy", "islpy", "scipy", "pyfftw")


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to one question; `ok` is False where it is an error."""

    topic: str
    text: str
    ok: bool = True


def examine(topic: str, question: Callable[[], str]) -> Finding:
    """The answer, or the error as the answer."""
    try:
        return Finding(topic, question())
    except Exception as error:  # whatever is broken here is what the user wants to hear about
        return Finding(topic, f"{type(error).__name__}: {error}", ok=False)


def findings() -> tuple[Finding, ...]:
    """Everything that compiling and running depend on."""
    questions: tuple[tuple[str, Callable[[], str]], ...] = (
        ("python", _python),
        ("machine", _machine),
        ("caches", _caches),
        ("calibration", _calibration),
        ("compiler", _compiler),
        ("flags", _flags),
        ("BLAS", lambda: _libraries("blas")),
        ("FFT", lambda: _libraries("fft")),
        ("threads", _threads),
        ("OpenMP", _openmp),
        ("results", _results),
        ("cache", _cache),
    )
    return tuple(examine(topic, question) for topic, question in questions)


def bytes_text(count: int) -> str:
    """A number of bytes for people: `1.5 MiB`."""
    for unit, name in ((_GIB, "GiB"), (_MIB, "MiB"), (_KIB, "KiB")):
        if count >= unit:
            return f"{count / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{count} bytes"


def _python() -> str:
    packages = [f"{name} {_version(name)}" for name in _PACKAGES]
    return f"{platform.python_version()} on {platform.platform()}; {', '.join(packages)}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _machine() -> str:
    machine = probe()
    cores = counted(machine.cores, "core")
    vectors = f"{machine.vector_registers} vector registers of {machine.vector_bits} bits"
    fma = f"{machine.fma_units} FMA of {machine.fma_latency} cycles"
    clock = f"{machine.hertz / 1e9:.2f} GHz"
    return f"{machine.name} ({machine.microarchitecture}): {cores}, {vectors}, {fma}, {clock}"


def _caches() -> str:
    levels = [
        f"L{cache.level} {bytes_text(cache.bytes)}{' to count on' if cache.shared else ''}, {cache.ways} ways"
        for cache in probe().caches
    ]
    return f"{'; '.join(levels)}; lines of {probe().line_bytes} bytes"


def _calibration() -> str:
    mode, stored = settings().calibrate_mode, stored_calibration()
    if stored is None:
        return _uncalibrated(mode)
    return "\n".join(calibration_lines(stored))


def _uncalibrated(mode: CalibrateMode) -> str:
    """What will measure this machine."""
    mine = "`python -m polymat calibrate`"
    if mode == "off" or settings().cache_mode != "on":
        return f"none: speeds are estimates until you run {mine}"
    reason = failed_lately()
    if reason:
        return f"none: compile measured in vain today: {reason}; until {mine} speeds are estimates"
    return f"none: speeds are estimates until the first compile, or {mine}, measures them"


def _compiler() -> str:
    compiler = find_compiler()
    return f"{' '.join((compiler.path, *compiler.arguments))}: {compiler_version(compiler)}"


def _flags() -> str:
    return " ".join(flags_for(find_compiler()))


def _libraries(kind: Kind) -> str:
    """The library that is used, its measured speeds, and the others that are found."""
    # All that generated code may call.
    names = routines_of(library_needs())
    used = tried_provider(kind, [name for name in names if name.startswith("cblas_") == (kind == "blas")])
    others = [
        f"also found: {lib.name} {lib.path} ({lib.source})"
        for lib in found_libraries()
        if lib.kind == kind and (used is None or lib.path not in used.paths)
    ]
    if used is None:
        return "\n".join(["none in use: loops are used instead", *others])
    lines = [f"{used}, tried and right: {', '.join(map(str, used.paths))} ({used.source})"]
    is_openblas = used.address("openblas_get_corename") is not None  # MKL and a user's own know no such core
    if is_openblas and settings().openblas_core:
        lines.append(f"OpenBLAS uses the kernels that OPENBLAS_CORETYPE={settings().openblas_core} asks for")
    model = stored_model(used)
    lines += model_lines(model) if model is not None else ("speeds not measured: estimates are used",)
    return "\n".join([*lines, *others])


def _threads() -> str:
    asked, available, quota = settings(), len(affinity()), cpu_quota()
    if asked.omp_num_threads is not None:
        reason = f"OMP_NUM_THREADS is {asked.omp_num_threads}"
    else:
        reason = f"this process may run on {counted(available, 'processor')}"
    if quota is not None and asked.omp_num_threads is None:
        reason += f", for {quota:g} processors' worth of time"
    if asked.omp_thread_limit is not None:
        reason += f", OMP_THREAD_LIMIT is {asked.omp_thread_limit}"
    return f"{get_num_threads()}: {reason}"


def _openmp() -> str:
    warning = openmp_warning()
    if warning:
        return f"warning: {warning}"
    if settings().openmp_waits:
        return "idle threads wait as the environment says"
    loaded = ", ".join(str(path) for path in loaded_openmp())
    return f"idle threads do not spin for long; {loaded or 'no runtime'} loaded so far"


def _results() -> str:
    limit = kept_limit()
    if limit == 0:
        return "memory of freed results is given back at once"
    return f"memory of freed results is kept for new ones, at most {bytes_text(limit)}"


def _cache() -> str:
    asked, directory = settings(), cache_directory()
    if asked.cache_mode == "off":
        return "off: every pipeline is compiled anew"
    if asked.cache_mode == "on":
        prepare_directory(directory)
        if not os.access(directory, os.W_OK | os.X_OK):
            return f"warning: {directory} cannot be written"
    found = entries()
    size = bytes_text(sum(entry.bytes for entry in found))
    limit = bytes_text(asked.cache_limit_bytes)
    return f"{asked.cache_mode}, {directory}: {counted(len(found), 'file')}, {size} of at most {limit}"
