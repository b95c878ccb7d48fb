"""Powers: the C text, for both types, with the numbers of the header `functions/pow`.

What is no positive normal number, or has no normal result, is libm's.  Vectors of 512 bits have tables.
"""

from __future__ import annotations

from polymat.codegen.functions.called import called, versions
from polymat.codegen.functions.kind import SINGLE, WIDE, Kind
from polymat.codegen.functions.permuted import tables_text, vectors_text
from polymat.codegen.functions.polynomials import estrin

# log2((1 + s) / (1 - s)) = c0 s + c1 s**3 + s**5 P(s**2); for float c1 is in P.
_LOGARITHMS = {
    SINGLE: ("0x1.ec709ep-1", "0x1.277764p-1", "0x1.a59752p-2", "0x1.5c5256p-2"),
    WIDE: (
        "0x1.2776c50ef9bfep-1",
        "0x1.a61762a7ae615p-2",
        "0x1.484b13d714563p-2",
        "0x1.0c9a850ef5b8fp-2",
        "0x1.c68efe728ec45p-3",
        "0x1.8a06d7a3e9d21p-3",
        "0x1.5932423143725p-3",
        "0x1.6056276185ad2p-3",
    ),
}
# (2**r - 1) / r on |r| <= 1/2.
POWERS_OF_TWO = {
    SINGLE: (
        "0x1.62e430p-1",
        "0x1.ebfbe0p-3",
        "0x1.c6aed0p-5",
        "0x1.3b29aap-7",
        "0x1.5f4736p-10",
        "0x1.448f60p-13",
    ),
    WIDE: (
        "0x1.62e42fefa39efp-1",
        "0x1.ebfbdff82c5a6p-3",
        "0x1.c6b08d704a0d1p-5",
        "0x1.3b2ab6fb9fdf4p-7",
        "0x1.5d87fe78a2284p-10",
        "0x1.4309130f6b883p-13",
        "0x1.ffcbfc75f7881p-17",
        "0x1.62bfc647ade3ap-20",
        "0x1.b524db2ef1b57p-24",
        "0x1.e61d782648128p-28",
        "0x1.ea04533396259p-32",
    ),
}


def power(kind: Kind, name: str) -> str:
    """The C text of `pow` for a type; vectors of 512 bits have tables."""
    steps = ("w", "w2") if kind is WIDE else ("w",)
    texts = {
        "LOGARITHM": estrin(_LOGARITHMS[kind], "z", steps, kind.tail),
        "EXPONENTIAL": estrin(POWERS_OF_TWO[kind], "r", ("a", "a2"), kind.tail),
    }
    near = f"{tables_text(kind)}\n{kind.text('pow', texts=texts)}"
    return f"{near}\n{called(kind, name, 2)}\n{versions(kind, name, 2, vectors_text(kind))}"
