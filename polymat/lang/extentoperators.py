"""What users may do with an extent, `A.shape[0]`: arithmetic, and all of an integer where it is a number."""

from __future__ import annotations

import operator
from typing import Any

from polymat.lang import later


class ExtentOperators:
    """Operators of affine forms that give values, and words for those that a size has not."""

    __slots__ = ()

    def _value(self, op: str, other: Any, reflected: bool = False) -> Any:
        return later.value_of_sizes(op, *((other, self) if reflected else (self, other)))

    def __truediv__(self, other: Any) -> Any:
        return self._value("/", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._value("/", other, True)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._value("//", other, True)

    def __mod__(self, other: Any) -> Any:
        return self._value("%", other)

    def __rmod__(self, other: Any) -> Any:
        return self._value("%", other, True)

    def __pow__(self, other: Any) -> Any:
        return self._value("**", other)

    def __rpow__(self, other: Any) -> Any:
        return self._value("**", other, True)

    def _compared(self: Any, op: str, other: Any) -> Any:
        """Whether it holds, where forms alone tell; else a condition."""
        return later.compared_extents(op, self, other)

    def __index__(self) -> int:
        """The number that it is; what is not known before a call is refused as that of any expression is."""
        return operator.index(_number(self))

    def __lt__(self, other: Any) -> Any:
        return self._compared("<", other)

    def __le__(self, other: Any) -> Any:
        return self._compared("<=", other)

    def __gt__(self, other: Any) -> Any:
        return self._compared(">", other)

    def __ge__(self, other: Any) -> Any:
        return self._compared(">=", other)


def _number(extent: Any) -> Any:
    """An extent as a number where it is one, else as an expression."""
    return extent.const if extent.is_constant else later.extent_expression(extent)
