"""Which dimensions of several stages are one dimension of the group."""

from __future__ import annotations

from fractions import Fraction

import polymat as pm
from polymat.fusion.alignment import align
from polymat.graph.aligned import Alignment
from tests.fusion import pipelines as p
from tests.fusion.pipelines import I, J, K, M, N, facts, function, i, j


def aligned(*outputs: pm.Function) -> Alignment:
    reads, _, names = facts(*outputs)
    return align(reads, names)


def test_product_and_bias_as_in_the_thesis() -> None:
    assert str(aligned(p.product_and_bias())) == "S1 [i,j,k] -> [1,2,3]\nS2 [i,j] -> [1,2,-]"


def test_atax_meets_in_the_matrix() -> None:
    """t is complete along i before y sums over i; both walk A."""
    assert str(aligned(p.atax())) == "t [i,j] -> [1,2]\ny [j,i] -> [2,1]"


def test_siblings_are_aligned_by_the_matrix_they_share() -> None:
    assert str(aligned(*p.bicg())) == "s [j,i] -> [2,1]\nq [i,j] -> [1,2]"
    assert str(aligned(*reversed(p.bicg()))) == "q [i,j] -> [1,2]\ns [j,i] -> [2,1]"
    assert str(aligned(*p.mvt())) == "x1 [u,v] -> [1,2]\nx2 [u,v] -> [2,1]"


def test_stencils_are_aligned_at_constant_distances() -> None:
    assert str(aligned(p.blur_chain())) == (
        "blurx [i,j] -> [1,2]\nblury [i,j] -> [1,2]\nsharp [i,j] -> [1,2]"
    )


def test_a_transposed_access_permutes() -> None:
    f, g = function("f", (i, I), (j, J)), function("g", (j, J), (i, I))
    f.defn = [pm.Matrix(pm.Double, "A", [M, N])(i, j) * 2]
    g.defn = [f(i, j) * f(i, j)]
    assert str(aligned(g)) == "f [i,j] -> [1,2]\ng [j,i] -> [2,1]"


def test_scales_are_rational() -> None:
    half = pm.Interval(pm.Int, 0, N // 2 - 1)
    f, g, h = function("f", (j, J)), function("g", (j, half)), function("h", (j, J))
    f.defn = [pm.Vector(pm.Double, "A", [N])(j) * 2]
    g.defn = [f(2 * j) * f(2 * j + 1)]
    found = aligned(g)
    assert str(found) == "f [j] -> [1]\ng [j] -> [1]"
    assert found.scales == {"f": (Fraction(1),), "g": (Fraction(2),)}
    h.defn = [f(j // 2) + f(j // 2) * f(j // 2)]
    assert aligned(h).scales == {"f": (Fraction(1),), "h": (Fraction(1, 2),)}


def test_two_dimensions_for_one_are_left_out() -> None:
    f, g = function("f", (i, J), (j, J)), function("g", (i, J), (j, J))
    f.defn = [pm.Matrix(pm.Double, "A", [N, N])(i, j) * 2]
    g.defn = [f(i, j) + f(j, i)]
    found = aligned(g)
    assert str(found) == "f [i,j] -> [-,-]\ng [i,j] -> [1,2]"
    assert found.conflicts == (
        "i of f is not matched: g also reads it along j",
        "j of f is not matched: g also reads it along i",
    )


def test_only_the_dimension_in_conflict_is_left_out() -> None:
    f, g = function("f", (i, J), (j, J)), function("g", (i, J), (j, J))
    f.defn = [pm.Matrix(pm.Double, "A", [N, N])(i, j) * 2]
    g.defn = [f(i, j) + f(i, i)]
    assert str(aligned(g)) == "f [i,j] -> [1,-]\ng [i,j] -> [1,2]"


def test_distances_that_grow_with_a_size_are_not_aligned() -> None:
    f, g = function("f", (j, pm.Interval(pm.Int, 0, 2 * N - 1))), function("g", (j, J))
    f.defn = [pm.Vector(pm.Double, "A", [2 * N])(j) * 2]
    g.defn = [f(j + N) * f(j + N)]
    assert str(aligned(g)) == "f [j] -> [1,-]\ng [j] -> [2,-]"
    assert aligned(g).conflicts == ("g reads f along j at no constant distance",)
    reverse = function("r", (j, J))
    reverse.defn = [f(N - 1 - j) * f(N - 1 - j)]
    assert str(aligned(reverse)) == "f [j] -> [1,-]\nr [j] -> [2,-]"


def test_a_sum_of_indices_follows_the_one_with_the_bounded_rest() -> None:
    taps = pm.Interval(pm.Int, 0, 4)
    u = pm.Variable(pm.Int, "u")
    f = function("f", (j, pm.Interval(pm.Int, 0, N + 3)))
    f.defn = [pm.Vector(pm.Double, "A", [N + 4])(j) * 2]
    g = pm.Reduction(([j], [J]), ([u, j], [taps, J]), pm.Double, "g")
    g.defn = [pm.Reduce(g(j), f(j + u), pm.Op.Sum)]
    assert str(aligned(g)) == "f [j] -> [1,-]\ng [j,u] -> [1,2]"


def test_names_decide_nothing() -> None:
    """The accumulation calls its dimensions as it likes, and reduces over one called like the result's."""
    a, x = pm.Matrix(pm.Double, "A", [M, K]), pm.Vector(pm.Double, "x", [K])
    u, v = pm.Variable(pm.Int, "u"), pm.Variable(pm.Int, "v")
    g = pm.Reduction(([i], [I]), ([u, v], [I, pm.Interval(pm.Int, 0, K - 1)]), pm.Double, "g")
    g.defn = [pm.Reduce(g(u), a(u, v) * x(v), pm.Op.Sum)]
    h = function("h", (j, I))
    h.defn = [g(j) * g(j)]
    assert str(aligned(h)) == "g [i,v] -> [1,2]\nh [j] -> [1,-]"
    clash = pm.Reduction(([i], [I]), ([u, i], [I, pm.Interval(pm.Int, 0, K - 1)]), pm.Double, "c")
    clash.defn = [pm.Reduce(clash(u), a(u, i) * x(i), pm.Op.Sum)]
    assert str(aligned(clash)) == "c [i] -> [1]"


def test_group_dimensions_have_names_of_their_own() -> None:
    f, g = function("f", (j, J)), function("g", (j, I))
    f.defn = [pm.Vector(pm.Double, "A", [N])(j) * 2]
    g.defn = [pm.Vector(pm.Double, "B", [M])(j) * 3]
    assert aligned(f, g).dims == ("j", "j_2")
