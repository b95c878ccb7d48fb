"""Which products read their large operand where it is: the same in the model and in the generated C."""

from __future__ import annotations

import ctypes
import itertools
from dataclasses import replace

import pytest

from polymat import Double, Int, Matrix, Parameter
from polymat.codegen.prelude import prelude
from polymat.codegen.products.blockshape import Shape
from polymat.graph.group import Group
from polymat.machine.known import GENERIC
from polymat.product.reading import reading
from polymat.runtime.build import build
from polymat.tilesize.kernel import described, kernel_operations, plan_kernel
from tests.idiom.recognise import pipeline

# A second level so small that operands of a few thousand elements do not fit it.
MACHINE = replace(GENERIC, vector_bits=256, l1_bytes=1 << 12, l2_bytes=1 << 16)
M, N, K = (Parameter(Int, name) for name in "MNK")
DEPTHS = (15, 16, 33, 96, 97, 129)
FEW, MANY = (4, 5, 6, 7, 8, 9, 16, 17, 24, 25, 36), (100, 257, 1024, 1030)

_ASK = """\
int ask(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, ptrdiff_t a_row, ptrdiff_t a_step, ptrdiff_t kc,
        ptrdiff_t small)
{
    static double a[1 << 18], b[1 << 18], c[1 << 18];
    static __attribute__((aligned(64))) double scratch[1 << 18];
    static const ptrdiff_t origin[3];
    return _pm_read_f64(m, n, k, 1, origin, 1, origin, 1, a, a_row, a_step, b, n, 1, 0, NULL, 0, c, n, kc,
                        small, scratch, NULL, NULL);
}
"""


@pytest.mark.parametrize("few", ["rows", "columns"])
def test_the_model_takes_what_generated_code_takes(few: str) -> None:
    left = Matrix(Double, "A", [M, K]) if few == "rows" else Matrix(Double, "A", [K, M]).T
    built = pipeline(left * Matrix(Double, "B", [K, N]))
    (stage,) = built.stages
    plan = plan_kernel(Group((stage.name,)), stage, built.context, MACHINE, {"M": 99, "N": 99, "K": 99})
    assert plan is not None
    blocks = plan.blocks
    need = Shape("f64", blocks.vector_bytes, blocks.rows, blocks.vectors).need
    made = build(prelude(frozenset({need, "place", "min_i64", "max_i64"})) + _ASK)
    library = ctypes.CDLL(str(made.path))
    made.release()
    library.ask.argtypes = (ctypes.c_ssize_t,) * 7
    taken = 0
    for short, long, k in itertools.product(FEW, MANY, DEPTHS):
        m, n = (short, long) if few == "rows" else (long, short)
        steps = (k, 1) if few == "rows" else (1, m)
        asked = library.ask(m, n, k, *steps, blocks.kc, blocks.small)
        found = reading(plan.contraction, blocks, {"M": m, "N": n, "K": k})
        assert found == (("right" if few == "rows" else "left") if asked else None), (m, n, k)
        taken += asked
    assert 0 < taken < len(FEW) * len(MANY) * len(DEPTHS)


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
