"""Python operators on whole functions and inputs: each makes a stage, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from polymat.errors import LangError, caller_location
from polymat.lang import later
from polymat.lang.affine import Affine
from polymat.lang.expr import Expr, as_expr
from polymat.lang.expressiontext import expr_text

if TYPE_CHECKING:
    from polymat.lang.algebra import Result
    from polymat.lang.matrix import MatrixReduction
    from polymat.lang.whole import Mask


def shown(value: object) -> str:
    """Name an operand in a message, in at most 60 characters."""
    if isinstance(value, Expr):
        text = expr_text(value)
    elif isinstance(value, Affine):
        text = str(value)
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


def _yields(left: Any, right: Any) -> bool:
    """Whether a signal's operators decide: beside it, a function is taken as one."""
    takes = getattr(right, "algebra", "") == "signal"
    return takes and (left.algebra == "" or left.rank == 0)


class WholeOperators:
    """Arithmetic on a function or an input as a whole: element by element, dimensions broadcast as NumPy's.

    A dimension that is missing, or of extent 1 by its declaration, is repeated.  Numbers, expressions without
    indices and rank-0 results meet every element.
    """

    what: str
    algebra: str

    # NumPy asks these before it takes an operand for an array of objects.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return later.apply_to_whole(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, _: Any, arguments: Any, options: Any) -> Any:
        return later.call_on_whole(function, arguments, options)

    @property
    def label(self) -> str:
        """Name for messages."""
        raise NotImplementedError

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Result:
        return NotImplemented if _yields(self, other) else later.arithmetic("+", self, other)

    def __radd__(self, other: Any) -> Result:
        return later.arithmetic("+", other, self)

    def __sub__(self, other: Any) -> Result:
        return NotImplemented if _yields(self, other) else later.arithmetic("-", self, other)

    def __rsub__(self, other: Any) -> Result:
        return later.arithmetic("-", other, self)

    def __mul__(self, other: Any) -> Result:
        return NotImplemented if _yields(self, other) else later.times(self, other)

    def __rmul__(self, other: Any) -> Result:
        return later.times(other, self)

    def __matmul__(self, other: Any) -> MatrixReduction:
        return later.matmul(self, other)

    def __rmatmul__(self, other: Any) -> MatrixReduction:
        return later.matmul(other, self)

    def __truediv__(self, other: Any) -> Result:
        return NotImplemented if _yields(self, other) else later.arithmetic("/", self, other)

    def __rtruediv__(self, other: Any) -> Result:
        return later.arithmetic("/", other, self)

    def __floordiv__(self, other: Any) -> Result:
        return later.arithmetic("//", self, other)

    def __rfloordiv__(self, other: Any) -> Result:
        return later.arithmetic("//", other, self)

    def __mod__(self, other: Any) -> Result:
        return later.arithmetic("%", self, other)

    def __rmod__(self, other: Any) -> Result:
        return later.arithmetic("%", other, self)

    def __pow__(self, other: Any) -> Result:
        return later.arithmetic("**", self, other)

    def __rpow__(self, other: Any) -> Result:
        return later.arithmetic("**", other, self)

    def __and__(self, other: Any) -> Result:
        return later.arithmetic("&", self, other)

    def __rand__(self, other: Any) -> Result:
        return later.arithmetic("&", other, self)

    def __or__(self, other: Any) -> Result:
        return later.arithmetic("|", self, other)

    def __ror__(self, other: Any) -> Result:
        return later.arithmetic("|", other, self)

    def __xor__(self, other: Any) -> Result:
        return later.arithmetic("^", self, other)

    def __rxor__(self, other: Any) -> Result:
        return later.arithmetic("^", other, self)

    def __lshift__(self, other: Any) -> Result:
        return later.arithmetic("<<", self, other)

    def __rlshift__(self, other: Any) -> Result:
        return later.arithmetic("<<", other, self)

    def __rshift__(self, other: Any) -> Result:
        return later.arithmetic(">>", self, other)

    def __rrshift__(self, other: Any) -> Result:
        return later.arithmetic(">>", other, self)

    def __neg__(self: Any) -> Result:
        return later.negated(self)

    def __invert__(self: Any) -> Result:
        return later.inverted(self)

    def __pos__(self: Any) -> Any:
        return self

    def __abs__(self: Any) -> Result:
        return later.absolute(self)

    def __lt__(self, other: Any) -> Mask:
        return later.compared("<", self, other)

    def __le__(self, other: Any) -> Mask:
        return later.compared("<=", self, other)

    def __gt__(self, other: Any) -> Mask:
        return later.compared(">", self, other)

    def __ge__(self, other: Any) -> Mask:
        return later.compared(">=", self, other)

    def __eq__(self: Any, other: object) -> Any:
        return later.equality("==", self, other)

    def __ne__(self: Any, other: object) -> Any:
        return later.equality("!=", self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise LangError(
            f"{self.label} has no truth value while the pipeline is being described",
            at=caller_location(),
            hint="pm.where(condition, A, B) chooses element by element; combine conditions with & and |",
        )

    def __float__(self) -> NoReturn:
        raise _no_value(self, "float")

    def __int__(self) -> NoReturn:
        raise _no_value(self, "int")

    def __complex__(self) -> NoReturn:
        raise _no_value(self, "complex")

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise LangError(
            f"{self.label} is what it was described as: nothing is assigned to its parts",
            at=caller_location(),
            hint=f"pm.where(condition, value, {self.label}), or a Function with a Case for each part",
        )

    def __iter__(self) -> NoReturn:
        raise LangError(
            f"{self.label} cannot be iterated over", at=caller_location(), hint=f"index it: {indexed(self)}"
        )


def _no_value(source: WholeOperators, wanted: str) -> LangError:
    return LangError(
        f"{wanted}() of {source.label}, which has no value while the pipeline is being described",
        at=caller_location(),
        hint=f"compile it, and take {wanted}() of what a call returns; pm.Exp and others for those of math",
    )
