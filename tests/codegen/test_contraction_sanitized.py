"""Register blocks and packing under the address and undefined-behaviour sanitizers."""

from __future__ import annotations

import sys

import pytest

from tests.differential.under_sanitizers import clean_output


@pytest.mark.turns(2)
def test_no_access_outside_an_operand() -> None:
    printed = clean_output([sys.executable, "-m", "tests.codegen.sanitized_products"])
    assert len(printed.splitlines()) == 10


@pytest.mark.drawn(1)
@pytest.mark.parametrize("parts", [("wide", "turned"), ("narrow", "layers")])
def test_no_access_outside_scratch(parts: tuple[str, ...]) -> None:
    printed = clean_output([sys.executable, "-m", "tests.codegen.sanitized_scratch", *parts])
    assert printed.split() == [*parts]
