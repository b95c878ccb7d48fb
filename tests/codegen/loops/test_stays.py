"""Copies to where elements lie already are left out, at the call, and nothing else is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Vector
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    CBinary,
    CCall,
    CExpr,
    Declare,
    Evaluate,
    For,
    Id,
    If,
    Literal,
    Stmt,
    Subscript,
)
from polymat.codegen.loops.stays import unless_in_place
from polymat.machine.known import GENERIC
from tests.hosts import compiling_for

INDEX, ZERO, ONE = Id("i"), Literal("0"), Literal("1")
PAIRS = {("x", "y")}
SMALL = replace(GENERIC, vector_bits=512, vector_registers=32, l3_bytes=64)  # everything is too large for it


def at(array: str, index: CExpr = INDEX) -> Subscript:
    return Subscript(Id(array), index)


def loop(*body: Stmt) -> For:
    return For("i", ZERO, CBinary("<", INDEX, Id("n")), ONE, body)


COPY = Assign(at("y"), "=", at("x"))
HINT = Evaluate(CCall("__builtin_prefetch", (at("x"),)))
BEGIN = Declare("const ptrdiff_t", "begin", ZERO)


SOME = CBinary("<", ZERO, Id("n"))


@pytest.mark.parametrize(
    "body",
    [loop(COPY), Block((BEGIN, loop(HINT, COPY))), loop(loop(COPY), COPY), If(SOME, (loop(COPY),))],
)
def test_copies_to_the_same_place_depend_on_where_arrays_are(body: Stmt) -> None:
    assert unless_in_place((BEGIN, body), PAIRS) == (BEGIN, If(CBinary("!=", Id("y"), Id("x")), (body,)))


def test_neighbours_are_asked_for_once() -> None:
    other = loop(Assign(at("y"), "=", ZERO))
    asked = If(CBinary("!=", Id("y"), Id("x")), (loop(COPY), loop(COPY)))
    assert unless_in_place((loop(COPY), loop(COPY), other), PAIRS) == (asked, other)


@pytest.mark.parametrize(
    "body",
    [
        loop(Assign(at("y"), "=", at("x", CBinary("+", INDEX, ONE)))),
        loop(Assign(at("y"), "+=", at("x"))),
        loop(Assign(at("y"), "=", CBinary("*", at("x"), ONE))),
        loop(Assign(at("x"), "=", at("y"))),
        loop(Assign(at("y"), "=", at("z"))),
        loop(COPY, Assign(at("z"), "=", at("x"))),
        loop(COPY, Evaluate(CCall("_pm_store", (at("y"), at("x"))))),
        If(SOME, (loop(COPY),), (loop(Assign(at("y"), "=", ZERO)),)),
        If(SOME, (loop(Assign(at("y"), "=", ZERO)),)),
        loop(),
        COPY,
    ],
)
def test_all_else_stays(body: Stmt) -> None:
    assert unless_in_place((body,), PAIRS) == (body,)
    assert unless_in_place((loop(COPY),), ()) == (loop(COPY),)


def test_what_a_step_leaves_alone_is_there_afterwards() -> None:
    """The result over the input, beside it, and of so many steps that states take turns."""
    T, N = (pm.Parameter(Int, name) for name in "TN")
    t, i = pm.Variable(Int, "t"), pm.Variable(Int, "i")
    x = Vector(Double, "x", [N])
    u = Function(([t, i], [Interval(Int, 0, T), Interval(Int, 0, N - 1)]), Double, "u")
    first, later = Condition(t, "==", 0), Condition(t, ">=", 1)
    u.defn = [
        Case(first, x(i)),
        Case(later & Condition(i, "<", t), u(t - 1, i)),
        Case(later & Condition(i, ">=", t), u(t - 1, i) + u(t - 1, t - 1)),
    ]
    last = Function(([i], [Interval(Int, 0, N - 1)]), Double, "last")
    last.defn = [u(T, i)]
    half = Function(([i], [Interval(Int, 0, N - 1)]), Double, "half")
    half.defn = [Case(Condition(2 * i, "<", N), x(i)), Case(Condition(2 * i, ">=", N), x(i) / 2)]
    stepped, halved = pm.compile(last, name="stepped"), pm.compile(half, name="halved")
    assert "if (half != x)" in halved.source
    for size in (1, 2, 7, 64):
        given = np.random.default_rng(size).random(size)
        for steps in range(min(size, 4)):
            assert np.array_equal(stepped(given, T=steps), stepped.reference(given, T=steps))
        other, expected = given.copy(), halved.reference(given)
        assert np.array_equal(halved(given), expected)
        halved(other, out=other)
        assert np.array_equal(other, expected)


def test_rows_past_the_caches_are_left_alone_too() -> None:
    R, C = (pm.Parameter(Int, name) for name in "RC")
    i, j = pm.Variable(Int, "i"), pm.Variable(Int, "j")
    x = pm.Image(Double, "x", [R, C])
    half = Function(([i, j], [Interval(Int, 0, extent - 1) for extent in (R, C)]), Double, "half")
    half.defn = [x(i, j)]
    with compiling_for(SMALL):
        copied = pm.compile(half, name="copied")
    assert "if (half != x)" in copied.source
    assert "_pm_past" in copied.source
    given = np.random.default_rng(5).random((3, 301))
    assert np.array_equal(copied(given), given)
    other = given.copy()
    copied(other, out=other)
    assert np.array_equal(other, given)
