"""Vectors in C, by the vector extensions of GCC and Clang, and loading and storing a part of one.

The extensions know whole vectors alone; parts have names of the processor in them, where it has instructions
for that.
"""

from __future__ import annotations

from dataclasses import dataclass

from polymat.codegen.c.elements import C_TYPES, ELEMENT_BYTES, INTEGERS

_MEMORY_SUFFIX = {"f32": "ps", "f64": "pd"}
_INLINE = "static inline __attribute__((always_inline))"
_MASKED_AVX512 = (16, 32, 64)  # bytes of vectors of which AVX-512 loads and stores parts
_MASKED_AVX2 = {32: "256", 16: ""}  # the same of AVX2, and what ends the names of its instructions


@dataclass(frozen=True, slots=True)
class Parts:
    """Access to a part of a vector.  suffix: "f32" or "f64"; vector: its C type, of `size` bytes.

    prefix: what the names of the functions, of masks and of the macro that makes one begin with.
    """

    suffix: str
    size: int
    vector: str
    prefix: str

    @property
    def lanes(self) -> int:
        """Elements of a vector."""
        return self.size // ELEMENT_BYTES[self.suffix]

    @property
    def mask(self) -> str:
        """The C type of a mask."""
        return f"{self.prefix}_mask_{self.suffix}"

    def text(self) -> str:
        """The first `count` lanes loaded, with 0 in place of others, and stored, nothing beyond touched."""
        return f"{_masked_by_avx512(self)}{_masked_by_avx2(self)}{_lane_by_lane(self)}"


def memory_suffix(suffix: str) -> str:
    """The end of the names of the processor's loads and stores of vectors."""
    return _MEMORY_SUFFIX[suffix]


def _macro(parts: Parts) -> str:
    return f"{parts.prefix.upper()}_MASK_{parts.suffix}"


def _load(parts: Parts) -> str:
    s, t = parts.suffix, C_TYPES[parts.suffix]
    return f"{_INLINE} {parts.vector} {parts.prefix}_load_{s}(const {t} *from, {parts.mask} mask)\n"


def _store(parts: Parts) -> str:
    s, t = parts.suffix, C_TYPES[parts.suffix]
    return f"{_INLINE} void {parts.prefix}_store_{s}({t} *to, {parts.vector} value, {parts.mask} mask)\n"


def _masked_by_avx512(parts: Parts) -> str:
    size = parts.size
    if size not in _MASKED_AVX512:
        return ""
    feature = "__AVX512F__" if size == 64 else "__AVX512VL__"
    mask = "unsigned short" if parts.lanes == 16 else "unsigned char"
    load = f"__builtin_ia32_loadu{memory_suffix(parts.suffix)}{size * 8}_mask"
    return f"""\
#if defined({feature})
typedef {mask} {parts.mask};
#define {_macro(parts)}(count) (({mask})((1u << (count)) - 1u))
{_load(parts)}{{
    return {load}((const void *)from, ({parts.vector}){{0}}, mask);
}}
{_store(parts)}{{
    {load.replace("load", "store")}((void *)to, value, mask);
}}
"""


def _masked_by_avx2(parts: Parts) -> str:
    size = parts.size
    if size not in _MASKED_AVX2:
        return ""
    integer = INTEGERS[parts.suffix]
    lanes = ", ".join(str(lane) for lane in range(parts.lanes))
    kind = f"{memory_suffix(parts.suffix)}{_MASKED_AVX2[size]}"
    return f"""\
#elif defined(__AVX2__)
typedef {integer} {parts.mask} __attribute__((vector_size({size})));
#define {_macro(parts)}(count) (({parts.mask}){{{lanes}}} < ({parts.mask}){{0}} + ({integer})(count))
{_load(parts)}{{
    return __builtin_ia32_maskload{kind}((const void *)from, mask);
}}
{_store(parts)}{{
    __builtin_ia32_maskstore{kind}((void *)to, mask, value);
}}
"""


def _lane_by_lane(parts: Parts) -> str:
    return f"""\
{"#else" if parts.size in _MASKED_AVX512 else "#if 1"}
typedef int {parts.mask};
#define {_macro(parts)}(count) ((int)(count))
{_load(parts)}{{
    {parts.vector} value = {{0}};
    for (int lane = 0; lane < {parts.lanes}; lane++)
        if (lane < mask)
            value[lane] = from[lane];
    return value;
}}
{_store(parts)}{{
    for (int lane = 0; lane < {parts.lanes}; lane++)
        if (lane < mask)
            to[lane] = value[lane];
}}
#endif
"""
