"""The level behind lowering: a C tree and its signature, which code generation hands to the runtime."""

from __future__ import annotations

from collections.abc import Callable

from polymat.codegen.c.abi import Signature
from polymat.codegen.c.apart import Files
from polymat.codegen.c.cnames import Names
from polymat.codegen.c.ctree import File
from polymat.codegen.c.render import unit
from polymat.codegen.memory.storage import Buffer
from polymat.codegen.prelude import prelude, user_text
from polymat.dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A C tree with its signature.

    header: the C header's text.  flags: compiler flags that this program needs.  buffers: where arrays live.
    names: of arrays, sizes and scalars in C.  groups: the names of the functions of each group.
    """

    file: File
    signature: Signature
    header: str
    flags: tuple[str, ...]
    buffers: tuple[Buffer, ...]
    names: Names
    groups: tuple[tuple[str, ...], ...] = ()

    def __str__(self) -> str:
        """Arrays and flags, the program's own C, and then the library's."""
        lines = []
        for buffer in self.buffers:
            extents = ", ".join(map(str, buffer.extents))
            origin = ", ".join(map(str, buffer.origin))
            marks = _marks(buffer)
            lines.append(f"{buffer.place}  {buffer.name}: {buffer.dtype} [{extents}] from ({origin}){marks}")
        lines += [f"in place  out={array} for {output}" for array, output in self._inplace()]
        lines += [
            f"flags  {' '.join(self.flags) or '-'}",
            f"needs  {', '.join(sorted(map(str, self.file.needs))) or '-'}",
        ]
        return "\n".join(
            [*lines, "", unit(self.file, ""), prelude(self.file.needs), user_text(self.file.needs)]
        )

    def _inplace(self) -> list[tuple[str, str]]:
        inputs, outputs = self.signature.inputs, self.signature.outputs
        return [(inputs[i].name, outputs[o].name) for i, o in self.signature.inplace]


@dataclass(frozen=True, slots=True, eq=False)
class CSource:
    """A program for the C compiler: one text, the flags, and what gives the same as several files.

    These are only made where the library is not in the cache.
    """

    text: str
    files: Callable[[], Files]
    flags: tuple[str, ...]

    def __str__(self) -> str:
        return self.text


def _marks(buffer: Buffer) -> str:
    """What else is known of where an array lies."""
    ring = "" if buffer.ring is None else f", a ring along dimension {buffer.ring}"
    folded = [f", {places} places along dimension {k}" for k, places in enumerate(buffer.folds) if places]
    start = ", ".join(map(str, buffer.written_from))
    partly = "" if buffer.fully_written else f", written from ({start})" if start else ", partly written"
    return f"{ring}{''.join(folded)}{partly}{', a copy' if buffer.copy else ''}"
