"""`Compiled.profile()`: every group of a call by a clock; no time is judged here."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import PolymatError
from polymat.codegen.profile import seconds_text
from polymat.codegen.report import Report
from tests.decide import eliminations

N = pm.Parameter(pm.Int, "N")
A, B = (pm.Matrix(pm.Double, name, [N, N]) for name in "AB")
FAST = pm.Options(cflags=("-O0",), kernels=False, blas="never", fuse=False)


@pytest.fixture(scope="module")
def compiled() -> pm.Compiled[Any, Report]:
    return pm.compile((A @ B @ A).named("C"), inputs=[A, B], estimates={N: 1000}, options=FAST)


def arrays(n: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.random((n, n)) for _ in range(2)]


def test_every_group_is_measured_at_the_sizes_of_the_call(compiled: pm.Compiled[Any, Report]) -> None:
    assert "measured" not in str(compiled.explain())
    found = compiled.profile(*arrays(37))
    assert [group.stages for group in found.groups] == [group.stages for group in compiled.explain().groups]
    assert found.sizes == {"N": 37}
    assert found.threads == pm.get_num_threads()
    assert found.calls >= 2
    assert all(group.seconds > 0 and group.predicted > 0 for group in found.groups)
    assert [group.flops for group in found.groups] == [2 * 37**3, 2 * 37**3]
    assert [group.bytes for group in found.groups] == [3 * 8 * 37**2] * 2
    assert found.seconds == sum(group.seconds for group in found.groups)


def test_explain_shows_the_latest_profile(compiled: pm.Compiled[Any, Report]) -> None:
    compiled.profile(*arrays(37))
    found = compiled.profile(*arrays(11))
    report = compiled.explain()
    assert report.profile == found
    assert f"measured: {found}" in str(report)
    assert "N = 11 (as given)" in report._repr_html_()


def test_wrong_calls_are_refused_as_calls_are(compiled: pm.Compiled[Any, Report]) -> None:
    a, b = arrays(3)
    with pytest.raises(pm.ArgumentError, match="argument B is missing"):
        compiled.profile(a)
    with pytest.raises(PolymatError, match=r"C: profile\(\) keeps no results and takes no out="):
        compiled.profile(a, b, out=np.empty((3, 3)))


def test_what_comes_from_a_file_has_none(compiled: pm.Compiled[Any, Report], tmp_path: Path) -> None:
    for copy in (pm.load(compiled.save(tmp_path)), pickle.loads(pickle.dumps(compiled))):
        with pytest.raises(PolymatError, match="a pipeline that comes from a file has no profile"):
            copy.profile(*arrays(3))


def test_empty_arrays_have_a_profile(compiled: pm.Compiled[Any, Report]) -> None:
    found = compiled.profile(np.empty((0, 0)), np.empty((0, 0)))
    assert [group.flops for group in found.groups] == [0, 0]
    assert "GFLOP/s" not in str(found)
    assert compiled.explain()._repr_html_()


def steps_and_a_sum() -> pm.Compiled[Any, Report]:
    """Steps that scale a vector, and the sum of the last one: sections, one of which is repeated."""
    x, T = pm.Vector(pm.Double, "x", [N]), pm.Parameter(pm.Int, "T")
    last = pm.iterate(lambda v: v / pm.Sqrt(pm.dot(v, v)()), x, steps=T)
    return pm.compile(last.sum().named("whole"), inputs=[x], name="steps", options=FAST)


def test_of_what_runs_in_sections_each_section_is_measured_with_its_steps() -> None:
    compiled = steps_and_a_sum()
    found = compiled.profile(np.arange(1.0, 8.0), T=5)
    report = compiled.explain()
    stages = [stage for group in found.groups for stage in group.stages]
    assert stages == [stage for group in report.groups for stage in group.stages]
    assert len(found.groups) > 1
    assert found.sizes == {"N": 7, "T": 5}
    assert all(group.seconds > 0 and group.predicted > 0 for group in found.groups)
    assert found.seconds == sum(group.seconds for group in found.groups)
    more = compiled.profile(np.arange(1.0, 8.0), T=50)
    repeated = [k for k, group in enumerate(more.groups) if group.flops == 10 * (found.groups[k].flops or 1)]
    assert repeated
    page = compiled.explain()._repr_html_()
    assert "measured in all" in page
    assert f"; measured: {seconds_text(more.seconds)}" in page
    assert "T = 50 (as given)" in page
    assert f"measured: {more}" in str(compiled.explain())


def test_an_output_that_something_is_computed_in_is_no_group_of_a_profile() -> None:
    compiled = pm.compile(eliminations.unscaled_lu())
    assert [group.stages for group in compiled.explain().groups] == [("W",)]
    found = compiled.profile(eliminations.arguments(50, 50, "float64")["square"])
    assert [group.stages for group in found.groups] == [("W",)]
    assert found.groups[0].seconds > 0


def test_another_output_of_the_same_last_step_is_a_group_of_its_own() -> None:
    """The elimination lies in one of them, in the program with a clock as in that without."""
    last = eliminations.unscaled_lu()
    again = pm.Function((last.variables, last.intervals), pm.Double, "again")
    again.defn = [*last.defn]
    compiled = pm.compile([last, again], options=pm.Options(fuse=False))
    found = compiled.profile(eliminations.arguments(50, 50, "float64")["square"])
    assert [group.stages for group in found.groups] == [("W",), ("again",)]
    assert [group.stages for group in compiled.explain().groups] == [("W",), ("again",)]


def test_points_that_take_no_steps_have_a_profile() -> None:
    """What they take of the steps that there are is no part of nothing."""
    x, T = pm.Vector(pm.Double, "x", [N]), pm.Parameter(pm.Int, "T")
    compiled = pm.compile(pm.iterate(lambda v: v / 2 + 1, x, steps=T), estimates={N: 100_000, T: 50})
    assert "each point takes all steps before others do" in str(compiled.explain())
    for steps in (0, 1, 3):
        assert compiled.profile(np.arange(7.0), T=steps).sizes["T"] == steps
    assert compiled.explain()._repr_html_()
