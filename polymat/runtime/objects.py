"""Libraries made of several C files: compiled at the same time, and once for all programs that share them.

A product of matrices is ten times as much C as a program around it.  In two files, on two processors, that
takes half as long; and what is kept of it serves the next program.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from polymat.runtime.cache import OBJECT, cache_key, fetch_or_build
from polymat.runtime.cpu import native_cpu
from polymat.runtime.toolchain import Compiler, compile_object, link_shared


def compile_files(
    program: str,
    parts: Sequence[str],
    out: Path,
    compiler: Compiler,
    flags: tuple[str, ...],
    part_flags: tuple[str, ...],
) -> None:
    """Compile the file of a program and the parts that others have as well into the shared library `out`."""
    directory = Path(tempfile.mkdtemp(prefix="polymat-link-"))
    objects = [directory / f"part{number}.o" for number in range(len(parts) + 1)]
    try:
        with ThreadPoolExecutor(len(objects)) as pool:
            own = pool.submit(compile_object, program, objects[0], compiler, flags)
            images = pool.map(lambda part: _image(part, compiler, part_flags), parts)
            for path, image in zip(objects[1:], images, strict=True):
                path.write_bytes(image)
            own.result()
        link_shared(objects, out, compiler, flags, program)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _image(part: str, compiler: Compiler, flags: tuple[str, ...]) -> bytes:
    """The object file of a part, which is kept."""
    key = cache_key(part, flags, compiler.identity, native_cpu())
    found = fetch_or_build(key, lambda path: compile_object(part, path, compiler, flags), OBJECT)
    if found.scratch is not None:
        shutil.rmtree(found.scratch, ignore_errors=True)
    return found.image
