"""What look-ups of a row make of several elements at one place: when it is a stage, and that numbers stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Cast, Clamp, Condition, Float, Function, Int, Options, Select
from polymat.lang.affine import computed_in
from polymat.machine.known import ZEN3
from tests.hosts import compiling_for
from tests.rewrite.channels import H, I, J, W, graph, interval
from tests.tolerance import assert_close

BINS, CELL = 10, 8
GRID = pm.Image(Float, "grid", [H // CELL + 2, W // CELL + 2, BINS + 2])
IMAGE = pm.Image(Float, "image", [H, W])
LEVEL = Clamp(Cast(Int, IMAGE(I, J) * BINS), 0, BINS)
ESTIMATES = {H: 1000, W: 1000}
SHAPES = [(h, w) for h in (1, 7, 8, 17, 40) for w in (1, 2, 9, 33, 100)]


@pytest.fixture(autouse=True)
def one_machine() -> Iterator[None]:
    with compiling_for(replace(ZEN3, cores=2)):
        yield


def mixed(low: Any, high: Any, share: Any) -> Any:
    return low + share * (high - low)


def corner(b: int, d: int, level: Any = LEVEL) -> Any:
    """Of two rows of the grid."""
    near, far = (GRID(I // CELL + a, J // CELL + b, level + d) for a in (0, 1))
    return mixed(near, far, Cast(Float, I % CELL) / CELL)


def looked_up(level: Any = LEVEL) -> Any:
    share = Cast(Float, J % CELL) / CELL
    low, high = (mixed(corner(0, d, level), corner(1, d, level), share) for d in (0, 1))
    return mixed(low, high, IMAGE(I, J))


def over_image(value: Any, name: str = "out") -> Function:
    found = Function(([I, J], [interval(0, H - 1), interval(0, W - 1)]), Float, name)
    found.defn = [value]
    return found


def names(value: Any, **description: Any) -> tuple[str, ...]:
    description = {"estimates": ESTIMATES, **description}
    return tuple(stage.name for stage in graph(over_image(value), **description).stages)


def given(shape: tuple[int, int], seed: int = 0) -> list[Any]:
    random, (h, w) = np.random.default_rng(seed), shape
    grid = random.uniform(0, 1, (h // CELL + 2, w // CELL + 2, BINS + 2))
    return [grid.astype(np.float32), random.uniform(0, 1, shape).astype(np.float32)]


def check(value: Any, **description: Any) -> Any:
    """Compare calls for small odd sizes with the interpreter."""
    compiled = pm.compile(over_image(value), inputs=[GRID, IMAGE], estimates=ESTIMATES, **description)
    for shape in SHAPES:
        arguments = given(shape)
        assert_close(compiled(*arguments), compiled.reference(*arguments), roundings=40, magnitude=1.0)
    return compiled


def test_two_rows_of_a_grid_are_brought_together_for_all_places() -> None:
    found = graph(over_image(looked_up()), estimates=ESTIMATES)
    made, reader = found.stages
    assert [str(form) for _, form in made.bounds] == ["H - 1", "(W - 1)//8 + 1", "11"]
    assert [load.indices for load in made.loads() if computed_in(load.indices)] == []
    assert len([load for load in reader.loads() if load.source.name == made.name]) == 4
    assert "GRID" not in {load.source.name for load in reader.loads()}


def test_it_lives_in_tiles_and_the_numbers_stay() -> None:
    compiled = check(looked_up())
    (group,) = compiled.explain().groups
    assert group.storage["out_places"] == "scratchpad"
    assert "for all places that it looks up" in str(compiled.explain())


def test_planes_that_are_looked_up_alike_are_a_dimension() -> None:
    planes = pm.Image(Float, "planes", [3, H, BINS + 1])

    def plane(c: int) -> Any:
        return planes(c, I, LEVEL) * 0.5 + planes(c, (I + 1) // 2, LEVEL)

    found = graph(over_image(plane(0) + Cast(Float, J) * plane(2)), estimates=ESTIMATES)
    made, reader = found.stages
    assert [str(each) for each in made.box[0]] == ["0", "2"]
    assert {str(load.indices[0]) for load in reader.loads() if load.source.name == made.name} == {"0", "2"}


def test_what_depends_on_the_column_stays_with_the_reader() -> None:
    moved = GRID(I // CELL, J // CELL, LEVEL) * Cast(Float, J) + GRID(I // CELL + 1, J // CELL, LEVEL)
    assert names(moved) == ("out",)


def test_one_element_a_place_is_looked_up_as_it_is() -> None:
    assert names(GRID(I // CELL, J // CELL, LEVEL) * 2.0) == ("out",)


def test_a_place_that_may_be_any_of_a_long_table_is_looked_up_as_it_is() -> None:
    tables = pm.Image(Float, "tables", [H + 1, 5000])
    place = Clamp(Cast(Int, IMAGE(I, J) * 4999), 0, 4999)
    both = tables(I, place) + tables(I + 1, place)
    assert names(both) == ("out",)
    assert names(both, estimates={H: 1000, W: 100_000}) == ("out_places", "out")


def test_no_array_is_made_of_it() -> None:
    assert names(looked_up(), options=Options(fuse=False)) == ("out",)


def test_the_pass_can_be_left_out() -> None:
    assert names(looked_up(), options=Options(skip=("parts",))) == ("out",)
    check(looked_up(), options=Options(skip=("parts",)))


def test_elements_that_only_a_choice_reads() -> None:
    value = Select(Condition(IMAGE(I, J), ">", 0.5), looked_up(), IMAGE(I, J))
    assert names(value) == ("out_places", "out")
    check(value)


def test_two_places_of_different_values_are_kept_apart() -> None:
    other = Clamp(Cast(Int, IMAGE(I, J) * 4 + 0.5), 0, BINS)
    value = looked_up() - looked_up(other)
    assert names(value) == ("out_places", "out")
    check(value)


def test_rows_that_a_choice_alone_keeps_from_being_read() -> None:
    """The first row has no elements to look up, and a stage for all places would read there."""
    places = pm.Variable(Int, "p")
    table = Function(([I, places], [interval(1, H), interval(0, BINS)]), Float, "table")
    table.defn = [pm.Sqrt(GRID(I // CELL, 0, places)) + GRID(I // CELL, 1, places + 1)]
    both = table(I, LEVEL) * table(I, LEVEL) + table(I // 2 + 1, LEVEL)
    value = Select(Condition(I, ">=", 1), both, IMAGE(I, J))
    assert "out_places" not in names(value)
    check(value)
