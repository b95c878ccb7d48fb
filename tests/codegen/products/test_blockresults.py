"""What becomes of the sums of a register block, in C."""

from __future__ import annotations

import re

import pytest

from polymat.codegen.products.blockresults import lines_requested, results
from polymat.codegen.products.blockshape import Shape

SHAPE = Shape("f64", 32, 2, 2)
WHOLE = """\
    *(_pm_memory_f64 *)(c + 0 * c_row + 0) = c0_0;
    *(_pm_memory_f64 *)(c + 1 * c_row + 0) = c1_0;
"""
LAST = """\
    if (last == 4) {
        *(_pm_memory_f64 *)(c + 0 * c_row + 4) = c0_1;
        *(_pm_memory_f64 *)(c + 1 * c_row + 4) = c1_1;
    } else {
        _pm_store_f64(c + 0 * c_row + 4, c0_1, mask);
        _pm_store_f64(c + 1 * c_row + 4, c1_1, mask);
    }
"""


def test_a_last_vector_that_is_whole_is_stored_without_a_mask() -> None:
    assert results(SHAPE, 2, 2, masked=True).endswith(WHOLE + LAST)


def test_vectors_that_are_whole_anyway_know_no_mask() -> None:
    text = results(SHAPE, 2, 2, masked=False)
    assert "mask" not in text
    assert text.count("*(_pm_memory_f64 *)(c + ") == 4


@pytest.mark.parametrize(("ctype", "bits", "vectors"), [("f64", 256, 2), ("f64", 512, 3), ("f32", 256, 2)])
def test_blocks_ask_for_the_line_that_their_rows_end_in(ctype: str, bits: int, vectors: int) -> None:
    """Rows of a result that begins within a line end in the line behind."""
    shape = Shape(ctype, bits // 8, 2, vectors)
    size = shape.vector_bytes // shape.lanes
    asked = {
        int(at) for at in re.findall(r"c \+ 1 \* c_row \+ (\d+)", lines_requested(shape, 2, vectors, "c"))
    }
    for begin in range(0, 64, size):
        touched = {(begin + at * size) // 64 for at in range(vectors * shape.lanes)}
        assert {(begin + at * size) // 64 for at in asked} == touched
