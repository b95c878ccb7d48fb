"""Functions in the C of real programs take few arguments, and those that run others have few lines."""

import pytest

from polymat.codegen.functionlimits import MOST_ARGUMENTS, MOST_LINES, lines
from polymat.codegen.program import Program
from polymat.codegen.shortened import is_parted
from tests.codegen.c.test_kernels import arguments_of, functions_of
from tests.codegen.realprograms import PROGRAMS
from tests.codegen.test_limits import name_of
from tests.fixed import compiled_levels, own_c

# What a part is given takes more lines than the part is spared.
LONGER = {"pyramid-blend": {"_pm_group_4"}}
MOST_LONGER = 70  # lines of these


@pytest.mark.parametrize("name", PROGRAMS)
def test_functions_are_small(name: str) -> None:
    """All but the one that C programs call, with the arrays, sizes and scalars that the user named."""
    program = compiled_levels(**PROGRAMS[name]())["codegen"]
    assert isinstance(program, Program)
    counted = {name_of(function): arguments_of(function) for function in functions_of(own_c(program))}
    assert "_pm_entry" in counted
    long = {each for each in program.file.functions if is_parted(each) and lines(each) > MOST_LINES}
    assert {each.name for each in long} == LONGER.get(name, set())
    assert all(lines(each) <= MOST_LONGER for each in long)
    wide = {called for called, count in counted.items() if count > MOST_ARGUMENTS}
    assert wide <= {program.signature.name}
