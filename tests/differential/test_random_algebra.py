"""Random programs of matrix algebra, signals and definitions that read each other's results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Case, Condition, Function, Op, Options, Reduce, Reduction, Select, Variable
from polymat.lang.algebra import span
from tests.differential.compare import compile_tiled
from tests.tolerance import assert_close

PROGRAMS = 18
QUICK: dict[str, Any] = {"cflags": ("-O1",), "threads": 2, "parallel_threshold": 0}
WAYS = {
    "default": Options(**QUICK),
    "libraries": Options(blas="always", fft="always", fir="fft", **QUICK),
    "own code": Options(blas="never", fft="never", fir="direct", **QUICK),
    "loops": Options(kernels=False, fuse=False, blas="never", **QUICK),
    "tiles": Options(tile_sizes=(3, 7), **QUICK),
    "paper": Options.paper(**QUICK),
}
KINDS = (pm.Double, pm.Float, pm.Complex, pm.Int)
EXTENTS = ((7, 5), (16, 17), (1, 8), (33, 4), (0, 3))  # N and M
MODES = ("valid", "causal", "same", "full")
LARGEST = 1e6  # of the numbers on the way


class Algebra:
    """Draws results from inputs and earlier results; what the language refuses is drawn again."""

    def __init__(self, rng: np.random.Generator, kind: Any) -> None:
        self.rng, self.kind = rng, kind
        self.sizes = [pm.Parameter(pm.Int, name) for name in ("N", "M")]
        n, m = self.sizes
        self.inputs: list[Any] = [
            *(pm.Matrix(kind, name, [n, n]) for name in ("A", "B")),
            pm.Matrix(kind, "C", [n, m]),
            *(pm.Vector(kind, name, [n]) for name in ("x", "y")),
            pm.Signal(kind, "s", n),
            pm.Signal(kind, "rows", [m, n]),
        ]
        self.pool = list(self.inputs)
        self.count = 0

    def outputs(self, count: int) -> list[Any]:
        """The last result, and some of those before it."""
        for _ in range(20 * count):
            if len(self.pool) == len(self.inputs) + count:
                break
            step = self._one_of(
                (self._product, self._update, self._sum, self._signal, self._defined, self._summed)
            )
            try:
                found = step()
            except pm.PolymatError:
                continue
            if found.dtype == self.kind and all(found is not known for known in self.pool):
                self.pool.append(found)
        made = self.pool[len(self.inputs) :]
        chosen = [made[-1], *(each for each in made[:-1] if self.rng.random() < 0.3)]
        return [each if each.name else each.named(self._name()) for each in chosen]

    def _name(self) -> str:
        self.count += 1
        return f"r{self.count}"

    def _one_of(self, values: Sequence[Any]) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def _pick(self, fits: Callable[[Any], bool]) -> Any:
        fitting = [source for source in self.pool if fits(source)]
        return self._one_of(fitting[-4:] if self.rng.random() < 0.6 else fitting)

    def _of_rank(self, rank: int) -> Any:
        return self._pick(lambda source: source.rank == rank and source.algebra == "matrix")

    def _number(self) -> Any:
        return self._one_of((1, 2, -1) if self.kind == pm.Int else (0.5, -0.25, 2, 1))

    def _product(self) -> Any:
        a, b = self._of_rank(2), self._of_rank(2)
        form = self._one_of(("AB", "AtB", "ABt", "Ax", "xA", "outer"))
        x, y = self._of_rank(1), self._of_rank(1)
        choices: dict[str, Callable[[], Any]] = {
            "AB": lambda: a @ b,
            "AtB": lambda: a.T @ b,
            "ABt": lambda: a @ b.T,
            "Ax": lambda: a @ x,
            "xA": lambda: x @ a,
            "outer": lambda: pm.outer(x, y),
        }
        return choices[form]()

    def _update(self) -> Any:
        a, b, c = (self._of_rank(2) for _ in range(3))
        alpha, beta = self._number(), self._number()
        choices: tuple[Callable[[], Any], ...] = (
            lambda: pm.gemm(a, b, c, alpha, beta),
            lambda: pm.syrk(a, c, alpha, beta),
            lambda: pm.syr2k(a, b, c, alpha, beta),
            lambda: pm.trmm(a, b, alpha, beta),
            lambda: pm.einsum("ij,jk,kl->il", a, b, c),
        )
        return self._one_of(choices)()

    def _sum(self) -> Any:
        a = self._pick(lambda source: source.algebra != "")
        b = self._pick(lambda source: source.shape == a.shape and source.algebra == a.algebra)
        return self._number() * a + b if self.rng.random() < 0.6 else a - self._number() * b

    def _signal(self) -> Any:
        s = self._pick(lambda source: source.algebra == "signal")
        taps = self.rng.integers(-2, 3, int(self._one_of((1, 2, 5, 9)))).astype(self.kind.dtype)
        choices: tuple[Callable[[], Any], ...] = (
            lambda: s.fir(taps, self._one_of(MODES)),
            lambda: s.up(2).fir(taps, self._one_of(MODES)),
            lambda: s.down(int(self._one_of((2, 3)))),
            lambda: s[:: int(self._one_of((2, -1)))],
            lambda: pm.pad(s, 1, self._one_of(("constant", "edge"))),
            lambda: pm.ifft(pm.fft(s)),
        )
        return self._one_of(choices)()

    def _points(self, source: Any) -> tuple[list[Variable], list[Any]]:
        variables = [Variable(pm.Int, name) for name in "ij"[: source.rank]]
        return variables, [span(extent, source.sizes) for extent in source.shape]

    def _defined(self) -> Any:
        """Point by point: a choice of two, a value on each side of the diagonal, a recurrence."""
        a = self._pick(lambda source: source.rank in (1, 2))
        b = self._pick(lambda source: source.shape == a.shape)
        at, spans = self._points(a)
        found = Function((at, spans), self.kind, self._name())
        first, last, number = at[0], at[-1], self._number()
        choices: tuple[list[Any], ...] = (
            [Select(Condition(last, "<", 2), a(*at), number * b(*at))],
            [Case(Condition(first, ">", last), a(*at)), Case(Condition(first, "<=", last), a(*at) + b(*at))],
            [
                Case(Condition(last, "==", 0), a(*at)),
                Case(Condition(last, ">", 0), b(*at) - found(*at[:-1], last - 1)),
            ],
            [a(*at) * number - b(*at)],
        )
        found.defn = self._one_of(choices)
        return found

    def _summed(self) -> Any:
        """A sum over one dimension, perhaps of one side of the diagonal."""
        a = self._pick(lambda source: source.rank == 2)
        b = self._pick(lambda source: source.shape == a.shape)
        at, spans = self._points(a)
        kept = int(self.rng.integers(2))
        found = Reduction(([at[kept]], [spans[kept]]), (at, spans), self.kind, self._name())
        entry = Reduce(found(at[kept]), a(*at) * b(*at), Op.Sum)
        side = self._one_of(("<", ">=", ""))
        found.defn = [Case(Condition(at[0], side, at[1]), entry) if side else entry]
        return found


@pytest.mark.drawn(9)
@pytest.mark.parametrize("number", range(PROGRAMS))
def test_random_algebra(number: int, seed: int) -> None:
    rng = np.random.default_rng([seed, number])
    kind, word = KINDS[number % len(KINDS)], list(WAYS)[number % len(WAYS)]
    drawn = Algebra(rng, kind)
    outputs = drawn.outputs(int(rng.integers(2, 6)))
    try:
        compiled = compile_tiled(outputs, WAYS[word], name="algebra", inputs=drawn.inputs)
    except pm.BoundsError:
        pytest.skip("a slice leaves its signal for some sizes")
    for n, m in EXTENTS:
        values = {"N": n, "M": m}
        shapes = [[form.evaluate(values) for form in source.shape] for source in drawn.inputs]
        arrays = [rng.integers(-2, 3, shape).astype(kind.dtype) for shape in shapes]
        try:
            actual = compiled(*arrays)
        except pm.ArgumentError as refusal:
            if " needs " not in str(refusal) and " requires " not in str(refusal):
                raise
            continue  # more samples than there are, or fewer than a border repeats
        expected = compiled.reference(*arrays)
        pairs = [(actual, expected)] if len(outputs) == 1 else list(zip(actual, expected, strict=True))
        largest = max([1.0, *(float(np.max(np.abs(other), initial=0.0)) for _, other in pairs)])
        for output, (one, other) in zip(outputs, pairs, strict=True):
            if kind == pm.Int or largest < LARGEST:
                assert_close(
                    one, other, roundings=2000, magnitude=30 * largest, name=f"{word}: {output.label}"
                )
