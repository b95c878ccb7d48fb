"""Rows of small integers computed in floating point, several a word: the same numbers as one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.codegen.c.ctree import (
    Assign,
    Block,
    Cast,
    CBinary,
    CExpr,
    Declare,
    For,
    Id,
    Literal,
    Stmt,
    Subscript,
    Ternary,
    always_evaluated,
)
from polymat.codegen.c.vectorloops import VECTORS
from polymat.codegen.loops.wordrows import with_words
from polymat.lang.types import ScalarType

N, R, C = (pm.Parameter(pm.Int, name) for name in "NRC")
i, x, y = (pm.Variable(pm.Int, name) for name in "ixy")
ARRAYS = {"a": pm.UChar, "b": pm.Int8, "out": pm.UChar}
SMALL = [pm.UChar, pm.Int8, pm.UInt16, pm.Short]
WORDS = "_pm_word_load(&"
J = Id("j")


def at(array: str, index: CExpr = J) -> Subscript:
    return Subscript(Id(array), index)


def loop(value: CExpr, *, target: CExpr | None = None, before: tuple[Stmt, ...] = ()) -> For:
    assigned = Assign(at("out") if target is None else target, "=", Cast("uint8_t", value))
    inside = CBinary("<", J, Id("n"))
    return For("j", Literal("0"), inside, Literal("1"), (*before, assigned), (VECTORS,))


def row(value: Any, dtype: ScalarType, name: str = "found", *, first: int = 0, past: int = 0) -> pm.Function:
    found = pm.Function(([i], [pm.Interval(pm.Int, first, N - 1 - past)]), dtype, name)
    found.defn = [pm.Cast(dtype, value)]
    return found


def assert_as_reference(compiled: pm.Compiled, *arrays: Any) -> None:
    np.testing.assert_array_equal(compiled(*arrays), compiled.reference(*arrays))


def numbers(dtype: ScalarType, *shape: int) -> Any:
    bounds = np.iinfo(dtype.dtype)
    return np.random.default_rng(shape).integers(bounds.min, bounds.max, shape, dtype.dtype, endpoint=True)


@pytest.mark.parametrize(
    "changed",
    [
        loop(Cast("float", at("b"))),
        loop(Cast("float", at("b")), before=(Declare("const float", "_pm_t0", Cast("float", at("a"))),)),
        loop(at("table", at("a"))),
        loop(Ternary(CBinary("<", at("a"), Id("limit")), Cast("float", at("a")), Literal("0.0f"))),
    ],
)
def test_elements_become_words(changed: For) -> None:
    (made,) = with_words([changed], ARRAYS)
    assert isinstance(made, Block)
    assert "_pm_word_load" in str(made)


@pytest.mark.parametrize(
    "value",
    [
        Cast("float", J),
        CBinary("*", Cast("float", at("a")), Cast("float", J)),
        Cast("float", at("unknown")),
        Cast("float", at("a", CBinary("*", Literal("3"), J))),
        Cast("float", at("a", Literal("3"))),
        Ternary(CBinary("<", at("a"), Id("limit")), Cast("float", at("b")), Literal("0.0f")),
        Ternary(CBinary("&&", Id("condition"), at("b")), Cast("float", at("a")), Literal("0.0f")),
    ],
)
def test_others_stay(value: CExpr) -> None:
    assert with_words([loop(value)], ARRAYS) == (loop(value),)


def test_results_at_other_places_stay() -> None:
    apart = loop(Cast("float", at("a")), target=at("out", CBinary("*", Literal("2"), J)))
    assert with_words([apart], ARRAYS) == (apart,)
    plain = For("j", apart.start, apart.condition, apart.step, (Assign(at("out"), "=", at("a")),), (VECTORS,))
    assert with_words([plain], ARRAYS) == (plain,)


def test_what_is_always_evaluated() -> None:
    choice = Ternary(Id("c"), Id("t"), Id("o"))
    both = CBinary("&&", Id("l"), Id("r"))
    either = CBinary("||", both, Id("s"))
    statements = [Assign(Id("z"), "=", CBinary("+", choice, either))]
    found = {expr.name for expr in always_evaluated(statements) if isinstance(expr, Id)}
    assert found == {"z", "c", "l"}


@pytest.mark.parametrize(
    ("source", "target", "arithmetic"),
    [
        *((dtype, dtype, pm.Float) for dtype in SMALL),
        *((dtype, dtype, pm.Double) for dtype in SMALL),
        (pm.UChar, pm.Int8, pm.Float),
        (pm.Int8, pm.UChar, pm.Double),
        (pm.UInt16, pm.Short, pm.Double),
        (pm.Short, pm.UInt16, pm.Float),
    ],
)
def test_every_value_of_every_type(source: ScalarType, target: ScalarType, arithmetic: ScalarType) -> None:
    bounds = np.iinfo(target.dtype)
    a = pm.Vector(source, "a", [N])
    value = pm.Cast(arithmetic, a(i)) * 1.75 - 31  # exact, fused or not
    clamped = pm.Clamp(value, float(bounds.min), float(bounds.max))
    compiled = pm.compile(row(clamped, target), name=f"to_{target.suffix}_{source.suffix}")
    assert compiled.source.count(WORDS) == 1
    limits = np.iinfo(source.dtype)
    every = np.arange(limits.min, limits.max + 1).astype(source.dtype)
    for length in (*range(10), 31, 67, every.size):
        assert_as_reference(compiled, every[every.size - length :])


@pytest.mark.parametrize("target", SMALL)
def test_conversions_without_bounds(target: ScalarType) -> None:
    a = pm.Vector(target, "a", [N])
    compiled = pm.compile(row(pm.Round(pm.Cast(pm.Float, a(i)) * 0.8), target), name=f"r_{target.suffix}")
    assert WORDS in compiled.source
    assert_as_reference(compiled, numbers(target, 1001))


@pytest.mark.covering
@pytest.mark.parametrize("arithmetic", [pm.Float, pm.Double])
@pytest.mark.parametrize("target", SMALL)
def test_special_values_are_those_of_single_elements(target: ScalarType, arithmetic: ScalarType) -> None:
    """Words, rows of one element, which is none, and the definition agree on infinities and NaN."""
    bounds = np.iinfo(target.dtype)
    a = pm.Vector(target, "a", [N])
    value = pm.Cast(arithmetic, a(i))
    spoiled = pm.Clamp((value - 3) / ((value - 3) * (value - 5)), float(bounds.min), float(bounds.max))
    compiled = pm.compile(row(spoiled, target), name=f"special_{target.suffix}_{arithmetic.suffix}")
    assert WORDS in compiled.source
    given = np.tile(np.array([3, 5, 3, 3, 5, 4, 7, 3, 5], target.dtype), 5)
    one_by_one = np.concatenate([compiled(given[k : k + 1].copy()) for k in range(given.size)])
    np.testing.assert_array_equal(compiled(given), one_by_one)
    finite = given != 3
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(compiled(given)[finite], compiled.reference(given)[finite])


def test_values_that_are_used_twice() -> None:
    a = pm.Vector(pm.UChar, "a", [N])
    root = pm.Sqrt(pm.Cast(pm.Float, a(i)) + 1)
    compiled = pm.compile(row(root * root * 0.3 + pm.Exp(-root) + root, pm.UChar), name="twice")
    assert "_pm_t0_3 = " in compiled.source
    assert_as_reference(compiled, numbers(pm.UChar, 259))


def test_words_whose_first_element_is_the_highest_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.byteorder", "big")
    a = pm.Vector(pm.UChar, "a", [N])
    compiled = pm.compile(row(pm.Cast(pm.Float, a(i)) * 0.5, pm.UChar), name="highest")
    assert WORDS not in compiled.source


def test_choices_among_values() -> None:
    a = pm.Vector(pm.UInt16, "a", [N])
    value = pm.Cast(pm.Float, a(i)) * 0.25
    chosen = pm.Select(pm.Condition(value, ">", 100.0), value, value * value)
    compiled = pm.compile(row(chosen, pm.UInt16), name="choices")
    assert WORDS in compiled.source
    assert_as_reference(compiled, numbers(pm.UInt16, 1023) // np.uint16(16))


def beside(a: Any, b: Any) -> Any:
    return (pm.Cast(pm.Float, a(i - 1)) + a(i + 2)) * 0.5 + b(i) * 0.1


def of_one_place(a: Any, b: Any) -> Any:
    return pm.Cast(pm.Float, a(i)) * 0.5 + pm.Cast(pm.Float, b(0)) * 0.5


@pytest.mark.parametrize("value", [beside, of_one_place])
def test_several_arrays_and_offsets(value: Callable[[Any, Any], Any]) -> None:
    a, b = (pm.Vector(pm.UChar, name, [N]) for name in "ab")
    compiled = pm.compile(row(value(a, b), pm.UChar, first=1, past=2), inputs=[a, b], name=value.__name__)
    assert WORDS in compiled.source
    for length in (4, 5, 6, 7, 8, 9, 40, 133):
        given = np.random.default_rng(length).integers(0, 128, (2, length), np.uint8)
        assert_as_reference(compiled, *given)


def test_results_in_place() -> None:
    a = pm.Image(pm.UChar, "a", [R, C])
    found = pm.Function(
        ([x, y], [pm.Interval(pm.Int, 0, R - 1), pm.Interval(pm.Int, 0, C - 1)]), pm.UChar, "f"
    )
    found.defn = [pm.Cast(pm.UChar, pm.Clamp(pm.Cast(pm.Float, a(x, y)) * 1.5 - 20, 0, 255))]
    compiled = pm.compile(found)
    assert WORDS in compiled.source
    for columns in (1, 3, 4, 66, 129):
        given = numbers(pm.UChar, 5, columns)
        expected = compiled.reference(given)
        compiled(given, out=given)
        np.testing.assert_array_equal(given, expected)


@pytest.mark.parametrize("tiles", [(), (3, 32), (5, 33)])
def test_rows_of_tiles(tiles: tuple[int, ...]) -> None:
    image = pm.Image(pm.UChar, "image", [R, C])
    whole = [pm.Interval(pm.Int, 1, R - 2), pm.Interval(pm.Int, 1, C - 2)]
    first = pm.Function(([x, y], whole), pm.UChar, "first")
    first.defn = [pm.Cast(pm.UChar, (pm.Cast(pm.Float, image(x - 1, y)) + image(x + 1, y)) * 0.5)]
    within = [pm.Interval(pm.Int, 2, R - 3), pm.Interval(pm.Int, 2, C - 3)]
    second = pm.Function(([x, y], within), pm.UChar, "second")
    second.defn = [
        pm.Cast(pm.UChar, pm.Clamp(pm.Cast(pm.Float, first(x, y - 1)) * 2 - first(x, y + 1), 0, 255))
    ]
    options = pm.Options(parallel_threshold=0, threads=2, tile_sizes=tiles, inline=False)
    compiled = pm.compile(second, name="tiled", options=options, estimates={R: 2000, C: 2000})
    assert compiled.source.count(WORDS) == 4
    for shape in ((5, 5), (9, 37), (20, 70)):
        assert_as_reference(compiled, numbers(pm.UChar, *shape))
