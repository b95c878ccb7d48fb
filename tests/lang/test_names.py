"""Names appear in C: what is refused, wherever it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import polymat as pm
from polymat.graph.build import build

N = pm.Parameter(pm.Int, "N")
I = pm.Interval(pm.Int, 0, N - 1)  # noqa: E741 (PolyMage's name)
i = pm.Variable(pm.Int, "i")
MAKERS: dict[str, Callable[[Any], Any]] = {
    "Parameter": lambda name: pm.Parameter(pm.Int, name),
    "Variable": lambda name: pm.Variable(pm.Int, name),
    "Matrix": lambda name: pm.Matrix(pm.Double, name, [N, N]),
    "Vector": lambda name: pm.Vector(pm.Double, name, [N]),
    "Image": lambda name: pm.Image(pm.Double, name, [N, N, N]),
    "Signal": lambda name: pm.Signal(pm.Double, name, N),
    "Function": lambda name: pm.Function(([i], [I]), pm.Double, name),
    "Reduction": lambda name: pm.Reduction(([], []), ([i], [I]), pm.Double, name),
    "Matrix result": lambda name: pm.transpose(pm.Matrix(pm.Double, "A", [N, N])).named(name),
}
BAD = {
    "empty": "",
    "keyword": "double",
    "new keyword": "constexpr",
    "digit first": "1a",
    "space": "a b",
    "quote": 'a"b',
    "comment": "a*/b",
    "newline": "a\n",
    "nul": "a\0",
    "trigraph": "a??/",
    "right to left": "a\u202eb",
    "accent": "é",
    "full-width": "\uff41",
    "greek": "α",
    "reserved": "_pm_x",
    "64 characters": "a" * 64,
    "command": "$(reboot)",
    "path": "../a",
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("name", BAD.values(), ids=BAD)
def test_bad_name_is_refused_everywhere(make: Callable[[Any], Any], name: str) -> None:
    with pytest.raises(pm.InvalidNameError) as caught:
        make(name)
    assert caught.value.location is not None
    assert caught.value.location.file == __file__
    assert caught.value.message.isascii()
    assert caught.value.message.isprintable()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("name", [3, b"a", ["a"], object(), N])
def test_name_that_is_no_string_is_refused(make: Callable[[Any], Any], name: object) -> None:
    with pytest.raises(pm.InvalidNameError, match="must be a string, got"):
        make(name)


@pytest.mark.parametrize("name", ["a", "_", "_x9", "A" * 63, "pm", "main", "_pmx", "Int", "printf"])
def test_other_identifiers_are_names(name: str) -> None:
    for make in MAKERS.values():
        assert make(name).name == name


def test_a_result_is_named_once() -> None:
    a = pm.Matrix(pm.Double, "A", [N, N])
    result = a @ a
    assert result.named("B") is result
    assert result.named("B").label == "B"
    with pytest.raises(pm.NameClashError, match="B is named a second time, C"):
        result.named("C")


def test_a_result_without_a_name_gives_way_to_a_size() -> None:
    taken = pm.Parameter(pm.Int, "tmp_x")
    x = pm.Vector(pm.Double, "x", [N])
    shifted = x + taken
    pipeline = build([(shifted - shifted.sum(axis=0, keepdims=True)).named("y")])
    assert {"tmp_x", "tmp_x_2"} <= {*(s.name for s in pipeline.stages), *(s.name for s in pipeline.scalars)}
