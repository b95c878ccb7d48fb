"""Schemes of stages that several sections of a program have, in each of them with others."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import polymat as pm
from benchmarks.cases import kernel_case
from benchmarks.images import find_program
from benchmarks.npbench import PROGRAMS
from benchmarks.polybench import find_kernel
from benchmarks.problems import describe
from polymat import Double, Function, Int, Interval, OptionError, Options, Vector
from polymat.codegen.program import Program
from polymat.machine.model import Machine
from polymat.plan.schedule import Schedule
from polymat.rewrite import sliced
from polymat.tilesize.namedgroups import all_counting, alternatives, counting
from tests.differential.random_computed_steps import random_systems
from tests.differential.random_states import random_states
from tests.fixed import NARROW, WIDE, compiled_levels, own_c, report_of
from tests.rewrite.test_sliced import eliminated


def without_remarks(asked: dict[str, Any], options: Options) -> str:
    """The C of a program without comments, which say what a scheme has decided."""
    program = compiled_levels(**asked, options=options)["codegen"]
    assert isinstance(program, Program)
    return re.sub(r"/\*.*?\*/", "", own_c(program), flags=re.DOTALL)


def plate() -> dict[str, Any]:
    """Steps of a stencil on a plate that keeps its edge: they follow each other over its rows."""
    steps, M, N = (pm.Parameter(Int, name) for name in ("steps", "M", "N"))
    t, i, j = (pm.Variable(Int, name) for name in "tij")
    start = pm.Matrix(Double, "start", [M, N])
    rows, columns = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)
    inside = pm.Condition(i, ">=", 1) & pm.Condition(i, "<=", M - 2)
    inside &= pm.Condition(j, ">=", 1) & pm.Condition(j, "<=", N - 2)
    edge = pm.Condition(i, "==", 0) | pm.Condition(i, "==", M - 1)
    edge |= pm.Condition(j, "==", 0) | pm.Condition(j, "==", N - 1)
    heat: Any = Function(([t, i, j], [Interval(Int, 0, steps), rows, columns]), Double, "heat")
    here = heat(t - 1, i, j)
    around = heat(t - 1, i - 1, j) + heat(t - 1, i + 1, j) + heat(t - 1, i, j - 1) + heat(t - 1, i, j + 1)
    heat.defn = [
        pm.Case(pm.Condition(t, "==", 0), start(i, j)),
        pm.Case(pm.Condition(t, ">=", 1) & inside, here + 0.2 * (around - 4 * here)),
        pm.Case(pm.Condition(t, ">=", 1) & edge, here),
    ]
    last = Function(([i, j], [rows, columns]), Double, "last")
    last.defn = [heat(steps, i, j)]
    return {"outputs": last}


def of_kernel(name: str, build: str, *sizes: int) -> dict[str, Any]:
    made = find_kernel(name).builds[build]()
    estimates = dict(zip(made.sizes, sizes, strict=True))
    return {"outputs": list(made.outputs), "inputs": list(made.inputs), "estimates": estimates}


def columns_that_wait() -> dict[str, Any]:
    """Gram and Schmidt's process, whose columns wait for blocks of steps."""
    return of_kernel("gramschmidt", "sums", 160, 240)


def segments() -> dict[str, Any]:
    """Steps along a line, several of which go in one pass over segments of it."""
    return of_kernel("jacobi-1d", next(iter(find_kernel("jacobi-1d").builds)), 100, 400)


def sums_in_blocks() -> dict[str, Any]:
    """A table of largest sums, whose steps run in blocks."""
    return of_kernel("nussinov", next(iter(find_kernel("nussinov").builds)), 500)


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("machine", [NARROW, WIDE], ids=["narrow", "wide"])
@pytest.mark.parametrize("program", [plate, columns_that_wait, segments, sums_in_blocks])
def test_steps_in_orders_of_their_own_are_taken_back(
    program: Callable[[], dict[str, Any]], machine: Machine, threads: int
) -> None:
    asked = program() | {"machine": machine}
    told = report_of(**asked, options=Options(threads=threads)).schemes
    by_default = without_remarks(asked, Options(threads=threads))
    assert without_remarks(asked, Options(threads=threads, scheme=told)) == by_default


@pytest.mark.covering
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("name", "alone"), [("mandelbrot1", True), ("mandelbrot2", True), ("crc16", False)])
def test_points_that_take_all_steps_are_taken_back(name: str, alone: bool, threads: int) -> None:
    """Those of crc16's table are too few for that."""
    asked = of_program(name)
    said = report_of(**asked, options=Options(threads=threads))
    assert ("each point takes all steps before others do" in str(said)) == alone
    by_default = without_remarks(asked, Options(threads=threads))
    assert without_remarks(asked, Options(threads=threads, scheme=said.schemes)) == by_default


def of_program(name: str) -> dict[str, Any]:
    made = next(program for program in PROGRAMS if program.name == name).build()
    parts = {"outputs": made.outputs, "inputs": made.inputs, "constraints": made.constraints}
    return {**parts, "machine": WIDE}


def test_points_do_not_take_all_steps_where_somebody_gives_them_other_loops() -> None:
    asked = of_program("mandelbrot1")
    assert "each point takes all steps" in str(report_of(**asked))
    other = {"n_after_steps": "[fuse(n_after_steps), Par(x), R(x), R(y)]"}
    assert "each point takes all steps" not in str(report_of(**asked, options=Options(scheme=other)))


def test_columns_do_not_wait_where_somebody_gives_them_other_loops() -> None:
    asked = columns_that_wait()
    assert "wait" in str(report_of(**asked))
    other = {"a": "[Par(i), R(i), R(j), V(j)]"}
    assert "wait" not in str(report_of(**asked, options=Options(scheme=other)))


@pytest.mark.turns(2)
def test_groups_that_schemes_name_are_there_where_all_groups_are_too_many_to_price() -> None:
    """Of the parts of such a group, which a search would grow it from, the schemes say that they are none."""
    made = find_program("pyramid-blend").build()
    asked: dict[str, Any] = {"outputs": made.outputs, "inputs": made.inputs, "machine": WIDE}
    said = report_of(**asked, options=Options(threads=1))
    assert said.partition.startswith("bounded: ")
    by_default = without_remarks(asked, Options(threads=1))
    assert without_remarks(asked, Options(threads=1, scheme=said.schemes)) == by_default


@pytest.mark.parametrize("name", ["nbody", "cavity_flow"])
def test_what_is_explained_of_all_sections_is_taken_back(name: str) -> None:
    """A stage shares its loops with others at some steps, and with none at the first one."""
    made = next(program for program in PROGRAMS if program.name == name).build()
    asked: dict[str, Any] = {"outputs": made.outputs, "inputs": made.inputs, "constraints": made.constraints}
    said = report_of(**asked)
    told = said.schemes
    assert len(told) < sum(len(group.scheme) for group in said.groups), "no stage is one of several sections"
    assert without_remarks(asked, Options(scheme=told)) == without_remarks(asked, Options())


def test_a_stage_has_several_schemes_where_its_sections_have_others() -> None:
    """Threads share its rows at the first step, and its columns at all others."""
    asked: dict[str, Any] = {"outputs": random_states(15).outputs}
    options: dict[str, Any] = {"threads": 2, "parallel_threshold": 0}
    told = report_of(**asked, options=Options(**options)).schemes
    (name,) = (stage for stage, text in told.items() if " | " in text)
    by_default = without_remarks(asked, Options(**options))
    assert without_remarks(asked, Options(**options, scheme=told)) == by_default
    assert without_remarks(asked, Options(**options, scheme={name: told[name]})) == by_default
    one = told[name].split(" | ")[-1]
    assert without_remarks(asked, Options(**options, scheme={**told, name: one})) != by_default
    # Each of them has to be some section's.
    with pytest.raises(OptionError, match=rf"scheme\['{name}'\] does not fit: "):
        compiled_levels(**asked, options=Options(**options, scheme={name: f"{one} | [R(i), R(k)]"}))


def test_a_stage_that_is_alone_in_some_sections_says_so() -> None:
    outputs = random_systems(4, 2)[1]
    asked: dict[str, Any] = {"outputs": outputs, "machine": WIDE}
    told = report_of(**asked, options=Options(threads=2)).schemes
    assert any(f"[fuse({name}), R(" in text for name, text in told.items())
    by_default = without_remarks(asked, Options(threads=2))
    assert without_remarks(asked, Options(threads=2, scheme=told)) == by_default


def test_the_scheme_that_names_a_group_counts_there() -> None:
    texts = {
        "force": "[fuse(pull), Par(i), T(i, 8)]",
        "pull": "[Par(i), R(i), R(j)]",
        "v": "[fuse(pull, force), Par(i), T(i, 16)]",
        "w": "[R(i), R(j)]",
    }
    assert [*counting(("pull", "force", "v"), texts)] == ["v"]
    assert [*counting(("pull", "force"), texts)] == ["force"]
    assert [*counting(("pull",), texts)] == ["pull"]
    assert [*counting(("pull", "w"), texts)] == ["pull", "w"]
    # Where nobody names both, either says what is wrong.
    assert [*counting(("force", "w"), texts)] == ["force", "w"]
    within = {**texts, "pull": "[R(j), R(i), V(i)]"}
    assert [*counting(("pull", "force"), within)] == ["pull", "force"]


def test_of_several_schemes_of_a_stage_those_for_the_group_count() -> None:
    alone, other, seq = "[Par(i), R(i)]", "[Par(j), R(i), R(j)]", "[R(i), R(j), R(k), seq(i: 6 | 5)]"
    assert alternatives(f"{alone} | {other}|{seq}") == (alone, other, seq)
    assert alternatives("[R(i) | [R(j)]") == ("[R(i) | [R(j)]",)
    texts = {"u": f"{alone} | {other}", "v": f"[fuse(u), T(i, 8)] | {alone}"}
    assert all_counting(("u", "v"), texts) == {"v": ("[fuse(u), T(i, 8)]",)}
    assert all_counting(("v",), texts) == {"v": (alone,)}
    assert all_counting(("u",), texts) == {"u": (alone, other)}
    assert counting(("u",), texts) == {"u": alone}
    # Where all are for others, these say what is wrong.
    assert (
        all_counting(("v",), {"v": "[fuse(u), T(i, 8)] | [fuse(w), T(i, 8)]"})["v"][0] == "[fuse(u), T(i, 8)]"
    )


def means(*schemes: tuple[str, str]) -> list[tuple[str, ...]]:
    """The groups of two means, one along the rows and one across them, with schemes of these."""
    R, C = (pm.Parameter(Int, name) for name in "RC")
    x, y = (pm.Variable(Int, name) for name in "xy")
    image = pm.Image(Double, "image", [R, C])
    along: Any = Function(([x, y], [Interval(Int, 0, R - 1), Interval(Int, 1, C - 2)]), Double, "along")
    along.defn = [(image(x, y - 1) + image(x, y) + image(x, y + 1)) / 3.0]
    mean: Any = Function(([x, y], [Interval(Int, 1, R - 2), Interval(Int, 1, C - 2)]), Double, "mean")
    mean.defn = [(along(x - 1, y) + along(x, y) + along(x + 1, y)) / 3.0]
    return [group.stages for group in report_of(mean, options=Options(scheme=dict(schemes))).groups]


def test_stages_whose_schemes_are_of_stages_alone_share_no_loops() -> None:
    together, apart = [("along", "mean")], [("along",), ("mean",)]
    assert means() == together
    # Loops that threads share, without tiles around them, are those of a stage alone.
    alone = "[Par(x), R(x), R(y), V(y)]"
    assert means(("along", alone)) == apart
    assert means(("mean", alone)) == apart
    # Others may be those within tiles whose sizes nobody says; but not where all stages have some.
    loops = "[R(x), R(y), V(y)]"
    assert means(("along", loops)) == together
    assert means(("mean", loops)) == together
    assert means(("along", loops), ("mean", loops)) == apart
    assert means(("along", loops), ("mean", "[T(x, 8), R(x), R(y), V(y)]")) == together


def test_schemes_of_one_section_that_name_two_groups_are_refused() -> None:
    N, i = pm.Parameter(Int, "N"), pm.Variable(Int, "i")
    made: Any = Vector(Double, "x", [N])
    for edge, name in enumerate(("one", "two", "three")):
        stage = Function(([i], [Interval(Int, edge, N - 1 - edge)]), Double, name)
        stage.defn = [made(i) * 2 if edge == 0 else made(i - 1) + made(i + 1)]
        made = stage
    schemes = {"three": "[fuse(one, two), T(i, 64)]", "two": "[fuse(one), T(i, 64)]"}
    with pytest.raises(OptionError, match=r"Options.scheme\['two'\] does not fit: two shares its loops with"):
        compiled_levels(made, options=Options(scheme=schemes, inline=False))


@pytest.mark.parametrize("threads", [1, 2])
def test_slices_are_asked_for_by_schemes_without_their_dimension(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sliced, "CLEARLY", 1e9)
    asked: dict[str, Any] = {"outputs": eliminated()}
    said = report_of(**asked, options=Options(threads=threads))
    told = said.schemes
    assert "w slice by slice along z" in str(said)
    by_default = without_remarks(asked, Options(threads=threads))
    assert without_remarks(asked, Options(threads=threads, scheme=told)) == by_default
    # Loops along z are those of all slices at once.
    apart = {"out": "[R(z), R(i), R(j), V(j)]"}
    assert "slice by slice" not in str(report_of(**asked, options=Options(threads=threads, scheme=apart)))


@pytest.mark.parametrize("dtype", [Double, pm.Complex])
def test_schemes_of_one_order_of_products_leave_others_as_they_are(dtype: Any) -> None:
    """Beside (A B) D, for other sizes, stands A (B D), whose second product has other operands."""
    K, L, M, N = (pm.Parameter(Int, name) for name in "KLMN")
    A, B, D = (pm.Matrix(dtype, name, shape) for name, shape in (("A", [M, K]), ("B", [K, N]), ("D", [N, L])))
    asked: dict[str, Any] = {"outputs": (A @ B @ D).named("O")}
    told = report_of(**asked).schemes
    assert {*told} == {"tmp_A_B", "O"}
    found = compiled_levels(**asked, options=Options(scheme=told))["tilesize"]
    assert isinstance(found, Schedule)
    assert found.grouping.pipeline.others, "there is one order alone"
    assert without_remarks(asked, Options(scheme=told)) == without_remarks(asked, Options())
    with pytest.raises(OptionError, match=r"scheme\['O'\] does not fit: "):
        compiled_levels(**asked, options=Options(scheme={**told, "O": "[R(i), R(h), R(j)]"}))


def test_loops_that_other_orders_could_have_as_well_are_not_theirs() -> None:
    description, _ = describe(kernel_case(find_kernel("2mm"), "MINI").task)
    asked: dict[str, Any] = {"outputs": description.outputs, "inputs": description.inputs, "machine": WIDE}
    told = report_of(**asked, options=Options(threads=1)).schemes
    by_default = without_remarks(asked, Options(threads=1))
    assert without_remarks(asked, Options(threads=1, scheme=told)) == by_default
