"""Families of register blocks: what tells them apart, and which of them stand for others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from zlib import crc32

from polymat.codegen.c.elements import C_TYPES, ELEMENT_BYTES
from polymat.codegen.c.needs import Need
from polymat.codegen.c.vectortypes import Parts
from polymat.dataclass import dataclass
from polymat.product.ends import Kind as EndKind


@dataclass(frozen=True, slots=True)
class End:
    """The C expression of a vector `x` of the result, of arrays `e0`, .. and of numbers `s0`, ..

    kinds: how the arrays are read.  numbers: how many there are.  See `polymat.codegen.products.blockends`.
    """

    value: str
    kinds: tuple[EndKind, ...]
    numbers: int

    def __str__(self) -> str:
        return f"{self.numbers};{','.join(self.kinds)};{self.value}"

    @property
    def is_by_row(self) -> bool:
        """Whether a vector of the result has to lie in one row, for arrays to be read beside it."""
        return any(kind != "full" for kind in self.kinds)

    @property
    def title(self) -> str:
        """A number that tells the C names of this expression from those of others."""
        return f"{crc32(str(self).encode()):08x}"


@dataclass(frozen=True, slots=True)
class Shape(Need):
    """A family of register blocks: up to `rows` x `vectors` vectors of `vector_bytes`, elements of a type.

    suffix: "f32" or "f64".  halves: whether the product around them knows triangles.  walks: whether there
    are blocks that walk over several segments of depth where they lie.  turns: the most depth of blocks whose
    vectors hold segments of columns; 0: there are none.  panels: whether there are products of a right
    operand that is packed before.  straight: whether there are products of constant extents, which may be
    straight code.  ends: the expressions of a result that they compute in registers.
    """

    suffix: str
    vector_bytes: int
    rows: int
    vectors: int
    halves: bool = False
    walks: bool = False
    turns: int = 0
    panels: bool = False
    straight: bool = False
    ends: tuple[End, ...] = ()

    @property
    def ctype(self) -> str:
        """The C type of an element."""
        return C_TYPES[self.suffix]

    @property
    def element_bytes(self) -> int:
        """Bytes of an element."""
        return ELEMENT_BYTES[self.suffix]

    @property
    def lanes(self) -> int:
        """Elements of a vector."""
        return self.vector_bytes // self.element_bytes

    def __str__(self) -> str:
        features = [name for name in ("halves", "walks") if getattr(self, name)]
        features += [f"turns{self.turns}"] * (self.turns > 0) + ["panels"] * self.panels
        features += ["straight"] * self.straight
        blocks = f"gemm_{self.suffix}_{self.vector_bytes}x{self.rows}x{self.vectors}"
        return "|".join(("_".join((blocks, *features)), *map(str, self.ends)))

    def __or__(self, other: Shape) -> Shape:
        """The family that stands for both: the same blocks, and a product that knows what either knows."""
        ends = tuple(sorted({*self.ends, *other.ends}, key=str))
        turns = max(self.turns, other.turns)
        halves, walks = self.halves or other.halves, self.walks or other.walks
        panels, straight = self.panels or other.panels, self.straight or other.straight
        found = replace(self, halves=halves, walks=walks, turns=turns, ends=ends)
        return replace(found, panels=panels, straight=straight)


def vector_types(shape: Shape) -> str:
    """The types of vectors and masks; the first `count` lanes loaded and stored, nothing beyond touched."""
    s, t = shape.suffix, shape.ctype
    parts = Parts(s, shape.vector_bytes, f"_pm_vector_{s}", "_pm")
    return f"""\
/* Vectors of {shape.lanes}: in registers, and anywhere in memory. */
typedef {t} _pm_vector_{s} __attribute__((vector_size({shape.vector_bytes})));
typedef _pm_vector_{s} _pm_memory_{s} __attribute__((aligned(sizeof({t})), may_alias));

{parts.text()}"""


def joined(shapes: Iterable[Shape]) -> tuple[Shape, ...]:
    """The families of register blocks that stand for these: one where the blocks are the same."""
    families: dict[Shape, Shape] = {}
    for shape in sorted(shapes, key=str):
        plain = replace(shape, halves=False, walks=False, turns=0, panels=False, straight=False, ends=())
        families[plain] = families.get(plain, plain) | shape
    return tuple(families.values())
