"""Schemes of stages that are no products of two arrays, and of groups: what they say, and what is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import polymat as pm
from polymat import Double, Function, Int, Interval, Op, Parameter, Reduce, Reduction, Variable
from polymat.codegen.program import Program
from polymat.driver import levels, request_for
from polymat.plan.loops import LoopPlan
from polymat.plan.nest import MergedPlan
from polymat.plan.planscheme import schemes_of
from polymat.plan.schedule import Schedule
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import Plan, TilePlan
from tests.fixed import own_c

M, N, K = (Parameter(Int, name) for name in "MNK")
i, j, k = (Variable(Int, name) for name in "ijk")
A, B = pm.Image(Double, "A", [M, K]), pm.Image(Double, "B", [K, N])
DIMS = ([M, K], [K, N], [M, N])
ROWS, DEPTH, COLUMNS = (Interval(Int, 0, size - 1) for size in (M, K, N))


def squares() -> Any:
    made = Function(([i, k], [ROWS, DEPTH]), Double, "P")
    made.defn = [A(i, k) * A(i, k)]
    return made


def product(left: Any = A) -> Any:
    made = Reduction(([i, j], [ROWS, COLUMNS]), ([i, j, k], [ROWS, COLUMNS, DEPTH]), Double, "C")
    made.defn = [Reduce(made(i, j), left(i, k) * B(k, j), Op.Sum)]
    return made


def ended() -> Any:
    made, source = Function(([i, j], [ROWS, COLUMNS]), Double, "D"), product()
    made.defn = [source(i, j) * source(i, j) + 1.0]
    return made


def sums() -> Any:
    made = Reduction(([i], [ROWS]), ([i, k], [ROWS, DEPTH]), Double, "S")
    made.defn = [Reduce(made(i), A(i, k) * A(i, k), Op.Sum)]
    return made


def blurred() -> Any:
    across = Function(([i, k], [ROWS, Interval(Int, 1, K - 2)]), Double, "across")
    across.defn = [A(i, k - 1) + A(i, k + 1)]
    made = Function(([i, k], [Interval(Int, 1, M - 2), Interval(Int, 1, K - 2)]), Double, "Q")
    made.defn = [across(i - 1, k) + across(i + 1, k)]
    return made


def plans(
    output: Any,
    schemes: Mapping[str, str],
    *,
    estimates: Mapping[Parameter, int] | None = None,
    tile_sizes: tuple[int, ...] = (),
) -> dict[str, Plan]:
    """The plans by the last stage of their groups, checked as `compile` does."""
    options = pm.Options(scheme=dict(schemes), inline=False, tile_sizes=tile_sizes)
    asked = request_for(output, inputs=[A, B], estimates=estimates, options=options)
    found: dict[str, Plan] = {}
    for name, level in levels(asked):
        if isinstance(level, Schedule):
            found = {plan.group.stages[-1]: plan for plan in level.plans}
        if name == "codegen":
            break
    return found


def written(found: Mapping[str, Plan]) -> dict[str, str]:
    """The schemes of plans."""
    return {name: str(scheme) for plan in found.values() for name, scheme in schemes_of(plan).items()}


def told(output: Any, *, tile_sizes: tuple[int, ...] = (), **schemes: str) -> str:
    """What is wrong with schemes, and the hint."""
    with pytest.raises(pm.OptionError) as caught:
        plans(output, schemes, tile_sizes=tile_sizes)
    message, _, hint = str(caught.value).partition("\nhint: ")
    return re.split(r"does not fit: |\n", message)[1] + " / " + hint


def test_loops_of_a_stage_run_as_they_stand() -> None:
    plan = plans(squares(), {"P": "[Par(k), R(k), R(i), U(k, 3), V(i)]"})["P"]
    assert isinstance(plan, LoopPlan)
    assert (plan.order, plan.parallel, plan.unroll, plan.vector) == (("k", "i"), "k", 3, "i")
    assert str(schemes_of(plan)["P"]) == "[Par(k), R(k), R(i), U(k, 3), V(i)]"


def test_what_is_not_said_is_left_out() -> None:
    plan = plans(squares(), {"P": "[R(i), R(k)]"})["P"]
    assert isinstance(plan, LoopPlan)
    assert (plan.parallel, plan.unroll, plan.vector) == (None, 1, None)


def test_the_order_of_loops_says_where_sums_are_kept() -> None:
    assert plans(sums(), {"S": "[R(i), R(k), V(k)]"})["S"].kind == "reduce"
    assert plans(sums(), {"S": "[R(k), R(i), V(i)]"})["S"].kind == "row"


def test_products_run_in_the_tiles_of_what_reads_them() -> None:
    inner = "[pack(B), R(j), R(i), R(k), U(i, 4), V(j)]"
    plan = plans(ended(), {"D": "[fuse(C), Par(i), T(i, 8)]", "C": inner})["D"]
    assert isinstance(plan, TilePlan)
    assert (plan.group.stages, plan.sizes, plan.scratch) == (("C", "D"), (8,), ("C",))
    assert isinstance(plan.loops["C"], SchemePlan)
    assert {name: str(scheme) for name, scheme in schemes_of(plan).items()} == {
        "C": inner,
        "D": "[fuse(C), Par(i), T(i, 8)]",
    }


def test_a_product_with_what_scales_it_runs_in_loops_of_its_own() -> None:
    left, right, added = (pm.Matrix(Double, name, dims) for name, dims in zip("XYZ", DIMS, strict=True))
    text = "[fuse(tmp_X_Y), Par(i), T(k, 16), pack(Y), R(j), R(i), R(k), U(i, 4), V(j)]"
    options = pm.Options(scheme={"D": text})
    asked = request_for(pm.gemm(left, right, added, 2.0, 0.5).named("D"), options=options)
    schedule = next(level for _, level in levels(asked) if isinstance(level, Schedule))
    (plan,) = schedule.plans
    assert isinstance(plan, MergedPlan)
    assert isinstance(plan.inner, SchemePlan)
    assert str(schemes_of(plan)["D"]) == text


def test_threads_share_tiles_of_several_dimensions_of_a_product() -> None:
    plan = plans(product(), {"C": "[Par(i*j), T(i, 8), T(j, 16), R(k), R(j), R(i), V(j)]"})["C"]
    assert isinstance(plan, TilePlan)
    assert plan.is_numbered
    assert str(plan.loops["C"]) == "C: scheme [R(k), R(j), R(i), V(j)]"


def test_a_stage_that_is_fused_with_none_runs_by_itself() -> None:
    apart = plans(product(squares()), {"P": "[fuse(P), T(i, 8)]", "C": "[R(i), R(j), R(k)]"})
    assert [*apart] == ["P", "C"]
    assert isinstance(apart["P"], TilePlan)


def test_sizes_of_tiles_are_as_a_scheme_says_however_small_the_extents() -> None:
    schemes = {"Q": "[fuse(across), Par(i*k), T(i, 32), T(k, 256), R(i), R(k), U(i, 8), V(k)]"}
    assert written(plans(blurred(), schemes, estimates={M: 5, K: 90})) == schemes


def test_a_scheme_says_sizes_of_tiles_before_options_do() -> None:
    schemes = {"P": "[fuse(P), Par(i*k), T(i, 8), T(k, 64), R(i), R(k), V(k)]"}
    assert written(plans(squares(), schemes, tile_sizes=(16, 16))) == schemes


def test_tiles_that_are_made_smaller_are_not_those_of_the_scheme() -> None:
    wrong = "tiles have 2000 points of i, not 32000 / tiles begin where every stage has a point"
    assert told(blurred(), Q="[fuse(across), Par(i*k), T(i, 32000), T(k, 25600)]").startswith(wrong)


@pytest.mark.parametrize(
    ("schemes", "stage", "points"),
    [
        ({"Q": "[fuse(across), T(i, 2), T(k, 256)]", "across": "[R(i), R(k), U(i, 8), V(k)]"}, blurred, 4),
        ({"Q": "[fuse(across), R(i), R(k), U(i, 8), V(k)]"}, blurred, 2),
        ({"D": "[fuse(C), T(i, 4)]", "C": "[pack(A), R(k), R(j), R(i), U(i, 8), V(j)]"}, ended, 4),
        ({"C": "[fuse(P), R(k), R(j), R(i), U(i, 8), V(j)]"}, lambda: product(squares()), 2),
    ],
)
def test_no_more_points_are_unrolled_than_a_tile_has(
    schemes: dict[str, str], stage: Callable[[], Any], points: int
) -> None:
    wrong = f"U(i, 8) takes more points than a tile has / tiles have {points} of i"
    assert told(stage(), tile_sizes=(2,), **schemes).startswith(wrong)


@pytest.mark.parametrize(
    "inner",
    [
        "[R(k), T(i, 8), R(j), R(i), U(i, 4), V(j)]",
        "[T(i, 64), T(i, 8), pack(A), R(k), R(j), R(i), U(i, 4), V(j)]",
    ],
)
def test_a_product_has_tiles_of_its_own_within_those_of_its_group(inner: str) -> None:
    schemes = {"D": "[fuse(C), Par(i), T(i, 64)]", "C": inner}
    assert written(plans(ended(), schemes)) == schemes


def test_a_product_has_tiles_of_its_own_within_tiles_in_tiles() -> None:
    schemes = {
        "D": "[fuse(C), Par(i), T(i, 64), T(i, 16)]",
        "C": "[T(i, 16), T(i, 8), pack(A), R(k), R(j), R(i), U(i, 4), V(j)]",
    }
    assert written(plans(ended(), schemes)) == schemes


def test_tiles_of_a_product_behind_its_loops_are_not_those_of_the_group() -> None:
    loops = "[R(k), T(i, 16), R(j), R(i), U(i, 4), V(j)]"
    plan = plans(ended(), {"D": "[fuse(C)]", "C": loops}, tile_sizes=(64,))["D"]
    assert isinstance(plan, TilePlan)
    assert set(plan.sizes) == {64}  # along one dimension or two, as the machine would have it


def test_tiles_run_in_the_order_of_the_scheme_and_backwards() -> None:
    plan = plans(ended(), {"D": "[fuse(C), back(j), T(j, 8), T(i, 4)]"})["D"]
    assert isinstance(plan, TilePlan)
    assert (plan.dims, plan.sizes, plan.backwards) == (("j", "i"), (8, 4), True)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (squares, "[fuse(P), Par(i), back(i), T(i, 8), R(i), R(k), V(k)]"),
        (product, "[fuse(C), Par(i), back(i), T(i, 8), R(k), R(j), R(i), V(j)]"),
    ],
)
def test_tiles_of_a_stage_by_itself_run_backwards(output: Callable[[], Any], text: str) -> None:
    made = output()
    plan = plans(made, {made.name: text})[made.name]
    assert isinstance(plan, TilePlan)
    assert plan.backwards
    assert str(schemes_of(plan)[made.name]) == text


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[R(i)]", "nothing runs over all of k / R(k) does, once"),
        ("[R(i), R(k), R(i)]", "two loops run over all of i / R(i) does, once"),
        ("[R(i), R(h), R(k)]", "R(h) names h, which is no dimension of it / it has i, k"),
        ("[R(i), Par(i), R(k)]", "Par(i) is not the first loop / threads meet once"),
        ("[Par(h), R(i), R(k)]", "Par(h) shares out no dimension of the result / it has i, k"),
        ("[R(i), R(k), V(i)]", "V(i) is not along the innermost loop / R(i) is the last loop then"),
        ("[R(i), R(k), V(k, 3)]", "V(k, 3) is no vector / vectors of this processor have"),
        ("[R(i), U(i, 2), R(k)]", "R(k) stands inside U(i, 2) / U and V are the innermost atoms"),
        ("[U(i, 2), T(i, 2), R(i), R(k)]", "U(i, 2) stands outside tiles / T and R come first"),
        ("[R(i), R(k), U(i, 2)]", "U(i, 2) unrolls another loop than the outermost / the outermost loop may"),
        ("[Par(i), R(i), R(k), U(i, 17)]", "U(i, 17) unrolls 17 points / at most 16 run together"),
        ("[T(i, 8), T(i, 3), R(i), R(k)]", "T(i, 3) does not divide the tiles of 8 that it stands in / T(x"),
        ("[pack(A), R(i), R(k)]", "pack(A) is for products of two arrays / loops have the atoms"),
        ("[Par(k*i), T(i, 8), T(k, 8), R(i), R(k)]", "threads share no tiles of k*i / Par(i*k) says"),
        ("[fuse(A), T(i, 8)]", "P runs by itself, not with A / explain() lists the groups"),
        ("[Call(gemm)]", "P is no call of a library / explain() says why"),
        ("[back(i), Par(i), R(i), R(k), V(k)]", "back(i) is for tiles, and there are none / T(i, 32) inside"),
        ("[roll(i), Par(i), R(i), R(k), V(k)]", "P runs by itself, row by row / fuse(a) names the stages"),
        ("[fuse(P), back(i), R(i), R(k)]", "back(i) is for tiles, and there are none / T(i, 32) inside it"),
        ("[Par(i), pack(A), R(i), R(k), V(k)]", "pack(A) is for products of two arrays / loops have"),
        ("[Par(i), R(i), R(k), seq(i: 4 | 2), V(k)]", "seq(i: 4 | 2) is for products of two arrays / loops"),
        ("[back(k), T(i, 8), R(i), R(k)]", "tiles do not run backwards along k / along i they may"),
        ("[T(i, 8)]", "P runs by itself, row by row / fuse(a) names the stages that share tiles"),
        ("[T(h, 8)]", "nothing is tiled along h / tiles run along i, k"),
    ],
)
def test_what_does_not_fit_loops_says_why(text: str, wrong: str) -> None:
    assert told(squares(), P=text).startswith(wrong)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[R(k), R(i), V(k)]", "V(k) is not along the innermost loop"),
        ("[T(k, 8), R(i), R(k)]", "T(k, ...) tiles no dimension of the result / tiles run along i"),
    ],
)
def test_what_does_not_fit_sums_says_why(text: str, wrong: str) -> None:
    assert told(sums(), S=text).startswith(wrong)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[fuse(C), roll(i), T(i, 8)]", "tiles do not follow each other along i / leave roll out"),
        ("[fuse(C), back(j), T(i, 8), T(j, 4)]", "tiles do not run backwards along j / along i they may"),
        ("[fuse(C), Par(i), T(i, 8), T(j, 4)]", "threads share no tiles of i / Par(i*j)"),
    ],
)
def test_what_does_not_fit_a_group_says_why(text: str, wrong: str) -> None:
    assert told(ended(), D=text).startswith(wrong)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[fuse(P), T(i, 8), R(i), R(j), R(k), U(i, 4), U(i, 2)]", "U(i, 2) unrolls i a second time"),
        ("[R(i), fuse(P)]", "fuse(P) is not the first atom"),
        ("[fuse(P, P), T(i, 8)]", "fuse(P, P) has a stage twice"),
        ("[Par(i*j), T(i, 8), T(j, 16), Par(i), R(k), R(j), R(i), V(j)]", "Par(i) stands within a tile / "),
        ("[back(i), R(i), R(j), R(k)]", "back(i) is for a group that runs so"),
        ("[Call(gemm), R(i), R(j), R(k)]", "Call(gemm) is for a group that runs so"),
    ],
)
def test_atoms_of_groups_are_no_loops_of_a_product(text: str, wrong: str) -> None:
    assert told(product(squares()), C=text).startswith(wrong)


def test_no_loop_has_the_name_of_a_range_that_it_runs_in() -> None:
    """The ranges of three tiled dimensions are called begin0 to end2."""
    text = "[Par(i*j), T(i, 56), T(j, 40), T(i, 8), R(i), R(k), R(j), U(i, 2)]"
    asked = request_for(product(), inputs=[A, B], options=pm.Options(scheme={"C": text}))
    program = next(level for _, level in levels(asked) if isinstance(level, Program))
    code = own_c(program)
    assert "const ptrdiff_t _pm_begin1, const ptrdiff_t _pm_end1" in " ".join(code.split())
    assert re.findall(r"ptrdiff_t (_pm_(?:begin|end)\d+) =", code) == []
    assert re.findall(r"ptrdiff_t (_pm_past\d+) =", code)
