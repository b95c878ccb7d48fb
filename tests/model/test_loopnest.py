"""Nests of the models: points, operations and references of all their statements."""

from __future__ import annotations

from polymat.lang.affine import Affine
from polymat.model.loopnest import Dim, LoopNest, Statement, distinct_references, single
from polymat.model.reference import Reference, offset, slope
from tests.model.nests import i, j, matmul


def two() -> LoopNest:
    """B[i] = A[i] at 10 points, half of C[i, j] += B[i] at 10 x 20."""
    dims = Dim("i", 10), Dim("j", 20)
    first = Statement(
        "first", dims[:1], (Reference("B", (i,), reads=False, writes=True), Reference("A", (i,))), flops=1
    )
    second = Statement(
        "second", dims, (Reference("C", (i, j), writes=True), Reference("B", (i,))), flops=2, share=0.5
    )
    return LoopNest(dims, (first, second), ("C",))


def test_statements_count_by_the_points_that_they_run_at() -> None:
    nest = two()
    assert nest.points == 10 + 100
    assert nest.flops == 10 + 200
    assert matmul(2, 3, 4).flops == 2 * 2 * 3 * 4


def test_an_array_that_is_written_is_not_live_before() -> None:
    nest = two()
    assert nest.written() == ("B", "C")
    assert nest.live_in() == ("A",)
    assert matmul().live_in() == ("A", "B")
    assert matmul().live_out == ("C",)


def test_an_element_that_is_read_here_and_written_there_is_one_reference() -> None:
    (b,) = [each for each in two().references() if each.array == "B"]
    assert (b.reads, b.writes, b.accesses) == (True, True, 2)
    assert (
        len(distinct_references([Reference("A", (i,)), Reference("A", (i + 1,)), Reference("A", (i,))])) == 2
    )


def test_a_statement_runs_along_its_own_dimensions() -> None:
    first, second = two().statements
    assert first.has("i")
    assert not first.has("j")
    assert second.has("j")


def test_references_that_differ_by_constants_are_one_class() -> None:
    nest = single({"i": 10}, [Reference("A", (i,)), Reference("A", (i + 3,)), Reference("A", (i + i,))])
    assert sorted(len(group.offsets) for group in nest.classes) == [1, 2]


def test_floor_divisions_change_by_fractions() -> None:
    half = (i + j + 3).floordiv(2)
    assert slope(half, "i") == 0.5
    assert offset(half) == 1.5
    assert slope(half - i, "i") == -0.5
    assert slope(Affine(), "i") == 0


def test_only_the_last_index_is_contiguous() -> None:
    assert Reference("A", (j, i)).is_contiguous("i")
    assert Reference("A", (j, Affine.name("n") - i)).is_contiguous("i")
    assert not Reference("A", (j, i + i)).is_contiguous("i")
    assert not Reference("A", (i, i)).is_contiguous("i")
    assert not Reference("A", ()).is_contiguous("i")
