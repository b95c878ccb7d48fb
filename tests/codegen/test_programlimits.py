"""Functions in the C of real programs take few arguments."""

import pytest

from polymat.codegen.program import Program
from tests.codegen.c.test_kernels import MOST_ARGUMENTS, arguments_of, functions_of
from tests.codegen.realprograms import PROGRAMS
from tests.codegen.test_limits import name_of
from tests.fixed import compiled_levels, own_c


@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_take_few_arguments(name: str) -> None:
    """All but the one that C programs call, with the arrays, sizes and scalars that the user named."""
    program = compiled_levels(**PROGRAMS[name]())["codegen"]
    assert isinstance(program, Program)
    counted = {name_of(function): arguments_of(function) for function in functions_of(own_c(program))}
    assert "_pm_entry" in counted
    wide = {called for called, count in counted.items() if count > MOST_ARGUMENTS}
    assert wide <= {program.signature.name}
