"""Families of register blocks: what tells them apart, and which of them stand for others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from polymat.codegen.c.elements import C_TYPES, ELEMENT_BYTES
from polymat.codegen.c.vectortypes import Parts
from polymat.errors import InternalError

_FEATURES = ("halves", "walks")  # end the need of products that know triangles, or depth in segments
_TURNS = "turns"  # and of those with turned blocks, with their depth


@dataclass(frozen=True, slots=True)
class Shape:
    """A family of register blocks: up to `rows` x `vectors` vectors of `vector_bytes`, elements of a type.

    suffix: "f32" or "f64".  halves: whether the product around them knows triangles.  walks: whether there
    are blocks that walk over several segments of depth where they lie.  turns: the most depth of blocks whose
    vectors hold segments of columns; 0: there are none.  ends: the texts of the expressions of
    a result that they compute in registers, see `polymat.codegen.products.blockends`.
    """

    suffix: str
    vector_bytes: int
    rows: int
    vectors: int
    halves: bool = False
    walks: bool = False
    turns: int = 0
    ends: tuple[str, ...] = ()

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

    @property
    def need(self) -> str:
        """The name under which the prelude knows it."""
        features = "".join(f"_{feature}" for feature in _FEATURES if getattr(self, feature))
        features += f"_{_TURNS}{self.turns}" if self.turns else ""
        blocks = f"gemm_{self.suffix}_{self.vector_bytes}x{self.rows}x{self.vectors}{features}"
        return "|".join((blocks, *self.ends))

    @staticmethod
    def parse(need: str) -> Shape:
        """The shape that has this name in the prelude."""
        blocks, *ends = need.split("|")
        kind, suffix, numbers, *features = blocks.split("_")
        turns = [int(each.removeprefix(_TURNS)) for each in features if each.startswith(_TURNS)]
        features = features[: len(features) - len(turns)]
        if kind != "gemm" or suffix not in C_TYPES or not {*features} <= {*_FEATURES}:
            raise InternalError(f"bug in polymat: {need} is no family of register blocks")
        vector_bytes, rows, vectors = (int(number) for number in numbers.split("x"))
        known = ("halves" in features, "walks" in features)
        return Shape(suffix, vector_bytes, rows, vectors, *known, sum(turns), tuple(ends))

    def __or__(self, other: Shape) -> Shape:
        """The family that stands for both: the same blocks, and a product that knows what either knows."""
        ends = tuple(sorted({*self.ends, *other.ends}))
        turns = max(self.turns, other.turns)
        halves, walks = self.halves or other.halves, self.walks or other.walks
        return replace(self, halves=halves, walks=walks, turns=turns, ends=ends)


def vector_types(shape: Shape) -> str:
    """The types of vectors and masks; the first `count` lanes loaded and stored, nothing beyond touched."""
    s, t = shape.suffix, shape.ctype
    parts = Parts(s, shape.vector_bytes, f"_pm_vector_{s}", "_pm")
    return f"""\
/* Vectors of {shape.lanes}: in registers, and anywhere in memory. */
typedef {t} _pm_vector_{s} __attribute__((vector_size({shape.vector_bytes})));
typedef _pm_vector_{s} _pm_memory_{s} __attribute__((aligned(sizeof({t})), may_alias));

{parts.text()}"""


def joined(needs: Iterable[str]) -> tuple[str, ...]:
    """The families of register blocks that stand for these: one where the blocks are the same."""
    families: dict[Shape, Shape] = {}
    for shape in map(Shape.parse, sorted(needs)):
        plain = replace(shape, halves=False, walks=False, turns=0, ends=())
        families[plain] = families.get(plain, plain) | shape
    return tuple(shape.need for shape in families.values())
