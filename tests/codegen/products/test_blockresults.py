"""What becomes of the sums of a register block, in C."""

from __future__ import annotations

from polymat.codegen.products.blockresults import results
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
