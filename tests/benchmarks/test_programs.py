"""The benchmark programs run, say what is right, and fail on what they do not know."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import alternation, call_overhead, check_large, compile_time, decimate, demo, providers, run
from benchmarks.records import read_record
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


def test_parts_by_turns_are_kept() -> None:
    rows = alternation.rows_of([([1.0, 2.0, 3.0, 4.0], [2.0] * 4, [1.0] * 4)] * 2)
    assert [row.case for row in rows] == [*alternation.PARTS, "all of them"]
    assert [timing.rounds for timing in rows[-1].timings.values()] == [(10.0, 10.0), (8.0, 8.0), (4.0, 4.0)]
    assert [timing.rounds[0] for timing in rows[1].timings.values()] == [2.0, 2.0, 1.0]


def test_calls_are_measured_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_overhead, "ROUNDS", 3)
    monkeypatch.setattr(call_overhead, "CALLS", 2)
    monkeypatch.setattr(call_overhead, "MAX_ARRAYS", 3)
    call_overhead.main(["--keep", str(tmp_path / "calls.json")])
    record = read_record(tmp_path / "calls.json")
    cases = [entry.row.case for entry in record.entries]
    assert cases[:-2] == [name for name, *_ in call_overhead.CALLED]
    assert cases[-2:] == ["a sum, 2 arrays in all", "a sum, 3 arrays in all"]
    assert all(len(timing.rounds) == 3 for entry in record.entries for timing in entry.row.timings.values())
    assert {"machine", "compiler", "date"} <= record.about.keys()


def test_compilations_are_kept_with_the_share_of_the_compiler() -> None:
    row = compile_time._kept(
        "gemm cold", [{"total": 2.0, "runtime": 1.0}, {"total": 4.0, "runtime": 3.0}], 0.02
    )
    assert row.timings["polymat"].rounds == (2.0, 4.0)
    assert row.notes == {"polymat": "C compiler 62%, own part 1.00 s, isl 20 ms"}


@pytest.mark.turns(2)
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
