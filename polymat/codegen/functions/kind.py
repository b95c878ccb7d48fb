"""The floating-point types as the templates of elementary functions see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template


@dataclass(frozen=True, slots=True)
class Kind:
    """A type in C: its suffix, the tail of its literals and of libm's names, and how its bits lie."""

    suffix: str
    ctype: str
    tail: str
    size: int
    mantissa: int
    bias: int

    def text(self, template: str, numbers: Mapping[str, str], texts: Mapping[str, str] | None = None) -> str:
        """A template filled in, `numbers` as literals of this type and `texts` as they are.

        $MAGIC: added to a number and taken off again, it leaves the nearest integer, which is in its lowest
        bits.  $BITS, $OF: from a value to its bits and back.
        """
        integer = f"uint{self.size}_t"
        names = {
            "T": self.ctype,
            "S": self.suffix,
            "F": self.tail,
            "U": integer,
            "M": str(self.mantissa),
            "FMA": f"__builtin_fma{self.tail}",
            "ABS": f"__builtin_fabs{self.tail}",
            "SIGNED": f"__builtin_copysign{self.tail}",
            "BITS": f"_pm_bits_{self.suffix}",
            "OF": f"_pm_of_bits_{self.suffix}",
            "ONE": f"(({integer}){self.bias} << {self.mantissa})",
            "BIAS": f"{self.bias}.0{self.tail}",
            "MAGIC": f"0x1.8p+{self.mantissa}{self.tail}",
            "INF": f"__builtin_inf{self.tail}()",
            "NAN": f'__builtin_nan{self.tail}("")',
            "TINY": f"0x1p-{self.bias - 1}{self.tail}",
        }
        literals = {
            name: f"({number}{self.tail})" if number.startswith("-") else number + self.tail
            for name, number in numbers.items()
        }
        return Template(template).substitute(names | literals | dict(texts or {}))


SINGLE = Kind("f32", "float", "f", 32, 23, 127)
WIDE = Kind("f64", "double", "", 64, 52, 1023)
KINDS = (SINGLE, WIDE)

BITS = """\
static inline $U $BITS($T x)
{
    $U bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline $T $OF($U bits)
{
    $T x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}
"""
