"""A product with what scales it and adds to it in the loops of a scheme: what is said of it, and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Int, Parameter
from polymat.driver import levels, request_for
from polymat.page.wording import label, short
from polymat.plan.registerblocks import kernel_of, scheme_of
from polymat.plan.schedule import Schedule
from tests.fixed import NARROW
from tests.hosts import CompileFor
from tests.tolerance import assert_close

M, N, K = (Parameter(Int, name) for name in "MNK")
LOOPS = "Par(i), T(k, 16), pack(Y), R(j), R(i), R(k), U(i, 4), V(j)]"
SIZES = {M: 300, N: 200, K: 100}


def arrays() -> list[Any]:
    return [pm.Matrix(Double, name, dims) for name, dims in zip("XYZ", ([M, K], [K, N], [M, N]), strict=True)]


def scheduled(output: Any, **options: Any) -> Schedule:
    asked = request_for(output, estimates=SIZES, options=pm.Options(threads=1, **options))
    return next(level for _, level in levels(asked) if isinstance(level, Schedule))


def test_what_is_said_of_it_is_of_its_scheme(compile_for: CompileFor) -> None:
    compile_for(NARROW)
    x, y, z = arrays()
    merged = scheduled(pm.gemm(x, y, z, 2.0, 0.5).named("D"), scheme={"D": f"[fuse(tmp_X_Y), {LOOPS}"})
    alone = scheduled((x @ y).named("D"), scheme={"D": f"[{LOOPS}"})
    (plan,), (by_itself,) = merged.plans, alone.plans
    inner = scheme_of(plan)
    assert inner is not None
    assert inner.atoms == by_itself.atoms  # type: ignore[union-attr]
    assert scheme_of(by_itself) is by_itself
    assert kernel_of(plan) is None
    assert {label(each).removeprefix("fused into ") for each in (plan, by_itself)} == {"loops of a scheme"}
    assert short(plan) == "loops of a scheme"
    moved, wanted = (dict(each.decisions[0].movement.traffic[0].volumes) for each in (merged, alone))
    assert {name: moved[name] for name in ("X", "Y", "Y packed")} == {
        name: wanted[name] for name in ("X", "Y", "Y packed")
    }


def test_a_scheme_that_does_not_fit_it_is_told_why() -> None:
    x, y, z = arrays()
    loops = LOOPS.replace("R(k), ", "")
    options = pm.Options(scheme={"D": f"[fuse(tmp_X_Y), {loops}"}, blas="never")
    with pytest.raises(pm.OptionError, match=r"T\(k, 16\) leaves 16 points of k") as told:
        pm.compile(pm.gemm(x, y, z, 2.0, 0.5).named("D"), options=options)
    assert "hint: R(k) further in" in str(told.value)


def test_register_blocks_have_no_scheme_of_their_own() -> None:
    x, y, z = arrays()
    (plan,) = scheduled(pm.gemm(x, y, z, 2.0, 0.5).named("D"), blas="never").plans
    assert scheme_of(plan) is None
    assert label(plan) == "fused into a product around register blocks"


def test_its_numbers_are_those_of_the_definition() -> None:
    x, y, z = arrays()
    options = pm.Options(scheme={"D": f"[fuse(tmp_X_Y), {LOOPS}"}, threads=1, cflags=("-O1",))
    run = pm.compile(pm.gemm(x, y, z, 2.0, 0.5).named("D"), inputs=[x, y, z], options=options)
    rng = np.random.default_rng(7)
    for m, n, k in ((37, 29, 41), (1, 3, 17), (4, 8, 16)):
        left, right, added = rng.random((m, k)), rng.random((k, n)), rng.random((m, n))
        assert_close(run(left, right, added), 2.0 * left @ right + 0.5 * added, roundings=2 * k + 5)
