"""Call a saved pipeline from C: a program of a few lines is written for its prototype."""

from __future__ import annotations

import ctypes
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.csource import HERE, OPTIMISED, pointers
from benchmarks.task import Array, Prepared

_PROTOTYPE = re.compile(r"^int (?P<name>\w+)\((?P<arguments>[^;]*)\);$", re.M)


def prepare_saved(
    directory: Path,
    name: str,
    arrays: Sequence[Array],
    results: Sequence[Array],
    values: Mapping[str, Any],
    note: str = "",
) -> Prepared:
    """The pipeline saved under `name`, called from C.

    arrays: inputs and then outputs, as the prototype has them; values: sizes and scalars by name.
    """
    source, library = directory / "call.c", directory / "call.so"
    source.write_text(_program((directory / f"{name}.h").read_text(), name, values))
    command = ["gcc", *OPTIMISED, "-shared", f"-I{HERE}", f"-I{directory}", str(source), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True)
    program = ctypes.CDLL(str(library))
    # Not linked to it: the loader would take another pipeline of that name for it.
    pipeline = ctypes.CDLL(str(directory / f"lib{name}.so"))[name]
    program.repeat.restype = ctypes.c_double
    addresses = pointers(arrays)

    def repeat(count: int) -> float:
        assert arrays  # they live as long as their addresses are used
        return float(program.repeat(pipeline, addresses, ctypes.c_long(count)))

    def call() -> tuple[Array, ...]:
        if status := program.once(pipeline, addresses):
            raise RuntimeError(f"{name} returned {status} when it was called from C")
        return tuple(results)

    return Prepared(call, note, repeat)


def _program(header: str, name: str, values: Mapping[str, Any]) -> str:
    """Functions `repeat` and `once` that call the prototype: pointers in order, sizes and scalars by name."""
    found = _PROTOTYPE.search(header)
    assert found is not None, f"no prototype in {name}.h"
    arguments: list[str] = []
    # Names that some header might define as macros stand in comments.
    for declaration in re.sub(r"/\* (\w+) \*/", r"\1", found["arguments"]).split(","):
        pointer = "*" in declaration
        count = sum("p[" in argument for argument in arguments)
        arguments.append(f"p[{count}]" if pointer else repr(values[declaration.split()[-1]]))
    call = f"f({', '.join(arguments)})"
    return (
        f'#include "clock.h"\n#include "{name}.h"\n'
        f"double repeat(__typeof__({name}) *f, void *const *p, long count) {{\n"
        f"    TIMED(count, {call});\n}}\n"
        f"int once(__typeof__({name}) *f, void *const *p) {{\n    return {call};\n}}\n"
    )
