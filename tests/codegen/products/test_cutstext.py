"""How products are cut, in C: declarations of all that headers use, by the formulas that Python evaluates."""

from __future__ import annotations

import re

import pytest

from polymat.codegen.c.kernels import kernel
from polymat.codegen.products.cutstext import SCHEME, cut_macros
from polymat.machine.known import ZEN3
from polymat.product.blocks import blocks_of
from polymat.product.cutting import cut_past
from tests.mutations.planting import Planted, planted

FIELDS = re.compile(r"^    (?:ptrdiff_t|int) ([\w, ]+);$", re.MULTILINE)
NAME = re.compile(r"\b([a-z_]+) =")
HEADERS = {
    "CUT_BLOCKS": "cutting",
    "CUT_JOINED": "rowsjoined",
    "CUT_PASSED": "rightinparts",
    "CUT_READ": "read",
    "CUT_TURNED": "turned",
}


def test_the_structure_has_the_fields_that_are_set() -> None:
    struct = kernel("products/scheme").text.partition("typedef struct {")[2].partition("}")[0]
    fields = {name for names in FIELDS.findall(struct) for name in names.split(", ")}
    by_hand = {"copies", "pack_a", "pack_b", "past", "turn"}
    assert fields == {*SCHEME} | by_hand


@pytest.mark.parametrize("macro", HEADERS)
def test_headers_compile_alone_with_names_that_are_declared(macro: str) -> None:
    (alone,) = dict(kernel(f"products/{HEADERS[macro]}").takes)[macro]
    assert {*NAME.findall(alone)} <= {*NAME.findall(cut_macros()[macro])}


@pytest.mark.parametrize("macro", HEADERS)
def test_a_macro_is_statements_without_the_last_semicolon(macro: str) -> None:
    lines = cut_macros()[macro].splitlines()
    assert all(line.endswith(" \\") and len(line) <= 112 for line in lines[:-1])
    assert not lines[-1].endswith((";", "\\"))


def test_a_formula_that_changes_changes_what_python_says_and_what_c_does() -> None:
    def part() -> tuple[int, str]:
        one = dict.fromkeys(("row_segments", "column_segments", "depth_segments", "along"), 1.0)
        asked = one | {"m": 600.0, "n": 600.0, "k": 600.0, "place": 0.0}
        return cut_past(asked, blocks_of(ZEN3, 8))[1], cut_macros()["CUT_PASSED"]

    columns, text = part()
    with planted(Planted("product.cuts", "PASSED_EIGHTHS", 3.0, lambda: None)):
        fewer, changed = part()
    assert fewer < columns
    assert "small * 5 / 8" in text
    assert text.replace("small * 5 / 8", "small * 3 / 8") == changed
