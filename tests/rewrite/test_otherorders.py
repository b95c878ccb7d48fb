"""Orders that are kept beside the chosen one: where shapes decide, and nobody said which they are."""

from __future__ import annotations

from typing import Any

import pytest

import polymat as pm
from polymat import Double, Int, Options
from polymat.graph.build import build
from polymat.rewrite.productorder import Ordered, order_products
from polymat.runtime.calibration import calibrated_machine

K, L, M, N, P = (pm.Parameter(Int, name) for name in "KLMNP")
A, B = pm.Matrix(Double, "A", [K, L]), pm.Matrix(Double, "B", [L, M])
C, D = pm.Matrix(Double, "C", [M, N]), pm.Matrix(Double, "D", [N, P])
v = pm.Vector(Double, "v", [N])


def ordered(output: Any, options: Options | None = None, **estimates: int) -> Ordered:
    return order_products(build([output]), options or Options(), estimates, calibrated_machine())


def test_three_matrices_have_two_orders() -> None:
    found = ordered(A @ B @ C)
    ((work, other),) = found.others
    assert found.pipeline.notes[-1].endswith("is also compiled as A (B C): each call chooses by its sizes")
    assert [stage.name for stage in other.stages] == ["out_product", "out"]
    wide, tall = ({"K": a, "L": b, "M": a, "N": b} for a, b in ((10, 100), (100, 10)))
    assert found.work.at(wide) < work.at(wide)
    assert found.work.at(tall) > work.at(tall)


def test_the_work_of_an_order_is_what_its_products_cost() -> None:
    sizes = {"K": 2, "L": 3, "M": 5, "N": 7}
    work = ordered(A @ B @ C).work
    assert work.at(sizes) * 0.75 / 2 == pytest.approx(2 * 3 * 5 + 2 * 5 * 7)
    assert work.at({**sizes, "M": 0}) == 0.0


def test_of_four_matrices_the_most_useful_orders_are_kept() -> None:
    assert len(ordered((A @ B) @ (C @ D)).others) == 2


def test_a_vector_comes_first_whatever_the_shapes() -> None:
    assert ordered(A @ B @ C @ v).others == ()


@pytest.mark.parametrize(
    "options", [Options(reassociate=False), Options.paper(reassociate=True), Options.naive()]
)
def test_other_presets_have_one_order(options: Options) -> None:
    assert ordered(A @ B @ C, options).others == ()


def test_sizes_that_were_given_decide() -> None:
    assert ordered(A @ B @ C, K=10).others == ()
    fixed = [pm.Matrix(Double, name, [8, 8]) for name in "XYZ"]
    assert ordered(fixed[0] @ fixed[1] @ fixed[2]).others == ()
