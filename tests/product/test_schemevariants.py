"""Variants of a scheme: they are schemes of the same contraction, and the models see their loops."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from polymat.machine.known import HASWELL
from polymat.model.workingset import level_sums, tile_nest
from polymat.product.learned import ranked_schemes
from polymat.product.modelscheme import model_scheme
from polymat.product.scheme import Atom, Pack, Scheme, SchemeLoop
from polymat.product.schemefit import fitted
from polymat.product.schemetext import read_scheme
from polymat.product.schemevariants import MOST_VARIANTS, scheme_figures, scheme_variants
from tests.product.test_modelscheme import modelled

SIZES = {"a": 96, "b": 64, "c": 120}
PRODUCT = "[T(c, 40), pack(B: c, b), R(a), R(b), R(c), U(a, 6), U(b, 8), V(b, 4)]"


def atoms_of(text: str) -> tuple[Atom, ...]:
    scheme = read_scheme(text)
    assert isinstance(scheme, Scheme)
    return scheme.own


def copies_of(scheme: Scheme) -> set[Atom]:
    return {atom for atom in scheme.own if isinstance(atom, Pack)}


@pytest.mark.parametrize("name", ["ab-ac-cb", "abcd-aebf-dfce", "abc-abd-dc"])
def test_variants_are_schemes_around_the_same_block_with_the_same_copies(name: str) -> None:
    of = modelled(name, dict(zip("abcdef", (60, 48, 72, 40, 24, 30), strict=True)))
    start = model_scheme(of, 1)
    found = scheme_variants(start, of.found, of.every)
    assert found[0] == start
    assert 8 <= len({*map(str, found)}) == len(found) <= MOST_VARIANTS
    assert found == scheme_variants(start, of.found, of.every)
    for each in found:
        assert read_scheme(str(each)) == each
        assert isinstance(fitted(each, of.found, of.lanes), tuple), str(each)
        assert [atom for atom in each.atoms if atom.in_block] == [a for a in start.atoms if a.in_block]
        assert copies_of(each) == copies_of(start)


def test_threads_may_share_other_loops() -> None:
    of = modelled("ab-ac-cb", SIZES, replace(HASWELL, cores=2))
    found = scheme_variants(model_scheme(of, 2), of.found, of.every, ("a", "b"))
    first = {each.atoms[0] for each in found}
    assert first == {SchemeLoop("Par", "a"), SchemeLoop("Par", "b")}


def test_the_working_sets_of_a_scheme_are_those_of_its_tiled_nest() -> None:
    of = modelled("ab-ac-cb", SIZES)
    found = scheme_figures(of.nest, of.found, atoms_of(PRODUCT), HASWELL)
    tiled = tile_nest(tile_nest(of.nest, {"a": 6, "b": 4, "c": 40}), {"b.tile": 2})
    order = ["c.tile", "a.tile", "b.tile.tile", "c", "a", "b.tile", "b"]
    assert found.sums == level_sums(tiled, HASWELL, order)


@pytest.mark.parametrize(
    ("scheme", "times"),
    [
        ("[pack(B: c, b), T(a, 24), R(a), R(b), R(c), U(a, 6), U(b, 8), V(b, 4)]", 1),
        ("[T(a, 24), pack(B: c, b), R(a), R(b), R(c), U(a, 6), U(b, 8), V(b, 4)]", 4),
        ("[T(c, 40), pack(B: c, b), T(a, 24), R(a), R(b), R(c), U(a, 6), U(b, 8), V(b, 4)]", 1),
        ("[R(a), R(b), R(c), U(a, 6), U(b, 8), V(b, 4)]", 0),
    ],
)
def test_copies_count_as_often_as_they_are_made(scheme: str, times: int) -> None:
    of = modelled("ab-ac-cb", SIZES)
    found = scheme_figures(of.nest, of.found, atoms_of(scheme), HASWELL)
    assert found.copied == times * 8 * SIZES["b"] * SIZES["c"]


def test_who_ranks_is_said() -> None:
    of = modelled("ab-ac-cb", SIZES)
    found = ranked_schemes(of, model_scheme(of, 1), 1, None)
    assert found.by == "the equation of working sets"
    assert {*found.schemes} == {*scheme_variants(model_scheme(of, 1), of.found, of.every)}


def test_renaming_changes_names_alone() -> None:
    renamed = dict(zip("xyz", SIZES.values(), strict=True))
    both = modelled("ab-ac-cb", SIZES), modelled("xy-xz-zy", renamed)
    one, other = (
        [str(each) for each in ranked_schemes(of, model_scheme(of, 1), 1, None).schemes] for of in both
    )
    assert other == [re.sub(r"\b[abc]\b", lambda name: "xyz"["abc".index(name[0])], text) for text in one]
