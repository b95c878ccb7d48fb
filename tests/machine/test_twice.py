"""A machine that is measured twice, once in a bad minute: the better figures, and what is said of them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from polymat.machine.calibrate import BlockRate, Calibration, Difference, Rate, VectorSeconds, decode, encode
from polymat.machine.producttimes import ProductTimes, quicker
from polymat.machine.twice import better_of
from polymat.runtime.calibration import calibration_lines
from tests.machine.test_model import MEASURED

QUIET = replace(
    MEASURED,
    threads=2,
    region_seconds=4e-7,
    blocks=tuple(BlockRate(8, rows, 2, rate) for rows, rate in ((4, 6e10), (6, 7e10), (8, 7.5e10))),
    vectors=(VectorSeconds(8, 5e-9, 4e-10, 1e-9, 1e-9),),
    row_seconds=2e-9,
    requests_gain=1.1,
)
BAD = replace(
    QUIET,
    region_seconds=2.2e-5,
    flops64=Rate(QUIET.flops64.one / 1.3, QUIET.flops64.all / 1.1),
    blocks=tuple(replace(each, flops=each.flops * 0.78) for each in QUIET.blocks),
    vectors=(VectorSeconds(8, 7e-9, 4.1e-10, 9e-10, 1e-9),),
    row_seconds=0.0,
    read=(*QUIET.read[:3], Rate(QUIET.read[3].one / 2.0, QUIET.read[3].all)),
    requests_gain=0.6,
)
EITHER = pytest.mark.parametrize(("first", "second"), [(QUIET, BAD), (BAD, QUIET)])


@EITHER
def test_the_better_of_two_passes(first: Calibration, second: Calibration) -> None:
    """Whichever of them was disturbed."""
    found = better_of(first, second)
    best = replace(QUIET, vectors=(VectorSeconds(8, 5e-9, 4e-10, 9e-10, 1e-9),))
    assert replace(found, passes=1, differing=()) == best
    assert found.passes == 2
    assert found.differing == (
        Difference("float64 arithmetic", 1.3),
        Difference("read memory", 2.0),
        Difference("float64 register blocks", 1.28),
        Difference("float64 division", 1.4),
        Difference("region", 55.0),
    )


@EITHER
def test_what_is_told_and_kept(first: Calibration, second: Calibration) -> None:
    found = better_of(first, second)
    (line,) = (line for line in calibration_lines(found) if "measured twice" in line)
    assert line.startswith("measured twice; differed by more than 1.2 times, the better is kept: ")
    assert line.endswith("float64 register blocks 1.3, float64 division 1.4, region 55")
    assert decode(encode(found)) == found
    assert "measured twice, alike" in calibration_lines(better_of(QUIET, QUIET))
    assert any(line.startswith("measured once") for line in calibration_lines(first))
    assert "measured 3 times, alike" in calibration_lines(better_of(better_of(QUIET, QUIET), QUIET))


def test_what_one_pass_has_not_is_the_other_ones() -> None:
    short = replace(QUIET, blocks=(), vectors=(), row_seconds=0.0, requests_gain=0.0, rows_rate=0.0)
    assert replace(better_of(short, QUIET), passes=1) == QUIET
    assert replace(better_of(QUIET, short), passes=1) == QUIET
    assert better_of(replace(QUIET, threads=1), QUIET) == QUIET


def test_products_of_two_passes() -> None:
    """The library's time stands beside the own one that it was timed by turns with."""

    def table(*seconds: float, block: tuple[int, int] | None = (6, 2)) -> ProductTimes:
        return ProductTimes(8, 1, (4, 20), (*seconds, *[1.0] * 6), block)

    first = (table(1.0, 3.0),), (table(1.5, 3.5, block=None),)
    second = (table(2.0, 2.0),), (table(1.0, 9.0, block=None),)
    assert quicker(first, second) == ((table(1.0, 2.0),), (table(1.5, 9.0, block=None),))
    assert quicker((first[0], ()), second) == ((table(1.0, 2.0),), second[1])
    assert quicker(first, (second[0], ())) == ((table(1.0, 2.0),), ())
    others = (table(2.0, 2.0, block=(8, 2)),), second[1]
    assert quicker(first, others) == others


@pytest.mark.parametrize("differing", [None, [["x"]], [["x", 0.5]], [[1, 2.0]], [["\n", 2.0]]])
def test_damaged_differences(differing: object) -> None:

    fields = json.loads(encode(QUIET))
    with pytest.raises(ValueError, match=r"."):
        decode(json.dumps({**fields, "differing": differing}))
    with pytest.raises(ValueError, match="passes"):
        decode(json.dumps({**fields, "passes": 0}))
    del fields["passes"], fields["differing"]
    assert decode(json.dumps(fields)) == QUIET
