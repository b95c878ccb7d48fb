"""The benchmark programs run, say what is right, and fail on what they do not know."""

from __future__ import annotations

import re

import pytest

from benchmarks import alternation, check_large, decimate, demo, providers, run
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


def test_check_large_passes_sizes_that_no_array_shows(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_large.main(["--size", "MINI", "--kernels", "jacobi-1d"]) == 0
    assert capsys.readouterr().out.count(" right ") == 1


def test_parts_by_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alternation, "ROUNDS", 2)
    monkeypatch.setattr(alternation, "CALLS", 1)
    found = alternation.run_part("")
    assert len(found["seconds"]) == len(alternation.PARTS)
    assert min(found["seconds"]) > 0
    assert found["before"] is None or all(pool in found["after"] for pool in found["before"])


def test_run_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["transforms", "--quick", "--only", "64", "--threads", "1"]
    assert run.main(asked) == 0
    printed = capsys.readouterr().out
    assert "- compiler: " in printed
    assert re.search(r"^\| 64 \|.* GFLOP/s \|", printed, re.M)
    with pytest.raises(SystemExit):
        run.main(["nope"])
    assert "no section 'nope': blas2, " in capsys.readouterr().err


@pytest.mark.parametrize("samples", [65, 66, 68, 69, 1000])
def test_decimate(samples: int) -> None:
    sizes = {"N": samples}
    arrays = decimate.inputs(sizes)
    expected = decimate.reference(arrays)["y"]
    assert len(expected) == (samples - decimate.TAPS) // decimate.FACTOR + 1
    result = decimate.KERNEL.compile()(*arrays.values())
    assert_close(result, expected, roundings=decimate.TAPS, magnitude=10.0)


@pytest.mark.parametrize(("name", "build"), providers.CASES, ids=[name for name, _ in providers.CASES])
def test_the_libraries_program_measures_every_way(
    name: str, build: providers.Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "SIZES", (3, 9))
    monkeypatch.setattr(providers, "ROUNDS", 1)
    found = dict(providers.rows(build))
    assert list(found) == [3, 9], name
    assert all(len(seconds) == len(providers.WAYS) and min(seconds) > 0 for seconds in found.values())
