"""Schemes are read as they are printed, and what is none says why."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat import Int, LangError, Matrix, OptionError, Parameter
from polymat.product.scheme import Pack, Scheme, SchemeLoop, Sequence2
from polymat.product.schemetext import Misfit, read_scheme

M, N, K = (Parameter(Int, name) for name in "MNK")
A, B = Matrix(pm.Double, "A", [M, K]), Matrix(pm.Double, "B", [K, N])


def problem(text: str) -> tuple[str, str]:
    """What is wrong with a scheme of a product, and the hint."""
    with pytest.raises(OptionError) as told:
        pm.compile((A @ B).named("C"), name="C", options=pm.Options(scheme={"C": text}))
    message, _, hint = str(told.value).partition("\nhint: ")
    return message.split("does not fit: ")[1], hint


def test_all_atoms_are_read() -> None:
    text = (
        "[Par(i), T(j, 256), Texact(k, 64), pack(B), pack(A: k, i), R(i*l), seq(i: 6 | 5), U(j, 8), V(j, 4)]"
    )
    found = read_scheme(text)
    assert isinstance(found, Scheme)
    assert found.atoms[0] == SchemeLoop("Par", "i")
    assert found.atoms[4] == Pack("A", ("k", "i"))
    assert found.atoms[6] == Sequence2("i", 6, 1)
    assert str(found) == text


def test_space_is_free() -> None:
    assert str(read_scheme(" [ R( i ),R(j) , seq(k:8|4)] ")) == "[R(i), R(j), seq(k: 8 | 4)]"


def test_names_of_the_papers_are_read() -> None:
    assert str(read_scheme("[Tvar(i, 8), Pack(B), Seq(k: 8 | 4)]")) == "[T(i, 8), pack(B), seq(k: 8 | 4)]"
    assert str(read_scheme("[Texctg(i, 8), R(i)]")) == "[T(i, 8), R(i)]"
    assert str(read_scheme("[Textg(i, 8), R(i)]")) == "[T(i, 8), R(i)]"
    assert str(read_scheme("[Text(i, 8), Seq(k: 8 | 7)]")) == "[Texact(i, 8), seq(k: 8 | 7)]"
    assert str(read_scheme("[Texct(i, 8), PackT(B: k, j)]")) == "[Texact(i, 8), pack(B: k, j)]"
    assert str(read_scheme("[fuse(C), Tpar(i, 8), R(j)]")) == "[fuse(C), Par(i), T(i, 8), R(j)]"
    assert str(read_scheme("[Tfused(i: 8, j: 16), R(j)]")) == "[Par(i*j), T(i, 8), T(j, 16), R(j)]"


def test_blocks_of_two_sizes_have_counts_in_either_order() -> None:
    found = read_scheme("[R(i), seq(i: (12, 6), (8, 7))]")
    assert isinstance(found, Scheme)
    assert found.atoms[1] == Sequence2("i", 7, 1, (8, 12))
    assert str(found) == "[R(i), seq(i: (8, 7), (12, 6))]"
    assert read_scheme(str(found)) == found


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "it has its end at column 1, where '[' is needed"),
        ("[R(i)", "it has its end at column 6, where ']' is needed"),
        ("[R(i)] R", "it has 'R' at column 7, where nothing is needed"),
        ("[X(i)]", "it has 'X(i)]' at column 2, where an atom is needed"),
        ("[R()]", "it has ')]' at column 4, where a dimension is needed"),
        ("[T(i)]", "it has ')]' at column 5, where ',' is needed"),
        ("[T(i, 0)]", "it has '0)]' at column 6, where a number of points, at least 1 is needed"),
        ("[T(i, 4), T(i, 8)]", "T(i, 8) stands inside a smaller tile of i"),
        ("[V(i, 4), R(j)]", "V(i, 4) is not innermost in [V(i, 4), R(j)]"),
        ("[seq(i: 4 | 5)]", "it has ')]' at column 14, where less than 4 is needed"),
        ("[seq(i: (2, 4), (3, 4))]", "it has ')]' at column 23, where another size than 4 is needed"),
        ("[seq(i: (2, 4))]", "it has ')]' at column 15, where ',' is needed"),
        ("[pack(A: i, i)]", "pack(A: i, i) has a dimension twice"),
        ("[PackT(B), R(i)]", "it has '), R(i)]' at column 9, where ':' is needed"),
        ("[Tfused(i, 8)]", "it has ', 8)]' at column 10, where ':' is needed"),
        ("[fuse()]", "it has ')]' at column 7, where a stage is needed"),
        ("[Call(3)]", "it has '3)]' at column 7, where a routine is needed"),
    ],
)
def test_what_is_no_scheme_says_where(text: str, wrong: str) -> None:
    found = read_scheme(text)
    assert isinstance(found, Misfit)
    assert found.problem == wrong
    assert found.hint


@pytest.mark.parametrize(
    ("text", "wrong", "hint"),
    [
        ("[R(i), R(j)]", "nothing runs over all of k", "R(k) does, T(k, 32) in tiles"),
        (
            "[R(i), R(j), R(h), R(k)]",
            "R(h) names h, which is no dimension of it",
            "it has i, j, and sums over k",
        ),
        ("[R(i), R(j), Par(i), R(k)]", "Par(i) is not the first atom", "threads meet once"),
        ("[Par(k), R(i), R(j)]", "Par(k) shares out a dimension that is summed over", "it has i, j"),
        ("[T(i, 32), R(j), R(k)]", "T(i, 32) leaves 32 points of i", "R(i) further in"),
        (
            "[T(i, 32), R(j), R(k), U(i, 6)]",
            "T(i, 32) leaves 32 points of i, of which U(i, 6) takes 6",
            "R(i)",
        ),
        (
            "[R(i), R(j), U(i, 6), R(k)]",
            "R(k) stands inside unrolled points",
            "U, V and seq are the innermost",
        ),
        ("[R(i), R(j), R(k), pack(D)]", "pack(D) is no copy of an operand", "A(i, k) and B(k, j)"),
        ("[pack(A: i, j), R(i), R(j), R(k)]", "pack(A: i, j) is no copy of an operand", "A(i, k)"),
        ("[pack(A), R(i), pack(A), R(j), R(k)]", "pack(A) copies an operand a second time", "copied once"),
        ("[R(i), R(j), R(k), U(j, 6), V(j)]", "U(j, 6) is not whole vectors of", "use multiples of"),
        ("[R(i), R(j), R(k), V(j, 3)]", "V(j, 3) is no vector", "vectors of this processor have"),
        ("[R(i), R(j), R(k), U(i, 40), U(j, 40)]", "it unrolls 1600 multiplications", "at most 512"),
        ("[R(i), R(j), R(k), U(i, 4), U(i, 2)]", "U(i, 2) unrolls i a second time", "how many points in all"),
        ("[T(i, 8), R(j), R(k), seq(i: 8 | 7)]", "seq(i: 8 | 7) is not in R(i)", "blocks of both sizes"),
        (
            "[R(i), R(j), R(k), seq(i: (8, 7), (12, 6))]",
            "seq(i: (8, 7), (12, 6)) has 128 points, and i here is not always 128",
            "seq(i: 7 | 6) has as few of each as fill any length; sizes= fixes it",
        ),
        ("[R(i), R(j), R(i), R(k)]", "R(i) in R(i) has one turn", "T outside of it"),
        ("[R(i), T(i, 8), R(j), R(i), R(k)]", "T(i, 8) in R(i) has one turn", "T outside of it"),
        ("[T(i, 8), R(j), T(i, 8), R(i), R(k)]", "T(i, 8) in T(i, 8) has one turn", "smaller tiles"),
        ("[R(i*j), R(k)]", "R(i*j) runs along several dimensions at once", "name one dimension an atom"),
        ("[Texact(i, 8), R(i), R(j), R(k)]", "Texact(i, 8) needs whole tiles, and i is M", "sizes="),
    ],
)
def test_what_does_not_fit_a_product_says_why(text: str, wrong: str, hint: str) -> None:
    found = problem(text)
    assert found[0].startswith(wrong)
    assert hint in found[1]


def test_whole_tiles_are_checked_by_their_sizes() -> None:
    def compiled(length: int) -> pm.Compiled:
        scheme = {"C": "[Texact(i, 8), R(i), R(j), R(k)]"}
        options = pm.Options(scheme=scheme)
        return pm.compile((A @ B).named("C"), name="C", sizes={M: length}, options=options)

    assert compiled(16).explain().groups[0].kind == "scheme"
    with pytest.raises(OptionError, match=r"Texact\(i, 8\) needs whole tiles, and i is 17"):
        compiled(17)


def test_a_scheme_has_an_effect() -> None:
    with pytest.raises(OptionError, match="there is no stage of this name"):
        pm.compile((A @ B).named("C"), name="C", options=pm.Options(scheme={"D": "[R(i), R(j), R(k)]"}))
    product = pm.Matrix(pm.Double, "D", [4, 5]) @ pm.Vector(pm.Double, "v", [5])
    with pytest.raises(OptionError, match=r"'C'\] does not fit: nothing runs over all of j"):
        pm.compile(product.named("C"), name="C", options=pm.Options(scheme={"C": "[R(i)]"}))
    whole = (A + 1.0).named("C")
    with pytest.raises(OptionError, match="C runs by itself, row by row"):
        pm.compile(whole, name="C", options=pm.Options(scheme={"C": f"[T({whole.variables[0].name}, 8)]"}))


def test_schemes_are_texts_by_names() -> None:
    with pytest.raises(
        LangError, match=r"scheme is \{'C': 3\}, not a dict from names of stages to the texts"
    ):
        pm.Options(scheme={"A": "[T(x, 32), T(y, 256)]", "B": "[R(i), R(j), R(k)]", "C": 3})  # type: ignore[dict-item]
    with pytest.raises(LangError, match="not a dict from names of stages to the texts of schemes"):
        pm.Options(scheme="[R(i)]")  # type: ignore[arg-type]
    given = pm.Options(scheme={"C": "[R(i)]", "A": "[R(j)]"})
    assert given == pm.Options(scheme={"A": "[R(j)]", "C": "[R(i)]"})
    assert given.schemes == {"A": "[R(j)]", "C": "[R(i)]"}


def test_what_explain_prints_is_taken_back() -> None:
    """The nest of register blocks, which is tuned, is what its own scheme asks for."""
    usual = pm.compile((A @ B).named("C"), name="C", options=pm.Options(blas="never"))
    scheme = next(line for line in str(usual.explain()).splitlines() if "[Par" in line)
    text = scheme[scheme.index("[") : scheme.index("]") + 1]
    again = pm.compile((A @ B).named("C"), name="C", options=pm.Options(blas="never", scheme={"C": text}))
    assert again.explain().groups[0].kind == "kernel"
    assert again.source == usual.source


def blurred(scheme: str, **options: Any) -> pm.Compiled:
    """Two blurs in a row, fused, with the tiles of a scheme."""
    i, j = pm.Variable(Int, "i"), pm.Variable(Int, "j")
    image = pm.Image(pm.Double, "image", [M, N])
    across = pm.Function(
        ([i, j], [pm.Interval(Int, 0, M - 1), pm.Interval(Int, 1, N - 2)]), pm.Double, "across"
    )
    across.defn = [(image(i, j - 1) + image(i, j) + image(i, j + 1)) / 3.0]
    down = pm.Function(([i, j], [pm.Interval(Int, 1, M - 2), pm.Interval(Int, 1, N - 2)]), pm.Double, "down")
    down.defn = [(across(i - 1, j) + across(i, j) + across(i + 1, j)) / 3.0]
    return pm.compile(down, options=pm.Options(scheme={"down": scheme}, **options))


def test_tiles_of_fused_stages_are_sized_by_schemes() -> None:
    group = blurred("[T(i, 8), T(j, 48)]", rolling=False).explain().groups[0]
    assert (group.kind, group.stages) == ("tiles", ("across", "down"))
    assert [*group.tile_sizes.values()] == [8, 48]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[R(i)]", "nothing runs over all of j"),
        ("[T(k, 8)]", "nothing is tiled along k"),
        ("[T(j, 8), T(j, 3)]", "T(j, 3) does not divide the tiles of 8 that it stands in"),
        ("[T(i 8)]", "it has '8)]' at column 5, where ',' is needed"),
    ],
)
def test_what_does_not_fit_tiles_says_why(text: str, wrong: str) -> None:
    with pytest.raises(OptionError) as told:
        blurred(text, rolling=False)
    assert wrong in str(told.value)
    assert "hint: " in str(told.value)
