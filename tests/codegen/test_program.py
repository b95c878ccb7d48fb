"""A program prints its arrays, its own C, and then the library's."""

from __future__ import annotations

import pytest

from polymat import Double, Function, Int, Interval, Matrix, Options, Parameter, Variable, Vector
from polymat.codegen.program import Program
from polymat.driver import levels, request_for

N = Parameter(Int, "N")
A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])


def test_its_own_c_stands_before_the_library() -> None:
    options = Options(blas="never", kernels=False, vector=False)
    request = request_for([A @ B], name="mm", options=options)
    program = next(level for name, level in levels(request) if name == "codegen")
    assert isinstance(program, Program)
    text = str(program)
    assert text.startswith(
        "input  A: Double [N, N] from (0, 0)\ninput  B: Double [N, N] from (0, 0)\noutput  out: "
    )
    assert "\nflags  -\n" in text
    own, library = text.index("int mm("), text.index("#include")
    assert text.index("_pm_nest_out(") < own < library


@pytest.mark.parametrize(
    ("count", "named"),
    [
        (1, []),
        (2, ["the intermediate array s1"]),
        (5, ["the intermediate arrays s1, s2, s3 and s4"]),
        (8, ["the intermediate arrays s1, s2, s3, s4 and 3 more"]),
    ],
)
def test_intermediate_arrays_are_named(count: int, named: list[str]) -> None:
    """For messages of who finds no memory for them."""
    x, i = Vector(Double, "x", [N]), Variable(Int, "i")
    before: Vector | Function = x
    for number in range(1, count + 1):
        stage = Function(([i], [Interval(Int, 0, N - 1)]), Double, f"s{number}")
        stage.defn = [before(i) + before(N - 1 - i)]
        before = stage
    assert isinstance(before, Function)
    request = request_for([before], name="chain", options=Options(fuse=False, inline=False))
    program = next(level for name, level in levels(request) if name == "codegen")
    assert isinstance(program, Program)
    assert [text for name, text in program.file.marks if name == "_pm_intermediates"] == named
