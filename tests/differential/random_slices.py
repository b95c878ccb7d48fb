"""Random recurrences of which a dimension is crossed by no read, and what reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import polymat as pm
from polymat import Case, Condition, Double, Function, Int, Interval, Op, Reduce, Reduction

T, Z, N = (pm.Parameter(Int, name) for name in "TZN")
t, z, i, k = (pm.Variable(Int, name) for name in "tzik")
EXTENTS: dict[Any, Any] = {t: Interval(Int, 0, T), z: Interval(Int, 0, Z - 1), i: Interval(Int, 0, N - 1)}
LARGEST = 3  # of the integers that the caller gives
ALL_SIZES = tuple({"T": a, "Z": b, "N": c} for a in (0, 1, 4) for b in (0, 1, 2, 5) for c in (1, 2, 7))


@dataclass
class Slices:
    """Outputs and inputs of a random program; text: what was drawn."""

    outputs: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    text: str = ""

    def arrays(self, rng: np.random.Generator, sizes: dict[str, int]) -> dict[str, Any]:
        """Random numbers of either sign; small integers where limits are declared."""
        shapes: dict[str, tuple[int, ...]] = {
            "x": (sizes["Z"], sizes["N"]),
            "y": (sizes["N"], sizes["Z"]),
            "w": (sizes["Z"] + 1, sizes["N"]),
        }
        shapes |= {"p": (sizes["Z"],), "c": (sizes["N"],), "l": shapes["x"]}
        found: dict[str, Any] = {each.name: rng.standard_normal(shapes[each.name]) for each in self.inputs}
        return found | {"l": rng.integers(-LARGEST, LARGEST + 1, shapes["l"], dtype=np.int32)}


class _Draw:
    """Draws one program: states over time, each with its dimensions in an order of its own."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.x, self.y = pm.Matrix(Double, "x", [Z, N]), pm.Matrix(Double, "y", [N, Z])
        self.w, self.p = pm.Matrix(Double, "w", [Z + 1, N]), pm.Vector(Double, "p", [Z])
        self.c = pm.Vector(Double, "c", [N])
        self.labels = pm.Matrix(Int, "l", [Z, N], values=(-LARGEST, LARGEST))
        self.back = bool(rng.random() < 0.2)
        self.orders = [list(rng.permutation(3)) for _ in range(int(rng.integers(1, 4)))]
        self.states = [
            self._declared(f"f{n}", [(t, z, i)[p] for p in order]) for n, order in enumerate(self.orders)
        ]
        self.means = Reduction(
            ([t, z], [EXTENTS[t], EXTENTS[z]]),
            ([t, z, k], [EXTENTS[t], EXTENTS[z], EXTENTS[i]]),
            Double,
            "means",
        )

    def _declared(self, name: str, dims: list[Any]) -> Any:
        return Function((dims, [EXTENTS[each] for each in dims]), Double, name)

    def at(self, number: int, *index: Any) -> Any:
        """A state at a time, a slice and a point."""
        return self.states[number](*(index[p] for p in self.orders[number]))

    def given(self) -> Any:
        """Something of the caller's for a slice and a point."""
        crossed = self.w(z + 1, i) - self.w(z, i)
        labelled = pm.Cast(Double, self.labels(z, i)) * 0.5
        drawn = (self.x(z, i), self.y(i, z), crossed, self.p(z) * self.c(i), labelled)
        return drawn[int(self.rng.integers(0, len(drawn)))]

    def program(self) -> Slices:
        """Define all of it; inputs are those that are read, in a fixed order."""
        start = self._declared("start", [z, i])
        start.defn = [self.given() + 0.5 * self.given()]
        before = t + 1 if self.back else t - 1
        first = Condition(t, "==", T) if self.back else Condition(t, "==", 0)
        later = Condition(t, "<=", T - 1) if self.back else Condition(t, ">=", 1)
        summed = bool(self.rng.random() < 0.5)
        self.means.defn = [Reduce(self.means(t, z), self.at(0, t, z, k) * 0.25, Op.Sum)]
        for number, state in enumerate(self.states):
            other = int(self.rng.integers(0, len(self.states)))
            turned = N - 1 - i if self.rng.random() < 0.3 else i
            value = 0.5 * self.at(other, before, z, turned) + 0.25 * self.given()
            value = value + (0.1 * self.means(before, z) if summed and number == 0 else 0.0)
            neighbour = 0.25 * self.at(number, before, z, i - 1)
            state.defn = [
                Case(first, start(z, i)),
                Case(later & Condition(i, "==", 0), value),
                Case(later & Condition(i, ">=", 1), value - neighbour),
            ]
        outputs = self._outputs(0 if self.back else T)
        inputs = [self.x, self.y, self.w, self.p, self.c, self.labels]
        return Slices(outputs, inputs, f"{self.orders}, back {self.back}, summed {summed}")

    def _outputs(self, end: Any) -> list[Any]:
        """Last states slice by slice, and sums over slices."""
        last = self._declared("last", [z, i])
        last.defn = [self.at(0, end, z, i) * 2.0]
        norm = Reduction(([z], [EXTENTS[z]]), ([z, i], [EXTENTS[z], EXTENTS[i]]), Double, "norm")
        norm.defn = [Reduce(norm(z), last(z, i) * last(z, i), Op.Sum)]
        total = Reduction(([i], [EXTENTS[i]]), ([i, z], [EXTENTS[i], EXTENTS[z]]), Double, "total")
        total.defn = [Reduce(total(i), self.p(z) * last(z, i), Op.Sum)]
        across = self._declared("across", [i, z])
        across.defn = [last(z, i) + norm(z)]
        drawn = [each for each in (norm, total, across) if self.rng.random() < 0.5]
        return [*drawn, last] if self.rng.random() < 0.6 or not drawn else drawn


def draw(seed: int) -> Slices:
    """The program of a seed."""
    return _Draw(np.random.default_rng(seed)).program()


def differences(program: Slices, cflags: tuple[str, ...] = ("-O1",)) -> list[str]:
    """Where compiled code and the interpreter differ, on one thread and two; nothing where they do not."""
    found = []
    for threads in (1, 2):
        options = pm.Options(cflags=cflags, parallel_threshold=0, threads=threads, skip=("bands",))
        compiled = pm.compile(program.outputs, name="slices", inputs=program.inputs, options=options)
        if "slice by slice" not in str(compiled.explain()):
            found.append(f"no slices: {program.text}")
        rng = np.random.default_rng(0)
        for sizes in ALL_SIZES:
            arrays = program.arrays(rng, sizes)
            actual, expected = compiled(**arrays, T=sizes["T"]), compiled.reference(**arrays, T=sizes["T"])
            if not _alike(actual, expected):
                found.append(f"{sizes}, {threads} threads: {program.text}")
    return found


def _alike(actual: Any, expected: Any) -> bool:
    if isinstance(expected, tuple):
        return all(map(_alike, actual, expected))
    return bool(np.allclose(actual, expected, rtol=1e-12, atol=1e-12))
