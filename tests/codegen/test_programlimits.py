"""Functions in the C of real programs take few arguments and have few lines."""

import re

import pytest

from polymat.codegen.functionlimits import MOST_ARGUMENTS
from polymat.codegen.program import Program
from tests.codegen.c.test_kernels import arguments_of, functions_of
from tests.codegen.realprograms import PROGRAMS
from tests.codegen.test_limits import long_ones, name_of
from tests.fixed import NARROW, WIDE, compiled_levels, own_c

# One loop in explicit vectors over two rows or more of all stages, whose registers carry from turn to turn.
REGISTERS = re.compile(r"_pm_rows_(past_)?\d+")


@pytest.mark.covering
@pytest.mark.parametrize("machine", [NARROW, WIDE], ids=lambda machine: machine.name)
@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_are_small(name: str, machine: object) -> None:
    """All but the one that C programs call, with the arrays, sizes and scalars that the user named."""
    program = compiled_levels(**PROGRAMS[name](), machine=machine)["codegen"]  # type: ignore[arg-type]
    assert isinstance(program, Program)
    functions = {name_of(function): function for function in functions_of(own_c(program))}
    assert "_pm_entry" in functions
    long = {each for each in long_ones(functions) if not REGISTERS.fullmatch(each)}
    assert not long
    wide = {each for each, text in functions.items() if arguments_of(text) > MOST_ARGUMENTS}
    assert wide <= {program.signature.name}
