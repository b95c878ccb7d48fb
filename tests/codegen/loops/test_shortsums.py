"""Sums of gathered elements, four terms side by side."""

from __future__ import annotations

from dataclasses import replace

from polymat.codegen.c.ctree import Assign, CBinary, CExpr, CFunction, For, Id, Literal, Subscript
from polymat.codegen.c.needs import Need, Piece
from polymat.codegen.c.render import function_text
from polymat.codegen.c.vectorloops import Vectors
from polymat.codegen.loops.gatheredrows import Rows
from polymat.codegen.loops.shortsums import ShortSums, with_short_sums

FLOATS = ShortSums("float", "f32", ("x", "y"))
COMPLEX = ShortSums("_Pm_complex", "c64", ("x", "y"))


def element(array: str, index: CExpr) -> CExpr:
    return Subscript(Id(array), index)


GATHERED = CBinary("*", element("x", Id("k")), element("y", element("at", Id("k"))))


def written(value: CExpr, sums: ShortSums = FLOATS) -> tuple[str, set[Need]]:
    condition, needs = CBinary("<", Id("k"), Id("n")), set[Need]()
    loop = For(
        "k", Id("m"), condition, Literal("1"), (Assign(Id("s"), "+=", value),), (Vectors((("+", ("s",)),)),)
    )
    return function_text(CFunction("void", "f", (), with_short_sums((loop,), sums, needs))), needs


def test_four_terms_in_a_vector_and_the_rest_in_lanes() -> None:
    text, needs = written(GATHERED)
    assert needs == {Piece.GATHERED}
    assert "_pm_behind = _pm_low + (_pm_high - _pm_low) / 4 * 4;" in text
    assert "_pm_four_f32 _pm_sum = {-0.0f, -0.0f, -0.0f, -0.0f};" in text
    assert "for (ptrdiff_t k = _pm_low; k < _pm_behind; k += 4) {" in text
    assert (
        "_pm_sum += _pm_four_from_f32(&x[_pm_here]) * _pm_four_of_f32(y[at[_pm_here]], y[at[_pm_here + 1]], "
    ) in " ".join(text.split())
    assert "s += _pm_sum_lane0 + _pm_sum_lane2 + (_pm_sum_lane1 + _pm_sum_lane3);" in text
    assert "_pm_sum_lane0 += x[_pm_here] * y[at[_pm_here]];" in text
    assert "if (_pm_behind + 2 < _pm_high) {" in text
    assert "omp" not in text


def test_what_is_of_another_type_is_converted_one_by_one() -> None:
    text, _ = written(CBinary("*", element("z", Id("k")), GATHERED))
    assert "_pm_four_of_f32(z[_pm_here], z[_pm_here + 1], z[_pm_here + 2], z[_pm_here + 3])" in " ".join(
        text.split()
    )
    assert "_pm_four_from_f32(&z" not in text
    both = CBinary("*", element("z", Id("k")), element("w", element("at", Id("k"))))
    text, _ = written(both)
    assert "_pm_four_of_f32(z[_pm_here] * w[at[_pm_here]], " in " ".join(text.split())


def test_elements_apart_are_loaded_one_by_one() -> None:
    along = CBinary("+", CBinary("*", Id("i"), Id("n")), Id("k"))
    assert (
        "_pm_four_from_f32(&x[i * n + _pm_here])" in written(CBinary("*", element("x", along), GATHERED))[0]
    )
    apart = CBinary("*", Literal("2"), Id("k"))
    assert "_pm_four_of_f32(x[2 * _pm_here], " in written(CBinary("*", element("x", apart), GATHERED))[0]


def test_what_has_no_vectors_is_several_sums() -> None:
    text, _ = written(GATHERED, COMPLEX)
    assert "_pm_sum0 += x[_pm_here] * y[at[_pm_here]];" in text
    assert "_pm_sum3 += x[_pm_here + 3] * y[at[_pm_here + 3]];" in text
    assert "s += _pm_sum0 + _pm_sum1 + _pm_sum2 + _pm_sum3;" in text


def test_what_is_contiguous_stays_in_vectors() -> None:
    for value in (element("x", Id("k")), CBinary("*", Id("s"), GATHERED)):
        assert "_pm_sum" not in written(value)[0]


ROWS = Rows("i32", (Id("ends"),), Id("all"), ("n",))
GATHERING = ShortSums("double", "f64", ("x", "y"), ("x", "y"), {"at": "i32"}, ROWS)


def test_rows_that_are_not_alike_have_terms_computed_before() -> None:
    text = " ".join(written(GATHERED, GATHERING)[0].split())
    assert "const int _pm_unlike = _pm_unlike_i32(ends); if (_pm_unlike) {" in text
    assert "{ ptrdiff_t _pm_row_known[2] = {0, 0}; double _pm_row_terms[_PM_TERMS];" in text
    before, after = text.split("} else {")
    assert "_pm_row_known[1] = _pm_min_i64(_pm_row_piece + _PM_TERMS, _pm_readable);" in before
    four = "_pm_four_from_f64(&x[_pm_here]) * _pm_four_at_f64_i32(y, &at[_pm_here])"
    assert f"_pm_four_to_f64(&_pm_row_terms[_pm_here - _pm_row_known[0]], {four});" in before
    assert "_pm_row_terms[_pm_here - _pm_row_known[0]] = x[_pm_here] * y[at[_pm_here]];" in before
    assert (
        "_pm_added_f64(_pm_sum, &_pm_row_terms[_pm_row_piece - _pm_row_known[0]], _pm_row_count);" in before
    )
    assert "_pm_sum += _pm_four_rounded_f64(_pm_four_from_f64(&x[_pm_here]) * _pm_four_of_f64(" in after
    assert "_pm_sum_lane2 += _pm_rounded_f64(x[_pm_here] * y[at[_pm_here]]);" in after


def test_terms_that_are_others_in_each_row_are_computed_one_by_one() -> None:
    along = CBinary("+", CBinary("*", Id("i"), Id("n")), Id("k"))
    moved = CBinary("*", element("x", along), element("y", element("at", Id("k"))))
    assert "_pm_unlike" not in written(moved, GATHERING)[0]
    fixed = CBinary("*", element("x", CBinary("+", Id("k"), Id("n"))), element("y", element("at", Id("k"))))
    assert "_pm_unlike" in written(fixed, GATHERING)[0]
    made = replace(GATHERING, given=("x",))
    assert "_pm_unlike" not in written(GATHERED, made)[0]


def test_terms_that_are_no_products_of_elements_do_not_gather() -> None:
    squares = CBinary("*", GATHERED, element("x", Id("k")))
    scaled, summed = CBinary("*", Id("a"), GATHERED), CBinary("+", element("x", Id("k")), GATHERED)
    for value in (squares, scaled, summed):
        assert "_pm_unlike" not in written(value, GATHERING)[0]
    assert "_pm_unlike" not in written(GATHERED, FLOATS)[0]


NEAR = replace(GATHERING, rows=replace(ROWS, inside=True))


def test_rows_of_neighbours_are_loaded_as_they_lie() -> None:
    text = " ".join(written(GATHERED, NEAR)[0].split())
    unlike, alike = text.split("} else { const int _pm_beside = _pm_beside_i32_i32(ends, &at[0]);")
    assert "const int _pm_unlike = _pm_unlike_i32(ends); if (_pm_unlike) {" in unlike
    near, others = alike.split("} else {")
    assert "__builtin_prefetch(&x[_pm_here] + _PM_AHEAD);" in near
    four = "_pm_four_from_f64(&x[_pm_here]) * _pm_four_near_f64_i32(y, &at[_pm_here])"
    assert f"_pm_sum += _pm_four_rounded_f64({four});" in near
    assert "_pm_sum_lane2 += _pm_rounded_f64(x[_pm_here] * y[at[_pm_here]]);" in near
    assert "_pm_four_of_f64" not in near
    assert "_pm_four_rounded_f64(_pm_four_from_f64(&x[_pm_here]) * _pm_four_of_f64(" in others
    assert "near" not in unlike + others


def test_what_is_gathered_twice_is_looked_at_twice() -> None:
    other = CBinary("*", GATHERED, element("x", element("to", Id("k"))))
    text, needs = written(other, replace(NEAR, places={"at": "i32", "to": "i64"}))
    text = " ".join(text.split())
    assert "= _pm_beside_i32_i32(ends, &at[0]) && _pm_beside_i32_i64(ends, &to[0]);" in text
    assert "_pm_four_near_f64_i32(y, &at[_pm_here]) * _pm_four_near_f64_i64(x, &to[_pm_here])" in text
    assert Piece.NEIGHBOURS in needs


def test_elements_that_are_computed_before_may_be_neighbours() -> None:
    """Nothing behind a row is read."""
    text, _ = written(GATHERED, replace(NEAR, given=("x",)))
    assert "_pm_unlike" not in text
    assert "if (_pm_beside) {" in text
    assert "_pm_four_rounded_f64" in text


def test_places_are_not_looked_at_where_nothing_is_known_of_them() -> None:
    moved = CBinary("*", element("x", Id("k")), element("y", element("at", CBinary("+", Id("i"), Id("k")))))
    assert "_pm_beside" not in written(moved, NEAR)[0]
    for sums in (GATHERING, replace(NEAR, places={})):
        text, needs = written(GATHERED, sums)
        assert "_pm_beside" not in text
        assert Piece.NEIGHBOURS not in needs
