"""Products whose large operand is read where it is."""

from __future__ import annotations

from dataclasses import replace

from polymat import Double, Int, Matrix, Parameter
from polymat.graph.group import Group
from polymat.machine.known import GENERIC
from polymat.tilesize.kernelplanner import described, kernel_operations, plan_kernel
from tests.idiom.recognise import pipeline

# A second level so small that operands of a few thousand elements do not fit it.
MACHINE = replace(GENERIC, vector_bits=256, l1_bytes=1 << 12, l2_bytes=1 << 16)
M, N, K = (Parameter(Int, name) for name in "MNK")


def test_parts_of_a_few_columns_are_handed_on_by_packed_blocks() -> None:
    """Where readers are handed parts of the result, columns beside a large operand need its copy."""
    built = pipeline(Matrix(Double, "A", [K, M]).T * Matrix(Double, "B", [K, N]))
    (stage,) = built.stages
    sizes = {"M": 9999, "N": 12, "K": 64}
    plan = plan_kernel(Group((stage.name,)), stage, built.context, MACHINE, sizes)
    assert plan is not None
    handed = described(replace(plan, handed=True), sizes)
    assert "pack(A" not in plan.reason
    assert "pack(A" in handed.reason
    assert str(handed.scheme) in handed.reason
    assert kernel_operations(handed, sizes) > kernel_operations(plan, sizes)
