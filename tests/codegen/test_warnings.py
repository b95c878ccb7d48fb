"""The C of products, sums, filters and their ends is without a warning that a careful user asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import polymat as pm

M, N, K = (pm.Parameter(pm.Int, name) for name in "MNK")
i, j = pm.Variable(pm.Int, "i"), pm.Variable(pm.Int, "j")
A, B = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
AF, BF = pm.Matrix(pm.Float, "AF", [M, K]), pm.Matrix(pm.Float, "BF", [K, N])
AZ, BZ = pm.Matrix(pm.Complex, "AZ", [M, K]), pm.Matrix(pm.Complex, "BZ", [K, N])
S = pm.Matrix(pm.Double, "S", [M, M])
# What gcc has to say without optimisation; nothing is kept of what it compiles.
STRICT = ("-O0", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")


def rectified(product: Any, real: Any) -> pm.Function:
    """What registers make of a result."""
    domain = ([i, j], [pm.Interval(pm.Int, 0, M - 1), pm.Interval(pm.Int, 0, N - 1)])
    f = pm.Function(domain, real, "rectified")
    f.defn = [pm.Max(product(i, j) + 1.0, 0.0)]
    return f


PROGRAMS: dict[str, Callable[[], Any]] = {
    "product": lambda: A @ B,
    "float": lambda: rectified(AF @ BF, pm.Float),
    "ends": lambda: rectified(A @ B, pm.Double),
    "complex": lambda: AZ @ BZ,
    "triangles": lambda: [pm.syrk(A, S, 2.0, 1.0), pm.trmm(S, A, 1.0)],
    "filter": lambda: pm.Signal(pm.Double, "s", N).fir(list(np.linspace(-1.0, 1.0, 17))),
    "row": lambda: pm.Signal(pm.Double, "s", N).fir([1.0, 0.5, -1.0]),
}


def test_no_function_is_left_over() -> None:
    """Calls with the only sizes there are do everything by themselves."""
    C, x, y = (
        pm.Matrix(pm.Double, "C", [6, 6]),
        pm.Vector(pm.Double, "x", [6]),
        pm.Vector(pm.Double, "y", [6]),
    )
    pm.compile([C @ x, C @ y], name="program", options=pm.Options(fuse=False, cflags=STRICT))


@pytest.mark.covering
@pytest.mark.parametrize("blas", ["auto", "never"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_no_warning(name: str, blas: Any) -> None:
    pm.compile(PROGRAMS[name](), name="program", options=pm.Options(blas=blas, cflags=STRICT))
