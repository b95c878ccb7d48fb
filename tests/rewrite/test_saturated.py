"""Tables that are the same from some place on: which elements are left, and that numbers stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Abs, Cast, Clamp, Condition, Float, Function, Int, Interval, Max, Min, Options, Select
from polymat.graph.stage import Stage
from tests.rewrite.channels import graph

N = pm.Parameter(Int, "N")
V, J = pm.Variable(Int, "v"), pm.Variable(Int, "j")
SHORTS, BYTES = pm.Vector(pm.Short, "shorts", [N]), pm.Vector(pm.UChar, "bytes", [N])
GAMMA = pm.Parameter(Float, "gamma")
SHARE = Max(0.0, Min(1.0, Cast(Float, V) / 1024))
WHOLE = (-32768, 32767)


def table(value: Any, ends: tuple[int, int] = WHOLE, dtype: Any = Float) -> Function:
    found = Function(([V], [Interval(Int, *ends)]), dtype, "table")
    found.defn = [value]
    return found


def over(value: Any, dtype: Any = Float, name: str = "out") -> Function:
    found = Function(([J], [Interval(Int, 0, N - 1)]), dtype, name)
    found.defn = [value]
    return found


def ends(output: Any, **description: Any) -> tuple[int, int] | None:
    """Between which the table is kept; None where it is put into its reader."""
    stages: dict[str, Stage] = {each.name: each for each in graph(output, **description).stages}
    if "table" not in stages:
        return None
    ((low, high),) = stages["table"].box
    return low.const, high.const


def check(output: Any, *scalars: float) -> None:
    """Compare with the interpreter at all values of two bytes, in another order."""
    compiled = pm.compile(output, inputs=[SHORTS, BYTES, *([GAMMA] if scalars else [])])
    shorts = np.random.default_rng(0).permutation(np.arange(-32768, 32768)).astype(np.int16)
    arguments = shorts, shorts.astype(np.uint8), *scalars
    found, wanted = compiled(*arguments), compiled.reference(*arguments)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=0)
    np.testing.assert_array_equal(found[shorts < 0], wanted[shorts < 0])


NARROWED = {
    "clamped": (SHARE, (0, 1024)),
    "computed": (pm.Sin(SHARE) + SHARE * SHARE, (0, 1024)),
    "from_zero": (Min(Cast(Float, V) * 0.5, -3000.0), (-32768, -6000)),
    "until_the_end": (Max(Cast(Float, V) - 20_000.5, 0.25), (20_000, 32767)),
    "of_two": (SHARE + Cast(Float, Clamp(V, -5, 9)), (-5, 1024)),
    "chosen": (Select(Condition(Clamp(V, -40, 300), "<", 20), SHARE, 0.5), (0, 20)),
    "in_steps": (Cast(Float, Clamp(V // 8, -2, 6)), (-9, 48)),
}


@pytest.mark.parametrize("name", NARROWED)
def test_elements_that_differ_are_left(name: str) -> None:
    value, wanted = NARROWED[name]
    output = over(table(value)(SHORTS(J)) + 1.0)
    assert ends(output) == wanted
    check(output)


def test_scalars_may_be_anything() -> None:
    output = over(table(pm.Pow(SHARE, 1 / GAMMA))(SHORTS(J)))
    assert ends(output) == (0, 1024)
    check(output, 2.2)


def test_a_number_beside_the_place() -> None:
    looked_up = table(SHARE, (-32_000, 33_535))(Cast(Int, SHORTS(J)) + 768)
    assert ends(over(looked_up)) == (0, 1024)
    check(over(looked_up))


def test_a_place_whose_type_has_no_such_values_stays() -> None:
    late = table(Max(Cast(Float, V) - 710, 0.0), (0, 1400))
    assert ends(over(late(BYTES(J)))) == (0, 1400)
    wide = over(late(Clamp(Cast(Int, BYTES(J)) * 6, 0, 1400)))
    assert ends(wide) == (710, 1400)
    check(wide)


def test_look_ups_within_others() -> None:
    inner = table(Cast(pm.Short, Clamp(V, -7, 7)), dtype=pm.Short)
    outer = Function(([V], [Interval(Int, *WHOLE)]), Float, "outer")
    outer.defn = [SHARE]
    output = over(outer(inner(SHORTS(J))) + outer(inner(SHORTS(J)) * 2) * inner(SHORTS(N - 1 - J)))
    assert ends(output) == (-7, 7)
    assert [str(each) for each in graph(output).stage("outer").box[0]] == ["0", "1024"]
    check(output)


def test_two_readers_at_places_of_other_types() -> None:
    made = table(Cast(Float, Abs(Clamp(V, -9, 90))))
    outputs = [over(made(SHORTS(J)), name="one"), over(made(Cast(Int, BYTES(J)) - 20), name="other")]
    assert ends(outputs) == (-9, 90)
    compiled = pm.compile(outputs, name="both", inputs=[SHORTS, BYTES])
    shorts = np.arange(-300, 300, dtype=np.int16)
    arguments = shorts, shorts.astype(np.uint8)
    for found, wanted in zip(compiled(*arguments), compiled.reference(*arguments), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "value",
    [
        Cast(Float, V) * 2.0,  # no two alike
        SHARE + Cast(Float, V),
        Min(Cast(Float, V), 0.0),  # more than half of it differs
        SHARE * 0.0 + GAMMA * Cast(Float, V),
    ],
)
def test_others_stay(value: Any) -> None:
    assert ends(over(table(value)(SHORTS(J)))) == WHOLE


def test_tables_that_are_results_or_read_at_every_place_stay() -> None:
    made, place = table(SHARE, (0, 65_535)), Cast(Int, SHORTS(J)) + 32_768
    assert ends(over(made(place))) == (0, 1024)
    assert ends([made, over(made(place))]) == (0, 65_535)
    also = over(made(Clamp(J, 0, 9)), name="also")
    assert ends([over(made(place)), also]) == (0, 1024)
    every = Function(([V], [Interval(Int, 0, 65_535)]), Float, "every")
    every.defn = [made(V) * 2.0]
    assert ends([over(made(place)), every], options=Options(skip=("inline",))) == (0, 65_535)


def test_the_pass_can_be_left_out() -> None:
    output = over(table(SHARE)(SHORTS(J)))
    assert ends(output, options=Options(skip=("tables",))) == WHOLE
    assert ends(output, options=Options(inline=False)) == WHOLE
