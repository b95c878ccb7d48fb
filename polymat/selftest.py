"""Whether anything can be compiled here at all."""

from __future__ import annotations

import numpy as np

from polymat.driver import compile_request, request_for
from polymat.errors import PolymatError
from polymat.lang.expr import Parameter
from polymat.lang.matrix import Vector
from polymat.lang.types import Double, Int


def self_test() -> str:
    """Compile a small pipeline and compare what it computes with NumPy."""
    N = Parameter(Int, "N")
    x = Vector(Double, "x", [N])
    array = np.arange(100.0)
    request = request_for((x + x).named("twice"), name="polymat_self_test")  # `compile` might measure first
    result = compile_request(request)(array)
    if not np.array_equal(result, array + array):
        raise PolymatError("the compiled pipeline computes wrong numbers")
    return "compiled a pipeline, loaded it, and its numbers are right"
