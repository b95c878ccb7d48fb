"""Programs of every kind come from the cache as they were decided, and compute what they did."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

import polymat as pm
from polymat import driver
from polymat.options import DEFAULTS
from polymat.search.inputs import random_arguments
from tests.codegen.kinds import KINDS
from tests.decidedanew import noted_anew
from tests.fixed import NARROW
from tests.hosts import CompileFor


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Empty, and the same for all kinds: what programs share is compiled once."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.drawn(24)
@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_program_is_loaded_as_it_was_decided(
    kind: str, compile_for: CompileFor, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    anew = noted_anew(cache, monkeypatch)
    asked = dict(KINDS[kind]())
    compile_for(asked.pop("machine", NARROW))
    asked["options"] = replace(asked.get("options", DEFAULTS), cflags=("-O0",))
    first, second = pm.compile(**asked), pm.compile(**asked)
    assert len(anew) == 1
    assert (second.signature, second.source, second.header) == (first.signature, first.source, first.header)
    built = second._reference.built()  # type: ignore[union-attr]
    sizes = {size.name: 7 + 2 * number for number, size in enumerate(built.sizes)}
    given = random_arguments(built, sizes)
    wanted = [name for name in signature(first).parameters if name != "out"]
    results = [run(**{name: {**sizes, **given}[name] for name in wanted}) for run in (first, second)]
    lists = [each if isinstance(each, tuple) else (each,) for each in results]
    for one, other in zip(*lists, strict=True):
        np.testing.assert_array_equal(one, other)
    told = [str(each.explain()).rpartition("built ")[0] for each in (first, second)]
    assert told[0] == told[1] != ""
    assert driver.request_of(second) is not None
