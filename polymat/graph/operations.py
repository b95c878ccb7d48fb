"""Operations of an expression, and what functions cost beside an addition: for fusion and for threads."""

from __future__ import annotations

from polymat.lang.expr import ANGLES, Binary, Call, Const, Expr
from polymat.lang.imaginary import imaginary_part
from polymat.lang.traverse import children, walk
from polymat.lang.types import Double, Float, Int, real_part
from polymat.memo import remembered

# Instructions of a vector: of those with code of their own, what that code is made of, by instructions
# counted in it (a division as ten, as it takes ten times as long as an addition on Zen 4 and on Ice Lake).
_OWN = {
    "acos": 55.0,
    "acosh": 60.0,
    "asin": 55.0,
    "asinh": 80.0,
    "atan": 42.0,
    "atan2": 56.0,
    "atanh": 55.0,
    "cbrt": 45.0,
    "cosh": 32.0,
    "erf": 62.0,
    "exp": 22.0,
    "exp2": 22.0,
    "expm1": 30.0,
    "hypot": 30.0,
    "log": 40.0,
    "log10": 35.0,
    "log2": 35.0,
    "log1p": 48.0,
    "pow": 100.0,
    "sin": 30.0,
    "cos": 30.0,
    "sigmoid": 40.0,
    "sinh": 34.0,
    "tan": 42.0,
    "tanh": 30.0,
}
_SIMPLE = {
    "abs": 1.0,
    "ceil": 1.0,
    "conj": 1.0,
    "floor": 1.0,
    "imag": 1.0,
    "real": 1.0,
    "round": 1.0,
    "sign": 3.0,
    "sqrt": 10.0,
}
# Of each number of a vector of VECTOR_BYTES, one after the other: by libm, 8 to 80 cycles, 30 in the mean
# (Zen 3); a complex number takes two of them.  Integers of 64 bits that are divided, 6 to 7 cycles (Zen 3;
# older processors took three times as long).  Smaller ones are a vector of float or double for each
# IN_FLOATING, a division and what is around it; by a constant all are multiplied and shifted.
ONE_AT_A_TIME = 30.0
DIVIDED = 6.0
IN_FLOATING = 20.0
REMAINDER = 24.0  # of floating-point numbers, as of `_OWN`
BY_A_CONSTANT = 10.0
VECTOR_BYTES = 32


@remembered
def expression_operations(expr: Expr) -> float:
    """Operations of an expression, each of its nodes once: one of arithmetic, what it costs of a function."""
    return sum(node_operations(node) for node in walk(expr))


def node_operations(node: Expr) -> float:
    """Operations of a node alone."""
    return function_operations(node) or float(bool(children(node)))


def operations_among(node: Expr, element_bytes: int) -> float:
    """Operations of a node alone in vectors of elements of so many bytes, which may be wider than its own.

    before:  a Bessel function in float32 in a sum of float64, one by one, counts eight of a vector
    after:   four
    """
    of_one = function_operations(node) * real_part(node.dtype).size if _is_one_by_one(node) else 0.0
    return of_one / element_bytes or node_operations(node)


def _is_one_by_one(node: Expr) -> bool:
    """Whether the numbers of a vector are computed one after the other."""
    match node:
        case Call(function):
            return function_operations(node) > 0.0 and function not in (*_OWN, *_SIMPLE)
        case Binary("//" | "%", _, right) if not isinstance(right, Const):
            return node.dtype.kind in "iu" and node.dtype.size > Int.size
    return False


def function_operations(node: Expr) -> float:
    """Operations that a node is worth, as a function; 0 where it is none."""
    match node:
        case Call("abs") if node.operand.dtype.kind == "c":
            return _OWN["hypot"]
        case Call(function) if function in _SIMPLE:
            return _SIMPLE[function]
        case Call("exp") if node.dtype.kind == "c" and imaginary_part(node.operand) is not None:
            return _OWN["cos"] + _OWN["sin"]
        case Call(function):
            if node.dtype.kind == "c" or node.operand.dtype.kind == "c":
                return 2 * _one_by_one(node, ONE_AT_A_TIME)
            return _OWN.get(function) or _one_by_one(node, ONE_AT_A_TIME)
        case Binary("**", _, Const(value)) if value in (-1, 0, 1, 2, 3, 0.5):
            return 10.0 if value in (-1, 0.5) else max(1.0, value.real - 1)
        case Binary("**"):
            return _OWN["pow"] if node.dtype.kind == "f" else _one_by_one(node, ONE_AT_A_TIME)
        case Binary("//" | "%") if node.dtype.kind == "f":
            return REMAINDER
        case Binary("//" | "%", _, Const()):
            return BY_A_CONSTANT
        case Binary("//" | "%"):
            size = node.dtype.size
            divided_as = Double.size if size == Int.size else Float.size
            return _one_by_one(node, DIVIDED) if size > Int.size else IN_FLOATING * divided_as / size
        case Binary(op) if op in ANGLES:
            return _OWN[op]
    return 0.0


def _one_by_one(node: Expr, each: float) -> float:
    """Operations of the numbers of a vector, one after the other."""
    return each * VECTOR_BYTES / real_part(node.dtype).size
