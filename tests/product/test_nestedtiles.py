"""Tiles in tiles of stages and groups, in any order of their loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Function, Int, Interval, OptionError, Parameter, Variable
from tests.tolerance import assert_close

R, C = Parameter(Int, "R"), Parameter(Int, "C")
x, y = Variable(Int, "x"), Variable(Int, "y")
SIZES = [(1, 1), (3, 3), (4, 40), (33, 17), (65, 70)]
QUICK = ("-O1",)


def blurred() -> Any:
    image = pm.Image(Double, "image", [R, C])
    along = Function(([x, y], [Interval(Int, 0, R - 1), Interval(Int, 1, C - 2)]), Double, "along")
    along.defn = [image(x, y - 1) + image(x, y) + image(x, y + 1)]
    made = Function(([x, y], [Interval(Int, 1, R - 2), Interval(Int, 1, C - 2)]), Double, "blurred")
    made.defn = [along(x - 1, y) + along(x, y) + along(x + 1, y)]
    return made


def halved() -> Any:
    """A stage of half the points, whose tiles are those of the other one."""
    image = pm.Image(Double, "image", [2 * R, C])
    even = Function(([x, y], [Interval(Int, 0, 2 * R - 1), Interval(Int, 0, C - 1)]), Double, "even")
    even.defn = [image(x, y) * 2.0]
    made = Function(([x, y], [Interval(Int, 0, R - 1), Interval(Int, 0, C - 1)]), Double, "halved")
    made.defn = [even(2 * x, y) + even(2 * x + 1, y)]
    return made


def compiled(output: Any, scheme: str, **options: Any) -> Any:
    asked = pm.Options(
        scheme={output.name: scheme}, parallel_threshold=0, inline=False, cflags=QUICK, **options
    )
    return pm.compile(output, name="made", options=asked)


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("scheme", "shared"),
    [
        ("T(x, 32), T(y, 64), T(x, 8), T(y, 16), R(x), R(y), U(x, 2), V(y)", "x*y"),
        ("T(x, 32), T(x, 8), T(y, 16)", "x"),
        ("T(y, 32), T(x, 12), T(y, 16), T(x, 6), T(x, 3)", "y*x"),
        ("T(y, 32), T(y, 16)", "y"),
        ("T(x, 6), T(y, 5), T(x, 1)", "x*y"),
    ],
)
def test_any_order_of_tiles_in_tiles(scheme: str, shared: str, threads: int) -> None:
    text = f"[fuse(along), Par({shared}), {scheme}]"
    program = compiled(blurred(), text, threads=threads)
    schemes = program.explain().schemes
    assert [*schemes] == ["blurred"]
    assert schemes["blurred"].startswith(text[:-1])  # then tiles of what it does not name
    assert compiled(blurred(), schemes["blurred"], threads=threads).source == program.source
    for shape in SIZES:
        photo = np.random.default_rng(1).random(shape)
        assert_close(program(photo), program.reference(photo), roundings=20)


def test_a_stage_by_itself_and_one_at_another_scale() -> None:
    alone = compiled(blurred(), "[fuse(blurred), Par(y), T(y, 64), T(y, 16), T(x, 4), R(x), R(y), V(y)]")
    scaled = compiled(halved(), "[fuse(even), Par(x*y), T(x, 16), T(y, 32), T(x, 4), T(y, 8)]")
    for rows, columns in SIZES:
        values = np.random.default_rng(2)
        photo, twice = values.random((rows, columns)), values.random((2 * rows, columns))
        assert_close(alone(photo), alone.reference(photo), roundings=20)
        assert_close(scaled(twice), scaled.reference(twice), roundings=20)


def test_the_loops_of_the_tiles_are_those_of_the_scheme() -> None:
    text = compiled(blurred(), "[fuse(along), Par(x), T(x, 32), T(x, 8), T(y, 16)]").source
    tiles = text[text.index("void _pm_tiles_1(") :]
    first, second = (tiles.index(f"for (ptrdiff_t {name} =") for name in ("_pm_tile0", "_pm_tile1"))
    assert tiles.index("const ptrdiff_t _pm_around0_0") < first < second


@pytest.mark.parametrize(
    ("scheme", "wrong", "hint"),
    [
        ("T(x, 32), T(x, 9)", "T(x, 9) does not divide the tiles of 32 that it stands in", "T(x, 32) do"),
        ("T(x, 8), T(x, 8)", "T(x, 8) does not divide the tiles of 8 that it stands in", "T(x, 32) do"),
        ("T(x, 8), T(x, 32)", "T(x, 32) stands inside a smaller tile of x", "outermost first"),
        (
            "roll(x), T(x, 32), T(y, 64), T(x, 8)",
            "tiles follow each other, and have no tiles in them",
            "roll",
        ),
        ("Par(x*y), T(x, 32), T(x, 8), T(y, 16)", "threads share no tiles of x*y", "Par(x)"),
        ("T(x, 32), T(h, 4), T(x, 8)", "nothing is tiled along h", "tiles run along"),
    ],
)
def test_what_does_not_fit_says_why(scheme: str, wrong: str, hint: str) -> None:
    with pytest.raises(OptionError) as told:
        compiled(blurred(), f"[fuse(along), {scheme}]")
    message, _, said = str(told.value).partition("\nhint: ")
    assert told.value.location is not None
    assert wrong in message
    assert hint in said


def test_backwards_tiles_have_none_in_them() -> None:
    with pytest.raises(OptionError, match="tiles follow each other, and have no tiles in them"):
        compiled(blurred(), "[fuse(blurred), back(x), T(x, 32), T(x, 8), R(x), R(y), V(y)]")
