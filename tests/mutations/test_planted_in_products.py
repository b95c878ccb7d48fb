"""Conditions and prices of products that are changed in generated C alone: Python and C no longer agree.

What is written down once is planted where it is written: that changes both, and golden prices notice
(`test_planted`).  Here the C alone is changed, as by a mistake in printing it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest

from polymat import Double
from polymat.codegen.c.needs import Need
from polymat.codegen.prelude import prelude
from tests.product import test_ways

# What stands in the C, what it is changed to, and how the operands lie of products that notice.
CHANGES = {
    "sums along rows of less depth": ("k >= 4.0 * lanes)", "k >= 8.0 * lanes)", "ABT"),
    "more strips beside the right operand where it is": ("strips <= 8.0", "strips <= 10.0", "AB"),
    "more panels beside the left operand where it is": ("panels <= 2.0", "panels <= 3.0", "ATB"),
    "fewer columns of which the transpose is computed": ("n <= 24.0", "n <= 12.0", "ATB"),
    "fewer rows beside a copy": ("m <= 4096.0", "m <= 100.0", "ABT"),
    "more depth of what is read where it is": ("k >= 16.0", "k >= 64.0", "AB"),
    "more strips that pass parts": ("high >= 8.0 * rows", "high >= 20.0 * rows", "AB"),
    "what is large": ("2.0 * small", "3.0 * small", "AB"),
    "fewer rows of a block": ("mc * deeper / rows;", "mc * deeper / rows / 2;", "ABT"),
    "fewer columns of a block": (": nc) * deeper / panel", ": nc) * deeper / panel / 2", "ATBT"),
    "the price of packing": ("48.0", "70.0", "AB"),
    "the price of packing in a cache": ("30.0", "45.0", "AB"),
    "the price of a copy": ("16.0 *", "25.0 *", "ABT"),
    "the speed of full blocks": ("0.98", "0.8", "AB"),
    "the price of loops around blocks": ("1200.0", "600.0", "AB"),
}


@contextmanager
def edited(before: str, after: str) -> Iterator[None]:
    """Let generated code say something else."""

    def changed(needs: Collection[Need]) -> str:
        text: str = prelude(frozenset(needs))
        if before not in text:  # not what tests wait for, who would be content with it
            raise LookupError(f"nothing says {before} any more: change what is planted")
        return text.replace(before, after)

    test_ways.library.cache_clear()
    try:
        with patch.object(test_ways, "prelude", changed):
            yield
    finally:
        test_ways.library.cache_clear()


@pytest.mark.parametrize("what", CHANGES)
def test_c_that_differs_is_noticed(what: str) -> None:
    before, after, lies = CHANGES[what]
    check: Any = test_ways.test_python_says_what_generated_code_does
    with edited(before, after), pytest.raises(AssertionError):
        check(lies, Double, "usual")
