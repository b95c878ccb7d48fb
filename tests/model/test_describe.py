from __future__ import annotations

from math import inf

import pytest

import polymat as pm
from benchmarks.polybench import PRODUCTS
from benchmarks.polybench.kernel import Kernel
from polymat.graph.build import build
from polymat.graph.inline import inline_pointwise
from polymat.graph.stage import Stage
from polymat.lang.affine import Affine
from polymat.model.assumed import UNKNOWN_EXTENT
from polymat.model.describe import Placement, group_nest, stage_nest
from polymat.model.footprint import tile_volume
from polymat.model.looporder import innermost
from polymat.model.movement import movement
from polymat.model.papercost import existing_cost, overlap_margins, updated_cost
from polymat.model.reuse import normalised_reuse
from tests.model.nests import TINY, choose_tiles_paper, is_parallel, loop_order, tile_bytes

M, N = pm.Parameter(pm.Int, "M"), pm.Parameter(pm.Int, "N")
x, y = pm.Variable(pm.Int, "x"), pm.Variable(pm.Int, "y")
SIZES = {"M": 100, "N": 200}


def stages(*outputs: pm.Function) -> tuple[Stage, ...]:
    return inline_pointwise(build(outputs)).stages


def test_matmul_from_the_language() -> None:
    A, B = pm.Matrix(pm.Double, "A", [M, N]), pm.Matrix(pm.Double, "B", [N, M])
    (product,) = stages(A @ B)
    nest = stage_nest(product, SIZES)
    assert [d.extent for d in nest.dims] == [100, 100, 200]
    assert list(normalised_reuse(nest).values()) == [0.5, 0.5, 1]
    assert [s.value for s in innermost(nest).scores] == [-44, 18, -6]
    assert nest.flops == 2 * 100 * 100 * 200
    assert nest.live_in() == ("A", "B")
    assert [is_parallel(nest, name) for name in nest.names] == [True, True, False]


def test_bias_joins_the_loops_of_the_product() -> None:
    A, B = pm.Matrix(pm.Double, "A", [M, N]), pm.Matrix(pm.Double, "B", [N, M])
    bias = pm.Vector(pm.Double, "bias", [M])
    summed = pm.Function(([x, y], [pm.Interval(pm.Int, 0, M - 1)] * 2), pm.Double, "summed")
    summed.defn = [(A @ B)(x, y) + bias(y)]
    product, out = stages(summed)
    alignment = {
        product.name: dict(zip(product.dims, ("g0", "g1"), strict=True)),
        out.name: dict(zip(out.dims, ("g0", "g1"), strict=True)),
    }
    nest = group_nest((product, out), alignment, SIZES, live_out=(out.name,))
    assert nest.names[:2] == ("g0", "g1")
    assert len(nest.names) == 3
    assert [name for name in nest.written() if name not in nest.live_out] == [product.name]
    assert [s.has(nest.names[2]) for s in nest.statements] == [True, False]
    assert innermost(nest).choice == "g1"


def test_two_products_share_a_matrix() -> None:
    A = pm.Matrix(pm.Double, "A", [M, N])
    p, r = pm.Vector(pm.Double, "p", [N]), pm.Vector(pm.Double, "r", [M])
    s, q = stages(A.T @ r, A @ p)

    def placement(stage: Stage, result: str, reduced: str) -> dict[str, str]:
        (accumulation,) = stage.accumulations
        return {stage.dims[0]: result, accumulation.reduced_dims[0]: reduced}

    alignment = {s.name: placement(s, "col", "row"), q.name: placement(q, "row", "col")}
    nest = group_nest((s, q), alignment, SIZES, dims=("row", "col"))
    assert [(d.name, d.extent) for d in nest.dims] == [("row", 100), ("col", 200)]
    assert sum(reference.array == "A" for reference in nest.references()) == 1
    assert not is_parallel(nest, "row")
    assert not is_parallel(nest, "col")


def test_triangles_count_half() -> None:
    f = pm.Function(([x, y], [pm.Interval(pm.Int, 0, N - 1), pm.Interval(pm.Int, 0, x)]), pm.Double, "f")
    f.defn = [1.0 * x]
    nest = stage_nest(stages(f)[0], SIZES)
    assert [d.extent for d in nest.dims] == [200, 200]
    assert nest.points == pytest.approx(200 * 100.5)


def test_a_stencil_is_described_by_its_inside() -> None:
    a = pm.Image(pm.Float, "a", [N])
    f = pm.Function(([x], [pm.Interval(pm.Int, 0, N - 1)]), pm.Float, "f")
    f.defn = [
        pm.Case(pm.Condition(x, "==", 0), a(0)),
        pm.Case(pm.Condition(x, ">", 0) & pm.Condition(x, "<", N - 1), a(x - 1) + a(x) + a(x + 1)),
        pm.Case(pm.Condition(x, "==", N - 1), a(N - 1)),
    ]
    nest = stage_nest(stages(f)[0], SIZES)
    assert len(nest.references()) == 4
    assert [r.element_bytes for r in nest.references()] == [4] * 4


def test_half_resolution_is_aligned_by_scaling() -> None:
    a = pm.Image(pm.Float, "a", [N])
    fine = pm.Function(([x], [pm.Interval(pm.Int, 0, 199)]), pm.Float, "fine")
    fine.defn = [a(x) * 2.0]
    half = pm.Function(([y], [pm.Interval(pm.Int, 0, 99)]), pm.Float, "half")
    half.defn = [fine(2 * y) + fine(2 * y + 1)]
    first, second = stages(half)
    alignment: dict[str, Placement] = {
        "fine": {"x": "g"},
        "half": {"y": Affine.name("g").floordiv(2)},
    }
    nest = group_nest((first, second), alignment, SIZES, live_out=("half",))
    assert [(d.name, d.extent) for d in nest.dims] == [("g", 200)]
    volumes = {group.array: str(volume) for group, volume in tile_volume(nest)}
    assert volumes["half"] == "0.5g + 0.5"


def test_a_recurrence_is_sequential_along_what_it_looks_back() -> None:
    f = pm.Function(([x, y], [pm.Interval(pm.Int, 0, N - 1), pm.Interval(pm.Int, 1, N - 2)]), pm.Double, "f")
    f.defn = [
        pm.Case(pm.Condition(x, "==", 0), 1.0),
        pm.Case(pm.Condition(x, ">", 0), f(x - 1, y)),
    ]
    (statement,) = stage_nest(stages(f)[0], SIZES).statements
    assert statement.sequential == ("x",)


def test_margins_of_a_chain_from_the_language() -> None:
    a = pm.Image(pm.Float, "a", [N])
    f = pm.Function(([x], [pm.Interval(pm.Int, 1, N - 2)]), pm.Float, "f")
    f.defn = [a(x - 1) + a(x + 1)]
    g = pm.Function(([y], [pm.Interval(pm.Int, 3, N - 3)]), pm.Float, "g")
    g.defn = [f(y - 2) + f(y + 1)]
    first, second = stages(g)
    nest = group_nest((first, second), {"f": {"x": "t"}, "g": {"y": "t"}}, SIZES, live_out=("g",))
    assert overlap_margins(nest) == {"f": {"t": (2, 1)}, "g": {}}


def test_names_may_clash() -> None:
    """A reduction over (x, y) into y: the stage's x is the accumulation's y."""
    A = pm.Matrix(pm.Double, "A", [M, N])
    f = pm.Reduction(
        ([x], [pm.Interval(pm.Int, 0, N - 1)]),
        ([x, y], [pm.Interval(pm.Int, 0, M - 1), pm.Interval(pm.Int, 0, N - 1)]),
        pm.Double,
        "f",
    )
    f.defn = [pm.Reduce(f(y), A(x, y), pm.Op.Sum)]
    nest = stage_nest(stages(f)[0], SIZES)
    assert sorted(d.extent for d in nest.dims) == [100, 200]
    assert [d.extent for d in nest.dims if is_parallel(nest, d.name)] == [200]


def test_a_start_value_that_reads_is_a_statement() -> None:
    A, y0 = pm.Matrix(pm.Double, "A", [M, N]), pm.Vector(pm.Double, "y0", [M])
    rows = pm.Interval(pm.Int, 0, M - 1)
    inside = ([x, y], [rows, pm.Interval(pm.Int, 0, N - 1)])
    f = pm.Reduction(([x], [rows]), inside, pm.Double, "f", init=y0(x))
    f.defn = [pm.Reduce(f(x), A(x, y), pm.Op.Sum)]
    nest = stage_nest(stages(f)[0], SIZES)
    assert [len(s.dims) for s in nest.statements] == [1, 2]
    assert nest.live_in() == ("y0", "A")
    assert existing_cost(nest, TINY).value < inf


@pytest.mark.parametrize("kernel", PRODUCTS, ids=lambda kernel: kernel.name)
def test_every_polybench_stage_gets_tiles_that_fit(kernel: Kernel) -> None:
    for build_kernel in kernel.builds.values():
        description = build_kernel()
        for stage in stages(*description.outputs):
            for sizes in (kernel.sizes["MINI"], kernel.sizes["LARGE"]):
                nest = stage_nest(stage, sizes)
                tiles = choose_tiles_paper(nest, TINY)
                assert all(1 <= tiles.by_dim[dim] <= extent for dim, extent in nest.extents.items())
                assert tile_bytes(nest, tiles.by_dim) <= 1.1 * TINY.l1_bytes
                assert movement(nest, loop_order(nest), tiles.by_dim, TINY).seconds > 0
                assert updated_cost(nest, TINY).value < inf


def test_sizes_without_an_estimate() -> None:
    v = pm.Vector(pm.Double, "v", [N])
    nest = stage_nest(stages(v + v)[0], {})
    assert nest.extents[nest.names[0]] == UNKNOWN_EXTENT


def test_a_scalar_result() -> None:
    v = pm.Vector(pm.Double, "v", [N])
    nest = stage_nest(stages(v @ v)[0], SIZES)
    assert [d.extent for d in nest.dims] == [200]
    assert not is_parallel(nest, nest.names[0])
