"""Elements of vectors by the suffix of their type: what they are in C, how large, and functions of them."""

from __future__ import annotations

C_TYPES = {"f32": "float", "f64": "double"}
INTEGERS = {"f32": "int", "f64": "long long"}  # as large as an element, for masks and places of lanes
ELEMENT_BYTES = {"f32": 4, "f64": 8}
# The elementary functions that programs have C of their own for, see `polymat.codegen.functions`.
FUNCTIONS = frozenset(
    (
        *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "hypot"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid"),
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "pow", "cbrt", "erf"),
    )
)
