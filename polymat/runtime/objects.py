"""Libraries made of several C files: compiled at the same time, and once for all programs that share them.

A product of matrices is ten times as much C as a program around it.  In two files, on two processors, that
takes half as long; and what is kept of it serves the next program.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

from polymat.codegen.c.apart import Files
from polymat.machine.cpus import usable_cpus
from polymat.runtime.cache import cache_key, fetch_or_build
from polymat.runtime.cacheroom import OBJECT
from polymat.runtime.compilerprocess import Together
from polymat.runtime.cpu import native_cpu
from polymat.runtime.toolchain import Compiler, compile_object, link_shared
from polymat.runtime.workplaces import no_room, scratch_directory

_log = logging.getLogger("polymat.runtime")
_AWAKE_SECONDS = 0.1


def compile_files(
    files: Files,
    out: Path,
    compiler: Compiler,
    flags: tuple[str, ...],
    shared_flags: tuple[str, ...],
) -> None:
    """Compile the files of a library, and link them to the shared library `out`."""
    directory = scratch_directory("polymat-link-")
    own = [directory / f"own{number}.o" for number in range(len(files.own))]
    shared = [directory / f"shared{number}.o" for number in range(len(files.shared))]
    jobs: list[Callable[[], None]] = [
        partial(compile_object, text, path, compiler, flags)
        for text, path in zip(files.own, own, strict=True)
    ]
    jobs += [
        partial(_write_image, text, path, compiler, shared_flags)
        for text, path in zip(files.shared, shared, strict=True)
    ]
    try:
        _run_all(jobs)
        link_shared([*own, *shared], out, compiler, flags, files.own[0])
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _run_all(jobs: Sequence[Callable[[], None]]) -> None:
    """Run them in order, as many at the same time as there are processors, or one where threads are refused.

    The longest come first and the quickest last: of four on two processors, a long one would be left alone in
    the end.
    """
    together = Together()
    pool = ThreadPoolExecutor(min(len(jobs), usable_cpus()), initializer=together.join)
    try:
        try:
            made = [pool.submit(job) for job in jobs]
        except RuntimeError as error:  # Python's own, in so many words: can't start new thread
            _log.info("compiling one file after the other: %s", error)
            pool.shutdown(cancel_futures=True)
            for job in jobs:
                job()
            return
        _wait_for(made)
    except BaseException:
        together.end()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _wait_for(made: Sequence[Future[None]]) -> None:
    """Until all have ended, or one has failed.

    Where another thread takes a signal, the main one hears of it only when it wakes up.
    """
    waiting = True
    while waiting:
        done, rest = wait(made, timeout=_AWAKE_SECONDS, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        waiting = bool(rest)


def _write_image(part: str, to: Path, compiler: Compiler, flags: tuple[str, ...]) -> None:
    """Write the object file of a part, which is kept."""
    key = cache_key(part, flags, compiler.identity, native_cpu())
    found = fetch_or_build(key, lambda path: compile_object(part, path, compiler, flags), OBJECT)
    if found.scratch is not None:
        shutil.rmtree(found.scratch, ignore_errors=True)
    try:
        to.write_bytes(found.image)
    except OSError as error:
        raise no_room("an object file", to.parent, error) from error
