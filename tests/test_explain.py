"""What `explain()` says of the pipelines of examples/, word by word, for a machine that is stated.

An example runs until it uses what it has compiled: what was asked of `compile` until then is decided here.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

import pytest

import polymat
from tests.conftest import golden_path
from tests.fixed import report_text
from tests.test_examples import EXAMPLES, OTHERS

BUILDERS = {"dask_blocks.py": "smoothing"}  # a function of an example whose pipeline is made in it


class UsedError(Exception):
    """What was compiled is wanted now."""


class Stub:
    """In place of what `compile` returns."""

    def __call__(self, *_arguments: object, **_keywords: object) -> NoReturn:
        raise UsedError

    def __getattr__(self, name: str) -> NoReturn:
        raise UsedError


@cache
def asked_by(example: Path) -> tuple[Mapping[str, Any], ...]:
    """The arguments of `compile` in an example, until the first result is used."""
    asked: list[Mapping[str, Any]] = []

    def record(outputs: Any, **others: Any) -> Stub:
        asked.append({"outputs": outputs, **others})
        return Stub()

    with patch.object(polymat, "compile", record), patch.object(sys, "argv", [str(example)]):
        try:
            names = runpy.run_path(str(example))
            if example.name in BUILDERS:
                names[BUILDERS[example.name]]()
        except UsedError:
            pass
    return tuple(asked)


@pytest.mark.parametrize("example", [pytest.param(path, id=path.stem) for path in EXAMPLES])
def test_explain(example: Path, golden: Callable[[str], None]) -> None:
    for needed in OTHERS.get(example.name, ()):
        pytest.importorskip(needed)
    asked = asked_by(example)
    assert asked
    golden("\n\n".join(report_text(**described) for described in asked))


def test_no_example_is_left_over() -> None:
    here = golden_path(Path(__file__), "x").parent
    assert {path.stem for path in here.glob("*")} == {f"test_explain_{path.stem}" for path in EXAMPLES}
