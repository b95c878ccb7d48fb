"""Names in the generated C: the user's own, unless C needs them for something else."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable

from polymat.errors import InvalidNameError, caller_location
from polymat.lang.names import check_name

_TYPES = frozenset(
    {
        "ptrdiff_t",
        "size_t",
        "ssize_t",
        "wchar_t",
        "intptr_t",
        "uintptr_t",
        "pthread_t",
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
    }
)
# Functions that generated code calls: a local of that name would hide them.
_CALLED = frozenset({"omp_get_max_threads", "omp_in_parallel"})
# Of its runtime, which is not asked by loading it: it would read its environment then, and its threads spin.
_OPENMP_NAMES = ("omp_", "GOMP_", "GOACC_")
# Names that C programs get from headers, or that no shared library has.
_MACROS = frozenset(
    {
        "NULL",
        "EOF",
        "I",
        "NAN",
        "INFINITY",
        "M_PI",
        "assert",
        "errno",
        "complex",
        "bool",
        "linux",
        "unix",
        "stdin",
        "stdout",
        "stderr",
        "alloca",
        "atexit",
        "pthread_atfork",
    }
)
# Keywords of C++, where the headers of libraries are read too; those of C are refused as names.
_CPP = """
alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t char8_t class co_await co_return
co_yield compl concept const_cast consteval constexpr constinit decltype delete dynamic_cast explicit
export false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected
public reinterpret_cast requires static_assert static_cast template this thread_local throw true try
typeid typename using virtual wchar_t xor xor_eq
"""
_CPP_KEYWORDS = frozenset(_CPP.split())
# Whatever begins as macros do, and what headers of POSIX and compilers define that begins otherwise.
_MACRO_LIKE = re.compile(
    r"_*[A-Z_][A-Z0-9_]\w*|I|linux|unix|i386|alloca|assert|complex|errno|math_errhandling|stdin|stdout|stderr|"
    r"offsetof|sigmask|(sa|sched|si|sigev|st)_\w+|(at|ct|mt)ime|(strn?dup|alloc)a|is[a-z]+|signbit|fpclassify|"
    r"atomic_\w+|kill_dependency|pthread_\w+|(be|le|hto)\w*(16|32|64)\w*"
)


class Names:
    """Gives each thing of a program one C name; asking again for the same thing gives the same name.

    functions: of the user's, whose names stay as they are.
    """

    def __init__(self, functions: Iterable[str] = ()) -> None:
        self._of: dict[tuple[str, str], str] = {("function", name): name for name in functions}
        self._taken = {*_TYPES, *_CALLED, *_CPP_KEYWORDS, *self._of.values()}

    def get(self, kind: str, name: str) -> str:
        """The C name of the `kind` ("array", "size", "index", ...) called `name`."""
        key = (kind, name)
        if key not in self._of:
            wish = name
            while wish in self._taken:
                wish += "_"
            self._taken.add(wish)
            self._of[key] = wish
        return self._of[key]

    def macro_like(self) -> tuple[str, ...]:
        """Names given so far that a header might define as a macro."""
        return tuple(name for name in self._of.values() if is_macro_like(name))


def is_macro_like(name: str) -> bool:
    """Whether a header might define the name as a macro."""
    return _MACRO_LIKE.fullmatch(name) is not None


def check_export_name(name: object, of: str = "pipeline") -> str:
    """Return `name` if a library may export a function of that name; of: what has it."""
    at = caller_location()
    checked = check_name(name, of, at)
    what = "a C type" if checked in _TYPES else "a macro of C's headers" if checked in _MACROS else ""
    what = what or ("a macro of C's headers" if is_macro_like(checked) and checked[0].islower() else "")
    if checked == "main" or (not what and _in_c_library(checked)):
        what = "the C library has a function of that name"
    if what:
        raise InvalidNameError(f"'{checked}' cannot name a {of}: {what}", at=at, hint=f"{checked}_pm, say")
    return checked


def _in_c_library(name: str) -> bool:
    """Whether the process has, or will have, a C function of that name, which an export would replace."""
    if name.startswith(_OPENMP_NAMES):
        return True
    for library in (None, "libm.so.6", "libpthread.so.0"):
        try:
            getattr(ctypes.CDLL(library), name)
        except (AttributeError, OSError):
            continue
        return True
    return False
