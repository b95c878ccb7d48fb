from __future__ import annotations

from polymat.model.loopnest import Dim, LoopNest, Statement, single
from polymat.model.looporder import innermost
from polymat.model.reference import Reference
from tests.model.nests import fir, i, j, loop_order, matmul


def test_matmul_scores_as_printed() -> None:
    result = innermost(matmul())
    rows = [(s.dim, s.spatial, s.temporal, s.vectorizable, s.total, s.value) for s in result.scores]
    assert rows == [("i", 0, 1, 0, 4, -44), ("j", 3, 1, 1, 4, 18), ("k", 1, 2, 0, 4, -6)]
    assert result.choice == "j"
    assert result.vectorizable
    assert loop_order(matmul()) == ("i", "k", "j")
    assert "innermost j" in result.explain()


def test_fir_prefers_the_parallel_loop() -> None:
    assert innermost(fir()).choice == "i"
    assert innermost(fir()).vectorizable


def test_the_inner_one_of_equals_wins() -> None:
    nest = single({"i": 9, "j": 9}, [Reference("a", (i + j,), reads=False, writes=True)])
    assert innermost(nest).choice == "j"


def test_a_matrix_vector_product_walks_its_rows() -> None:
    references = [Reference("y", (i,), writes=True), Reference("A", (i, j)), Reference("x", (j,))]
    result = innermost(single({"i": 9, "j": 9}, references, sequential=["j"]))
    assert result.choice == "j"
    assert not result.vectorizable
    assert [s.value for s in result.scores] == [4 + 4 - 16, 4 + 8]


def test_scores_add_up_over_statements() -> None:
    plane = (Dim("i", 9), Dim("j", 9))
    bias = Statement("o", plane, (Reference("o", (i, j), reads=False, writes=True), Reference("b", (j,))))
    product = matmul(9, 9, 9)
    both = LoopNest(product.dims, (*product.statements, bias), ("o",))
    assert innermost(both).score("j").value == 18 + 2 * 2 + 8
    assert innermost(both).score("k").value == -6


def test_a_large_stride_is_scattered() -> None:
    nest = single({"i": 9}, [Reference("a", (i.scale(2),))])
    assert innermost(nest).scores[0].value == -16


def test_no_loop() -> None:
    result = innermost(single({}, [Reference("s", ())]))
    assert result.choice is None
    assert loop_order(single({}, [Reference("s", ())])) == ()
    assert result.explain() == "no loop"
