from __future__ import annotations

from polymat.lang.affine import Affine
from polymat.model.loopnest import Dim, LoopNest, Statement, single
from polymat.model.reference import Reference
from polymat.model.reuse import dimensional_reuse, normalised_reuse
from tests.model.nests import fir, i, j, matmul


def totals(nest: LoopNest) -> dict[str, int]:
    return {reuse.dim: reuse.total for reuse in dimensional_reuse(nest)}


def test_matmul_as_printed() -> None:
    assert totals(matmul()) == {"i": 1, "j": 1, "k": 2}
    assert normalised_reuse(matmul()) == {"i": 0.5, "j": 0.5, "k": 1}


def test_fir() -> None:
    assert totals(fir()) == {"i": 1, "j": 2}


def test_a_stencil_has_group_reuse_along_both_dimensions() -> None:
    points = [(i + a, j + b) for a, b in ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))]
    nest = single(
        {"i": 9, "j": 9}, [Reference("a", p) for p in points] + [Reference("b", (i, j), writes=True)]
    )
    assert totals(nest) == {"i": 2, "j": 2}
    assert all(reuse.temporal == 0 for reuse in dimensional_reuse(nest))


def test_references_that_never_meet_are_no_reuse() -> None:
    nest = single({"i": 9}, [Reference("a", (i.scale(2),)), Reference("a", (i.scale(2) + 1,))])
    assert totals(nest) == {"i": 0}


def test_no_reuse_at_all_gives_equal_tile_sizes() -> None:
    nest = single(
        {"i": 9, "j": 9}, [Reference("a", (i, j)), Reference("b", (i, j), reads=False, writes=True)]
    )
    assert normalised_reuse(nest) == {"i": 1, "j": 1}


def test_a_dimension_without_reuse_counts_less_than_any_other() -> None:
    nest = single({"i": 9, "j": 9}, [Reference("a", (i, j)), Reference("x", (j,))])
    assert normalised_reuse(nest) == {"i": 1, "j": 0.5}


def test_a_statement_reuses_only_along_its_own_loops() -> None:
    outer = Statement("s", (Dim("i", 9),), (Reference("x", (i,)), Reference("y", ())))
    inner = Statement("t", (Dim("i", 9), Dim("j", 9)), (Reference("a", (i, j)),))
    assert totals(LoopNest((Dim("i", 9), Dim("j", 9)), (outer, inner))) == {"i": 1, "j": 0}


def test_sharing_an_input_counts_its_reference_once() -> None:
    first = Statement("s", (Dim("i", 9), Dim("j", 9)), (Reference("x", (j,)),))
    second = Statement("t", first.dims, first.references)
    assert totals(LoopNest(first.dims, (first, second))) == {"i": 1, "j": 0}


def test_a_producer_read_by_a_stencil_is_reuse() -> None:
    line = (Dim("i", 9),)
    blur = Statement("b", line, (Reference("b", (i,), reads=False, writes=True), Reference("a", (i,))))
    sharp = Statement("c", line, (Reference("b", (i - 1,)), Reference("b", (i + 1,))))
    assert totals(LoopNest(line, (blur, sharp))) == {"i": 2}


def test_renaming_changes_nothing() -> None:
    nest = matmul()
    names = {"i": "z", "j": "a", "k": "m"}
    forms = {old: Affine.name(new) for old, new in names.items()}
    renamed = single(
        {names[d.name]: d.extent for d in nest.dims},
        [
            Reference(r.array * 2, tuple(f.substitute(forms) for f in r.indices), 8, r.reads, r.writes)
            for r in nest.references()
        ],
    )
    assert list(normalised_reuse(renamed).values()) == [0.5, 0.5, 1]
