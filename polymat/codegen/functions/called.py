"""Functions with a branch, which gcc calls in loops on vectors: the C text around the common case.

`_pm_NAME_near_S` computes the common case without branches, and says when an argument lies beyond it; libm
answers then.  gcc calls vector versions of a function whose declaration has the `simd` attribute, by names
that the vectors' ABI gives them: those for the vectors of the processor are written here, as loops over their
lanes.  Other compilers see a function that they may inline.
"""

from __future__ import annotations

from polymat.codegen.functions.kind import Kind

_CALLS_VECTORS = "defined(__x86_64__) && !defined(__clang__)"
_LETTERS = {128: "b", 256: "d", 512: "e"}  # by which the vectors' ABI knows vectors of so many bits
WIDEST = 512


def called(kind: Kind, name: str, count: int = 1, beyond_by: str = "") -> str:
    """The function `_pm_NAME_S` of `count` arguments, after `_pm_NAME_near_S`.

    beyond_by: what answers beyond the common case, if not libm.
    """
    names = ("x", "y")[:count]
    texts = {
        **_shared(kind, name, names),
        "FUNCTION": f"_pm_{name}_{kind.suffix}",
        "SYMBOL": f'"_pm_{name}_{kind.suffix}"',
        "SINGLE": f"_pm_{name}_one_{kind.suffix}",
        "LIBM": beyond_by or f"__builtin_{name}{kind.tail}",
        "PARAMETERS": ", ".join(f"{kind.ctype} {each}" for each in names),
    }
    return kind.text("called", texts=texts)


def versions(kind: Kind, name: str, count: int = 1, widest: str = "") -> str:
    """The versions for vectors of a function that `called` gives.

    widest: that of vectors of 512 bits, where `_PM_PERMUTED` is defined, in place of a loop.
    """
    texts = {
        bits: f"{beyond(kind, name, count, bits)}\n{_looped(kind, name, count, bits)}" for bits in _LETTERS
    }
    last = texts.pop(WIDEST)
    if widest:
        last = f"#ifdef _PM_PERMUTED\n{widest}\n#else\n{last}#endif\n"
    return f"#if {_CALLS_VECTORS}\n{''.join(texts.values())}#ifdef __AVX512F__\n{last}#endif\n#endif\n"


def beyond(kind: Kind, name: str, count: int, bits: int) -> str:
    """The type of vectors of so many bits, and the function of those with lanes beyond the common case."""
    return kind.text("far", texts=version_names(kind, name, count, bits))


def version_names(kind: Kind, name: str, count: int, bits: int) -> dict[str, object]:
    """The macros of the function of vectors of so many bits."""
    names, letter, lanes = ("x", "y")[:count], _LETTERS[bits], bits // kind.size
    s, vector = kind.suffix, f"_pm_{name}_{kind.suffix}{letter}"
    return {
        **_shared(kind, name, names),
        "LANES": lanes,
        "VECTOR": vector,
        "MAPPED": f"_pm_{name}_of_{s}{letter}",
        "BEYOND": f"_pm_{name}_far_{s}{letter}",
        "EACH": f"_pm_{name}_one_{s}",
        "SYMBOL": f'"_ZGV{letter}N{lanes}{"v" * count}__pm_{name}_{s}"',
        "VECTORS": ", ".join(f"{vector} {each}" for each in names),
        "LANE": ", ".join(f"{each}[lane]" for each in names),
    }


def _shared(kind: Kind, name: str, names: tuple[str, ...]) -> dict[str, object]:
    return {"COMMON": f"_pm_{name}_near_{kind.suffix}", "ARGUMENTS": ", ".join(names)}


def _looped(kind: Kind, name: str, count: int, bits: int) -> str:
    names = ("x", "y")[:count]
    texts = {
        "LANED": ", ".join(f"{each}s = {{{each}}}" for each in names),
        "ELEMENTS": ", ".join(f"{each}s.each[lane]" for each in names),
    }
    return kind.text("vectors", texts={**version_names(kind, name, count, bits), **texts})
