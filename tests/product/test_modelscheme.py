"""Schemes that the model of data movement chooses: they fit their contractions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.sections.contractions import CONTRACTIONS, describe
from benchmarks.task import Task
from polymat.graph.build import build
from polymat.machine.known import HASWELL
from polymat.machine.model import Machine
from polymat.model.tilelevelsearch import rank
from polymat.product import modelscheme
from polymat.product.matching import contraction_of
from polymat.product.modelblocks import RegisterShape, SumShape, register_shapes
from polymat.product.modelled import Modelled
from polymat.product.modelscheme import model_scheme
from polymat.product.scheme import Pack, Scheme, SchemeLoop, unrolled
from polymat.product.schemefit import fitted
from polymat.product.schemetext import read_scheme

NAMES = ["ab-acd-dbc", "abc-bda-dc", "abcd-ea-ebcd", "abcde-efbad-cf", "abcdef-degb-gfac"]


def modelled(name: str, sizes: Mapping[str, int], machine: Machine = HASWELL) -> Modelled:
    task = Task("einsum", {}, {"contraction": name, "sizes": {f"n{dim}": n for dim, n in sizes.items()}})
    pipeline = build([*describe(task).outputs])
    stage, estimates = pipeline.stages[-1], task.values["sizes"]
    found = contraction_of(stage, pipeline.context, estimates)
    assert found is not None
    return Modelled.of(stage, found, pipeline.extents, estimates, machine, machine.lanes(stage.dtype.size))


@pytest.mark.covering
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("threads", [1, 2])
def test_schemes_of_contractions_fit_and_can_be_given_back(name: str, threads: int) -> None:
    of = modelled(name, CONTRACTIONS[name], replace(HASWELL, cores=2))
    scheme = model_scheme(of, threads)
    assert read_scheme(str(scheme)) == scheme
    atoms = fitted(scheme, of.found, of.lanes)
    assert isinstance(atoms, tuple)
    assert (isinstance(atoms[0], SchemeLoop) and atoms[0].kind == "Par") == (threads == 2)
    block = unrolled(atoms)
    for atom in atoms:
        if isinstance(atom, SchemeLoop) and atom.kind == "T":
            assert atom.size % block.get(atom.dim, 1) == 0 or atom.size == of.extents[atom.dim], str(scheme)


@pytest.mark.parametrize("size", [1, 3, 7, 9])
def test_short_dimensions_have_schemes_as_well(size: int) -> None:
    of = modelled("abcd-aebf-dfce", dict.fromkeys("abcdef", size))
    assert isinstance(fitted(model_scheme(of, 1), of.found, of.lanes), tuple)


def test_renaming_dimensions_changes_names_alone() -> None:
    sizes = {"a": 40, "b": 48, "c": 56, "d": 64}
    one = str(model_scheme(modelled("abc-adc-bd", sizes), 1))
    other = str(model_scheme(modelled("xyz-xwz-yw", dict(zip("xyzw", sizes.values(), strict=True))), 1))
    assert other == re.sub(r"\b[abcd]\b", lambda name: "xyzw"["abcd".index(name[0])], one)


def test_an_operand_whose_vectors_would_be_gathered_is_copied() -> None:
    of = modelled("ab-ac-bc", {"a": 960, "b": 960, "c": 960})
    scheme = model_scheme(of, 1)
    copied = [atom for atom in scheme.atoms if isinstance(atom, Pack) and atom.array == "B"]
    assert copied
    assert copied[0].order[-1] == "b"


def test_large_products_have_tiles_for_the_caches() -> None:
    of = modelled("ab-ac-cb", {"a": 3000, "b": 3000, "c": 3000})
    tiles = [a for a in model_scheme(of, 1).atoms if isinstance(a, SchemeLoop) and a.kind == "T"]
    assert len(tiles) >= 2
    assert any(tile.dim == "c" for tile in tiles)


def shape_of_product(m: int, n: int, k: int) -> SumShape:
    operands = (frozenset("ik"), frozenset("kj"))
    return SumShape({"i": m, "j": n, "k": k}, ("i", "j"), ("k",), operands, operands, "j")


def test_register_blocks_fill_the_registers() -> None:
    block = register_shapes(shape_of_product(960, 960, 960), HASWELL, 4)[0][1]
    assert block.vector == "j"
    assert block.sums >= 10
    assert block.fits(shape_of_product(960, 960, 960), HASWELL)


def test_what_one_size_of_blocks_does_not_fill_two_do() -> None:
    of = shape_of_product(17, 64, 64)
    block = RegisterShape((("i", 6), ("j", 8)), "j", 4, (("i", 1),))
    assert block.whole(17, "i") == 1.0
    assert RegisterShape((("i", 6), ("j", 8)), "j", 4).whole(17, "i") == pytest.approx(12 / 17)
    assert block.sums == 12
    assert block.loads(of) == 6 + 2


def test_sums_that_run_longer_start_less_often() -> None:
    of = shape_of_product(960, 960, 960)
    block = register_shapes(of, HASWELL, 4)[0][1]
    lengths = np.array([[32.0], [240.0], [960.0]])
    seconds = block.seconds(of, HASWELL, lengths, lengths[:, 0])
    assert seconds[0] > seconds[1] > seconds[2]
    assert isinstance(model_scheme(modelled("ab-ac-cb", {"a": 5, "b": 5, "c": 5}), 1), Scheme)


def innermost(scheme: Scheme) -> str:
    """The loop around the blocks."""
    return [atom.dim for atom in scheme.atoms if isinstance(atom, SchemeLoop) and not atom.in_block][-1]


@pytest.mark.parametrize(("neighbours", "expected"), [(2, "c"), (3, "c"), (64, "d")])
def test_a_long_dimension_is_innermost_where_the_neighbours_are_few(neighbours: int, expected: str) -> None:
    """Of ab-acd-dbc the left operand has neighbours along d: a loop over few of these ends too often."""
    of = modelled("ab-acd-dbc", {"a": 60, "b": 64, "c": 49, "d": neighbours})
    assert innermost(model_scheme(of, 1)) == expected


@pytest.mark.parametrize("name", [*NAMES, "abc-ad-bdc", "abcd-aecf-fbed"])
def test_no_way_is_left_out_that_would_be_quicker(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums may run longer than tiles of the nearest cache, so that ways with more arithmetic may win."""
    of = modelled(name, CONTRACTIONS[name])
    best = rank(modelscheme._solved(of).seconds)
    monkeypatch.setattr(modelscheme, "rank", lambda seconds: rank(seconds) + 1e3)  # nothing ends the search
    assert best == rank(modelscheme._solved(of).seconds)
