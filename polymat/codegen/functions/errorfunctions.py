"""The error function: the C text, for both types."""

from __future__ import annotations

from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.polynomials import estrin

_NUMBERS = {
    SINGLE: {"BEYOND": "0.95", "MOST": "4.0"},
    WIDE: {"BEYOND": "1.0", "MOST": "5.95"},
}
# erf(x) / x - 1 in powers of x**2, on |x| <= 1.
_INNER = {
    SINGLE: (
        "0x1.06eba8p-3",
        "-0x1.812740p-2",
        "0x1.ce2d64p-4",
        "-0x1.b80124p-6",
        "0x1.544b08p-8",
        "-0x1.a61810p-11",
        "0x1.4fa92ap-14",
    ),
    WIDE: (
        "0x1.06eba8214db68p-3",
        "-0x1.812746b03799dp-2",
        "0x1.ce2f21a03f8b9p-4",
        "-0x1.b82ce311a97d5p-6",
        "0x1.565bcceeda351p-8",
        "-0x1.c02daeb7034b0p-11",
        "0x1.f9a296b46effcp-14",
        "-0x1.f4c82f02db573p-17",
        "0x1.b96b578687da8p-20",
        "-0x1.5b8c6de6eb063p-23",
        "0x1.d3ddb8ea4efddp-27",
        "-0x1.a23e4e273ddf8p-31",
    ),
}
# log(1 - erf(t + 2)) in powers of t, for t + 2 from 1 to 4, or 5.95.
_OUTER = {
    SINGLE: (
        "-0x1.575b32p+2",
        "-0x1.1ac322p+2",
        "-0x1.d8f618p-1",
        "-0x1.0dfabep-6",
        "0x1.d21176p-9",
        "-0x1.7ae94ap-11",
        "0x1.4d3b1cp-13",
        "-0x1.a46610p-17",
    ),
    WIDE: (
        "-0x1.575b329b1f514p+2",
        "-0x1.1ac3258a8dc2cp+2",
        "-0x1.d8f5dece929a7p-1",
        "-0x1.0dc3b5fb2ed88p-6",
        "0x1.d406b37920c99p-9",
        "-0x1.7ffcfb033b665p-11",
        "0x1.1bc3a4aa2fbc5p-13",
        "-0x1.5b659d4030a2bp-16",
        "0x1.0604bcee3a13ap-19",
        "0x1.b580bd483180bp-23",
        "-0x1.73e4989e8a6cdp-23",
        "0x1.ef98158524fb7p-25",
        "-0x1.e09229896e550p-27",
        "0x1.66c244d45bcc9p-29",
        "-0x1.1c2bc691e3e08p-32",
        "-0x1.3ab14152594b5p-34",
        "0x1.44dfd239495c5p-35",
        "-0x1.5afa4b2f98983p-38",
    ),
}


def error_function(kind: Kind, name: str) -> str:
    """The C text of `erf` for a type, after `exp`."""
    texts = {
        "INNER": estrin(_INNER[kind], "z", ("z2", "z4"), kind.tail),
        "OUTER": estrin(_OUTER[kind], "t", ("t2", "t4"), kind.tail),
    }
    return kind.text("errorfunction", _NUMBERS[kind], texts)
