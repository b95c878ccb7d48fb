"""Channels last: what runs over the last two dimensions as over one, and that the numbers stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import (
    Case,
    Condition,
    Double,
    Function,
    Image,
    Int,
    Op,
    Options,
    Parameter,
    Reduce,
    Reduction,
    Select,
    Variable,
    Vector,
)
from polymat.lang.affine import Affine
from polymat.machine.known import ZEN3, ZEN5
from tests.hosts import compiling_for
from tests.rewrite.channels import (
    LONG,
    WIDTHS,
    A,
    B,
    C,
    H,
    I,
    J,
    N,
    W,
    check,
    data,
    dims,
    graph,
    interval,
    over,
)
from tests.tolerance import assert_close


def taps(channels: int) -> Function:
    """A 3 x 5 blur as a sum written out, without borders."""
    image = Image(Double, "image", [H + 2, W + 4, channels])
    out = Function(over(channels), Double, "out")
    out.defn = [
        sum(image(I + a, J + b, C) * (0.1 * (a + 1) * (b + 2)) for a in range(3) for b in range(5)),
    ]
    return out


def reduced(channels: int) -> Reduction:
    """The same as a sum over a window."""
    image, taps = Image(Double, "image", [H + 2, W + 4, channels]), Image(Double, "taps", [3, 5])
    variables, intervals = over(channels)
    window = ([*variables, A, B], [*intervals, interval(0, 2), interval(0, 4)])
    out = Reduction((variables, intervals), window, Double, "out")
    out.defn = [Reduce(out(I, J, C), image(I + A, J + B, C) * taps(A, B), Op.Sum)]
    return out


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_a_blur_runs_along_rows_of_all_channels(channels: int) -> None:
    out = taps(channels)
    assert dims(out) == LONG
    found = graph(out)
    assert found.channels == {"image": (channels,), "out": (channels,)}
    assert found.extents["image"][1] == Affine.name("W").scale(channels) + 4 * channels
    check(out, *((5, width + 4, channels) for width in WIDTHS))


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5])
def test_a_sum_over_a_window_runs_along_rows_of_all_channels(channels: int) -> None:
    out = reduced(channels)
    assert dims(out) == LONG
    compiled = pm.compile(out, name="windows")
    for width in WIDTHS:
        image, weights = data((6, width + 4, channels)), data((3, 5), 1)
        expected = compiled.reference(image, weights)
        assert_close(compiled(image, weights), expected, roundings=40, magnitude=15.0)


@pytest.mark.parametrize("trim", [False, True])
def test_the_caller_gets_the_shape_that_was_declared(trim: bool) -> None:
    image = Image(Double, "image", [H, W, 3])
    out = Function(over(3, margin=2), Double, "out")
    out.defn = [image(I, J - 2, C) + image(I, J + 2, C)]
    assert dims(out) == LONG
    compiled = pm.compile(out, name="margins", trim=trim)
    for width in (5, 6, 17):
        given = data((3, width, 3))
        expected = given[:, :-4] + given[:, 4:]
        if not trim:
            expected = np.concatenate([np.zeros((3, 2, 3)), expected], axis=1)
        assert_close(compiled(given), expected, roundings=1)
    with pytest.raises(pm.ArgumentError, match="3"):
        compiled(data((3, 18, 2)))
    with pytest.raises(pm.ArgumentError, match="dimensions"):
        compiled(data((3, 18)))


ALONG: list[Callable[[], Condition]] = [
    lambda: Condition(J, ">=", 2),
    lambda: Condition(J, "<", W - 2),
    lambda: Condition(2, ">", J),
    lambda: Condition(J, "==", 1),
    lambda: Condition(J, "!=", 1),
    lambda: Condition(J, "<=", I),
    lambda: Condition(I - J, "<", 2),
    lambda: Condition(J, ">=", 1) & Condition(J, "<=", W - 2),
    lambda: Condition(J, "<", 1) | Condition(I, ">", 2),
]
ACROSS: list[Callable[[], Condition]] = [
    lambda: Condition(C, "==", 0),
    lambda: Condition(C, "<=", J),
    lambda: Condition(2 * J, "<", W),
    lambda: Condition(J % 2, "==", 0),
]


def default_function(condition: Condition) -> Function:
    image = Image(Double, "image", [H, W, 3])
    out = Function(over(3), Double, "out", default=image(I, J, C) - 1.0)
    out.defn = [Case(condition, image(I, J, C) * 2.0)]
    return out


@pytest.mark.parametrize("condition", ALONG)
def test_cases_along_rows_are_cases_along_long_rows(condition: Callable[[], Condition]) -> None:
    out = default_function(condition())
    assert dims(out) == LONG
    check(out, *((4, width, 3) for width in WIDTHS))


@pytest.mark.parametrize("condition", ACROSS)
def test_cases_of_channels_keep_their_dimension(condition: Callable[[], Condition]) -> None:
    out = default_function(condition())
    assert dims(out) == ("i", "j", "c")
    check(out, *((4, width, 3) for width in WIDTHS))


@pytest.mark.parametrize(("conditions", "expected"), [(ALONG, LONG), (ACROSS, ("i", "j", "c"))])
def test_selects_are_treated_as_cases_are(conditions: Any, expected: tuple[str, ...]) -> None:
    for condition in conditions:
        image = Image(Double, "image", [H, W, 3])
        out = Function(over(3), Double, "out")
        out.defn = [Select(condition(), image(I, J, C) * 2.0, image(I, J, C) - 1.0)]
        assert dims(out) == expected
        check(out, *((4, width, 3) for width in WIDTHS))


def test_a_select_by_values_does_not_matter() -> None:
    image = Image(Double, "image", [H, W, 3])
    out = Function(over(3), Double, "out")
    out.defn = [Select(Condition(image(I, J, C), ">", 0.0), image(I, J, C), 0.0)]
    assert dims(out) == LONG
    check(out, *((4, width, 3) for width in WIDTHS))


def one(expression: Callable[[Any], Any]) -> Function:
    out = Function(over(3), Double, "out")
    out.defn = [expression(Image(Double, "image", [H, W, 3]))]
    return out


def test_values_of_indices_keep_the_dimension() -> None:
    for expression in (
        lambda image: image(I, J, C) * C,
        lambda image: image(I, J, C) * J,
        lambda image: image(I, J, 2 - C),
        lambda image: image(I, J, C) + image(I, J, 0),
        lambda image: image(I, W - 1 - J, C),
    ):
        out = one(expression)
        assert dims(out) == ("i", "j", "c")
        check(out, (3, 3, 3), (7, 7, 3))


def test_other_arrays_may_be_read_at_rows() -> None:
    image, gain = Image(Double, "image", [H, W, 3]), Vector(Double, "gain", [H])
    out = Function(over(3), Double, "out")
    out.defn = [image(I, J, C) * gain(I)]
    assert dims(out) == LONG
    compiled = pm.compile(out, name="gained")
    given, by = data((4, 7, 3)), data((4,), 1)
    assert_close(compiled(given, by), given * by[:, None, None], roundings=1)


def test_part_of_the_channels_is_no_row() -> None:
    image = Image(Double, "image", [H, W, 4])
    out = Function(over(3), Double, "out")
    out.defn = [image(I, J, C) * 2.0]
    assert dims(out) == ("i", "j", "c")
    check(out, (3, 5, 4))


def test_long_rows_are_vectors_by_themselves() -> None:
    image = Image(Double, "image", [H, W, 1000])
    out = Function(over(1000), Double, "out")
    out.defn = [image(I, J, C) * 2.0]
    assert dims(out) == ("i", "j", "c")


def test_two_short_dimensions_are_joined_too() -> None:
    k = Variable(Int, "k")
    image = Image(Double, "image", [H, W, 2, 3])
    out = Function(
        ([I, J, k, C], [interval(0, H - 1), interval(0, W - 3), interval(0, 1), interval(0, 2)]),
        Double,
        "out",
    )
    out.defn = [image(I, J, k, C) + image(I, J + 2, k, C)]
    found = graph(out)
    assert found.stage("out").dims == ("i", "j_k_c")
    assert found.channels == {"image": (2, 3), "out": (2, 3)}
    check(out, *((4, width + 2, 2, 3) for width in WIDTHS))


def test_samples_of_several_channels_are_one_row() -> None:
    x = Image(Double, "x", [N + 2, 2])
    out = Function(([I, C], [interval(0, N - 1), interval(0, 1)]), Double, "out")
    out.defn = [x(I, C) + x(I + 1, C) + x(I + 2, C)]
    assert dims(out) == ("i_c",)
    check(out, *((length + 2, 2) for length in (1, 2, 7, 100)))


def test_a_recurrence_along_rows_keeps_its_channels() -> None:
    x = Image(Double, "x", [H, W, 3])
    out = Function(over(3), Double, "out")
    out.defn = [
        Case(Condition(J, "==", 0), x(I, J, C)),
        Case(Condition(J, ">", 0), x(I, J, C) + 0.5 * out(I, J - 1, C)),
    ]
    assert dims(out) == ("i", "j", "c")
    check(out, (3, 8, 3), roundings=100)


def test_a_recurrence_along_columns_has_long_rows() -> None:
    x = Image(Double, "x", [H, W, 3])
    out = Function(over(3), Double, "out")
    out.defn = [
        Case(Condition(I, "==", 0), x(I, J, C)),
        Case(Condition(I, ">", 0), x(I, J, C) + 0.5 * out(I - 1, J, C)),
    ]
    assert dims(out) == LONG
    check(out, (8, 5, 3), (5, 1, 3), roundings=100)


def test_stages_that_keep_channels_keep_those_of_what_they_feed() -> None:
    image = Image(Double, "image", [H, W + 2, 3])
    mixed = Function(([I, J, C], [interval(0, H - 1), interval(0, W + 1), interval(0, 2)]), Double, "mixed")
    mixed.defn = [image(I, J, C) * C + image(I, J, 0)]
    out = Function(over(3), Double, "out")
    out.defn = [mixed(I, J, C) + mixed(I, J + 1, C) * mixed(I, J + 2, C)]
    assert dims(out) == ("i", "j", "c")
    check(out, *((4, width + 2, 3) for width in WIDTHS))


def test_products_of_tensors_are_left_to_products() -> None:
    left, right = Image(Double, "left", [H, N]), Image(Double, "right", [N, W, 16])
    variables, intervals = over(16)
    k = Variable(Int, "k")
    out = Reduction(
        (variables, intervals), ([*variables, k], [*intervals, interval(0, N - 1)]), Double, "out"
    )
    out.defn = [Reduce(out(I, J, C), left(I, k) * right(k, J, C), Op.Sum)]
    assert dims(out) == ("i", "j", "c")


def test_matrices_that_products_read_stay_matrices() -> None:
    points = pm.Matrix(Double, "points", [N, 16])
    turn = pm.Matrix(Double, "turn", [16, 16])
    out = Function(([I, C], [interval(0, N - 1), interval(0, 15)]), Double, "out")
    out.defn = [points(I, C) * 2.0]
    turned = (points @ turn).named("turned")
    with compiling_for(ZEN5):  # to which 16 numbers are a short row
        assert dims([out, turned], "out") == ("i", "c")
        assert dims([out], "out") == ("i_c",)
    with compiling_for(ZEN3):  # to which they are four vectors
        assert dims([out], "out") == ("i", "c")


def test_it_can_be_switched_off() -> None:
    out = taps(3)
    for options in (Options(join=False), Options.naive(), Options.paper(), Options.polymage()):
        assert dims(out, options=options) == ("i", "j", "c")


def test_fixed_sizes_and_names_that_are_taken() -> None:
    wide, out = Parameter(Int, "j_c"), Function(over(3), Double, "out")
    image = Image(Double, "image", [H + wide, W, 3])
    out.defn = [image(I + wide, J, C) + 1.0]
    assert dims(out) == ("i", "j_c_")
    check(out, (5, 7, 3), sizes={wide: 2})


def test_what_is_joined_is_said_in_the_users_words() -> None:
    report = pm.compile(taps(3), name="said").explain()
    assert "out: j and c run as one dimension, j_c" in report.notes
    assert report.groups[0].vector == "j_c"


def test_a_result_may_be_one_of_the_inputs() -> None:
    image = Image(Double, "image", [H, W, 3])
    out = Function(over(3), Double, "out")
    out.defn = [image(I, J, C) * 2.0]
    compiled = pm.compile(out, name="doubled")
    given = data((4, 5, 3))
    expected = given * 2.0
    assert compiled(given, out=given) is given
    assert_close(given, expected, roundings=1)


def test_strided_images_are_read_as_they_are() -> None:
    compiled = pm.compile(taps(3), name="strided")
    whole = data((7, 12, 6))
    for given in (whole[:, :, ::2], whole[::-1, :, :3], whole[:, ::-1, 3:]):
        assert_close(compiled(given), compiled.reference(np.ascontiguousarray(given)), roundings=40)
