"""Sums of gathered elements in a few sums side by side."""

from __future__ import annotations

from polymat.codegen.c.ctree import Assign, CBinary, CExpr, CFunction, For, Id, Literal, Subscript
from polymat.codegen.c.render import function_text
from polymat.codegen.loops.shortsums import with_short_sums

GATHERED = CBinary("*", Subscript(Id("x"), Id("k")), Subscript(Id("y"), Subscript(Id("at"), Id("k"))))


def _written(value: CExpr) -> str:
    condition = CBinary("<", Id("k"), Id("n"))
    loop = For(
        "k", Id("m"), condition, Literal("1"), (Assign(Id("s"), "+=", value),), ("omp simd reduction(+:s)",)
    )
    return function_text(CFunction("void", "f", (), with_short_sums((loop,), "float")))


def test_several_sums_and_the_rest_term_by_term() -> None:
    text = _written(GATHERED)
    assert "_pm_behind = _pm_low + (_pm_high - _pm_low >= 8 ? (_pm_high - _pm_low) / 4 * 4 : 0);" in text
    assert "for (ptrdiff_t k = _pm_low; k < _pm_behind; k += 4) {" in text
    assert "_pm_sum0 += x[k] * y[at[k]];" in text
    assert "_pm_sum3 += x[k + 3] * y[at[k + 3]];" in text
    assert "s += _pm_sum0 + _pm_sum1 + _pm_sum2 + _pm_sum3;" in text
    assert "for (ptrdiff_t k = _pm_behind; k < _pm_high; k++) {\n            s += x[k] * y[at[k]];" in text
    assert "omp" not in text


def test_what_is_contiguous_stays_in_vectors() -> None:
    for value in (Subscript(Id("x"), Id("k")), CBinary("*", Id("s"), GATHERED)):
        assert "_pm_sum0" not in _written(value)
