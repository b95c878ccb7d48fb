from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from polymat.model.loopnest import single
from polymat.model.reference import Reference
from polymat.model.reuse import normalised_reuse
from polymat.model.select import (
    Equation,
    algorithm2,
    algorithm3,
    choose_tiles_levels,
    reuse_equation,
    scaled_sizes,
)
from tests.model.nests import TINY, choose_tiles_paper, fir, i, j, matmul, tile_bytes


def test_the_printed_equation_of_matmul() -> None:
    printed = Equation((0.5, 256, -4096), 8)
    assert str(printed) == "0.5τ² + 256τ - 4096 = 0"
    # The thesis cuts the roots, 15.529 and -527.529, to two digits.
    assert printed.root == pytest.approx(15.52, abs=0.01)
    assert sorted(np.roots(printed.coefficients)) == pytest.approx([-527.52, 15.52], abs=0.01)
    nest = matmul()
    sizes = scaled_sizes(nest.extents, normalised_reuse(nest), printed, {"j": 256})
    assert sizes == {"i": 7, "j": 256, "k": 15}


def test_the_printed_equation_counts_half_of_one_operand() -> None:
    """B has τ_k·τ_j elements and γ_k is 1, but its printed term is 256·(0.5τ): the tile overflows."""
    nest = matmul()
    derived = reuse_equation(nest, 32 << 10, normalised_reuse(nest), {"j": 256})
    assert str(derived) == "0.5τ² + 384τ - 4096 = 0"
    printed = Equation((derived.coefficients[0], derived.coefficients[1] - 0.5 * 256, -4096), 8)
    assert str(printed) == "0.5τ² + 256τ - 4096 = 0"
    assert tile_bytes(nest, {"i": 7, "j": 256, "k": 15}) == 5737 * 8 > TINY.l1_bytes
    assert tile_bytes(nest, choose_tiles_paper(nest, TINY).by_dim) <= TINY.l1_bytes


def test_tiles_of_matmul() -> None:
    tiles = choose_tiles_paper(matmul(), TINY)
    assert tiles.by_dim == {"i": 5, "j": 256, "k": 10}
    assert tiles.explain() == (
        "Algorithm 3: tiles i 5, j 256, k 10 from 0.5τ² + 384τ - 4096 = 0, root 10.52, for 32768 bytes of L1 "
        "in units of 8 bytes; reuse i 0.5, j 0.5, k 1; j is innermost"
    )


def test_the_free_equation_of_matmul() -> None:
    """Equation 4.2: (γ_i γ_j + γ_j γ_k + γ_k γ_i) τ² = C."""
    nest = matmul()
    assert reuse_equation(nest, 32 << 10, normalised_reuse(nest), {}).coefficients == (1.25, 0, -4096)


def test_fir_expression_as_printed() -> None:
    """(τ_1) + (τ_1 + τ_2) + (τ_2) = T, γ 0.5 and 1."""
    assert str(reuse_equation(fir(), 6 * 8, {"i": 1, "j": 1}, {})) == "4τ - 6 = 0"
    assert str(reuse_equation(fir(), 6 * 8, normalised_reuse(fir()), {})) == "3τ - 6 = 0"


def test_element_sizes_weigh_the_terms() -> None:
    references = [Reference("a", (i, j), 4), Reference("x", (j,), 8), Reference("y", (i,), 8, writes=True)]
    nest = single({"i": 99999, "j": 99999}, references, sequential=["j"])
    assert str(reuse_equation(nest, 4096, {"i": 1, "j": 1}, {})) == "τ² + 4τ - 1024 = 0"


def test_sizes_stay_between_one_and_the_extent() -> None:
    small = choose_tiles_paper(matmul(3, 5, 2), TINY)
    assert small.sizes == (3, 5, 2)
    cramped = algorithm3(matmul(), 64, inner="j")
    assert min(cramped.sizes) >= 1
    assert tile_bytes(matmul(), cramped.by_dim) <= 64
    assert algorithm3(matmul(), 8, inner="j").sizes == (1, 1, 1)


def test_a_vector_operation() -> None:
    nest = single({"i": 10**6}, [Reference("a", (i,)), Reference("b", (i,), reads=False, writes=True)])
    assert choose_tiles_paper(nest, TINY).sizes == (256,)
    assert [t.sizes for t in choose_tiles_levels(nest, TINY, inner="i", tiled=nest.names)] == [
        (2048,),
        (16384,),
        (524288,),
    ]


def test_no_loops() -> None:
    nest = single({}, [Reference("s", (), writes=True)])
    assert choose_tiles_paper(nest, TINY).sizes == ()
    assert "no size left" in choose_tiles_paper(nest, TINY).explain()


def test_levels_nest_and_fit() -> None:
    nest = matmul()
    levels = choose_tiles_levels(nest, TINY, inner="j", tiled=nest.names)
    assert [t.level for t in levels] == ["L1", "L2", "L3"]
    for tiles, cache in zip(levels, (TINY.l1_bytes, TINY.l2_bytes, TINY.l3_bytes), strict=True):
        assert cache / 3 < tile_bytes(nest, tiles.by_dim) <= cache
    for inside, outside in pairwise(levels):
        for small, large, extent in zip(inside.sizes, outside.sizes, (2000, 2300, 2600), strict=True):
            assert large == extent or large % small == 0


def test_a_full_dimension_leaves_its_room_to_the_others() -> None:
    flat = algorithm3(matmul(nk=4), 32 << 10, inner="j", resolve=True)
    plain = algorithm3(matmul(nk=4), 32 << 10, inner="j")
    assert flat.by_dim["k"] == plain.by_dim["k"] == 4
    assert flat.by_dim["i"] > plain.by_dim["i"]
    assert tile_bytes(matmul(nk=4), flat.by_dim) <= 32 << 10


def test_the_innermost_dimension_grows_last() -> None:
    tiles = algorithm3(matmul(4, 10**6, 4), 32 << 10, inner="j", resolve=True)
    assert tiles.by_dim["i"] == tiles.by_dim["k"] == 4
    assert tiles.by_dim["j"] > 256
    assert tile_bytes(matmul(4, 10**6, 4), tiles.by_dim) <= 32 << 10


def test_algorithm_2_divides_the_cache_among_the_buffers() -> None:
    nest = matmul()
    tiles = algorithm2(nest, 32 << 10, inner_tile=16)
    volume = (32 << 10) / 8 / 3 / 16
    assert tiles.equation.root == pytest.approx(volume**0.5)
    assert tiles.sizes == (int(volume**0.5), int(volume**0.5), 16)
    assert algorithm2(fir(), 1 << 10).sizes[1] == 64


def test_algorithm_2_in_one_dimension() -> None:
    assert algorithm2(single({"i": 1000}, [Reference("a", (i,))]), 32 << 10).sizes == (256,)


def test_random_equations_have_the_root_that_numpy_finds(seed: int) -> None:
    random = Random(seed)
    for _ in range(100):
        coefficients = (*(random.choice((0.0, 0.5, 3.0, 70.0)) for _ in range(3)), -random.uniform(1, 1e6))
        equation = Equation(coefficients, 1)
        if not any(coefficients[:-1]):
            continue
        roots = [z.real for z in np.roots(coefficients) if abs(z.imag) < 1e-9 and z.real > 0]
        assert equation.root == pytest.approx(min(roots))


def test_a_machine_without_a_third_level() -> None:
    machine = replace(TINY, l3_bytes=0)
    levels = choose_tiles_levels(matmul(), machine, inner="j", tiled=("i", "j", "k"))
    assert [tiles.level for tiles in levels] == ["L1", "L2"]
