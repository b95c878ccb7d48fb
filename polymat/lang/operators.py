"""Python operators on whole functions: refused with a hint, unless a matrix, vector or signal takes part."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from polymat.errors import LangError, caller_location
from polymat.lang.expr import Expr, as_expr, is_algebra
from polymat.lang.text import expr_text
from polymat.lang.ufuncs import apply_ufunc


def shown(value: object) -> str:
    """Name an operand in a message, in at most 60 characters."""
    if isinstance(value, Expr):
        text = expr_text(value)
    elif is_number(value):
        text = expr_text(as_expr(value))
    else:
        label = getattr(value, "label", None)
        text = label if isinstance(label, str) and label else f"{type(value).__name__} {value!r:.40}"
        text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def is_number(value: object) -> bool:
    """Say whether a value is a Python or NumPy number; truth values are not."""
    return isinstance(value, int | float | complex | np.number) and not isinstance(value, bool)


def indexed(value: object) -> str:
    """The operand as it could stand in a definition: `f(i, j)`."""
    if isinstance(value, WholeOperators):
        return f"{value.label}({', '.join('ijklmnop'[: value.rank])})"
    return shown(value) if isinstance(value, Expr) or is_number(value) else "..."


class WholeOperators:
    """Arithmetic on a function as a whole; only matrices, vectors and signals have any."""

    what: str

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> Any:
        return apply_ufunc(self, ufunc, method, inputs, indexed)

    @property
    def label(self) -> str:
        """Name for messages."""
        raise NotImplementedError

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return _refuse(self, "+", other)

    def __radd__(self, other: Any) -> Any:
        return _refuse_reflected(self, "+", other)

    def __sub__(self, other: Any) -> Any:
        return _refuse(self, "-", other)

    def __rsub__(self, other: Any) -> Any:
        return _refuse_reflected(self, "-", other)

    def __mul__(self, other: Any) -> Any:
        return _refuse(self, "*", other)

    def __rmul__(self, other: Any) -> Any:
        return _refuse_reflected(self, "*", other)

    def __matmul__(self, other: Any) -> Any:
        return _refuse(self, "@", other)

    def __rmatmul__(self, other: Any) -> Any:
        return _refuse_reflected(self, "@", other)

    def __truediv__(self, other: Any) -> Any:
        return _refuse(self, "/", other)

    def __rtruediv__(self, other: Any) -> Any:
        return _refuse_reflected(self, "/", other)

    def __floordiv__(self, other: Any) -> Any:
        return _refuse(self, "//", other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _refuse_reflected(self, "//", other)

    def __mod__(self, other: Any) -> Any:
        return _refuse(self, "%", other)

    def __rmod__(self, other: Any) -> Any:
        return _refuse_reflected(self, "%", other)

    def __pow__(self, other: Any) -> Any:
        return _refuse(self, "**", other)

    def __rpow__(self, other: Any) -> Any:
        return _refuse_reflected(self, "**", other)

    def __neg__(self) -> Any:
        raise _unary(self, f"-{self.label}", f"-{indexed(self)}")

    def __pos__(self) -> Any:
        raise _unary(self, f"+{self.label}", indexed(self))

    def __abs__(self) -> Any:
        raise _unary(self, f"abs({self.label})", f"Abs({indexed(self)})")

    def __lt__(self, other: object) -> Any:
        raise _comparison(self, "<", other)

    def __le__(self, other: object) -> Any:
        raise _comparison(self, "<=", other)

    def __gt__(self, other: object) -> Any:
        raise _comparison(self, ">", other)

    def __ge__(self, other: object) -> Any:
        raise _comparison(self, ">=", other)

    def __getitem__(self, index: object) -> Any:
        raise LangError(
            f"{self.label} is read with parentheses, not brackets",
            at=caller_location(),
            hint=f"{indexed(self)} in a definition",
        )

    def __bool__(self) -> bool:
        raise LangError(f"{self.label} has no truth value", at=caller_location())

    def __iter__(self) -> Any:
        raise LangError(
            f"{self.label} cannot be iterated over", at=caller_location(), hint=f"index it: {indexed(self)}"
        )


def _refuse(left: WholeOperators, op: str, right: object) -> Any:
    if is_algebra(right) and not is_algebra(left):
        return NotImplemented
    raise _refusal(left, op, left, right)


def _refuse_reflected(right: WholeOperators, op: str, left: object) -> NoReturn:
    raise _refusal(right, op, left, right)


def _refusal(whole: WholeOperators, op: str, left: object, right: object) -> LangError:
    return LangError(
        f"{shown(left)} {op} {shown(right)}: {op} is not defined on a whole {whole.what}",
        at=caller_location(),
        hint=f"index it, in a definition: {indexed(left)} {op} {indexed(right)}",
    )


def _unary(operand: WholeOperators, text: str, instead: str) -> LangError:
    return LangError(
        f"{text}: not defined on a whole {operand.what}",
        at=caller_location(),
        hint=f"index it, in a definition: {instead}",
    )


def _comparison(left: WholeOperators, op: str, right: object) -> LangError:
    return LangError(
        f"{shown(left)} {op} {shown(right)}: {op} does not compare a whole {left.what}",
        at=caller_location(),
        hint=f'Condition({indexed(left)}, "{op}", {indexed(right)})',
    )
