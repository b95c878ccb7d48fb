"""What code generation hands to the runtime."""

from __future__ import annotations

from dataclasses import dataclass

from polymat.codegen.c.abi import Signature
from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import File
from polymat.codegen.c.render import prototype
from polymat.codegen.memory.storage import Buffer


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A C tree with its signature.

    header: the C header's text.  flags: compiler flags that this program needs.  buffers: where arrays live.
    names: of arrays, sizes and scalars in C.
    """

    file: File
    signature: Signature
    header: str
    flags: tuple[str, ...]
    buffers: tuple[Buffer, ...]
    names: Names

    def __str__(self) -> str:
        lines = [prototype(function) for function in self.file.functions]
        for buffer in self.buffers:
            extents = ", ".join(map(str, buffer.extents))
            origin = ", ".join(map(str, buffer.origin))
            lines.append(f"{buffer.place}  {buffer.name}: {buffer.dtype} [{extents}] from ({origin})")
        return "\n".join([*lines, f"flags  {' '.join(self.flags) or '-'}"])
