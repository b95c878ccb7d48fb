"""C text whose larger functions may be compiled apart from the program, at the same time and once for many.

The register blocks of a product, and the product around them, are the same in all programs that have it; they
take ten times as long to compile as such a program's own functions.  Functions marked `_PM_SHARED` are static
where a library is one C text.  As files of their own they see each other, and nobody else sees them.
"""

from __future__ import annotations

from polymat.dataclass import dataclass

SHARED = """\
/* Static functions; where the C text is several files these see each other's, and nobody else does. */
#ifndef _PM_SHARED
#ifdef _PM_APART
#define _PM_SHARED __attribute__((visibility("hidden")))
#else
#define _PM_SHARED static
#endif
#endif
"""
_BEGIN = f"#define _PM_APART\n{SHARED}"
_INCLUDES = "#include <stddef.h>\n#include <stdint.h>\n"


@dataclass(frozen=True, slots=True)
class Apart:
    """A text in pieces.

    head: types, tables and declarations.  parts: functions, those that others call being `_PM_SHARED`; they
    are written in vectors, with nothing left to find for a compiler but loops over a few of them, and the
    longest come first.  rest: functions that are compiled into the program that calls them.
    """

    head: str
    parts: tuple[str, ...]
    rest: str

    @property
    def whole(self) -> str:
        """One text."""
        return "\n".join([SHARED, self.head, *self.parts, self.rest])

    @property
    def program(self) -> str:
        """The text in a program whose parts are files of their own; it stands behind `apart`."""
        return "\n".join([self.head, self.rest])

    @property
    def files(self) -> Files:
        """The C files of the parts."""
        return Files((), tuple(map(self._file, self.parts)))

    def _file(self, part: str) -> str:
        return "\n".join([apart(_INCLUDES), self.head, part])


@dataclass(frozen=True, slots=True)
class Files:
    """The C files of a library: those of the program, and those that others share."""

    own: tuple[str, ...]
    shared: tuple[str, ...] = ()

    def __add__(self, other: Files) -> Files:
        return Files(self.own + other.own, self.shared + other.shared)

    def __len__(self) -> int:
        return len(self.own) + len(self.shared)


def apart(text: str) -> str:
    """A file whose shared functions are seen by other files."""
    return _BEGIN + text
