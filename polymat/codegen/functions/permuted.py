"""Powers by tables that lie in two vectors of 512 bits, which one instruction permutes: the C text.

What is computed stands in the headers `functions/powparts` and `functions/powbytables`, and these are their
numbers.  Single numbers are computed as vectors are, to the last bit.
"""

from __future__ import annotations

from polymat.codegen.functions.called import WIDEST, beyond, version_names
from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin

_TABLES = {SINGLE: "powtablesfloat", WIDE: "powtablesdouble"}
_NUMBERS = {
    SINGLE: {
        "LARGEST": "0x1.fffffep+127",
        "LIMIT": "4000.0",
    },
    WIDE: {
        "LARGEST": "0x1.fffffffffffffp+1023",
        "LIMIT": "16320.0",
    },
}
_TEXTS = {
    SINGLE: {
        "CELLS": "32",
        "DROPPED": "18",
        "MARGIN": "0u",
        "EXCESS": "127",
    },
    WIDE: {
        "CELLS": "16",
        "DROPPED": "48",
        "MARGIN": "((uint64_t)1 << 47)",
        "EXCESS": "1023",
    },
}
_BUILTINS = {
    SINGLE: {
        "EXPONENTS": "__builtin_ia32_getexpps512_mask",
        "CLASSES": "__builtin_ia32_fpclassps512_mask",
        "COMPARED": "__builtin_ia32_cmpps512_mask",
        "MASK": "unsigned short",
    },
    WIDE: {
        "EXPONENTS": "__builtin_ia32_getexppd512_mask",
        "CLASSES": "__builtin_ia32_fpclasspd512_mask",
        "COMPARED": "__builtin_ia32_cmppd512_mask",
        "MASK": "unsigned char",
    },
}
# (log(1 + r) - r + r**2 / 2) / r**3, for float times 32 / log(2).
_LOGARITHMS = {
    SINGLE: ("0x1.ec70c6p+3", "-0x1.716e74p+3", "0x1.23a2eap+3"),
    WIDE: (
        "0x1.5555555555555p-2",
        "-0x1.fffffffffff7fp-3",
        "0x1.9999999997bcfp-3",
        "-0x1.55555556e0568p-3",
        "0x1.2492494e5905cp-3",
        "-0x1.ffffd6e3e6a98p-4",
        "0x1.c71a2188fc5ep-4",
        "-0x1.9a660eea6f26ep-4",
        "0x1.79aa5c0ecb0aep-4",
    ),
}
# float: (2**(s / 32) - 1) / s; double: (e**s - 1 - s) / s**2.
_EXPONENTIALS = {
    SINGLE: ("0x1.62e430p-6", "0x1.ebfcccp-13", "0x1.c6b110p-20"),
    WIDE: (
        "0.5",
        "0x1.55555554dccc9p-3",
        "0x1.555555551905ep-5",
        "0x1.11120b7404abp-7",
        "0x1.6c17bbd8299c9p-10",
    ),
}


def tables_text(kind: Kind) -> str:
    """The tables and `_pm_pow_near_S`, where `_PM_PERMUTED` is defined, which this decides."""
    texts = {
        "LOGARITHM": estrin(_LOGARITHMS[kind], "r", ("w", "w2") if kind is WIDE else ("w",), kind.tail),
        "EXPONENTIAL": estrin(_EXPONENTIALS[kind], "s", ("a",) if kind is WIDE else (), kind.tail),
    }
    headers = ("permuted", _TABLES[kind], "powparts", "powbytables")
    return "\n".join(kind.text(header, _NUMBERS[kind], _TEXTS[kind] | texts) for header in headers)


def vectors_text(kind: Kind) -> str:
    """The function of vectors of 512 bits that looks its values up in registers."""
    names = version_names(kind, "pow", 2, WIDEST)
    body = kind.text("powvectors", _NUMBERS[kind], {**_TEXTS[kind], **_BUILTINS[kind], **names})
    return f"{beyond(kind, 'pow', 2, WIDEST)}\n{body}"
