"""Functions in generated C are short and take few arguments, those that are not unrolled."""

import re
from collections.abc import Iterator

import pytest

from polymat.codegen.program import Program
from polymat.codegen.units import render
from tests.codegen.c.test_kernels import MOST_ARGUMENTS, MOST_LINES, arguments_of, functions_of
from tests.codegen.kinds import KINDS
from tests.fixed import compiled_levels

# Kinds whose programs have much of the library in them.
LIBRARY = (
    "half_a_product",
    "epilogue_in_registers",
    "epilogue_on_parts",
    "complex_product",
    "two_products",
    "called_product",
    "triangular_system",
    "transform",
    "filter_of_taps",
    "long_filter",
    "functions",
    "recursive_filter",
    "one_loop_over_rows",
    "whole_rows",
    "first_smallest",
    "two_scales",
)
# Register blocks, and the own loops of programs, of several rows side by side; an entry has a part a group.
UNROLLED = re.compile(r"_pm_(block|walk|full|passing|reading|past|edge|turned)_\w*\d")
OWN = re.compile(r"_pm_(nest|part|loops|rows|entry|tiles)_?\w*|\w*(?<!_pm)_entry\w*")
# The interface of BLAS, which others have laid down.
TAKEN = re.compile(r"_pm_cblas_\w+")
NAME = re.compile(r"(\w+)\($")


def functions(kind: str) -> Iterator[tuple[str, str]]:
    """The functions of a program, by name."""
    program = compiled_levels(**KINDS[kind]())["codegen"]
    assert isinstance(program, Program)
    for function in functions_of(render(program.file)):
        yield name_of(function), function


def name_of(function: str) -> str:
    """The name before the parameters."""
    head, depth = function.partition("\n{")[0].rstrip(), 0
    for at in range(len(head) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(head[at], 0)
        if depth == 0:
            found = NAME.search(head[: at + 1])
            assert found, head
            return found[1]
    raise AssertionError(f"no parameters: {head}")


@pytest.mark.parametrize("kind", LIBRARY)
def test_functions_are_short(kind: str) -> None:
    found = dict(functions(kind))
    long = {name for name, text in found.items() if text.count("\n") + 1 > MOST_LINES}
    wide = {name for name, text in found.items() if arguments_of(text) > MOST_ARGUMENTS}
    assert not {name for name in long if not UNROLLED.fullmatch(name) and not OWN.fullmatch(name)}
    assert not {name for name in wide if not TAKEN.fullmatch(name)}


def test_products_are_among_them() -> None:
    found = dict(functions("half_a_product"))
    assert {"_pm_multiply_f64", "_pm_general_f64", "_pm_blocked_f64", "_pm_way"} <= set(found)
    assert name_of(found["_pm_way"]) == "_pm_way"
    assert arguments_of(found["_pm_blocked_f64"]) == 1
