"""Conditions of products of names: the same in Python and in C."""

from __future__ import annotations

import ctypes
import itertools

from polymat.product.inequality import Inequality, all_hold, any_holds, any_in_c, in_c
from polymat.runtime.build import build

CONDITIONS = [
    (Inequality(("a",), "<", (2,)),),
    (Inequality((2, "a"), "<=", ("b", "b")), Inequality(("b",), ">", (1,))),
    (Inequality(("a", "b"), ">=", (3, "b")),),
]


def test_python_and_c_agree() -> None:
    cases = "".join(
        f"    if (which == {at})\n        return {in_c(each)};\n" for at, each in enumerate(CONDITIONS)
    )
    built = build(f"int ask(int which, double a, double b)\n{{\n{cases}return -1;\n}}\n")
    ask = ctypes.CDLL(str(built.path)).ask
    built.release()
    ask.argtypes = (ctypes.c_int, ctypes.c_double, ctypes.c_double)
    seen = set()
    for (at, each), a, b in itertools.product(enumerate(CONDITIONS), (0, 1, 2, 3, 4.5), (0, 1, 1.5, 2, 3)):
        assert ask(at, a, b) == all_hold(each, {"a": a, "b": b}), (str(each), a, b)
        seen.add((at, ask(at, a, b)))
    assert len(seen) == 2 * len(CONDITIONS)


def test_alternatives_agree() -> None:
    either = (CONDITIONS[0][0], CONDITIONS[2][0])
    built = build(
        f"int ask(double a, double b)\n{{\n    return {any_in_c(*((one,) for one in either))};\n}}\n"
    )
    ask = ctypes.CDLL(str(built.path)).ask
    built.release()
    ask.argtypes = (ctypes.c_double, ctypes.c_double)
    found = [
        (ask(a, b), any_holds(either, {"a": a, "b": b})) for a, b in itertools.product((0, 1, 2, 3), repeat=2)
    ]
    assert set(found) == {(0, False), (1, True)}
