"""Pipelines that the tests of fusion use."""

from __future__ import annotations

from collections.abc import Callable

import polymat as pm
from polymat.fusion.dag import Dag
from polymat.fusion.reads import Reads
from polymat.graph.build import build
from polymat.graph.pipeline import Pipeline
from polymat.graph.verifypipeline import verify

M, N, K = (pm.Parameter(pm.Int, name) for name in "MNK")
i, j, k = (pm.Variable(pm.Int, name) for name in "ijk")
I, J, L = (pm.Interval(pm.Int, 0, size - 1) for size in (M, N, K))  # noqa: E741 (the interval of i)


def pipeline_of(*outputs: pm.Function) -> Pipeline:
    """The pipeline as the user wrote it: nothing is inlined."""
    return verify(build(outputs))


def facts(*outputs: pm.Function) -> tuple[Reads, Dag, tuple[str, ...]]:
    """What alignment and legality start from, and the names of all stages."""
    pipeline = pipeline_of(*outputs)
    return Reads.of(pipeline), Dag.of_pipeline(pipeline), tuple(stage.name for stage in pipeline.stages)


def function(name: str, *dims: tuple[pm.Variable, pm.Interval]) -> pm.Function:
    return pm.Function(([v for v, _ in dims], [interval for _, interval in dims]), pm.Double, name)


def total(name: str, dims: str, reduced: str, op: pm.Op, value: Callable[..., object]) -> pm.Reduction:
    """`total("t", "i", "ik", Op.Sum, ...)`: a reduction over the standard intervals of i, j and k."""
    known = {"i": (i, I), "j": (j, J), "k": (k, L)}
    result = pm.Reduction(
        ([known[d][0] for d in dims], [known[d][1] for d in dims]),
        ([known[d][0] for d in reduced], [known[d][1] for d in reduced]),
        pm.Double,
        name,
    )
    variables = [known[d][0] for d in reduced]
    result.defn = [pm.Reduce(result(*[known[d][0] for d in dims]), value(*variables), op)]
    return result


def product_and_bias() -> pm.Function:
    """The example of the thesis, section 4.6."""
    a, b = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
    bias = pm.Vector(pm.Double, "b", [N])
    s1 = total("S1", "ij", "ijk", pm.Op.Sum, lambda i, j, k: a(i, k) * b(k, j))
    s2 = function("S2", (i, I), (j, J))
    s2.defn = [s1(i, j) + bias(j)]
    return s2


def atax() -> pm.Function:
    a, x = pm.Matrix(pm.Double, "A", [M, N]), pm.Vector(pm.Double, "x", [N])
    t = total("t", "i", "ij", pm.Op.Sum, lambda i, j: a(i, j) * x(j))
    return total("y", "j", "ij", pm.Op.Sum, lambda i, j: a(i, j) * t(i))


def bicg() -> tuple[pm.Function, pm.Function]:
    a = pm.Matrix(pm.Double, "A", [M, N])
    r, p = pm.Vector(pm.Double, "r", [M]), pm.Vector(pm.Double, "p", [N])
    s = total("s", "j", "ij", pm.Op.Sum, lambda i, j: r(i) * a(i, j))
    q = total("q", "i", "ij", pm.Op.Sum, lambda i, j: a(i, j) * p(j))
    return s, q


def mvt() -> tuple[pm.Function, pm.Function]:
    a = pm.Matrix(pm.Double, "A", [N, N])
    y1, y2 = pm.Vector(pm.Double, "y1", [N]), pm.Vector(pm.Double, "y2", [N])
    u, v = pm.Variable(pm.Int, "u"), pm.Variable(pm.Int, "v")
    x1, x2 = (pm.Reduction(([u], [J]), ([u, v], [J, J]), pm.Double, name) for name in ("x1", "x2"))
    x1.defn = [pm.Reduce(x1(u), a(u, v) * y1(v), pm.Op.Sum)]
    x2.defn = [pm.Reduce(x2(u), a(v, u) * y2(v), pm.Op.Sum)]
    return x1, x2


def blur_chain() -> pm.Function:
    """Blur along i, blur along j, sharpen."""
    image = pm.Image(pm.Double, "img", [M, N])
    inner = [pm.Interval(pm.Int, 2, size - 3) for size in (M, N)]
    blurx = function("blurx", (i, inner[0]), (j, J))
    blurx.defn = [image(i - 2, j) + image(i - 1, j) + image(i, j) + image(i + 1, j) + image(i + 2, j)]
    blury = function("blury", (i, inner[0]), (j, inner[1]))
    blury.defn = [blurx(i, j - 2) + blurx(i, j - 1) + blurx(i, j) + blurx(i, j + 1) + blurx(i, j + 2)]
    sharp = function("sharp", (i, pm.Interval(pm.Int, 3, M - 4)), (j, inner[1]))
    sharp.defn = [3 * blury(i, j) - blury(i - 1, j) - blury(i + 1, j) + image(i, j)]
    return sharp
