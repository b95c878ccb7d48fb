from __future__ import annotations

from random import Random

import pytest

from polymat.lang.affine import Affine
from polymat.model.footprint import bytes_touched, elements, iterations, tile_volume
from polymat.model.loopnest import single
from polymat.model.polynomial import Polynomial
from polymat.model.reference import Reference
from polymat.model.uniform import uniform_classes
from tests.model.nests import counted, fir, i, j, k, matmul

EXTENTS = {"i": 100, "j": 200, "k": 300}
ti, tj, tk = (Polynomial.name(name) for name in "ijk")


def volume(*references: Reference, exact: bool) -> Polynomial:
    total = Polynomial()
    for _, polynomial in tile_volume(single(EXTENTS, references), exact=exact):
        total = total + polynomial
    return total


@pytest.mark.parametrize(
    ("indices", "printed", "exact"),
    [
        ((i,), ti, ti),
        ((i.scale(3),), ti, ti),
        ((i + j,), ti + tj, ti + tj - 1),
        ((i - j,), ti + tj, ti + tj - 1),
        ((i, j), ti * tj, ti * tj),
        ((), Polynomial.constant(1), Polynomial.constant(1)),
        ((Affine((), 7), i), ti, ti),
        ((i, i), ti, ti),
        ((i + j, j), ti * tj, ti * tj),
        ((i.scale(2) + j,), ti * 2 + tj, ti * 2 + tj - 2),
        ((i.scale(200) + j,), ti * tj, ti * tj),
        ((i.scale(2) + j.scale(4),), ti + tj * 2, ti + tj * 2 - 2),
        ((i.floordiv(2),), ti * 0.5, ti * 0.5 + 0.5),
        ((i + j, k + 3), (ti + tj) * tk, (ti + tj) * tk - tk),
    ],
)
def test_table_of_reuse_expressions(
    indices: tuple[Affine, ...], printed: Polynomial, exact: Polynomial
) -> None:
    assert volume(Reference("a", indices), exact=False) == printed
    assert volume(Reference("a", indices), exact=True) == exact


def test_matmul_and_fir_volumes_as_printed() -> None:
    total = Polynomial()
    for _, polynomial in tile_volume(matmul(), exact=False):
        total = total + polynomial
    assert total == ti * tj + tj * tk + tk * ti
    assert [p for _, p in tile_volume(fir(), exact=False)] == [ti, ti + tj, tj]


def test_neighbouring_references_overlap() -> None:
    row = [Reference("a", (i, j + c)) for c in (-1, 0, 1)]
    assert volume(*row, exact=True) == ti * tj + ti * 2
    assert volume(*row, exact=False) == ti * tj


def test_distant_references_do_not_overlap() -> None:
    assert volume(Reference("a", (i,)), Reference("a", (i + 1000,)), exact=True) == ti * 2


def test_interleaved_references_do_not_overlap() -> None:
    pair = [Reference("a", (i.scale(2) + c,)) for c in (0, 1)]
    assert volume(*pair, exact=True) == ti * 2


def test_different_slopes_are_counted_separately() -> None:
    assert volume(Reference("a", (i, k)), Reference("a", (j, k)), exact=True) == ti * tk + tj * tk


CASES = [
    [Reference("a", (i,))],
    [Reference("a", (i.scale(3),))],
    [Reference("a", (i + j,))],
    [Reference("a", (i - j + 5,))],
    [Reference("a", (i.scale(2) + j,))],
    [Reference("a", (i.scale(-2) + j.scale(4),))],
    [Reference("a", (i, j))],
    [Reference("a", (i, i))],
    [Reference("a", (i + j, j))],
    [Reference("a", (i + j, i - j))],
    [Reference("a", (j.scale(100) + i,))],
    [Reference("a", (i + c, j)) for c in (-1, 0, 1)],
    [Reference("a", (i.scale(2) + c,)) for c in (0, 1, 2)],
    [Reference("a", (i + k, j)), Reference("b", (k,))],
    [Reference("a", (i, Affine((), c))) for c in (0, 2)],
]


@pytest.mark.parametrize("references", CASES, ids=lambda r: " ".join(map(str, r)))
@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 3, 4), (5, 1, 2), (7, 6, 3), (1, 8, 1)])
def test_polynomials_equal_counted_elements(references: list[Reference], sizes: tuple[int, int, int]) -> None:
    tile = dict(zip("ijk", sizes, strict=True))
    assert sum(elements(c, tile) for c in uniform_classes(references)) == counted(tuple(references), tile)


def test_random_references_are_never_counted_too_small(seed: int) -> None:
    random = Random(seed)
    for _ in range(300):
        rank = random.randint(1, 3)
        skewed = [i.scale(random.randint(-3, 3)) + j.scale(random.randint(-2, 2)) + k for _ in range(rank)]
        bases = [form if random.random() < 0.5 else random.choice((i, j, k)) for form in skewed]
        references = tuple(
            Reference("a", tuple(b + random.randint(-2, 2) for b in bases))
            for _ in range(random.randint(1, 3))
        )
        tile = {dim: random.randint(1, 5) for dim in "ijk"}
        found = sum(elements(c, tile) for c in uniform_classes(references))
        assert found >= counted(references, tile), (list(map(str, references)), tile)
        assert found <= len(references) * tile["i"] * tile["j"] * tile["k"]


def test_lines_are_moved_whole() -> None:
    (group,) = uniform_classes([Reference("a", (i, j), 8)])
    assert bytes_touched(group, {"i": 10, "j": 1}, 64) == 10 * 64
    assert bytes_touched(group, {"i": 1, "j": 8}, 64) == 7 * 8 + 64
    assert bytes_touched(group, {"i": 10, "j": 8}) == 640
    (column,) = uniform_classes([Reference("a", (j, i), 8)])
    assert bytes_touched(column, {"i": 1, "j": 8}, 64) == 8 * 64
    (diagonal,) = uniform_classes([Reference("a", (i, i), 8)])
    assert bytes_touched(diagonal, {"i": 8}, 64) == 8 * 64


def test_iterations_of_a_tile() -> None:
    assert iterations(matmul(), {"i": 2, "j": 3, "k": 5}) == 30


def test_polynomial_text() -> None:
    assert str(ti * tj * 2 - ti * ti + 1.5) == "2i·j - i² + 1.5"
    assert str(Polynomial()) == "0"
    assert (ti + 1) * (ti - 1) == ti * ti - 1
    assert hash(ti + tj) == hash(tj + ti)


def test_coefficients_belong_to_one_variable() -> None:
    assert (ti * ti * 3 + 1).coefficients("i") == (3, 0, 1)
    with pytest.raises(ValueError, match="other variables than i"):
        (ti * tj).coefficients("i")
