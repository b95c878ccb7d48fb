"""The floating-point types as the headers of elementary functions see them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from polymat.codegen.c.kernels import kernel, kernel_text
from polymat.dataclass import dataclass

FOLDER = "functions"


@dataclass(frozen=True, slots=True)
class Kind:
    """A type in C: its suffix, the tail of its literals and of libm's names, and how its bits lie."""

    suffix: str
    ctype: str
    tail: str
    size: int
    mantissa: int
    bias: int

    def text(
        self,
        header: str,
        numbers: Mapping[str, str] | None = None,
        texts: Mapping[str, object] | None = None,
        *,
        only: Collection[str] | None = None,
    ) -> str:
        """A header of `kernels/functions`, with `numbers` as literals of this type and `texts` as they are.

        Of all these, and of what there is of the type itself, those macros that the header takes.
        """
        literals = {name: self._literal(number) for name, number in (numbers or {}).items()}
        given: dict[str, object] = {**self._own(), **literals, **(texts or {})}
        name = f"{FOLDER}/{header}"
        takes = dict(kernel(name).takes)
        macros = {macro: value for macro, value in given.items() if macro in takes}
        return kernel_text(name, self.suffix, macros, only=only)

    def _own(self) -> dict[str, object]:
        """What the headers say of a type."""
        integer = f"uint{self.size}_t"
        return {
            "DOUBLE": int(self.size == 64),
            "U": integer,
            "I": integer[1:],
            "MANTISSA": self.mantissa,
            "LAST": self.size - 1,
            "ONE": f"(({integer}){self.bias} << {self.mantissa})",
            "BIAS": f"{self.bias}.0{self.tail}",
            "MAGIC": f"0x1.8p+{self.mantissa}{self.tail}",
            "TINY": f"0x1p-{self.bias - 1}{self.tail}",
        }

    def _literal(self, number: str) -> str:
        return f"({number}{self.tail})" if number.startswith("-") else number + self.tail


SINGLE = Kind("f32", "float", "f", 32, 23, 127)
WIDE = Kind("f64", "double", "", 64, 52, 1023)
KINDS = (SINGLE, WIDE)
