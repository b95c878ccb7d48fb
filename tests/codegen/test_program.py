"""A program prints its arrays, its own C, and then the library's."""

from __future__ import annotations

from polymat import Double, Int, Matrix, Options, Parameter
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
