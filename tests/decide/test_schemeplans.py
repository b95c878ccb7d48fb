"""`Options(blocks="model")` and "learned": which stages get schemes, and what is said where none does."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Int, Matrix, Parameter
from polymat.driver import compile_request, levels, request_for
from polymat.plan.schedule import Schedule
from polymat.plan.schemeplan import SchemePlan
from polymat.plan.tile import Plan, TilePlan
from polymat.product.schemetext import read_scheme
from tests.tolerance import assert_close

M, N, K = (Parameter(Int, name) for name in "MNK")
A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [M, N])


def plans(output: Any, **options: Any) -> dict[str, Plan]:
    for _, level in levels(request_for(output, options=pm.Options(threads=1, **options))):
        if isinstance(level, Schedule):
            return {plan.group.stages[0]: plan for plan in level.plans}
    raise AssertionError("no schedule")


def test_products_get_schemes_and_their_readers_run_by_themselves() -> None:
    product = (A @ B).named("P")
    found = plans([(product + C).named("D"), product], blocks="model")
    assert isinstance(found["P"], SchemePlan)
    assert not isinstance(found["D"], SchemePlan)


def test_a_scheme_that_is_given_counts_more_than_the_model() -> None:
    text = "[R(i), R(j), R(k)]"
    found = plans((A @ B).named("P"), blocks="model", scheme={"P": text})
    assert isinstance(found["P"], SchemePlan)
    assert str(found["P"].scheme) == text


@pytest.mark.parametrize(
    "schemes",
    [
        {"P": "[Par(i*j), T(i, 8), T(j, 16), R(k), R(j), R(i), V(j)]"},
        {"D": "[fuse(P), Par(i), T(i, 8)]", "P": "[R(k), R(j), R(i), V(j)]"},
        {"D": "[fuse(P), Par(i), T(i, 8)]"},
    ],
)
def test_products_in_tiles_of_schemes_are_not_the_models(schemes: dict[str, str]) -> None:
    (i, j, k), (m, n, depth) = (
        map(pm.Variable, [Int] * 3, "ijk"),
        (pm.Interval(Int, 0, s - 1) for s in (M, N, K)),
    )
    product = pm.Reduction(([i, j], [m, n]), ([i, j, k], [m, n, depth]), Double, "P")
    product.defn = [pm.Reduce(product(i, j), A(i, k) * B(k, j), pm.Op.Sum)]
    reader = pm.Function(([i, j], [m, n]), Double, "D")
    reader.defn = [product(i, j) * product(i, j)]
    found = plans(
        [reader, product] if "D" not in schemes else reader, blocks="model", inline=False, scheme=schemes
    )
    assert isinstance(found["P"], TilePlan)


def test_a_scheme_for_the_only_product_leaves_the_model_without_effect() -> None:
    asked = request_for(
        (A @ B).named("P"), options=pm.Options(blocks="model", scheme={"P": "[R(i), R(j), R(k)]"})
    )
    with pytest.raises(pm.OptionError, match=r"no stage that Options\.scheme leaves free is a sum"):
        compile_request(asked)


def test_what_is_chosen_can_be_given_back() -> None:
    product = (A @ B).named("P")
    chosen = plans(product, blocks="model")["P"]
    assert isinstance(chosen, SchemePlan)
    assert "as the model of data movement chooses" in chosen.reason
    given = plans(product, scheme={"P": str(chosen.scheme)})["P"]
    assert isinstance(given, SchemePlan)
    assert given.atoms == chosen.atoms
    assert read_scheme(str(chosen.scheme)) == chosen.scheme


@pytest.mark.parametrize("blocks", ["model", "working-sets"])
def test_a_library_leaves_blocks_without_effect(blocks: Any) -> None:
    asked = request_for((A @ B).named("P"), options=pm.Options(blocks=blocks, blas="always"))
    with pytest.raises(pm.OptionError) as caught:
        compile_request(asked)
    text = str(caught.value)
    assert f"Options.blocks={blocks!r} has no effect: blas='always' leaves products to a library" in text
    assert "hint: blocks='shares', the default, has blocks for all other products" in text


def test_a_program_without_products_has_nothing_for_the_model() -> None:
    asked = request_for((C + 1.0).named("D"), options=pm.Options(blocks="model"))
    with pytest.raises(
        pm.OptionError, match="no stage is a sum of products of two arrays in one type of real"
    ):
        compile_request(asked)


def test_the_learned_ranker_chooses_among_variants_of_the_models_scheme() -> None:
    product = (A @ B).named("P")
    chosen, start = (plans(product, blocks=blocks)["P"] for blocks in ("learned", "model"))
    assert isinstance(chosen, SchemePlan)
    assert isinstance(start, SchemePlan)
    assert re.search(r", the first of \d+ variants by the learned ranker$", chosen.reason)
    assert [atom for atom in chosen.atoms if atom.in_block] == [atom for atom in start.atoms if atom.in_block]


@pytest.mark.parametrize("blocks", ["learned", "working-sets"])
def test_a_ranking_without_effect_is_an_error(blocks: Any) -> None:
    asked = request_for((C + 1.0).named("D"), options=pm.Options(blocks=blocks))
    with pytest.raises(
        pm.OptionError, match=f"Options.blocks='{blocks}' has no effect: no stage is a sum of"
    ):
        compile_request(asked)


def test_working_sets_rank_no_blocks_where_every_product_has_a_scheme() -> None:
    schemes = {"P": "[R(i), R(j), R(k)]"}
    asked = request_for((A @ B).named("P"), options=pm.Options(blocks="working-sets", scheme=schemes))
    with pytest.raises(pm.OptionError, match=r"has no effect: no stage that Options\.scheme leaves free"):
        compile_request(asked)


def test_working_sets_rank_the_blocks_of_products_in_tiles() -> None:
    product = (A @ B).named("P")
    found = pm.compile([(product + C).named("D"), product], options=pm.Options(blocks="working-sets"))
    assert "by working sets" in str(found.explain())


@pytest.mark.covering
@pytest.mark.parametrize("blocks", ["model", "learned"])
@pytest.mark.parametrize("switch", ["vector", "unroll"])
def test_blocks_of_the_model_heed_what_is_switched_off(blocks: str, switch: str) -> None:
    product = (A @ B).named("P")
    options: dict[str, Any] = {switch: False}
    plan = plans(product, blocks=blocks, **options)["P"]
    assert isinstance(plan, SchemePlan)
    text = str(plan.scheme)
    assert ("V(" in text) == (switch != "vector")
    assert ("U(" in text or "seq(" in text) == (switch != "unroll")
    asked = pm.Options(blocks=blocks, threads=1, **options)  # type: ignore[arg-type]
    program = pm.compile(product, inputs=[A, B], options=asked)
    for m, n, k in ((13, 17, 9), (1, 1, 1), (70, 33, 50)):
        a, b = np.random.default_rng(m).random((m, k)), np.random.default_rng(n).random((k, n))
        assert_close(program(a, b), program.reference(a, b), roundings=4 * k + 4)
