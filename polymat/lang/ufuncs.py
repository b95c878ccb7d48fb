"""NumPy's functions on polymat's expressions: a NumPy scalar on the left works, the rest is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from polymat.errors import LangError, caller_location

_REFLECTED = {
    "add": "__radd__",
    "subtract": "__rsub__",
    "multiply": "__rmul__",
    "divide": "__rtruediv__",
    "true_divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__",
    "remainder": "__rmod__",
    "power": "__rpow__",
    "bitwise_and": "__rand__",
    "bitwise_or": "__ror__",
    "bitwise_xor": "__rxor__",
    "left_shift": "__rlshift__",
    "right_shift": "__rrshift__",
    "matmul": "__rmatmul__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "greater": "__lt__",
    "greater_equal": "__le__",
    "equal": "__eq__",
    "not_equal": "__ne__",
}
# NumPy's names of what Python has operators for, and of what polymat has functions for.
ARITHMETIC = {
    "add": "+",
    "subtract": "-",
    "divide": "/",
    "true_divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "power": "**",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "left_shift": "<<",
    "right_shift": ">>",
}
COMPARED = {
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
    "equal": "==",
    "not_equal": "!=",
}
FUNCTIONS = {
    "arcsin": "Asin",
    "arccos": "Acos",
    "arctan": "Atan",
    "arctan2": "Atan2",
    "arcsinh": "Asinh",
    "arccosh": "Acosh",
    "arctanh": "Atanh",
    "rint": "Round",
    "isnan": "IsNaN",
    "absolute": "Abs",
    "fabs": "Abs",
    "conjugate": "Conj",
    "maximum": "Max",
    "minimum": "Min",
    "float_power": "Pow",
    **{
        name: name.capitalize()
        for name in (
            *("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "floor", "ceil", "sign"),
            *("exp2", "expm1", "log1p", "log2", "log10", "cbrt", "hypot"),
        )
    },
}
_OPERATORS = {**ARITHMETIC, "multiply": "*", "matmul": "@"}
# What comes next to others: fmax passes over NaN, clip takes what is None, round takes places.
_NEAR = {
    **FUNCTIONS,
    **{"clip": "Clamp", "fmax": "Max", "fmin": "Min", "negative": "-"},
    **{"real": "Real", "imag": "Imag", "round": "Round", "around": "Round"},
}


def apply_ufunc(
    operand: Any, ufunc: Any, method: str, inputs: tuple[Any, ...], written: Callable[[object], str]
) -> Any:
    """Let `operand` compute `scalar op operand`; refuse all else, with the function that polymat has."""
    name = ufunc.__name__
    if any(hasattr(value, "algebra") for value in inputs):
        return NotImplemented  # whole arrays decide
    if method == "__call__" and len(inputs) == 2 and inputs[1] is operand and inputs[0] is not operand:
        reflected = getattr(operand, _REFLECTED.get(name, ""), None)
        found = NotImplemented if reflected is None else reflected(inputs[0])
        if found is not NotImplemented:
            return found
    called = name if method == "__call__" else f"{name}.{method}"
    raise _undefined(name, called, [f"{written(value):.60}" for value in inputs])


def refuse_function(function: Any, types: Iterable[type], arguments: tuple[Any, ...]) -> Any:
    """Refuse a function that takes an operand for an array of objects: the imaginary part of such is 0."""
    if any(hasattr(each, "algebra") for each in types):
        return NotImplemented  # whole arrays decide
    called = f"{function.__module__}.{function.__name__}".removeprefix("numpy.")
    raise _undefined(function.__name__, called, [f"{value!s:.60}" for value in arguments])


def _undefined(name: str, called: str, arguments: Sequence[str]) -> LangError:
    return LangError(
        f"np.{called} is not defined on polymat's expressions, got {', '.join(arguments)}",
        at=caller_location(),
        hint=_instead(name, arguments),
    )


def _instead(name: str, arguments: Sequence[str]) -> str:
    if name in _OPERATORS:
        return f"write {f' {_OPERATORS[name]} '.join(arguments)} in a definition"
    if name in ("equal", "not_equal"):
        compared = f', "{COMPARED[name]}", '.join(arguments)
        return f"Condition({compared}) in a Case or a Select"
    if name in _NEAR:
        return f"write {_NEAR[name]}({', '.join(arguments)}) in a definition"
    return "write it with polymat's own functions, in a definition"
