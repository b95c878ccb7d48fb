"""Results are judged, rows are put into a table."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from benchmarks.cases import Case, Judge, kernel_case
from benchmarks.harness import Timing
from benchmarks.measure import Row
from benchmarks.polybench import find_kernel
from benchmarks.report import geometric_mean, least_seconds, level_of, ratios, remarks, show_seconds, table
from benchmarks.sections import SECTIONS
from polymat.machine.model import MEMORY, Machine

MACHINE = Machine("toy", cores=2, l1_bytes=1 << 10, l2_bytes=1 << 14, l3_bytes=1 << 18)
RIVALS = {"polymat": ("NumPy", "JAX")}


def row(mine: float, numpy: float, group: str = "MINI") -> Row:
    timings = {"polymat": Timing("polymat", (mine,)), "NumPy": Timing("NumPy", (numpy,))}
    return Row("gemm", group, 1, 2000, 800, True, 8, timings, {"JAX": "no jax"})


def test_a_result_is_judged_by_its_rounding() -> None:
    case = kernel_case(find_kernel("gemm"), "MINI")
    judge = Judge(case)
    (right,) = case.expected()[0]
    assert judge.error(right) == 0
    assert 0 < judge.error((right * (1 + 2e-16),)) < 1
    assert judge.error((right * (1 + 1e-12),)) > 1
    assert judge.error(right[:-1]) == math.inf
    assert judge.error((right, right)) == math.inf
    assert judge.error(np.full_like(right, np.nan)) == math.inf


def test_level_is_the_nearest_that_holds_the_data() -> None:
    assert [level_of(MACHINE, traffic, 1) for traffic in (1 << 10, 1 << 14, 1 << 18, 1 << 20)] == [
        1,
        2,
        3,
        MEMORY,
    ]
    assert level_of(MACHINE, 1 << 15, 2) == 2


def test_the_slower_of_peak_and_bandwidth_is_the_limit() -> None:
    seconds, limit = least_seconds(row(1.0, 2.0), MACHINE)
    assert (seconds, limit) == (2000 / MACHINE.peak_flops(8), "peak")


def test_table_has_ratios_and_a_mean() -> None:
    rows = [row(1e-6, 2e-6), row(1e-6, 8e-6)]
    assert ratios(rows[1], RIVALS) == {"NumPy": 8.0}
    lines = list(table(rows, RIVALS))
    assert lines[0] == "| case | polymat | rate | of limit | x NumPy | x best |"
    assert lines[-1].split("|")[5:7] == [" 4.00 ", " 4.00 "]
    assert list(remarks(rows, RIVALS)) == ["- JAX, everywhere: no jax"]


def test_a_bound_is_shown_and_is_no_rival() -> None:
    shown = row(2e-6, 8e-6)
    copy = replace(shown, timings={**shown.timings, "np.copyto": Timing("np.copyto", (1e-6,))})
    lines = list(table([copy], {"polymat": ("NumPy", "np.copyto")}))
    assert lines[-1].split("|")[5:8] == [" 4.00 ", " 0.50 ", " 4.00 "]


def test_a_peer_is_not_compared_without_polymat() -> None:
    missing = row(1.0, 2.0)
    del missing.timings["polymat"]  # type: ignore[attr-defined]
    assert ratios(missing, RIVALS) == {}
    assert " – " in list(table([missing], RIVALS))[-1]
    assert list(remarks([missing], RIVALS))[-1] == "- gemm, without polymat: NumPy is the best with 2 s"


def test_numbers_for_people() -> None:
    assert [show_seconds(s) for s in (2.5e-9, 1e-6, 0.01234, 12)] == ["2.5 ns", "1 µs", "12.3 ms", "12 s"]
    assert geometric_mean([2.0, 8.0]) == 4.0
    assert math.isnan(geometric_mean([]))


def test_sections_begin_with_a_case_that_can_be_judged() -> None:
    names = (
        "blas2",
        "products",
        "stencils",
        "cubes",
        "sizes",
        "crossover",
        "layer",
        "transforms",
        "fir",
        "dsp",
    )
    for name in (*names, "functions"):
        case = next(iter(SECTIONS[name].cases(True)))
        assert isinstance(case, Case)
        expected, bounds = case.expected()
        assert [e.shape for e in expected] == [b.shape for b in bounds]
        assert case.flops > 0
        assert case.traffic > 0
