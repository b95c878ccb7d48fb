"""Contractions in random schemes, against the interpreter: many at a time in one library."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Double, Int, Interval, Op, Parameter, Reduce, Reduction, Variable
from polymat.driver import request_for
from polymat.lang.types import ScalarType
from polymat.product.schemetext import read_scheme
from tests.differential.schemes import random_scheme
from tests.tolerance import assert_close

M, N, K, L = (Parameter(Int, name) for name in "MNKL")
i, j, k, l, r = (Variable(Int, name) for name in "ijklr")  # noqa: E741
SIZES = [(1, 1, 1, 1), (0, 3, 2, 5), (5, 4, 0, 2), (7, 9, 5, 3), (13, 17, 11, 4), (24, 32, 8, 2)]
SCHEMES = 6  # in a library: more take the C compiler long


def upto(size: Any) -> Interval:
    return Interval(Int, 0, size - 1)


class Programs:
    """Contractions of a few kinds, each beside the dimensions that its scheme has."""

    def __init__(self, dtype: ScalarType) -> None:
        self.dtype = dtype
        self.a = pm.Matrix(dtype, "A", [M, K])
        self.b = pm.Matrix(dtype, "B", [K, N])
        self.at = pm.Matrix(dtype, "At", [K, M])
        self.bt = pm.Matrix(dtype, "Bt", [N, K])
        self.c = pm.Matrix(dtype, "C0", [M, N])
        self.t = pm.Image(dtype, "T3", [L, M, K])
        self.s = pm.Vector(dtype, "S", [M + K])

    def inputs(self) -> list[Any]:
        """All arrays that they read."""
        return [self.a, self.b, self.at, self.bt, self.c, self.t, self.s]

    def all(self) -> Iterator[tuple[Any, tuple[str, ...], tuple[str, ...], dict[str, tuple[str, ...]]]]:
        """The product and its result, sums and operands, over and over."""
        number = 0
        while True:
            for kind in (self.plain, self.transposed, self.scaled, self.batched, self.window):
                number += 1
                yield kind(f"out{number}")

    def _sum(
        self,
        name: str,
        dims: list[Any],
        summed: list[Any],
        value: Any,
        spans: dict[str, Any],
        start: Any = None,
    ) -> Any:
        own, more = [upto(spans[d.name]) for d in dims], [upto(spans[d.name]) for d in [*dims, *summed]]
        found = Reduction((dims, own), ([*dims, *summed], more), self.dtype, name, start)
        found.defn = [Reduce(found(*dims), value, Op.Sum)]
        return found

    def plain(self, name: str) -> Any:
        out = self._sum(name, [i, j], [k], self.a(i, k) * self.b(k, j), {"i": M, "j": N, "k": K})
        return out, ("i", "j"), ("k",), {"A": ("i", "k"), "B": ("k", "j")}

    def transposed(self, name: str) -> Any:
        out = self._sum(name, [i, j], [k], self.at(k, i) * self.bt(j, k), {"i": M, "j": N, "k": K})
        return out, ("i", "j"), ("k",), {"At": ("i", "k"), "Bt": ("k", "j")}

    def scaled(self, name: str) -> Any:
        value, start = 2.5 * self.a(i, k) * self.b(k, j), 0.5 * self.c(i, j)
        out = self._sum(name, [i, j], [k], value, {"i": M, "j": N, "k": K}, start)
        return out, ("i", "j"), ("k",), {"A": ("i", "k"), "B": ("k", "j")}

    def batched(self, name: str) -> Any:
        spans = {"l": L, "i": M, "j": N, "k": K}
        out = self._sum(name, [l, j, i], [k], self.t(l, i, k) * self.b(k, j), spans)
        return out, ("l", "j", "i"), ("k",), {"T3": ("l", "i", "k"), "B": ("k", "j")}

    def window(self, name: str) -> Any:
        out = self._sum(name, [i, j], [k], self.s(i + k) * self.b(k, j), {"i": M, "j": N, "k": K})
        return out, ("i", "j"), ("k",), {"S": ("i", "k"), "B": ("k", "j")}


@pytest.mark.parametrize("case", range(2))
def test_random_schemes_compute_what_the_definition_says(case: int, seed: int) -> None:
    rng, dtype = Random(f"{seed} {case}"), (Double, pm.Float)[case]
    lanes = request_for([pm.Matrix(dtype, "A", [M, N]) * 1.0]).machine.lanes(dtype.size)
    outputs, schemes, programs = [], {}, Programs(dtype)
    for found, _ in zip(programs.all(), range(SCHEMES), strict=False):
        out, result, summed, operands = found
        text = random_scheme(rng, result, summed, operands, lanes)
        assert str(read_scheme(text)) == text
        outputs.append(out)
        schemes[out.name] = text
    options = pm.Options(scheme=schemes, threads=1 + case % 2, share=False, cflags=("-O1",))
    inputs = programs.inputs()
    compiled = pm.compile(outputs, name=f"schemes{case}", inputs=inputs, options=options)
    kinds = {group.stages[0]: group.kind for group in compiled.explain().groups}
    assert kinds == dict.fromkeys(schemes, "scheme")
    values = np.random.default_rng(case)
    for m, n, k_, l_ in SIZES:
        shapes: dict[str, tuple[int, ...]] = {
            "A": (m, k_),
            "B": (k_, n),
            "At": (k_, m),
            "Bt": (n, k_),
            "C0": (m, n),
        }
        shapes |= {"T3": (l_, m, k_), "S": (m + k_,)}
        arrays = [values.random(shapes[each.name]).astype(dtype.dtype) for each in inputs]
        for name, got, wanted in zip(schemes, compiled(*arrays), compiled.reference(*arrays), strict=True):
            assert_close(got, wanted, roundings=2 * k_ + 3, name=f"{name} {schemes[name]} {m, n, k_, l_}")
