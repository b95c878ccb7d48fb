"""Functions in generated C are short and take few arguments, where copies for several points count once."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from polymat.codegen.functionlimits import MOST_ARGUMENTS, MOST_LINES
from polymat.codegen.program import Program
from polymat.codegen.units import render
from polymat.codegen.unrolled import rolled_lines
from tests.codegen import test_golden
from tests.codegen.c.test_kernels import arguments_of, functions_of
from tests.codegen.kinds import KINDS
from tests.conftest import golden_path
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
# Register blocks, whose copies differ in more than numbers.
UNROLLED = re.compile(r"_pm_(block|walk|full|passing|reading|past|edge|turned)_\w*\d")
# The interface of BLAS, which others have laid down.
TAKEN = re.compile(r"_pm_cblas_\w+")
NAME = re.compile(r"(\w+)\($")


def functions(kind: str) -> Iterator[tuple[str, str]]:
    """The functions of a program, by name."""
    program = compiled_levels(**KINDS[kind]())["codegen"]
    assert isinstance(program, Program)
    for function in functions_of(render(program.file)):
        if not function.startswith("#endif"):  # one of two heads, by the compiler: three lines in any case
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
    assert not {name for name in long_ones(found) if not UNROLLED.fullmatch(name)}
    assert not wide_ones(found)


@pytest.mark.parametrize("kind", KINDS)
def test_own_functions_are_short(kind: str) -> None:
    """Those of the program's own part, as `test_golden` compares them."""
    text = golden_path(Path(test_golden.__file__), f"test_own_c[{kind}]").read_text(encoding="utf-8")
    found = {name_of(function): function for function in functions_of(text)}
    assert found
    assert not long_ones(found)
    assert not wide_ones(found)


def long_ones(found: Mapping[str, str]) -> set[str]:
    """Those that are too long even where copies for several points count once."""
    long = {name: text for name, text in found.items() if text.count("\n") + 1 > MOST_LINES}
    return {name for name, text in long.items() if rolled_lines(text) > MOST_LINES}


def wide_ones(found: Mapping[str, str]) -> set[str]:
    """Those with too many arguments."""
    wide = {name for name, text in found.items() if arguments_of(text) > MOST_ARGUMENTS}
    return {name for name in wide if not TAKEN.fullmatch(name)}


def test_copies_count_once_and_nothing_else_does() -> None:
    sums = "void f(void)\n{\n" + "".join(f"    s{k} += A[(i + {k}) * K] * x[j];\n" for k in range(8)) + "}\n"
    assert rolled_lines(sums) == 4
    assert rolled_lines(sums.replace("s3 += A", "s3 -= A")) == 6
    pairs = "".join(f"    if (n > {k}) {{\n        s{k} = x[j + {4 * k}];\n    }}\n" for k in range(1, 5))
    assert rolled_lines(f"void f(void)\n{{\n{pairs}}}\n") == 6


def test_products_are_among_them() -> None:
    found = dict(functions("half_a_product"))
    assert {"_pm_multiply_f64", "_pm_general_f64", "_pm_blocked_f64", "_pm_way"} <= set(found)
    assert name_of(found["_pm_way"]) == "_pm_way"
    assert arguments_of(found["_pm_blocked_f64"]) == 1
