"""Points that take turns and differ in what they read at j // k alone: rows of those are spread out first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.c.ctree import Assign, CBinary, CExpr, Declare, Id, If, Literal, Subscript
from polymat.codegen.loops.dividedturns import by_turns, joined, turns_of
from polymat.machine.known import GENERIC
from tests.hosts import compiling_for
from tests.tolerance import assert_close

R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
WIDE = replace(GENERIC, vector_bits=512, vector_registers=32)
EVEN, ODD, Y, A = CBinary("==", Id("j"), Literal("0")), Id("odd"), Subscript(Id("y"), Id("j")), Id("a")


def half(name: str) -> CExpr:
    return Subscript(Id(name), Id("half"))


def is_half(value: CExpr) -> bool:
    return isinstance(value, Subscript) and value.index == Id("half")


def row(number: int) -> CExpr:
    return Id(f"t{number}")


def test_the_turns_of_a_loop() -> None:
    first, second = Assign(Y, "=", half("x")), Assign(Y, "=", half("z"))
    found = turns_of([If(EVEN, (first,), (second,))])
    assert found is not None
    assert [(turn.condition, turn.body) for turn in found] == [(EVEN, (first,)), (None, (second,))]
    (alone,) = turns_of([first]) or ()
    assert alone.condition is None
    assert turns_of([first, If(EVEN, (first,), (second,))]) is None
    assert turns_of([If(EVEN, (If(ODD, (first,), (second,)),), (second,))]) is None


def test_what_differs_is_a_row() -> None:
    first = Assign(Y, "=", CBinary("-", A, half("x")))
    second = Assign(Y, "=", CBinary("-", A, half("z")))
    turns = turns_of([If(EVEN, (first,), (second,))])
    assert turns is not None
    found = joined(turns, is_half, row)
    assert found is not None
    assert found.body == (Assign(Y, "=", CBinary("-", A, row(0))),)
    assert by_turns(found.rows, turns) == (
        If(EVEN, (Assign(row(0), "=", half("x")),), (Assign(row(0), "=", half("z")),)),
    )


def test_turns_that_differ_otherwise_are_not_joined() -> None:
    first = Assign(Y, "=", CBinary("-", A, half("x")))
    for second in (
        Assign(Y, "=", CBinary("+", A, half("z"))),
        Assign(Y, "=", CBinary("-", Id("b"), half("z"))),
        Assign(A, "=", CBinary("-", A, half("z"))),
        Assign(Y, "+=", CBinary("-", A, half("z"))),
        Declare("float", "y", CBinary("-", A, half("z"))),
    ):
        turns = turns_of([If(EVEN, (first,), (second,))])
        assert turns is not None
        assert joined(turns, is_half, row) is None


def doubled(f: Any) -> list[Any]:
    even = (f(i, j // 2 - 1) + 6 * f(i, j // 2) + f(i, j // 2 + 1)) * 0.125
    odd = (4 * f(i, (j - 1) // 2) + 4 * f(i, (j + 1) // 2)) * 0.125
    return [pm.Case(pm.Condition(j % 2, "==", k), value) for k, value in enumerate((even, odd))]


def pipeline(kind: Any, start: int) -> tuple[pm.Function, list[Any]]:
    """A part of one image, and of another one, less what coarser images of them have."""
    inputs = [pm.Image(kind, name, [R, C]) for name in ("one", "other")]
    coarse = [pm.Image(kind, f"{image.name}_coarse", [R, C // 2 + 2]) for image in inputs]
    spans = [pm.Interval(pm.Int, 1, R - 2), pm.Interval(pm.Int, start, C - 1)]
    ups = []
    for image in coarse:
        up = pm.Function(([i, j], spans), kind, f"up_{image.name}")
        up.defn = doubled(image)
        ups.append(up)
    found = pm.Function(([i, j], spans), kind, "found")
    near, far = ((image(i, j) - up(i, j)) for image, up in zip(inputs, ups, strict=True))
    found.defn = [near * 0.25 + far * inputs[0](i, j)]
    return found, [*inputs, *coarse]


@pytest.mark.covering
@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("kind", [pm.Float, pm.Double], ids=str)
@pytest.mark.parametrize("start", [2, 3])
def test_rows_of_every_length(kind: Any, start: int, *, wide: bool) -> None:
    found, inputs = pipeline(kind, start)
    with compiling_for(WIDE if wide else GENERIC):
        compiled = pm.compile(found, inputs=inputs, trim=True)
    assert "_pm_spread1" in compiled.source
    for columns in (4, 5, 17, 18, 19, 33, 64, 1022, 1025, 1026, 1027, 2051):
        rng = np.random.default_rng(columns)
        sizes = [columns, columns, columns // 2 + 2, columns // 2 + 2]
        arrays = [rng.random((4, size)).astype(kind.dtype) for size in sizes]
        assert_close(compiled(*arrays), compiled.reference(*arrays), roundings=16, magnitude=4.0)
