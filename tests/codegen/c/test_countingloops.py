"""Loops that count up one by one are told from others, and run over other indices."""

from __future__ import annotations

from dataclasses import replace

import pytest

from polymat.codegen.c.countingloops import between, counted_range, in_groups
from polymat.codegen.c.ctree import CBinary, CExpr, Evaluate, For, Id, Literal
from polymat.codegen.c.render import statement_text

LOOP = For("i", Id("low"), CBinary("<", Id("i"), Id("high")), Literal("1"), ())


def test_a_loop_that_counts_up_has_a_range() -> None:
    assert counted_range(LOOP) == (Id("low"), Id("high"))


@pytest.mark.parametrize(
    ("condition", "step"),
    [
        (CBinary("<", Id("i"), Id("high")), "2"),
        (CBinary("<=", Id("i"), Id("high")), "1"),
        (CBinary("<", Id("j"), Id("high")), "1"),
        (CBinary("<", CBinary("+", Id("i"), Literal("4")), Id("high")), "1"),
    ],
)
def test_other_loops_have_none(condition: CExpr, step: str) -> None:
    assert counted_range(replace(LOOP, condition=condition, step=Literal(step))) is None


def test_a_loop_may_run_over_other_indices_in_its_own_steps() -> None:
    other = between(replace(LOOP, step=Literal("4")), Literal("0"), Id("n"))
    assert statement_text(other, "").startswith("for (ptrdiff_t i = 0; i < n; i += 4)")


def test_groups_are_followed_by_what_is_left() -> None:
    one = (Evaluate(Id("one")),)
    loop = replace(LOOP, start=Id("first"), body=one)
    found = in_groups(loop, (Id("first"), Id("end")), 4, (Evaluate(Id("four")),), "rest")
    begin, groups, rest = (statement_text(each, "") for each in found.body)
    assert begin == "const ptrdiff_t rest = first + (end - first) / 4 * 4;"
    assert groups.startswith("for (ptrdiff_t i = first; i < rest; i += 4)")
    assert "four" in groups
    assert rest == statement_text(replace(loop, start=Id("rest")), "")
