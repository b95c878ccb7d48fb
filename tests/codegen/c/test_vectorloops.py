"""What compilers are told of loops on vectors, and of those that threads share out."""

from __future__ import annotations

import pytest

from polymat.codegen.c.ctree import Assign, CBinary, For, Id, Literal, Subscript
from polymat.codegen.c.vectorloops import VECTORS, Pragma, SharedOut, Vectors, in_vectors
from polymat.codegen.partruns import has_loops_within


@pytest.mark.parametrize(
    ("pragma", "text", "vectors"),
    [
        (VECTORS, "omp simd", True),
        (Vectors((("+", ("s", "t")),)), "omp simd reduction(+:s, t)", True),
        (SharedOut("n", vectors=False), "omp parallel for num_threads(n) if(n > 1)", False),
        (SharedOut("n", vectors=True), "omp parallel for simd num_threads(n) if(n > 1)", True),
        ("GCC unroll 1", "GCC unroll 1", False),
    ],
    ids=str,
)
def test_what_is_told(pragma: Pragma, text: str, vectors: bool) -> None:
    assert str(pragma) == text
    assert in_vectors(pragma) == vectors
    inner = over("j", (Assign(Subscript(Id("x"), Id("j")), "=", Literal("0.0")),))
    assert has_loops_within(over("i", (inner,), pragma)) == (not vectors)


def over(variable: str, body: tuple[Assign | For, ...], *pragmas: Pragma) -> For:
    inside = CBinary("<", Id(variable), Id("N"))
    return For(variable, Literal("0"), inside, Literal("1"), body, pragmas)
