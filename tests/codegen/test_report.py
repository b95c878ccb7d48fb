"""`explain()`: every decision in words and numbers, and the same in the log."""

from __future__ import annotations

import copy
import logging
import pickle
from dataclasses import replace
from math import inf

import pytest

import polymat as pm
from benchmarks.polybench import find_kernel
from polymat.codegen.report import Report
from polymat.fusion.partition import BOUNDED

FAST = pm.Options(cflags=("-O0",), kernels=False)


def product(options: pm.Options, extent: int | None = None) -> Report:
    """The report of out = A B + bias."""
    M, N, K = (pm.Parameter(pm.Int, name) for name in "MNK")
    i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
    A, B = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
    bias = pm.Vector(pm.Double, "bias", [N])
    tmp = (A @ B).named("tmp")
    spans = [pm.Interval(pm.Int, 0, size - 1) for size in (M, N)]
    out = pm.Function(([i, j], spans), pm.Double, "out")
    out.defn = [tmp(i, j) + bias(j)]
    estimates = None if extent is None else {M: extent, N: extent, K: extent}
    report = pm.compile(out, inputs=[A, B, bias], estimates=estimates, options=options).explain()
    assert isinstance(report, Report)
    return report


def test_scores_are_those_of_the_thesis() -> None:
    (group,) = product(FAST).groups
    assert group.scores["tmp"].startswith("i: 0 contiguous, 1 reused, 4 accesses: -44; ")
    assert "j: 3 contiguous, 1 reused, 4 accesses, vectorizable: 18" in group.scores["tmp"]
    assert "k: 1 contiguous, 2 reused, 4 accesses: -6; innermost j" in group.scores["tmp"]


def test_tile_sizes_of_the_thesis_come_with_their_equation() -> None:
    report = product(pm.Options.paper(blas="never", cflags=("-O0",)), 1000)
    (group,) = report.groups
    assert "Algorithm 3: tiles" in group.cost
    assert "τ² + " in group.cost
    assert "= 0, root" in group.cost
    for dim, size in group.tile_sizes.items():
        assert f"{dim} {size}" in group.cost
    assert group.cost in str(report)


def test_seconds_and_bytes_of_every_level() -> None:
    found = product(FAST, 500).predicted
    assert found.seconds is not None
    assert found.seconds > 0
    assert next(iter(found.bytes)) == "L1"
    assert list(found.bytes)[-1] == "memory"
    assert found.bytes["memory"] >= 8 * 4 * 500 * 500  # three inputs and outputs, the output fetched first
    assert all(found.level_seconds[level] > 0 for level in found.bytes)
    larger = product(FAST, 1000).predicted
    assert larger.seconds is not None
    assert larger.seconds > 4 * found.seconds
    assert larger.bytes["memory"] > 3.9 * found.bytes["memory"]


def test_groups_add_up() -> None:
    report = product(pm.Options.naive(cflags=("-O0",)), 300)
    parts = [group.predicted for group in report.groups]
    assert len(parts) == 2
    assert report.predicted.seconds == pytest.approx(sum(part.seconds or 0 for part in parts if part))
    assert report.predicted.bytes["L1"] == sum(part.bytes["L1"] for part in parts if part)


def test_assumed_sizes_are_named() -> None:
    assert product(FAST, 100).assumed == {}
    report = product(FAST)
    assert set(report.assumed) == {"M", "N", "K"}
    assert "for want of estimates=: " in str(report)


def test_groups_that_were_considered_are_told_with_cost_or_reason() -> None:
    report = find_kernel("gemver").compile(options=FAST).explain()
    assert isinstance(report, Report)
    priced = {item.stages: item for item in report.considered}
    assert all(group.stages in priced for group in report.groups)
    refused = [item for item in report.considered if item.cost == inf]
    assert refused
    assert all(item.terms.startswith("refused: ") for item in refused)
    text = str(report)
    assert f"of which {len(refused)} refused" in text
    assert all(str(item) in text for item in refused)
    chosen = sum(priced[group.stages].cost for group in report.groups)
    assert chosen <= sum(priced[(name,)].cost for group in report.groups for name in group.stages)


def test_what_is_sure_of_the_partition_is_told() -> None:
    assert "partition exact: no other partition into connected groups costs less" in str(product(FAST))
    unfused = product(pm.Options(cflags=("-O0",), kernels=False, fuse=False))
    assert "partition exact" not in str(unfused)
    wide = product(FAST)
    bounded = str(replace(wide, partition=BOUNDED))
    assert "nor than no fusion" in bounded


def test_the_page_shows_the_same() -> None:
    report = product(FAST)
    assert "innermost loop of tmp" in report._repr_html_()


def test_the_log_tells_decisions(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="polymat"):
        product(FAST)
    by_topic = {topic: "" for topic in ("polymat.fusion", "polymat.tilesize")}
    for record in caplog.records:
        if record.name in by_topic:
            by_topic[record.name] += record.getMessage() + "\n"
    assert "out: considered tmp: " in by_topic["polymat.fusion"]
    assert "out: groups tmp+out" in by_topic["polymat.fusion"]
    assert "tmp+out: gemm" in by_topic["polymat.tilesize"]
    assert "computing" in by_topic["polymat.tilesize"]
    assert "innermost loop of tmp: " in by_topic["polymat.tilesize"]


def test_loops_of_a_recurrence_are_the_users() -> None:
    N = pm.Parameter(pm.Int, "N")
    L, x = pm.Matrix(pm.Double, "L", [N, N]), pm.Vector(pm.Double, "x", [N])
    row, col = pm.Variable(pm.Int, "row"), pm.Variable(pm.Int, "col")
    whole = pm.Interval(pm.Int, 0, N - 1)
    steps = pm.Function(([row, col], [whole, whole]), pm.Double, "steps")
    steps.defn = [
        pm.Case(pm.Condition(row, "==", 0), x(col)),
        pm.Case(pm.Condition(row, ">=", 1), pm.Max(steps(row - 1, col), L(row, col))),
    ]
    (group,) = pm.compile(steps).explain().groups
    assert (group.kind, group.order, group.vector) == ("recurrence", ("row", "col"), "col")
    y = pm.Reduction(
        ([row], [whole]), ([row, col], [whole, pm.Interval(pm.Int, 0, row - 1)]), pm.Double, "y", init=x(row)
    )
    y.defn = [pm.Reduce(y(row), L(row, col) * y(col), pm.Op.Sum)]
    (group,) = pm.compile(y, options=pm.Options(blas="never")).explain().groups
    assert (group.order, group.parallel, group.vector) == (("row", "col"), None, None)


def test_nothing_is_told_of_what_does_not_run() -> None:
    report = pm.compile(pm.fft(pm.Signal(pm.Complex, "z", pm.Parameter(pm.Int, "N")))).explain()
    (group,) = report.groups
    assert group.movement is None
    assert report.predicted.level_seconds == {}
    assert report.predicted.bytes["memory"] >= 2 * 16 * 1000
    assert "bytes in" not in str(report.predicted)


def test_nothing_is_predicted_for_arrays_beyond_memory() -> None:
    A = pm.Image(pm.Double, "A", [pm.Parameter(pm.Int, name) for name in "BCHWD"])
    report = pm.compile(pm.einsum("bchwd,bchwd->bchwd", A, A)).explain()
    assert report.beyond_memory
    assert "predicted" not in str(report)
    assert "beyond this machine's memory; give estimates= for predictions" in str(report)
    assert repr(report) == str(report)


def test_reports_travel() -> None:
    """Pickled they say the same, but nobody is asked about other sizes."""
    N = pm.Parameter(pm.Int, "N")
    A = pm.Matrix(pm.Double, "A", [N, N])
    report = pm.compile((A @ A).named("C")).explain()
    kept = pickle.loads(pickle.dumps(report))
    assert str(kept) == str(report)
    assert kept.groups == report.groups
    assert "<pre>" in kept._repr_html_()
    assert str(copy.deepcopy(report)) == str(report)
