"""The tree printed: C reads every expression as it was put together."""

from __future__ import annotations

import ctypes
import operator
import random
from collections.abc import Callable
from pathlib import Path

from polymat.codegen.c.ctree import (
    Assign,
    Cast,
    CBinary,
    CCall,
    CExpr,
    CFunction,
    CParameter,
    CUnary,
    File,
    For,
    Id,
    If,
    Literal,
    Return,
    Ternary,
)
from polymat.codegen.c.render import LINE_WIDTH, expression, prototype, unit
from polymat.runtime.toolchain import compile_shared, find_compiler

COUNT = 300
VALUES: dict[str, Callable[[int, int], int]] = {
    **{"+": operator.add, "-": operator.sub, "*": operator.mul},
    **{"|": operator.or_, "^": operator.xor, "&": operator.and_},
    **{"<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt},
    **{"&&": lambda a, b: bool(a) and bool(b), "||": lambda a, b: bool(a) or bool(b)},
}
SIGNS: dict[str, Callable[[int], int]] = {"-": operator.neg, "~": operator.invert, "!": operator.not_}


def grown(rng: random.Random, depth: int) -> tuple[CExpr, int]:
    """An expression, and the value that it was put together to have."""
    form = rng.choice(("number", "sign", "cast", "choice", *["pair"] * 6)) if depth else "number"
    if form == "number":
        value = rng.randint(-4, 4)
        return Literal(f"{value}L"), value
    inner, value = grown(rng, depth - 1)
    if form == "sign":
        sign = rng.choice(list(SIGNS))
        return CUnary(sign, inner), int(SIGNS[sign](value))
    if form == "cast":
        return Cast("int64_t", inner), value
    right, other = grown(rng, depth - 1)
    if form == "choice":
        last, third = grown(rng, depth - 1)
        return Ternary(inner, right, last), other if value else third
    op = rng.choice(list(VALUES))
    return CBinary(op, inner, right), int(VALUES[op](value, other))


def test_random_expressions_have_their_values(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    trees = [grown(rng, rng.randint(1, 5)) for _ in range(COUNT)]
    texts = [expression(Cast("int64_t", tree)) for tree, _ in trees]
    joined = ",\n".join(texts)
    source = f"#include <stdint.h>\nint64_t values[] = {{\n{joined}\n}};\n"
    compile_shared(source, tmp_path / "values.so", find_compiler(), ("-O0", "-shared", "-fPIC", "-w"))
    library = ctypes.CDLL(str(tmp_path / "values.so"))
    found = (ctypes.c_int64 * COUNT).in_dll(library, "values")
    results = zip(texts, found, [value for _, value in trees], strict=True)
    assert not [(text, got, value) for text, got, value in results if got != value]


def test_parentheses_stand_where_they_change_the_meaning() -> None:
    a, b, c = Id("a"), Id("b"), Id("c")
    assert expression(CBinary("-", a, CBinary("-", b, c))) == "a - (b - c)"
    assert expression(CBinary("-", CBinary("-", a, b), c)) == "a - b - c"
    assert expression(CBinary("*", CBinary("+", a, b), c)) == "(a + b) * c"
    assert expression(CUnary("-", CUnary("-", a))) == "-(-a)"  # which would count down
    assert expression(CUnary("-", Literal("-3"))) == "-(-3)"
    assert expression(CBinary("||", CBinary("&&", a, b), c)) == "(a && b) || c"  # what gcc warns of
    assert expression(CCall("f", (Ternary(a, b, c), Literal("-1")))) == "f(a ? b : c, -1)"


def test_a_chain_of_thousands_needs_no_stack() -> None:
    total: CExpr = Id("x")
    for _ in range(5000):
        total = CBinary("+", total, Id("x"))
    assert expression(total).count("+") == 5000


def test_statements_and_long_lines() -> None:
    added = Assign(Id("x"), "+=", Id("i"))
    body = (
        For("i", Literal("9"), CBinary(">=", Id("i"), Literal("0")), Literal("-3"), (added,)),
        If(Id("x"), (Return(Id("x")),), (Return(Literal("1")),)),
    )
    many = tuple(CParameter("const double *restrict", f"argument_{number}") for number in range(12))
    function = CFunction("int", "f", many, body, "a comment that would */ end")
    text = unit(File("head", frozenset(), (), (function,), declared=(function,)), "")
    assert max(map(len, text.splitlines())) <= LINE_WIDTH
    assert "    for (ptrdiff_t i = 9; i >= 0; i -= 3) {\n        x += i;\n    }\n" in text
    assert "    if (x) {\n        return x;\n    } else {\n        return 1;\n    }\n" in text
    assert "/* a comment that would * / end */" in text
    assert prototype(CFunction("void", "g", (), ())) == "static void g(void)"
    hidden = prototype(CFunction("int", "g", (CParameter("double *", "M_PIf"),), (), static=False), {"M_PIf"})
    assert hidden == "int g(double * /* M_PIf */)"
