"""A convolution with a product behind it: one group, whose tiles hold what lies between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import polymat as pm
from polymat import Float, Int, Parameter, Variable
from polymat.driver import levels, request_for
from polymat.plan.schedule import Schedule
from polymat.plan.tile import TilePlan
from tests.fixed import WIDE
from tests.tolerance import assert_close

H, W, C, F, P = SIZES = tuple(Parameter(Int, name) for name in "HWCFP")
h, w, c, f, p, r, s = (Variable(Int, name) for name in "hwcfprs")


def chain() -> pm.Reduction:
    """Q = O q behind O = x * k, a convolution of 3 x 3 taps."""
    x, k = pm.Image(Float, "x", [H + 2, W + 2, C]), pm.Image(Float, "k", [3, 3, C, F])
    q = pm.Matrix(Float, "q", [F, P])
    rows, columns, channels, filters, last = (pm.Interval(Int, 0, size - 1) for size in SIZES)
    taps = pm.Interval(Int, 0, 2)
    O = pm.Reduction(  # noqa: E741
        ([h, w, f], [rows, columns, filters]),
        ([h, w, f, r, s, c], [rows, columns, filters, taps, taps, channels]),
        Float,
        "O",
    )
    O.defn = [pm.Reduce(O(h, w, f), x(h + r, w + s, c) * k(r, s, c, f), pm.Op.Sum)]
    Q = pm.Reduction(
        ([h, w, p], [rows, columns, last]), ([h, w, p, f], [rows, columns, last, filters]), Float, "Q"
    )
    Q.defn = [pm.Reduce(Q(h, w, p), O(h, w, f) * q(f, p), pm.Op.Sum)]
    return Q


ESTIMATES = dict(zip(SIZES, (56, 56, 64, 64, 256), strict=True))


def test_a_convolution_and_a_product_of_more_channels_share_tiles_of_register_blocks() -> None:
    asked = request_for(chain(), estimates=ESTIMATES, options=pm.Options(blas="never"))
    for _, level in levels(replace(asked, machine=WIDE)):
        if isinstance(level, Schedule):
            (plan,) = level.plans
            break
    assert isinstance(plan, TilePlan)
    assert plan.scratch == ("O",)
    assert plan.kernels == ("O", "Q")


def test_tiles_of_such_a_chain_are_right_also_at_the_ends() -> None:
    schemes = {"Q": "[fuse(O), Par(h*w), T(h, 1), T(w, 8)]"}
    compiled = pm.compile(chain(), estimates=ESTIMATES, options=pm.Options(blas="never", scheme=schemes))
    assert compiled.explain().schemes.items() >= schemes.items()
    rng = np.random.default_rng(1)
    shapes = {"x": (7, 21, 5), "k": (3, 3, 5, 9), "q": (9, 17)}
    given = {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()}
    x, k, q = (each.astype(np.float64) for each in given.values())

    def chained(x: Any, k: Any, q: Any) -> Any:
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(0, 1))
        return np.einsum("hwcrs,rscf->hwf", windows, k) @ q

    sizes = np.abs(x), np.abs(k), np.abs(q)
    expected = chained(x, k, q).astype(np.float32)
    assert_close(compiled(**given), expected, roundings=2 * (45 + 9), magnitude=chained(*sizes))
