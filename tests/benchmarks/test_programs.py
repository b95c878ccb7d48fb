"""The benchmark programs run, say what is right, and fail on what they do not know."""

from __future__ import annotations

import re

import pytest

from benchmarks import check_large, decimate, demo
from tests.tolerance import assert_close


def test_demo_prints_a_line_a_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["--size", "MINI", "--kernels", "gemm,bicg", "--seconds", "0.5", "--threads", "1"]) == 0
    printed = capsys.readouterr()
    assert re.search(r"^gemm .* GFLOP/s .*x$", printed.out, re.M)
    assert re.search(r"^bicg .* GB/s .*x$", printed.out, re.M)
    assert printed.err.count("equals NumPy") == 2


def test_demo_refuses_an_unknown_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        demo.main(["--kernels", "gemm,nope"])
    assert "no kernel 'nope'" in capsys.readouterr().err


def test_check_large_counts_failures(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_large.main(["--size", "MINI", "--kernels", "trmm"]) == 0
    assert capsys.readouterr().out.count(" right ") == 2


@pytest.mark.parametrize("samples", [65, 66, 68, 69, 1000])
def test_decimate(samples: int) -> None:
    sizes = {"N": samples}
    arrays = decimate.inputs(sizes)
    expected = decimate.reference(arrays)["y"]
    assert len(expected) == (samples - decimate.TAPS) // decimate.FACTOR + 1
    result = decimate.KERNEL.compile()(*arrays.values())
    assert_close(result, expected, roundings=decimate.TAPS, magnitude=10.0)
