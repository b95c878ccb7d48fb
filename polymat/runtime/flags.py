"""The compiler flags of every generated library, and those that would harm the whole process."""

from __future__ import annotations

import ctypes
import platform
from pathlib import Path

from polymat.errors import ToolchainError

_OPTIMISED = (
    "-O3",
    "-funroll-loops",  # measured: 5 to 30 % on short inner loops, no slower elsewhere
)
_COMMON = (
    "-std=gnu11",
    "-fopenmp",
    "-shared",
    "-fPIC",
    # Every library has functions of the same names: a program that is linked to two calls those of the first.
    "-Wl,-Bsymbolic",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=fast",
)
_GCC = (
    "-fcx-fortran-rules",
    # gcc 12 writes a read like a[n - i] as address 0 plus an index, takes that for a read of a null pointer
    # that ends the program, and leaves out the calls of functions whose stores come after it.
    "-fno-delete-null-pointer-checks",
    # Strides that may be 1 are written as 1 in generated code: gcc 12 compiled most loops of a product twice.
    "-fno-version-loops-for-strides",
    # With it, gcc 12 vectorizes loops over choices within choices on indices to others: of four rows side by
    # side that take the largest k <= i ? x[k] : k > 3 ? A[i][k] : 0, the first took the wrong ones.
    "-fno-code-hoisting",
    # With it, gcc 12 computes t[n + j - 1] of complex numbers from t[j - 1] before the loop that stores the
    # latter, in a recurrence of two stages over the same array.
    "-fno-tree-loop-distribution",
)
# Of files that programs share, whose loops are unrolled as they are written, in vectors.  Of gcc's the second
# makes fused multiply-adds, the third unrolls loops over a few vectors.  Measured with gcc 12: as fast, and
# compiled in two thirds of the time of -O3.  -O1 begins functions and loops anywhere: calls of products of
# 4 x 4 and 8 x 8 took 0.83 and 0.85 of the time where they begin with lines of the cache (Zen 5).  The last
# ones leave out passes that find nothing there, or copy jumps, and give registers out once a function: a
# fifth of the time, and products are as quick to within a percent or two.
_SHARED = {
    "gcc": (
        *("-O1", "-fexpensive-optimizations", "-fpeel-loops"),
        *("-falign-functions=64", "-falign-loops=32", "-fno-unroll-loops"),
        *("-fno-tree-pta", "-fno-ipa-pure-const", "-fno-thread-jumps", "-fira-region=one"),
    ),
    "clang": ("-O3", "-fno-unroll-loops"),
}
_UNSAFE_PARTS = ("-fno-signed-zeros", "-fno-trapping-math", "-fassociative-math", "-freciprocal-math")
_FAST_PARTS = (
    *_UNSAFE_PARTS,
    "-fno-math-errno",
    "-ffinite-math-only",
    "-fno-rounding-math",
    "-fno-signaling-nans",
    "-fcx-limited-range",
)
# At link time these pull in crtfastmath.o, which switches flush-to-zero on for the whole process: even
# repr(5e-324) in Python becomes 0.0.  Their parts mean the same for the code and leave the process alone.
_EXPANSIONS = {
    "-ffast-math": _FAST_PARTS,
    "-Ofast": ("-O3", *_FAST_PARTS),
    "-funsafe-math-optimizations": _UNSAFE_PARTS,
}
_REFUSED_PREFIXES = ("-mdaz-ftz", "-mpc32", "-mpc64", "-mpc80", "-specs", "--specs", "@")
_OF_GCC = (  # clang has none of them
    *("-fcx-limited-range", "-fno-gcse", "-fno-tree-pre", "-fno-tree-pta", "-fira-algorithm=priority"),
    *("-fno-rerun-cse-after-loop", "-fno-schedule-insns2", "-fno-expensive-optimizations"),
)
_CRTFASTMATH_SYMBOL = "set_fast_math"


def compile_flags(kind: str, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
    """polymat's own flags, then the user's; none changes the floating-point mode of the process."""
    return _flags(kind, _OPTIMISED, extra)


def shared_flags(kind: str, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Flags for files that programs share, like those of `compile_flags` for programs."""
    return _flags(kind, _SHARED[kind], extra)


def _flags(kind: str, optimised: tuple[str, ...], extra: tuple[str, ...]) -> tuple[str, ...]:
    flags = [*optimised, *_COMMON, *_native_flags(platform.machine())]
    if kind == "gcc":
        flags.extend(_GCC)
    for flag in extra:
        parts = _EXPANSIONS.get(flag, (flag,))
        flags.extend(part for part in parts if kind == "gcc" or part not in _OF_GCC)
    check_flags(tuple(flags))
    return _last_level(flags)


def _last_level(flags: list[str]) -> tuple[str, ...]:
    """Of several levels of optimisation the last, which is the one that counts, as the first flag.

    So files are the same for all who ask for the level that they are compiled with anyway.
    """
    levels = [flag for flag in flags if flag.startswith("-O")]
    return (*levels[-1:], *(flag for flag in flags if not flag.startswith("-O")))


def check_flags(flags: tuple[str, ...]) -> None:
    """Refuse flags that would end the process that loads the library, or change its floating-point mode."""
    for flag in flags:
        if flag.startswith("-fsanitize=") and "address" in flag and not _has_runtime():
            raise ToolchainError(
                f"a library compiled with {flag} ends a process that does not have its runtime",
                hint="start Python with LD_PRELOAD set to the compiler's libasan.so",
            )
        if flag in _EXPANSIONS or flag.startswith(_REFUSED_PREFIXES):
            raise ToolchainError(
                f"the compiler flag {flag!r} may change the floating-point mode of the whole process",
                hint="give the single optimisations that you want, -fassociative-math say",
            )


def _has_runtime() -> bool:
    """Whether the sanitizer of addresses is in this process, whatever LD_PRELOAD says by now."""
    return hasattr(ctypes.CDLL(None), "__asan_init")


def changes_float_mode(library: Path, source: str) -> bool:
    """Tell whether the library switches flush-to-zero on when it is loaded, however it came by that."""
    return _CRTFASTMATH_SYMBOL not in source and _CRTFASTMATH_SYMBOL.encode() in library.read_bytes()


def _native_flags(architecture: str) -> tuple[str, ...]:
    match architecture:
        case "x86_64" | "AMD64" | "i686" | "i386":
            return ("-march=native",)
        case "aarch64" | "arm64" | "ppc64le":
            return ("-mcpu=native",)
    return ()
