"""What no program may lack is found in it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from polymat import Double, Int, InternalError, Matrix, Options, Parameter
from polymat.codegen.program import Program
from polymat.codegen.verifyprogram import check_program
from polymat.driver import levels, request_for

N = Parameter(Int, "N")
A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])


@cache
def program() -> Program:
    options = Options(blas="never", kernels=False)
    request = request_for([A @ B], name="mm", options=options)
    found = next(level for name, level in levels(request) if name == "codegen")
    assert isinstance(found, Program)
    return found


def test_every_array_has_one_place() -> None:
    check_program(program())
    twice = replace(program(), buffers=(*program().buffers, program().buffers[0]))
    with pytest.raises(InternalError, match="A lies in 2 places"):
        check_program(twice)
    with pytest.raises(InternalError, match="the input A does not lie with the caller"):
        check_program(replace(program(), buffers=program().buffers[1:]))


def test_every_function_that_is_called_exists() -> None:
    file = program().file
    nest = next(function.name for function in file.functions if function.name.startswith("_pm_nest_"))
    without = tuple(function for function in file.functions if function.name != nest)
    with pytest.raises(InternalError, match=f"calls {nest}, which does not exist"):
        check_program(replace(program(), file=replace(file, functions=without)))
    with pytest.raises(InternalError, match=f"2 functions are called {nest}"):
        check_program(replace(program(), file=replace(file, functions=(*file.functions, file.functions[0]))))


def test_functions_are_called_with_as_many_arguments_as_they_take() -> None:
    file = program().file
    nest = next(function for function in file.functions if function.name.startswith("_pm_nest_"))
    fewer = replace(nest, parameters=nest.parameters[1:])
    functions = tuple(fewer if function is nest else function for function in file.functions)
    count = len(nest.parameters)
    with pytest.raises(
        InternalError, match=f"calls {nest.name} with {count} arguments instead of {count - 1}"
    ):
        check_program(replace(program(), file=replace(file, functions=functions)))
