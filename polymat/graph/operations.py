"""Operations of an expression, and what functions cost beside an addition: for fusion and for threads."""

from __future__ import annotations

from polymat.lang.expr import ANGLES, Binary, Call, Const, Expr
from polymat.lang.traverse import children, walk

# Operations of a vectorised loop: of those with code of their own, what that code is made of, by instructions
# counted in it (a division as ten, as it takes ten times as long as an addition on Zen 4 and on Ice Lake).
_OWN = {
    "exp": 25.0,
    "exp2": 25.0,
    "expm1": 30.0,
    "hypot": 30.0,
    "log": 40.0,
    "log10": 40.0,
    "log2": 40.0,
    "pow": 100.0,
    "sin": 30.0,
    "cos": 30.0,
    "sigmoid": 40.0,
    "tanh": 40.0,
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
# One number at a time, by libm: 5 to 15 ns, as long as a vector of eight numbers takes for some twenty to
# sixty operations.
ONE_AT_A_TIME = 300.0


def expression_operations(expr: Expr) -> float:
    """Operations of an expression, each of its nodes once: one of arithmetic, what it costs of a function."""
    return sum(function_operations(node) or float(bool(children(node))) for node in walk(expr))


def function_operations(node: Expr) -> float:
    """Operations that a node is worth, as a function; 0 where it is none."""
    match node:
        case Call("abs") if node.operand.dtype.kind == "c":
            return _OWN["hypot"]
        case Call(function):
            own = node.dtype.kind != "c" and node.operand.dtype.kind != "c"
            return _SIMPLE.get(function) or (_OWN.get(function, ONE_AT_A_TIME) if own else ONE_AT_A_TIME)
        case Binary("**", _, Const(value)) if value in (-1, 0, 1, 2, 0.5):
            return 10.0 if value in (-1, 0.5) else 1.0
        case Binary("**"):
            return _OWN["pow"] if node.dtype.kind == "f" else ONE_AT_A_TIME
        case Binary("//" | "%") if node.dtype.kind == "f":  # by the remainder, which libm's fmod computes
            return ONE_AT_A_TIME
        case Binary(op) if op in ANGLES:
            return _OWN.get(op, ONE_AT_A_TIME)
    return 0.0
