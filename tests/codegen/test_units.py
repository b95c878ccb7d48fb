"""Programs of many stages as two C files, against the interpreter."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat.codegen import units
from polymat.codegen.c.apart import Files
from polymat.codegen.c.ctree import APART, CCall, CFunction, Evaluate, File, Literal
from polymat.codegen.c.needs import MIN_I64, Piece, UserKernel
from polymat.codegen.c.scopes import called_by
from polymat.codegen.program import Program
from polymat.codegen.routines.fftlarge import large_text
from polymat.codegen.routines.fftw import FftNeed
from polymat.idiom.parts import USUAL
from polymat.machine.known import GENERIC
from polymat.runtime import libraryfile as building
from polymat.runtime.objects import compile_files
from tests.codegen.kinds import KINDS
from tests.differential.microkernels import microkernel
from tests.fixed import compiled_levels, own_c
from tests.hosts import compiling_for
from tests.tolerance import assert_close

STAGES = 8  # of one group, whose functions are compiled by themselves
R, C = pm.Parameter(pm.Int, "R"), pm.Parameter(pm.Int, "C")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")


def chain() -> pm.Function:
    """Stages along rows and columns in turn."""
    last: Any = pm.Image(pm.Float, "image", [R, C])
    for k in range(1, STAGES + 1):
        down, across = k % 2, 1 - k % 2
        near = 0.25 * (last(i - down, j - across) + last(i + down, j + across)) + 0.5 * last(i, j)
        spans = [pm.Interval(pm.Int, k, size - 1 - k) for size in (R, C)]
        stage = pm.Function(([i, j], spans), pm.Float, f"s{k}")
        stage.defn = [near]
        last = stage
    assert isinstance(last, pm.Function)
    return last


def compiled_chain(outputs: Any = None) -> pm.Compiled:
    """The chain, or outputs that have one."""
    machine = replace(GENERIC, vector_bits=512, vector_registers=32)
    options = pm.Options(parallel_threshold=0)
    with compiling_for(machine):
        return pm.compile(outputs or chain(), estimates={R: 4096, C: 4096}, options=options)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Files]:
    """The files of every library that is made of several."""
    seen: list[Files] = []

    def noted(files: Files, *rest: Any) -> None:
        seen.append(files)
        compile_files(files, *rest)

    monkeypatch.setattr(building, "compile_files", noted)
    monkeypatch.setenv("POLYMAT_CACHE", "off")
    return seen


def test_half_of_the_text_is_in_a_second_file(compiled: list[Files], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(units, "LEAST_FUNCTIONS", STAGES)
    blurred = compiled_chain()
    (files,) = compiled
    first, second = files.own
    stay = first.count("\nstatic __attribute__((noinline)) void _pm_nest_")
    gone = second.count("\n_PM_SHARED __attribute__((noinline)) void _pm_nest_")
    assert first.count("\n_PM_SHARED __attribute__((noinline)) void _pm_nest_") == gone
    assert stay + gone == STAGES
    assert 0 < stay <= gone  # what calls them stays
    assert "_pm_team" in first
    assert "_pm_team" not in second
    for shape in ((0, 0), (16, 17), (17, 16), (19, 37), (67, 131)):
        image = np.random.default_rng(7).random(shape, np.float32)
        assert_close(blurred(image), blurred.reference(image), roundings=5 * STAGES, magnitude=1.0)


def test_large_transforms_beside_stages_of_two_files(
    compiled: list[Files], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second file has no plans, which what computes large transforms uses."""
    monkeypatch.setattr(units, "LEAST_FUNCTIONS", STAGES)
    signal = pm.Vector(pm.Double, "signal", [R])
    outputs = [chain(), pm.rfft(signal).named("spectrum")]
    both = compiled_chain(outputs)
    assert ["_pm_fftw_plan" in text for text in compiled[0].own] == [True, False]
    drawn = np.random.default_rng(8)
    given = {"image": drawn.random((37, 41), np.float32), "signal": drawn.random(37)}
    for got, expected in zip(both(**given), both.reference(**given), strict=True):
        assert_close(got, expected, roundings=5 * STAGES, magnitude=37.0)


def test_stages_are_shared_out_by_their_length() -> None:
    """Where every other function is long."""
    call = Evaluate(CCall("_pm_min_i64", (Literal("1"), Literal("2"))))
    nests = [CFunction(APART, f"_pm_nest_{k}", (), (call,) * (30 if k % 2 else 3)) for k in range(40)]
    files = units.split(File("stages", frozenset({MIN_I64}), (), tuple(nests)))
    calls = [sum(len(function.body) for function in file.functions) for file in files]
    assert sum(calls) == 20 * 33
    assert abs(calls[0] - calls[1]) <= 30


def _calling(number: int, name: str) -> CFunction:
    """A function that is compiled by itself and calls another one."""
    return CFunction(APART, f"_pm_nest_{number}", (), (Evaluate(CCall(name, (Literal("1"), Literal("2")))),))


def test_few_functions_are_one_file(compiled: list[Files]) -> None:
    compiled_chain()
    (files,) = compiled
    assert len(files.own) == 1
    assert len(files.shared) == 1  # what all programs share


def test_functions_stay_with_those_that_they_call() -> None:
    """A function of the program is not taken for one of the prelude whose name begins like its own."""
    called = CFunction("void", "_pm_min_i", (), ())
    for name, count in (("_pm_min_i", 1), ("_pm_min_i64", 2)):
        callers = [_calling(k, name) for k in range(32)]
        assert len(units.split(File("stages", frozenset({MIN_I64}), (), (called, *callers)))) == count


def test_c_of_the_users_is_in_one_file_with_what_calls_it() -> None:
    need = UserKernel(microkernel("block", pm.Double, 6, 8))
    callers = tuple(_calling(k, ("_pm_min_i64", "block")[k % 2]) for k in range(64))
    first, second = units.split(File("stages", frozenset({MIN_I64, need}), (), callers))
    assert all(called_by(function) == {"_pm_min_i64"} for function in second.functions)
    texts = [units.render(each, whole=False) for each in (first, second)]
    assert [text.count("void block(") for text in texts] == [1, 0]
    assert texts[0].rindex("_pm_nest_") < texts[0].index(str(need.kernel.source))


def test_texts_that_use_plans_are_in_the_file_of_the_plans() -> None:
    """Large transforms beside stages of which half go to another file, where no transform is known."""
    needs = {MIN_I64, FftNeed.DOUBLE, Piece.MATH, Piece.STRING, Piece.TEAM, Piece.WORKSPACE}
    lanes = "static int _pm_lanes(void)\n{\n    return (int)_pm_min_i64(1, 2);\n}\n"
    texts = (large_text("fftw", USUAL["float64"]), lanes)
    callers = [_calling(k, ("_pm_fftw_large", "_pm_lanes", "_pm_min_i64")[k % 3]) for k in range(60)]
    first, second = units.split(File("stages", frozenset(needs), (), tuple(callers), texts=texts))
    assert first.texts == texts
    assert second.texts == (lanes,)
    called = frozenset[str]().union(*map(called_by, second.functions))
    assert called == {"_pm_lanes", "_pm_min_i64"}


@pytest.mark.parametrize("kind", ["rows", "product", "first_smallest", "recursive_filter", "transform"])
def test_the_comment_says_where_the_own_part_begins(kind: str) -> None:
    program = compiled_levels(**KINDS[kind]())["codegen"]
    assert isinstance(program, Program)
    text = units.render(program.file)
    said = re.search(r"own part begins in line (\d+);", text)
    assert said is not None
    lines = text.split("\n")
    begin = int(said[1]) - 1
    own = own_c(program).split("\n\n", 1)[1]  # behind the comment and the prelude that is not there
    assert "\n".join(lines[begin:]).startswith(own.lstrip("\n")[:200])
    assert lines[begin - 1] == ""
