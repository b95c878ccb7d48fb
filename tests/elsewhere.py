"""Generated C compiled for another architecture and run by its emulator, where both are installed.

Debian has them as gcc-aarch64-linux-gnu and qemu-user.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import polymat as pm
from polymat.codegen.c.abi import SCALAR_SLOT_BYTES
from polymat.runtime.flags import compile_flags

COMPILER, EMULATOR, ROOT = "aarch64-linux-gnu-gcc", "qemu-aarch64", "/usr/aarch64-linux-gnu"
INSTALLED = bool(shutil.which(COMPILER) and shutil.which(EMULATOR))

# LIBRARY FILE: the file holds how many arrays, sizes and scalars there are and the number of threads, then
# sizes, scalars in slots, and each array after its bytes.  What the arrays are afterwards replaces all that.
_DRIVER = r"""
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void transfer(size_t (*how)(void *, size_t, size_t, FILE *), void *data, size_t bytes, FILE *file)
{
    if (how(data, 1, bytes, file) != bytes)
        exit(10);
}

static size_t put(void *data, size_t size, size_t count, FILE *file)
{
    return fwrite(data, size, count, file);
}

int main(int argc, char **argv)
{
    int64_t head[4], bytes[64];
    ptrdiff_t sizes[32];
    _Alignas(16) char scalars[SLOT * 32];
    void *arrays[64];
    FILE *file = argc == 3 ? fopen(argv[2], "rb+") : NULL;
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (file == NULL || library == NULL)
        return 11;
    transfer(fread, head, sizeof head, file);
    transfer(fread, sizes, 8 * (size_t)head[1], file);
    transfer(fread, scalars, SLOT * (size_t)head[2], file);
    for (int64_t k = 0; k < head[0]; k++) {
        transfer(fread, &bytes[k], 8, file);
        arrays[k] = aligned_alloc(64, ((size_t)bytes[k] + 127) / 64 * 64);
        transfer(fread, arrays[k], (size_t)bytes[k], file);
    }
    int (*entry)(void *const *, const ptrdiff_t *, const void *, int);
    *(void **)&entry = dlsym(library, "_pm_entry");
    const int status = entry(arrays, sizes, scalars, (int)head[3]);
    rewind(file);
    for (int64_t k = 0; k < head[0]; k++)
        transfer(put, arrays[k], (size_t)bytes[k], file);
    return fclose(file) ? 12 : status;
}
"""


def run_on_aarch64(
    compiled: pm.Compiled,
    directory: Path,
    arrays: Sequence[npt.NDArray[Any]],
    outputs: Sequence[npt.NDArray[Any]],
    sizes: Mapping[str, int],
    *,
    flags: tuple[str, ...] = (),
    threads: int = 2,
) -> list[npt.NDArray[Any]]:
    """The outputs of a pipeline without scalars, from its C text; `outputs` are what they hold before."""
    _build(compiled.source, directory / "pipeline", (*_portable_flags(), *flags))
    _build(_DRIVER.replace("SLOT", str(SCALAR_SLOT_BYTES)), directory / "driver", ("-O1", "-ldl"))
    signature = compiled.signature
    assert not signature.scalars
    inputs = [arrays[signature.order.index(array.name)] for array in signature.inputs]
    every = [np.ascontiguousarray(array) for array in (*inputs, *outputs)]
    symbols = [sizes[size.name] for size in signature.sizes]
    parts = [np.array([len(every), len(symbols), 0, threads, *symbols], np.int64).tobytes()]
    parts += [np.int64(array.nbytes).tobytes() + array.tobytes() for array in every]
    data = directory / "data"
    data.write_bytes(b"".join(parts))
    command = [EMULATOR, "-L", ROOT, *(str(directory / name) for name in ("driver", "pipeline", "data"))]
    subprocess.run(command, check=True, timeout=120)
    after, at, results = data.read_bytes(), sum(array.nbytes for array in inputs), []
    for array in outputs:
        results.append(np.frombuffer(after, array.dtype, array.size, at).reshape(array.shape))
        at += array.nbytes
    return results


def _portable_flags() -> tuple[str, ...]:
    return tuple(flag for flag in compile_flags("gcc") if not flag.endswith("=native"))


def _build(source: str, out: Path, flags: tuple[str, ...]) -> None:
    """Compile without a word of the compiler."""
    text = out.with_suffix(".c")
    text.write_text(source)
    done = subprocess.run(
        [COMPILER, "-o", str(out), str(text), *flags, "-lm"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
