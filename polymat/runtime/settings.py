"""The environment variables polymat obeys, read in this one place and typed."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Literal

from polymat.dataclass import dataclass
from polymat.errors import ToolchainError

CacheMode = Literal["on", "off", "readonly"]
CalibrateMode = Literal["auto", "off"]
TunedMode = Literal["auto", "off"]
_DEFAULT_LIMIT_BYTES = 512 << 20
VARIABLES = (
    (("POLYMAT_CC",), "a command", "the C compiler, in place of gcc or clang on `PATH`"),
    (("POLYMAT_CACHE",), "`on`, `off`, `readonly`", "whether compiled libraries are kept"),
    (
        ("POLYMAT_CACHE_DIR",),
        "a directory",
        "where they are kept, in place of `XDG_CACHE_HOME/polymat` or `~/.cache/polymat`",
    ),
    (("POLYMAT_CACHE_LIMIT",), "MiB, 512 by default", "how large the cache may grow"),
    (("POLYMAT_KEEP_LIMIT",), "MiB", "how much memory of freed results is kept for the next ones"),
    (("POLYMAT_CALIBRATE",), "`auto`, `off`", "whether the first compilation measures this machine"),
    (("POLYMAT_TUNED",), "`auto`, `off`", "whether `compile` takes what `tune` found on this machine"),
    (("POLYMAT_BLAS",), "`auto`, `none`, a name that `doctor` shows, or a path", "the BLAS that is called"),
    (("POLYMAT_FFT",), "the same", "the FFTW that is called"),
    (
        ("POLYMAT_LOG",),
        "names of levels, `all`",
        "what is told on standard error: `compile`, `fusion`, `tilesize`, `runtime` and so on",
    ),
    (("POLYMAT_VERIFY",), "`1`", "check what must hold after every pass of the compiler"),
    (
        (
            "OMP_NUM_THREADS",
            "OMP_THREAD_LIMIT",
        ),
        "a number",
        "threads of a call",
    ),
    (
        (
            "OMP_WAIT_POLICY",
            "GOMP_SPINCOUNT",
            "KMP_BLOCKTIME",
        ),
        "as OpenMP says",
        "how idle threads wait; polymat lets them sleep soon where none is set",
    ),
    (("OPENBLAS_CORETYPE",), "a processor", "whose kernels OpenBLAS uses"),
)
"""Names of variables, the values that they take, and what they do: the table of the documentation."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The wishes of the environment; an empty string or None means that it asks for nothing.

    cache, cache_limit, keep_limit, calibrate, tuned: as written; `*_mode` and `*_bytes` tell what they mean.
    What nobody could have meant raises.
    memory_checker: a library that watches every access to memory is loaded first.
    library_path: the directories of LD_LIBRARY_PATH.
    openblas_core: the processor whose kernels OpenBLAS is told to use.
    verify: what must hold after each pass of the compiler is checked.
    openmp_waits: the user decided how idle OpenMP threads wait (OMP_WAIT_POLICY, GOMP_SPINCOUNT and so on).
    """

    cc: str
    cache: str
    cache_dir: str
    cache_limit: str
    keep_limit: str
    calibrate: str
    tuned: str
    memory_checker: bool
    xdg_cache_home: str
    home: str
    blas: str
    fft: str
    log: tuple[str, ...]
    omp_num_threads: int | None
    omp_thread_limit: int | None
    openmp_waits: bool
    openblas_core: str
    verify: bool
    library_path: tuple[str, ...]

    @property
    def cache_mode(self) -> CacheMode:
        """Whether the cache is on; a value nobody could have meant is a `ToolchainError`."""
        return _cache_mode(self.cache)

    @property
    def calibrate_mode(self) -> CalibrateMode:
        """Whether `compile` may measure this machine; `ToolchainError` as for `cache_mode`."""
        return _auto_or_off("POLYMAT_CALIBRATE", self.calibrate)

    @property
    def tuned_mode(self) -> TunedMode:
        """Whether `compile` takes what a search found here; `ToolchainError` as for `cache_mode`."""
        return _auto_or_off("POLYMAT_TUNED", self.tuned)

    @property
    def cache_limit_bytes(self) -> int:
        """How large the cache may grow; a value nobody could have meant is a `ToolchainError`."""
        asked = _limit_bytes("POLYMAT_CACHE_LIMIT", self.cache_limit)
        return _DEFAULT_LIMIT_BYTES if asked is None else asked

    @property
    def keep_limit_bytes(self) -> int | None:
        """How much memory of freed results to keep; None: nothing asked for; may raise as well."""
        return _limit_bytes("POLYMAT_KEEP_LIMIT", self.keep_limit)


def settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the environment now."""
    env = os.environ if environ is None else environ
    return Settings(
        cc=env.get("POLYMAT_CC", "").strip(),
        cache=env.get("POLYMAT_CACHE", ""),
        cache_dir=env.get("POLYMAT_CACHE_DIR", ""),
        cache_limit=env.get("POLYMAT_CACHE_LIMIT", ""),
        keep_limit=env.get("POLYMAT_KEEP_LIMIT", ""),
        calibrate=env.get("POLYMAT_CALIBRATE", ""),
        tuned=env.get("POLYMAT_TUNED", ""),
        memory_checker=re.search("asan|vgpreload", env.get("LD_PRELOAD", "")) is not None,
        xdg_cache_home=env.get("XDG_CACHE_HOME", ""),
        home=env.get("HOME", ""),
        blas=env.get("POLYMAT_BLAS", "").strip(),
        fft=env.get("POLYMAT_FFT", "").strip(),
        log=_names(env.get("POLYMAT_LOG", "")),
        omp_num_threads=_first_count(env.get("OMP_NUM_THREADS", "")),
        omp_thread_limit=_first_count(env.get("OMP_THREAD_LIMIT", "")),
        openmp_waits=any(name in env for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")),
        verify=env.get("POLYMAT_VERIFY", "").strip().lower() not in ("", "0", "off"),
        openblas_core=env.get("OPENBLAS_CORETYPE", "").strip(),
        library_path=tuple(part for part in env.get("LD_LIBRARY_PATH", "").split(":") if part),
    )


def compiler_environment(place: str = "") -> dict[str, str]:
    """The environment of a C compiler: the user's, with messages in plain English.

    place: the directory for its own temporary files, which it leaves there where it is killed.
    """
    temporary = {"TMPDIR": place} if place else {}
    return {**os.environ, "LC_ALL": "C", "GCC_COLORS": "", **temporary}


def _cache_mode(text: str) -> CacheMode:
    match text.strip().lower():
        case "" | "on" | "1":
            return "on"
        case "off" | "0":
            return "off"
        case "readonly":
            return "readonly"
    raise ToolchainError(f"POLYMAT_CACHE is {text!r}", hint="it must be on, off or readonly")


def _auto_or_off(name: str, text: str) -> Literal["auto", "off"]:
    match text.strip().lower():
        case "" | "auto":
            return "auto"
        case "off" | "0":
            return "off"
    raise ToolchainError(f"{name} is {text!r}", hint="it must be auto or off")


def _limit_bytes(name: str, text: str) -> int | None:
    if not text.strip():
        return None
    try:
        mebibytes = float(text)
    except ValueError:
        mebibytes = -1.0
    if not 0 <= mebibytes < 2**40:
        raise ToolchainError(f"{name} is {text!r}", hint="it must be a number of MiB, 512 say")
    return int(mebibytes * 2**20)


def _first_count(text: str) -> int | None:
    """The outermost level of an OpenMP list such as "4,2"; None when it is no positive number."""
    first = text.split(",")[0].strip()
    return int(first) if re.fullmatch(r"0*[1-9]\d{0,8}", first, re.ASCII) else None


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
