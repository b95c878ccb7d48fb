"""Peers that need nothing but what polymat needs compute the right thing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.cases import Judge, kernel_case
from benchmarks.peers import array_libraries, blas, pipelines, plain_c
from benchmarks.polybench import KERNELS, find_kernel
from benchmarks.task import MissingError, Prepared, Task

PEERS: dict[str, Callable[[Task], Prepared]] = {
    "NumPy": array_libraries.prepare_numpy,
    "C": plain_c.prepare_plain,
    "C fast-math": plain_c.prepare_fast,
    "polymat": pipelines.prepare,
    "polymat, out=": pipelines.prepare_out,
    "polymat from C": pipelines.prepare_from_c,
}


# polymat's ways of being called are tried on a few; the kernels have tests of their own.
PAIRS = [
    (kernel.name, peer)
    for kernel in KERNELS
    for peer in PEERS
    if not peer.startswith("polymat") or kernel.name in ("gemm", "2mm", "bicg", "seidel-2d")
]


@pytest.mark.parametrize(("kernel", "peer"), PAIRS)
def test_peer_is_right(kernel: str, peer: str) -> None:
    case = kernel_case(find_kernel(kernel), "MINI")
    prepared = PEERS[peer](case.task)
    assert Judge(case).error(prepared.call()) <= 1
    if prepared.repeat is not None:
        assert prepared.repeat(2) > 0


@pytest.mark.parametrize("kernel", ["gemm", "2mm", "3mm", "symm", "syrk", "syr2k", "trmm", "doitgen"])
def test_openblas_from_c_is_right(kernel: str) -> None:
    case = kernel_case(find_kernel(kernel), "MINI")
    assert Judge(case).error(blas.prepare_openblas(case.task).call()) <= 1


def test_what_is_not_there_is_said() -> None:
    case = kernel_case(find_kernel("gemm"), "MINI")
    with pytest.raises(MissingError, match="no formula"):
        array_libraries.prepare_numpy(Task("nope", {}))
    with pytest.raises(MissingError, match="too long"):
        plain_c.prepare_plain(Task("gemm", case.task.arrays, {"flops": 10**12}))
    with pytest.raises(MissingError, match="no option magic yet"):
        pipelines.prepare(Task("gemm", case.task.arrays, {**case.task.values, "options": {"magic": 1}}))
