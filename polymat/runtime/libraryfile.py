"""From a C text to a library file that can be loaded: toolchain and cache together."""

from __future__ import annotations

import os
import shutil
import time
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path

from polymat.codegen.c.apart import Files
from polymat.dataclass import dataclass
from polymat.errors import ToolchainError
from polymat.options import DEFAULTS, Options
from polymat.runtime.cache import Fetched, cache_key, fetch, fetch_or_build
from polymat.runtime.cacheroom import LIBRARY
from polymat.runtime.cpu import target_cpu
from polymat.runtime.flags import shared_flags
from polymat.runtime.objects import compile_files
from polymat.runtime.toolchain import (
    Compiler,
    compile_shared,
    find_compiler,
    flags_for,
    native_cpu,
    predefined,
)


@dataclass(frozen=True, eq=False)
class Built:
    """A compiled library.

    path: load it at once, then call `release`; the file may be a temporary one.
    image: the bytes of the library, for saving it elsewhere.
    compile_seconds: time the C compiler took, 0.0 for a cache hit.
    """

    path: Path
    image: bytes
    key: str
    cache_hit: bool
    compile_seconds: float
    compiler: Compiler
    flags: tuple[str, ...]
    cpu: str
    scratch: Path | None = None

    def release(self) -> None:
        """Remove the file if it is a temporary one: a loaded library stays usable."""
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a library is kept, and how it is made."""

    key: str
    compiler: Compiler
    flags: tuple[str, ...]
    cpu: str

    def built(self, fetched: Fetched, seconds: float) -> Built:
        """The library that lies there."""
        made = (self.compiler, self.flags, self.cpu, fetched.scratch)
        return Built(fetched.path, fetched.image, self.key, fetched.hit, seconds, *made)


def build(
    source: str,
    options: Options = DEFAULTS,
    program_flags: tuple[str, ...] = (),
    files: Callable[[], Files] | None = None,
) -> Built:
    """Compile one C text with the flags of the program and of `options`, or find it compiled.

    files: gives the same as several files, which are compiled at the same time; asked where nothing is found.
    """
    place = _place(source, options.target, (*program_flags, *options.compiler_flags))
    compiler, flags = place.compiler, place.flags
    spent: list[float] = []

    def compile_to(path: Path) -> None:
        begin = time.perf_counter()
        several = None if files is None else files()
        if several is None or len(several) == 1:
            compile_shared(source, path, compiler, flags)
        else:
            compile_files(several, path, compiler, flags, shared_flags(compiler.kind, options.compiler_flags))
        spent.append(time.perf_counter() - begin)

    fetched = fetch_or_build(place.key, compile_to)
    built = place.built(fetched, sum(spent))
    if fetched.scratch is not None:
        weakref.finalize(built, partial(_remove_own, os.getpid(), fetched.scratch))
    return built


def kept_library(source: str, target: str, more_flags: tuple[str, ...]) -> Built | None:
    """The library of a C text where that is compiled already, with these flags beside the usual ones."""
    place = _place(source, target, more_flags)
    fetched = fetch(place.key, LIBRARY, warn=False)  # what is wrong is said where it is mended
    return None if fetched is None else place.built(fetched, 0.0)


def _place(source: str, target: str, more_flags: tuple[str, ...]) -> _Place:
    compiler = find_compiler()
    flags = flags_for(compiler, more_flags)
    cpu = native_cpu() if target == "native" else _target_cpu(target, compiler, flags)
    return _Place(cache_key(source, flags, compiler.identity, cpu), compiler, flags, cpu)


def _target_cpu(target: str, compiler: Compiler, flags: tuple[str, ...]) -> str:
    macros = predefined(compiler, flags)
    if not macros:
        raise ToolchainError(
            f"{compiler.path} does not know the target {target!r}",
            hint="Options(target=) is what it takes for -march=: x86-64-v3, haswell, znver3",
        )
    return target_cpu(target, macros)


def _remove_own(owner: int, scratch: Path) -> None:
    """Remove a temporary directory nobody released, unless this is a forked child that only inherited it."""
    if os.getpid() == owner:
        shutil.rmtree(scratch, ignore_errors=True)
