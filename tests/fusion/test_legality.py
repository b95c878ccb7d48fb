"""Along which dimensions stages may share tiles, and what they compute beyond the tile."""

from __future__ import annotations

from collections.abc import Sequence

import polymat as pm
from polymat.fusion.dag import Dag
from polymat.fusion.joins import joinable_edges, siblings
from polymat.fusion.legality import Choices, choices_of
from polymat.fusion.reads import Reads
from polymat.graph.aligned import Fusable, Member, Refused
from polymat.plan.tile import MOST_TILED
from tests.fusion import pipelines as p
from tests.fusion.pipelines import I, J, M, N, facts, function, i, j, total


def fuse(
    reads: Reads, dag: Dag, stages: Sequence[str], dims: Sequence[str] | None = None
) -> Fusable | Refused:
    """Whether stages may share tiles along `dims`, and how.

    Without `dims`: along every dimension that may be tiled without private accumulation, if that reaches
    all stages; else along the first choice of fewest dimensions that does.
    """
    choices = choices_of(reads, dag, stages)
    if isinstance(choices, Refused):
        return choices
    if dims is not None:
        return choices.along(dims)
    free = choices.along([tiling.dim for tiling in choices.tilings if not tiling.privates][:MOST_TILED])
    if isinstance(free, Fusable):
        return free
    every = choices.all()
    return every[0] if every else choices.along([tiling.dim for tiling in choices.tilings][:MOST_TILED])


def choices(*outputs: pm.Function) -> Choices:
    found = choices_of(*facts(*outputs))
    assert isinstance(found, Choices), found
    return found


def fused(*outputs: pm.Function, dims: tuple[str, ...] | None = None) -> Fusable:
    found = fuse(*facts(*outputs), dims)
    assert isinstance(found, Fusable), found
    return found


def refused(*outputs: pm.Function, dims: tuple[str, ...] | None = None) -> str:
    found = fuse(*facts(*outputs), dims)
    assert isinstance(found, Refused), found
    return found.reason


def margins(found: Fusable) -> dict[str, tuple[tuple[int, int], ...]]:
    return {member.stage: member.margins for member in found.members}


def test_product_and_bias_share_tiles_of_the_result() -> None:
    found = fused(p.product_and_bias())
    assert found.dims == ("i", "j")
    assert found.members == (
        Member("S1", ("i", "j"), ((0, 0), (0, 0)), scratch=True),
        Member("S2", ("i", "j"), ((0, 0), (0, 0))),
    )
    assert (found.margins, found.live_outs) == (((0, 0), (0, 0)), ("S2",))
    assert "no dimension along k" in refused(p.product_and_bias(), dims=("k",))


def test_atax_is_tiled_along_rows_with_a_private_result() -> None:
    found = fused(p.atax())
    assert found.dims == ("i",)
    assert found.members == (
        Member("t", ("i",), ((0, 0),), scratch=True),
        Member("y", ("i",), ((0, 0),), private=True),
    )
    assert found.privates == ("y",)
    assert choices(p.atax()).refused == ("t is complete only after all tiles along j, and y reads it",)


def test_siblings_each_have_one_private_side() -> None:
    found = {choice.dims: choice.privates for choice in choices(*p.bicg()).all()}
    assert found == {("j",): ("q",), ("i",): ("s",), ("i", "j"): ("s", "q")}


def test_margins_add_up_backwards() -> None:
    found = fused(p.blur_chain())
    assert margins(found) == {
        "blurx": ((1, 1), (2, 2)),
        "blury": ((1, 1), (0, 0)),
        "sharp": ((0, 0), (0, 0)),
    }
    assert found.margins == ((1, 1), (2, 2))


def test_tiling_one_dimension_needs_no_margin_along_the_other() -> None:
    assert margins(fused(p.blur_chain(), dims=("j",)))["blury"] == ((0, 0),)


def shifted() -> tuple[pm.Function, pm.Function]:
    f, g = function("f", (j, pm.Interval(pm.Int, 0, N + 4))), function("g", (j, J))
    f.defn = [pm.Vector(pm.Double, "A", [N + 5])(j) * 2]
    g.defn = [f(j + 5) * f(j + 5)]
    return f, g


def test_a_shifted_scratch_stage_computes_what_is_read_only() -> None:
    _, g = shifted()
    assert margins(fused(g)) == {"f": ((-5, 5),), "g": ((0, 0),)}


def test_a_live_out_with_margins_computes_what_it_owns_too_and_needs_a_copy() -> None:
    f, g = shifted()
    found = fused(f, g)
    assert margins(found) == {"f": ((0, 5),), "g": ((0, 0),)}
    assert found.live_outs == ("f", "g")
    assert [member.stage for member in found.members if member.copied] == ["f"]


def test_reductions_over_a_window_overlap() -> None:
    f = function("f", (j, pm.Interval(pm.Int, 0, N + 3)))
    f.defn = [pm.Vector(pm.Double, "A", [N + 4])(j) * 2]
    u = pm.Variable(pm.Int, "u")
    g = pm.Reduction(([j], [J]), ([j, u], [J, pm.Interval(pm.Int, 0, 4)]), pm.Double, "g")
    g.defn = [pm.Reduce(g(j), f(j + u), pm.Op.Max)]
    assert margins(fused(g)) == {"f": ((0, 4),), "g": ((0, 0),)}


def test_a_window_that_grows_with_a_size_is_refused() -> None:
    f = function("f", (j, pm.Interval(pm.Int, 0, N + M - 2)))
    f.defn = [pm.Vector(pm.Double, "A", [N + M - 1])(j) * 2]
    u = pm.Variable(pm.Int, "u")
    g = pm.Reduction(([j], [J]), ([j, u], [J, I]), pm.Double, "g")
    g.defn = [pm.Reduce(g(j), f(j + u), pm.Op.Sum)]
    assert "g reads f along j at no constant distance" in refused(g)
    assert joinable_edges(*facts(g)[:2]) == ()


def test_a_reason_is_given_once() -> None:
    """The reads of f lie at no constant distance: j is not matched for it, and its margin has no end."""
    f, g = function("f", (j, J)), function("g", (j, J))
    f.defn = [pm.Vector(pm.Double, "A", [N])(j) * 2]
    g.defn = [f(j) + f(N - 1 - j)]
    why = refused(g).split("; ")
    assert "g reads f along j at no constant distance" in why
    assert len(why) == len(set(why))


def test_a_case_narrows_the_distance() -> None:
    """Outside the first rows only the same row is read; there, row 0 from at most 3 behind."""
    f, g = function("f", (j, J)), function("g", (j, J))
    f.defn = [pm.Vector(pm.Double, "A", [N])(j) * 2]
    g.defn = [
        pm.Case(pm.Condition(j, "<=", 3), f(0) * 2),
        pm.Case(pm.Condition(j, ">", 3), f(j) * f(j)),
    ]
    assert margins(fused(g)) == {"f": ((3, 0),), "g": ((0, 0),)}


def test_softmax_rows_share_tiles_of_rows() -> None:
    a = pm.Matrix(pm.Double, "A", [M, N])
    largest = total("m", "i", "ij", pm.Op.Max, lambda i, j: a(i, j))
    e = function("e", (i, I), (j, J))
    e.defn = [pm.Exp(a(i, j) - largest(i))]
    s = total("s", "i", "ij", pm.Op.Sum, lambda i, j: e(i, j))
    y = function("y", (i, I), (j, J))
    y.defn = [e(i, j) / s(i)]
    found = choices(y)
    assert [choice.dims for choice in found.all()] == [("i",)]
    assert any("complete only after all tiles along j" in reason for reason in found.refused)


def test_a_stage_without_the_dimension_is_computed_again() -> None:
    v = function("v", (i, I))
    v.defn = [pm.Vector(pm.Double, "A", [M])(i) * 2]
    y = function("y", (i, I), (j, J))
    y.defn = [v(i) * pm.Matrix(pm.Double, "B", [M, N])(i, j)]
    found = fused(y, dims=("i", "j"))
    assert found.members[0] == Member("v", ("i", None), ((0, 0), (0, 0)), scratch=True)
    assert refused(y, dims=("j",)) == "v has no dimension along j: it is whole in every tile"
    assert refused(v, y, dims=("i", "j")) == (
        "v is needed outside and has no dimension along j: no tile would own it"
    )


def test_recurrences_are_never_fused() -> None:
    f, g = function("f", (j, J)), function("g", (j, J))
    a = pm.Vector(pm.Double, "A", [N])
    f.defn = [pm.Case(pm.Condition(j, "<", 1), a(j)), pm.Case(pm.Condition(j, ">=", 1), f(j - 1) + a(j))]
    g.defn = [f(j) * f(j)]
    assert refused(g) == "f is a recurrence: its points run in an order of their own"
    assert joinable_edges(*facts(g)[:2]) == ()


def test_histograms_are_never_fused() -> None:
    h = pm.Reduction(([i], [pm.Interval(pm.Int, 0, M + N)]), ([i, j], [I, J]), pm.Double, "h")
    h.defn = [pm.Reduce(h(i + j), pm.Matrix(pm.Double, "A", [M, N])(i, j), pm.Op.Sum)]
    y = function("y", (i, I))
    y.defn = [h(i) * 2]
    assert refused(y) == "h accumulates into computed elements, which no tile owns"


def test_margins_of_other_scales_are_whole_points_from_where_tiles_begin() -> None:
    """h(j) needs g(j // 2) alone of a tile that begins at an even j, and g(i) needs f(2i) and f(2i + 1)."""
    f, g, h = (
        function(name, (j, pm.Interval(pm.Int, 0, size - 1)))
        for name, size in (("f", N), ("g", N // 2), ("h", 2 * (N // 2)))
    )
    f.defn = [pm.Vector(pm.Double, "A", [N])(j) * 2]
    g.defn = [f(2 * j) * f(2 * j + 1)]
    h.defn = [g(j // 2) + 1]
    found = fused(h)
    assert [(m.stage, m.scales, m.margins) for m in found.members] == [
        ("f", (), ((0, 0),)),
        ("g", (2,), ((0, 0),)),
        ("h", (), ((0, 0),)),
    ]
    u = function("u", (j, pm.Interval(pm.Int, 0, 2 * (N // 2) - 4)))
    u.defn = [g(j // 2) + g((j + 3) // 2)]
    assert [m.margins for m in fused(u).members] == [((0, 4),), ((0, 4),), ((0, 0),)]


def test_opposite_directions_are_refused_with_the_reason() -> None:
    j9 = pm.Interval(pm.Int, 0, 9)
    f, g = function("f", (j, j9)), function("g", (j, j9))
    f.defn = [j * 0.5]
    g.defn = [f(9 - j)]
    assert refused(g) == "along j the stages run in opposite directions: f 1, g -1"


def test_transposed_readers_are_refused() -> None:
    f, g = function("f", (i, J), (j, J)), function("g", (i, J), (j, J))
    f.defn = [pm.Matrix(pm.Double, "A", [N, N])(i, j) * 2]
    g.defn = [f(i, j) + f(j, i)]
    assert "i of f is not matched: g also reads it along j" in refused(g)


def test_a_start_value_cannot_wait_for_tiles_along_the_reduced_dimension() -> None:
    """The value that y starts from comes from the group: tiles along i cannot own it."""
    a = pm.Matrix(pm.Double, "A", [N, N])
    t = function("t", (j, J))
    t.defn = [pm.Vector(pm.Double, "b", [N])(j) * 2]
    y = pm.Reduction(([j], [J]), ([i, j], [J, J]), pm.Double, "y", init=t(j))
    y.defn = [pm.Reduce(y(j), a(i, j) * t(i), pm.Op.Sum)]
    assert "t" in refused(y)


def test_a_group_that_is_left_and_entered_again_is_refused() -> None:
    f, g, h = (function(name, (j, J)) for name in "fgh")
    f.defn = [pm.Vector(pm.Double, "A", [N])(j) * 2]
    g.defn = [f(j) * f(j)]
    h.defn = [g(j) + f(j)]
    reads, dag, _ = facts(h)
    found = fuse(reads, dag, ("f", "h"))
    assert found == Refused("a stage outside f+h needs one of them and is needed by another")


def test_joins_are_what_some_group_could_hold() -> None:
    reads, dag, _ = facts(*p.mvt())
    assert (joinable_edges(reads, dag), siblings(reads, dag)) == ((), (("x1", "x2"),))
    reads, dag, _ = facts(p.atax())
    assert (joinable_edges(reads, dag), siblings(reads, dag)) == ((("t", "y"),), ())


def test_fixed_sizes_make_parametric_distances_constant() -> None:
    """With N known, a shift by N is a margin like any other."""
    f, g = function("f", (j, pm.Interval(pm.Int, 0, 2 * N - 1))), function("g", (j, J))
    f.defn = [pm.Vector(pm.Double, "A", [2 * N])(j) * 2]
    g.defn = [f(j + N) + f(j)]
    from polymat.graph.build import build

    pipeline = build([g], sizes={N: 6})
    found = fuse(Reads.of(pipeline), Dag.of_pipeline(pipeline), ("f", "g"))
    assert isinstance(found, Fusable)
    assert margins(found) == {"f": ((0, 6),), "g": ((0, 0),)}
