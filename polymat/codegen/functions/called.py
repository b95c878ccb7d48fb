"""Functions with a branch, which gcc calls in loops on vectors: the C text around the common case.

`_pm_NAME_near_S` computes the common case without branches, and says when an argument lies beyond it; libm
answers then.  gcc calls vector versions of a function whose declaration has the `simd` attribute, by names
that the vectors' ABI gives them: those for the vectors of the processor are written here, as loops over their
lanes.  Others compilers see a function that they may inline.
"""

from __future__ import annotations

from polymat.codegen.functions.kind import Kind

_ONE = """\
#if defined(__x86_64__) && !defined(__clang__)
extern __attribute__((simd("notinbranch"), const, visibility("hidden"))) $T _pm_${N}_$S($PARAMETERS);
__attribute__((weak, visibility("hidden"))) $T _pm_${N}_one_$S($PARAMETERS) __asm__("_pm_${N}_$S");
$T _pm_${N}_one_$S($PARAMETERS)
#else
static inline $T _pm_${N}_$S($PARAMETERS)
#endif
{
    $U far = 0;
    const $T near = _pm_${N}_near_$S($NAMES, &far);
    return __builtin_expect(far != 0, 0) ? __builtin_$N$F($NAMES) : near;
}
"""
# The rare case is a function of its own, so that the usual one needs no memory.
_VERSION = """\
typedef $T _pm_${N}_$S$LETTER __attribute__((vector_size(sizeof($T) * $LANES)));
static __attribute__((noinline, cold)) _pm_${N}_$S$LETTER _pm_${N}_far_$S$LETTER($VECTORS)
{
    for (int lane = 0; lane < $LANES; lane++)
        x[lane] = _pm_${N}_one_$S($LANE);
    return x;
}

__attribute__((weak, visibility("hidden"))) _pm_${N}_$S$LETTER _pm_${N}_of_$S$LETTER($VECTORS)
    __asm__("_ZGV$LETTER" "N$LANES" "$V" "__pm_${N}_$S");
_pm_${N}_$S$LETTER _pm_${N}_of_$S$LETTER($VECTORS)
$BODY\
"""
_LOOP = """\
{
    _Alignas($LANES * sizeof($T)) $T $ARRAYS, out[$LANES];
    $U far = 0;
$COPIES\
#pragma omp simd simdlen($LANES) reduction(| : far)
    for (int lane = 0; lane < $LANES; lane++)
        out[lane] = _pm_${N}_near_$S($ELEMENTS, &far);
    if (__builtin_expect(far != 0, 0))
        return _pm_${N}_far_$S$LETTER($NAMES);
    __builtin_memcpy(&x, out, sizeof out);
    return x;
}
"""
_VERSIONS = """\
#if defined(__x86_64__) && !defined(__clang__)
$SSE
$AVX2
#ifdef __AVX512F__
$AVX512
#endif
#endif
"""


def called(kind: Kind, name: str, count: int = 1, permuted: str = "") -> str:
    """The function `_pm_NAME_S` of `count` arguments, after `_pm_NAME_near_S`.

    permuted: what that of vectors of 512 bits does instead of a loop, where `_PM_PERMUTED_S` is defined.
    """
    names = ("x", "y")[:count]
    texts = {
        "N": name,
        "PARAMETERS": ", ".join(f"{kind.ctype} {each}" for each in names),
        "NAMES": ", ".join(names),
    }
    widest = 512 // kind.size
    versions = {
        "SSE": _version(kind, name, names, "b", widest // 4),
        "AVX2": _version(kind, name, names, "d", widest // 2),
        "AVX512": _version(kind, name, names, "e", widest, permuted),
    }
    return f"{kind.text(_ONE, {}, texts)}\n{kind.text(_VERSIONS, {}, versions)}"


def _version(kind: Kind, name: str, names: tuple[str, ...], letter: str, lanes: int, body: str = "") -> str:
    """The function of vectors of so many lanes, whose letter the vectors' ABI gives."""
    texts = {
        "N": name,
        "LETTER": letter,
        "LANES": str(lanes),
        "V": "v" * len(names),
        "VECTORS": ", ".join(f"_pm_{name}_{kind.suffix}{letter} {each}" for each in names),
        "ARRAYS": ", ".join(f"{each}s[{lanes}]" for each in names),
        "COPIES": "".join(f"    __builtin_memcpy({each}s, &{each}, sizeof {each}s);\n" for each in names),
        "NAMES": ", ".join(names),
        "LANE": ", ".join(f"{each}[lane]" for each in names),
        "ELEMENTS": ", ".join(f"{each}s[lane]" for each in names),
    }
    loop = kind.text(_LOOP, {}, texts)
    texts["BODY"] = f"#ifdef _PM_PERMUTED_{kind.suffix}\n{body}#else\n{loop}#endif\n" if body else loop
    return kind.text(_VERSION, {}, texts)
