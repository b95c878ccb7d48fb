"""Expressions are printed as they would be written, and walked without recursion."""

from __future__ import annotations

import random
from typing import Any

import pytest

import polymat as pm
from polymat.lang.expr import Const, Expr, Load, Unary, as_expr
from polymat.lang.expressiontext import condition_text, expr_text, structure
from polymat.lang.traverse import fold, rebuild, rebuild_condition, walk

N, alpha = pm.Parameter(pm.Int, "N"), pm.Parameter(pm.Double, "alpha")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
A = pm.Matrix(pm.Double, "A", [N, N])
x = pm.Vector(pm.Float, "x", [N])
SCOPE = {name: getattr(pm, name) for name in pm.__all__} | {
    "N": N,
    "alpha": alpha,
    "i": i,
    "j": j,
    "A": A,
    "x": x,
}


@pytest.mark.parametrize(
    "text",
    [
        "A(i, j + 1) * x(i)",
        "(alpha + 1) * 2",
        "alpha - (1 - alpha)",
        "alpha - 1 - alpha",
        "alpha / (x(i) / 2)",
        "-x(i) * -x(j)",
        "(-x(i)) ** 2",
        "-x(i) ** 2",
        "x(i) ** (-2)",
        "x(i) ** (-alpha)",
        "x(i) ** alpha ** 2",
        "(x(i) ** alpha) ** 2",
        "2 ** x(i)",
        "Min(x(i), Max(x(j), 1.5)) + Sqrt(Abs(x(i)))",
        "i // 2 % 3 + N % (i + 1)",
        "(1+2j) * alpha",
        "1e+300 * alpha",
        "Cast(Long, x(i)) + Floor(x(j))",
        "x(2*i - N + 1)",
    ],
)
def test_text_reads_back_as_itself(text: str) -> None:
    assert expr_text(eval(text, {}, SCOPE)) == text


def random_expr(rng: random.Random, depth: int) -> Any:
    leaves: list[Expr] = [x(i), A(i, j), alpha, i + 0, A(i + 1, 2 * j)]
    if depth == 0:
        return rng.choice(leaves)
    left = random_expr(rng, depth - 1)
    right: Any = rng.choice([2, 3, 0.5, random_expr(rng, depth - 1)])
    match rng.randrange(8):
        case 0:
            return left + right
        case 1:
            return left - right
        case 2:
            return right * left
        case 3:
            return left / right
        case 4:
            return -left
        case 5:
            return pm.Max(left, right)
        case 6:
            return left ** (right if isinstance(right, int) else -left)
        case _:
            return pm.Sin(left)


def test_random_expressions_read_back_as_themselves(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(300):
        expr = random_expr(rng, rng.randrange(1, 5))
        again = eval(expr_text(expr), {}, SCOPE)
        assert again == expr
        assert structure(again) == structure(expr)
        assert rebuild(expr, lambda leaf: leaf) == expr


def test_conditions_and_selections_have_text() -> None:
    condition = pm.Condition(i, "<", N) & (pm.Condition(x(i), ">=", 0.5) | pm.Condition(i % 2, "==", 0))
    assert condition_text(condition) == "(i < N & (x(i) >= 0.5 | i % 2 == 0))"
    chosen = pm.Select(pm.Condition(x(i), ">", 0), x(i), -x(i))
    assert expr_text(chosen * 2) == "Select(x(i) > 0, x(i), -x(i)) * 2"


def test_rebuilding_maps_leaves_and_finds_types_anew() -> None:
    chosen = pm.Select(pm.Condition(x(i), ">", alpha), x(i) * 2, 1)

    def widen(leaf: Expr) -> Expr:
        return Load(leaf.source, leaf.indices, pm.Double) if isinstance(leaf, Load) else leaf

    assert chosen.dtype == pm.Float
    assert rebuild(chosen, widen).dtype == pm.Double
    assert expr_text(rebuild(chosen, widen)) == expr_text(chosen)
    condition = pm.Condition(i, "<", 3) & pm.Condition(x(i), ">", 0)
    assert rebuild_condition(condition, lambda leaf: leaf) == condition


def test_structure_tells_types_and_operations_apart() -> None:
    variants = [
        x(i) + 1,
        x(i) - 1,
        x(i) + 1.0,
        x(i) + 2,
        x(j) + 1,
        A(i, i) + 1,
        pm.Sin(x(i)),
        pm.Cos(x(i)),
        1 + x(i),
    ]
    variants += [
        pm.Cast(pm.Int, x(i)),
        pm.Cast(pm.Long, x(i)),
        as_expr(1),
        Const(1, pm.Int),
        x(i) + x(i),
        -x(i),
    ]
    variants += [pm.Select(pm.Condition(i, op, N), x(i), 1) for op in ("<", "<=", "==")]
    assert len({structure(v) for v in variants}) == len(variants)


def test_sums_of_thousands_of_terms_are_walked() -> None:
    total: Expr = x(i)
    for k in range(5000):
        total = total + k * x(i)
    assert expr_text(total).startswith("x(i) + 0 * x(i) + 1 * x(i)")
    assert sum(1 for _ in walk(total)) == 4 * 5000 + 1
    assert expr_text(rebuild(total, lambda leaf: leaf)) == expr_text(total)
    assert structure(total) == structure(rebuild(total, lambda leaf: leaf))
    f = pm.Function(([i], [pm.Interval(pm.Int, 0, N - 1)]), pm.Double, "f")
    f.defn = [total]


def test_shared_nodes_are_visited_once() -> None:
    total: Expr = x(i)
    for _ in range(100):
        total = total + total
    assert sum(1 for _ in walk(total)) == 101
    assert fold(total, lambda node, parts: 1 + max(parts, default=0)) == 101
    assert sum(1 for _ in walk(rebuild(total, lambda leaf: leaf))) == 101
    assert structure(total).count(";") == 100


def test_deep_negation_is_printed() -> None:
    expr: Expr = x(i)
    for _ in range(3000):
        expr = Unary("-", expr, expr.dtype)
    assert expr_text(expr) == "-" * 3000 + "x(i)"
