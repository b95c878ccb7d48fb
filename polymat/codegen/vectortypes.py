"""Vectors in C, by the vector extensions of GCC and Clang, and loading and storing a part of one.

The extensions know whole vectors alone; parts have names of the processor in them, where it has instructions
for that.
"""

from __future__ import annotations

from polymat.codegen.blockshape import Shape

_MEMORY_SUFFIX = {"f32": "ps", "f64": "pd"}
_MASKED_AVX512 = (16, 32, 64)  # bytes of vectors of which AVX-512 loads and stores parts
_MASKED_AVX2 = {32: "256", 16: ""}  # the same of AVX2, and what ends the names of its instructions


def vector_types(shape: Shape) -> str:
    """The types of vectors and masks; the first `count` lanes loaded and stored, nothing beyond touched."""
    s, t = shape.suffix, shape.ctype
    return f"""\
/* Vectors of {shape.lanes}: in registers, and anywhere in memory. */
typedef {t} _pm_vector_{s} __attribute__((vector_size({shape.vector_bytes})));
typedef _pm_vector_{s} _pm_memory_{s} __attribute__((aligned(sizeof({t})), may_alias));

{_masked_by_avx512(shape)}{_masked_by_avx2(shape)}{_lane_by_lane(shape)}"""


def memory_suffix(shape: Shape) -> str:
    """What ends the names of the processor's loads and stores of vectors."""
    return _MEMORY_SUFFIX[shape.suffix]


def _load(shape: Shape) -> str:
    s = shape.suffix
    return f"static inline _pm_vector_{s} _pm_load_{s}(const {shape.ctype} *from, _pm_mask_{s} mask)\n"


def _store(shape: Shape) -> str:
    s = shape.suffix
    return f"static inline void _pm_store_{s}({shape.ctype} *to, _pm_vector_{s} value, _pm_mask_{s} mask)\n"


def _masked_by_avx512(shape: Shape) -> str:
    s, size = shape.suffix, shape.vector_bytes
    if size not in _MASKED_AVX512:
        return ""
    feature = "__AVX512F__" if size == 64 else "__AVX512VL__"
    mask = "unsigned short" if shape.lanes == 16 else "unsigned char"
    load = f"__builtin_ia32_loadu{memory_suffix(shape)}{size * 8}_mask"
    return f"""\
#if defined({feature})
typedef {mask} _pm_mask_{s};
#define _PM_MASK_{s}(count) (({mask})((1u << (count)) - 1u))
{_load(shape)}{{
    return {load}((const void *)from, (_pm_vector_{s}){{0}}, mask);
}}
{_store(shape)}{{
    {load.replace("load", "store")}((void *)to, value, mask);
}}
"""


def _masked_by_avx2(shape: Shape) -> str:
    s, size = shape.suffix, shape.vector_bytes
    if size not in _MASKED_AVX2:
        return ""
    integer = "int" if s == "f32" else "long long"
    lanes = ", ".join(str(lane) for lane in range(shape.lanes))
    kind = f"{memory_suffix(shape)}{_MASKED_AVX2[size]}"
    return f"""\
#elif defined(__AVX2__)
typedef {integer} _pm_mask_{s} __attribute__((vector_size({size})));
#define _PM_MASK_{s}(count) ((_pm_mask_{s}){{{lanes}}} < (_pm_mask_{s}){{0}} + ({integer})(count))
{_load(shape)}{{
    return __builtin_ia32_maskload{kind}((const void *)from, mask);
}}
{_store(shape)}{{
    __builtin_ia32_maskstore{kind}((void *)to, mask, value);
}}
"""


def _lane_by_lane(shape: Shape) -> str:
    s = shape.suffix
    return f"""\
{"#else" if shape.vector_bytes in _MASKED_AVX512 else "#if 1"}
typedef int _pm_mask_{s};
#define _PM_MASK_{s}(count) ((int)(count))
{_load(shape)}{{
    _pm_vector_{s} value = {{0}};
    for (int lane = 0; lane < {shape.lanes}; lane++)
        if (lane < mask)
            value[lane] = from[lane];
    return value;
}}
{_store(shape)}{{
    for (int lane = 0; lane < {shape.lanes}; lane++)
        if (lane < mask)
            to[lane] = value[lane];
}}
#endif
"""
