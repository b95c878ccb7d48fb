"""What must hold of a program: every array has one place, every function that is called exists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from polymat.codegen.c.ctree import CCall, expressions
from polymat.codegen.program import Program
from polymat.errors import InternalError

_OWN = (
    "_pm_nest_",
    "_pm_tiles_",
)  # begin names of functions that the library has not


def check_program(program: Program) -> None:
    """Raise an `InternalError` that says what is wrong with a program, if anything is."""
    for fault in _faults(program):
        raise InternalError(f"bug in polymat: {fault}")


def _faults(program: Program) -> Iterator[str]:
    places = Counter(buffer.name for buffer in program.buffers)
    yield from (f"{name} lies in {count} places" for name, count in places.items() if count > 1)
    where = {buffer.name: buffer for buffer in program.buffers}
    for place, arrays in (("input", program.signature.inputs), ("output", program.signature.outputs)):
        for array in arrays:
            if array.name not in where or where[array.name].place not in (place, "kept"):
                yield f"the {place} {array.name} does not lie with the caller"
    for buffer in program.buffers:
        if len(buffer.extents) != len(buffer.origin):
            yield f"{buffer.name} has {len(buffer.extents)} extents and {len(buffer.origin)} first indices"
    yield from _function_faults(program)


def _function_faults(program: Program) -> Iterator[str]:
    counted = Counter(function.name for function in program.file.functions)
    takes = {function.name: len(function.parameters) for function in program.file.functions}
    yield from (f"{count} functions are called {name}" for name, count in counted.items() if count > 1)
    for function in program.file.functions:
        for node in expressions(function.body):
            called = node.function if isinstance(node, CCall) else ""
            if called.startswith(_OWN) and called not in counted:
                yield f"{function.name} calls {called}, which does not exist"
            if isinstance(node, CCall) and takes.get(called, given := len(node.arguments)) != given:
                yield f"{function.name} calls {called} with {given} arguments instead of {takes[called]}"
