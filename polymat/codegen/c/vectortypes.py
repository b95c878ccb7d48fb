"""Vectors in C, by the vector extensions of GCC and Clang, and loading and storing a part of one.

The extensions know whole vectors alone; parts have names of the processor in them, where it has instructions
for that: see the header `rows/parts`.
"""

from __future__ import annotations

from polymat.codegen.c.elements import C_TYPES, ELEMENT_BYTES, INTEGERS
from polymat.codegen.c.kernels import kernel_text
from polymat.dataclass import dataclass

_MEMORY_SUFFIX = {"f32": "ps", "f64": "pd"}


@dataclass(frozen=True, slots=True)
class Parts:
    """Access to a part of a vector.  suffix: "f32" or "f64"; vector: its C type, of `size` bytes.

    prefix: what the names of the functions, of masks and of the macro that makes one begin with.
    """

    suffix: str
    size: int
    vector: str
    prefix: str

    def text(self) -> str:
        """The first `count` lanes loaded, with 0 in place of others, and stored, nothing beyond touched."""
        s, lanes = self.suffix, self.size // ELEMENT_BYTES[self.suffix]
        names = {"T": C_TYPES[s], "NAME(name)": f"{self.prefix}_##name##_{s}"}
        text = kernel_text(
            "rows/parts", macros=names | lane_macros(s, lanes) | processor_macros(s), VECTOR=self.vector
        )
        return f"{text}#define {self.prefix.upper()}_MASK_{s}(count) {self.prefix}_mask_of_{s}(count)\n"


def lane_macros(suffix: str, lanes: int) -> dict[str, object]:
    """The macros of vectors of so many elements: how large these are, and the places of the lanes."""
    return {
        "LANES": lanes,
        "ELEMENT": ELEMENT_BYTES[suffix],
        "INTEGER": INTEGERS[suffix],
        "PLACES": ", ".join(map(str, range(lanes))),
    }


def processor_macros(suffix: str) -> dict[str, object]:
    """Names of the processor's instructions for vectors of a type."""
    return {"PROCESSOR(op, end)": f"__builtin_ia32_##op##{_MEMORY_SUFFIX[suffix]}##end"}


def memory_suffix(suffix: str) -> str:
    """The end of the names of the processor's loads and stores of vectors."""
    return _MEMORY_SUFFIX[suffix]
