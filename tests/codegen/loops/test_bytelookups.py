"""Look-ups of bytes by permutations, beside the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Cast, Clamp, Function, Int, Interval, UChar
from polymat.codegen.loops.bytelookups import LEAST, MOST, TOGETHER

R, C, N = (pm.Parameter(Int, name) for name in "RCN")
i, j = pm.Variable(Int, "i"), pm.Variable(Int, "j")
TABLES = {"curve": 1025, "large": MOST, "larger_one": MOST + 1}
image, shade = pm.Image(UChar, "image", [R, C]), pm.Image(pm.Short, "shade", [R, C])
square, tiny = pm.Matrix(UChar, "square", [10, 10]), pm.Image(pm.Int8, "tiny", [R, C], values=(0, 15))
digit = pm.Image(Int, "digit", [R, C], values=(3, 12))
table, signed = pm.Vector(UChar, "table", [256]), pm.Vector(pm.Int8, "below", [100])
curves, few = pm.Matrix(UChar, "curves", [R, 200]), pm.Vector(UChar, "few", [16])
some, short = pm.Vector(UChar, "some", [N]), pm.Vector(pm.Short, "wider", [256])
wider_tables = curve, large, too_large = [pm.Vector(pm.Int8, name, [size]) for name, size in TABLES.items()]
LENGTHS = [0, 1, LEAST - 1, LEAST, LEAST + 1, LEAST + 31, 2 * TOGETHER - 1, 2 * TOGETHER, 2 * TOGETHER + 33]


def wide(low: int, high: int) -> Any:
    return Clamp(Cast(Int, shade(i, j)) * 3 - image(i, j), low, high)


def far(low: int, high: int) -> Any:
    return Clamp(Cast(Int, shade(i, j)) * 19 - image(i, j), low, high)


LOOKED_UP: dict[str, tuple[Any, Any]] = {
    "row": (UChar, table(Cast(Int, image(i, j)))),
    "nearest": (UChar, few(Clamp(image(i, j) // 16, 0, 15))),
    "computed": (UChar, table(wide(0, 255))),
    "joined": (Int, Cast(Int, signed(wide(0, 99))) * 1000 + table(wide(10, 50) + 200)),
    "shifted": (pm.Float, Cast(pm.Float, signed(digit(i, j) - 3)) * 0.5),
    "of_rows": (UChar, curves(i, wide(-50, 149) + 50) // 2),
    "twice": (pm.Short, table(Cast(Int, table(Cast(Int, image(i, j))))) - Cast(pm.Short, table(image(i, j)))),
    "declared": (UChar, some(Clamp(Cast(Int, image(i, j)), 0, N - 1))),
    "narrow": (UChar, few(Cast(Int, tiny(i, j)))),
    "diagonal": (UChar, square(wide(0, 9), wide(0, 9))),
    "same": (pm.Short, Cast(pm.Short, table(Cast(Int, curves(i, 0)))) + image(i, j)),
    "larger": (pm.Short, short(Cast(Int, image(i, j)))),
    "wide": (pm.Int8, curve(far(0, 1024))),
    "both": (pm.Short, Cast(pm.Short, large(far(-1000, 1047) + 1000)) * 100 + table(wide(0, 255))),
    "part": (pm.Int8, curve(wide(3, 261) + 5)),
    "too_wide": (pm.Int8, too_large(far(0, MOST))),
}
ONE_BY_ONE = ("declared", "diagonal", "same", "larger", "too_wide")
BY_PERMUTATIONS = {name: name not in ONE_BY_ONE for name in LOOKED_UP}


@pytest.fixture(scope="module")
def compiled() -> Any:
    found = []
    for name, (dtype, value) in LOOKED_UP.items():
        f = Function(([i, j], [Interval(Int, 0, R - 1), Interval(Int, 0, C - 1)]), dtype, name)
        f.defn = [value]
        found.append(f)
    inputs = [image, shade, digit, tiny, table, signed, curves, few, square, some, short]
    inputs += wider_tables
    some_elements = [pm.Condition(N, ">", 0)]
    options = pm.Options(fuse=False, inline=False)
    return pm.compile(found, inputs=inputs, constraints=some_elements, options=options)


def given(rows: int, columns: int) -> list[Any]:
    rng = np.random.default_rng(columns)
    shapes: dict[str, tuple[int, ...]] = {
        "table": (256,),
        "below": (100,),
        "curves": (rows, 200),
        "few": (16,),
        "square": (10, 10),
        "some": (7,),
        "wider": (256,),
        **{name: (size,) for name, size in TABLES.items()},
    }
    limits = {
        "digit": (3, 13),
        "tiny": (0, 16),
        "shade": (-40, 120),
        "below": (-128, 128),
        "wider": (-9000, 9000),
        **dict.fromkeys(TABLES, (-128, 128)),
    }
    found = []
    for array in (image, shade, digit, tiny, table, signed, curves, few, square, some, short, *wider_tables):
        low, high = limits.get(array.label, (0, 256))
        values = rng.integers(low, high, shapes.get(array.label, (rows, columns)))
        found.append(values.astype(array.dtype.dtype))
    return found


@pytest.mark.parametrize("columns", LENGTHS)
def test_every_length_of_row(compiled: Any, columns: int) -> None:
    arrays = given(3, columns)
    for name, found, wanted in zip(LOOKED_UP, compiled(*arrays), compiled.reference(*arrays), strict=True):
        np.testing.assert_array_equal(found, wanted, name)


def test_where_bytes_are_permuted(compiled: Any) -> None:
    functions = {name: compiled.source.partition(f"static void _pm_nest_{name}(")[2] for name in LOOKED_UP}
    bodies = {name: text.partition("\n}\n")[0] for name, text in functions.items()}
    assert {name: "_pm_look_up" in body for name, body in bodies.items()} == BY_PERMUTATIONS
    assert bodies["joined"].count("_pm_byte_table_of(") == 2
    assert "_pm_look_up(&row[" in bodies["row"]  # from memory to memory
    assert bodies["twice"].count("_pm_look_up(") == 1  # what is looked up is a place


def test_without_rows_no_table_is_read(compiled: Any) -> None:
    arrays = given(0, 300)
    assert all(found.shape == (0, 300) for found in compiled(*arrays))
