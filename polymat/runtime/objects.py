"""Libraries made of several C files: compiled at the same time, and once for all programs that share them.

A product of matrices is ten times as much C as a program around it.  In two files, on two processors, that
takes half as long; and what is kept of it serves the next program.
"""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from polymat.codegen.apart import Files
from polymat.runtime.cache import OBJECT, cache_key, fetch_or_build
from polymat.runtime.cpu import native_cpu
from polymat.runtime.toolchain import Compiler, compile_object, link_shared


def compile_files(
    files: Files,
    out: Path,
    compiler: Compiler,
    flags: tuple[str, ...],
    shared_flags: tuple[str, ...],
    plain_flags: tuple[str, ...],
) -> None:
    """Compile the files of a library, and link them to the shared library `out`."""
    texts = (*files.plain, *files.shared)
    with_flags = [plain_flags] * len(files.plain) + [shared_flags] * len(files.shared)
    directory = Path(tempfile.mkdtemp(prefix="polymat-link-"))
    own = [directory / f"own{number}.o" for number in range(len(files.own))]
    shared = [directory / f"shared{number}.o" for number in range(len(texts))]
    try:
        with ThreadPoolExecutor(len(own) + len(shared)) as pool:
            images = pool.map(lambda text, kind: _image(text, compiler, kind), texts, with_flags)
            done = pool.map(lambda text, to: compile_object(text, to, compiler, flags), files.own, own)
            for path, image in zip(shared, images, strict=True):
                path.write_bytes(image)
            list(done)
        link_shared([*own, *shared], out, compiler, flags, files.own[0])
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _image(part: str, compiler: Compiler, flags: tuple[str, ...]) -> bytes:
    """The object file of a part, which is kept."""
    key = cache_key(part, flags, compiler.identity, native_cpu())
    found = fetch_or_build(key, lambda path: compile_object(part, path, compiler, flags), OBJECT)
    if found.scratch is not None:
        shutil.rmtree(found.scratch, ignore_errors=True)
    return found.image
