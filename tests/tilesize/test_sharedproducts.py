"""Which loop of a product threads share: rows of images, or channels where rows do not go round."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.problems import describe
from benchmarks.sections import SECTIONS
from polymat.options import Options
from polymat.plan.kernel import KernelPlan
from polymat.plan.schedule import Schedule
from polymat.tilesize.kernelplanner import CLEARLY, blocking_of, computing_operations
from tests.fixed import WIDE, compiled_levels


def convolution(layer: str, threads: int) -> tuple[KernelPlan, dict[str, int]]:
    """The plan of a layer of a network, and its sizes."""
    task = next(case.task for case in SECTIONS["convolutions"].cases(False) if case.name == layer)
    described, _ = describe(task)
    sizes = dict(task.values["sizes"])
    known = {size: sizes[size.name] for size in described.sizes}
    schedule = compiled_levels(
        described.outputs[0],
        machine=WIDE,
        options=Options(threads=threads),
        estimates=known,
        inputs=described.inputs,
    )["tilesize"]
    assert isinstance(schedule, Schedule)
    (plan,) = schedule.plans
    assert isinstance(plan, KernelPlan)
    return plan, sizes


@pytest.mark.parametrize("layer", ["Yolo9000-18", "Yolo9000-19"])
def test_threads_share_channels_where_one_would_wait_for_a_row(layer: str) -> None:
    """Of 17 rows; it is as much less work as is predicted."""
    plan, sizes = convolution(layer, 2)
    assert plan.parallel == plan.contraction.columns
    rows = replace(plan, parallel=plan.contraction.more_rows[0])
    assert computing_operations(plan, sizes, 2) < CLEARLY * computing_operations(rows, sizes, 2)


@pytest.mark.parametrize(("layer", "threads"), [("Yolo9000-18", 1), ("Yolo9000-2", 2), ("ResNet18-2", 2)])
def test_threads_share_rows_where_there_are_many(layer: str, threads: int) -> None:
    plan, _ = convolution(layer, threads)
    assert plan.parallel == plan.contraction.more_rows[0]


@pytest.mark.parametrize(("channels", "copied"), [(32, False), (48, False), (64, True), (512, True)])
def test_weights_of_few_pixels_are_copied_from_beyond_the_second_level(channels: int, copied: bool) -> None:
    """Of 7 x 7 pixels with 9 taps, from so many channels to 512: 256 Ki elements fill the second level."""
    plan, sizes = convolution("ResNet18-12", 1)
    assert blocking_of(plan, {**sizes, "C": channels}).packs_right == copied
