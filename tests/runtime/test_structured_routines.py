"""Libraries that lack a routine for triangles or symmetric arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Int, Interval, Matrix, Op, Options, Parameter, Reduce, Reduction, Variable
from polymat.errors import ToolchainError
from polymat.runtime import providers
from polymat.runtime.providers import provider
from tests.runtime.small_blas import small_blas

N = Parameter(Int, "N")
A, B = Matrix(Double, "A", [N, N]), Matrix(Double, "B", [N, N])


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test chooses anew."""
    monkeypatch.setattr(providers, "_chosen", {})


@pytest.fixture(scope="module")
def lacking(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_blas(tmp_path_factory.mktemp("small"))


def solution() -> Reduction:
    """X of A X = B, A lower triangular with ones on its diagonal."""
    i, j, k = (Variable(Int, name) for name in "ijk")
    whole = Interval(Int, 0, N - 1)
    X = Reduction(([i, j], [whole, whole]), ([i, j, k], [whole, whole, Interval(Int, 0, i - 1)]), Double, "X",
                  init=B(i, j))  # fmt: skip
    X.defn = [Reduce(X(i, j), -A(i, k) * X(k, j), Op.Sum)]
    return X


def called(compiled: Any) -> list[str]:
    return [name for group in compiled.explain().groups for name in group.library_calls]


def test_loops_stand_in_for_a_routine_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, lacking: Path
) -> None:
    monkeypatch.setenv("POLYMAT_BLAS", str(lacking))
    found = provider("blas")
    assert found is not None
    assert found.paths == (lacking,)
    compiled: Any = pm.compile(solution(), name="solved", estimates={N: 500})
    assert called(compiled) == []
    a, b = np.tri(5, k=-1) * 0.5, np.arange(25.0).reshape(5, 5)
    np.testing.assert_allclose(compiled(a, b), np.linalg.solve(a + np.eye(5), b))
    product: Any = pm.compile(A @ B, name="product", options=Options(blas="always"))
    assert called(product) == ["gemm"]
    np.testing.assert_allclose(product(a, b), a @ b)


def test_a_call_that_is_wanted_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, lacking: Path, tmp_path: Path
) -> None:
    compiled: Any = pm.compile(solution(), name="solved", options=Options(blas="always"))
    saved = compiled.save(tmp_path)
    monkeypatch.setenv("POLYMAT_BLAS", str(lacking))
    with pytest.raises(ToolchainError, match="solved calls cblas_dtrsm, which openblas does not have"):
        pm.compile(solution(), name="solved", options=Options(blas="always"))
    with pytest.raises(ToolchainError, match="solved calls cblas_dtrsm, which openblas does not have"):
        pm.load(saved)
