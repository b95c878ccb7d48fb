"""What type checkers are told of compiled pipelines: mypy and pyright over this file; the calls run, too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pytest

import polymat as pm

if TYPE_CHECKING:
    from typing import assert_type
else:

    def assert_type(value: Any, _: Any) -> Any:
        return value


EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
x = pm.Vector(pm.Double, "x", [pm.Parameter(pm.Int, "N")])


def test_one_output_is_an_array_and_the_report_a_report() -> None:
    run = pm.compile((x + x).named("twice"))
    result = assert_type(run(np.ones(3)), npt.NDArray[Any])
    assert result.tolist() == [2.0, 2.0, 2.0]
    assert assert_type(run.explain(), pm.Report).groups[0].kind == "map"


def test_several_outputs_are_whatever_they_are() -> None:
    run = pm.compile([(x + x).named("twice"), (x + x + x).named("thrice")], name="both")
    first, second = assert_type(run(np.ones(2)), Any)
    assert (first.tolist(), second.tolist()) == ([2.0, 2.0], [3.0, 3.0])


def test_what_was_saved_tells_a_text(tmp_path: Path) -> None:
    again = pm.load(pm.compile((x + x).named("twice")).save(tmp_path))
    text = assert_type(again.explain(), str | None)
    assert text is not None
    assert text.startswith("twice: 1 group")


def test_a_pipeline_without_parameters_of_its_type_is_any() -> None:
    run: pm.Compiled = pm.compile((x + x).named("twice"))
    assert run(np.ones(1))[0] == 2.0


def test_pyright_says_the_same_and_finds_nothing_in_examples() -> None:
    """But for the one about dask, whose own types lack values that it takes."""
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    checker = shutil.which("basedpyright", path=beside) or shutil.which("pyright", path=beside)
    if checker is None:
        pytest.skip("neither basedpyright nor pyright is installed")
    examples = sorted(path for path in EXAMPLES.glob("*.py") if path.name != "dask_blocks.py")
    assert len(examples) > 5
    command = [checker, "--level", "error", "--pythonpath", sys.executable, __file__, *map(str, examples)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
