"""One pipeline of each kind of nest and tile, as arguments of `compiled_levels`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import polymat as pm
from polymat import Case, Condition, Double, Float, Function, Int, Interval, Op, Options, Reduce, Reduction
from tests.decide.eliminations import ldlt
from tests.fixed import WIDE

Asked = Mapping[str, Any]
M, K, N = (pm.Parameter(Int, name) for name in "MKN")
i, j, k, t = (pm.Variable(Int, name) for name in "ijkt")
A, B, C = (pm.Matrix(Double, name, dims) for name, dims in (("A", [M, K]), ("B", [K, N]), ("C", [M, N])))
S, T, bias = pm.Matrix(Float, "S", [M, K]), pm.Matrix(Float, "T", [K, N]), pm.Vector(Float, "bias", [N])
x, y, z = pm.Vector(Double, "x", [K]), pm.Vector(Double, "y", [M]), pm.Vector(Double, "z", [K])
image = pm.Image(Double, "image", [M, N])
signal = pm.Signal(Double, "signal", N)
ROWS, COLUMNS = Interval(Int, 0, M - 1), Interval(Int, 0, N - 1)
ALONE = Options(fuse=False)


def _stencil(source: Any, name: str, margin: int, across: bool) -> Any:
    """A mean of three rows, or of three columns."""
    spans = [Interval(Int, margin, M - 1 - margin), Interval(Int, margin, N - 1 - margin)]
    made = Function(([i, j], spans), Double, name)
    near = [source(i + d, j) if across else source(i, j + d) for d in (-1, 0, 1)]
    made.defn = [(near[0] + near[1] + near[2]) / 3.0]
    return made


def _chain(length: int) -> Any:
    made: Any = image
    for step in range(length):
        made = _stencil(made, f"step{step}", step + 1, across=step % 2 == 1)
    return made


def rows() -> Asked:
    return {"outputs": (2.0 * x + 3.0 * z).named("axpby")}


def shifted_rows() -> Asked:
    return {"outputs": _stencil(image, "blurred", 1, across=False), "machine": WIDE}


def across_rows() -> Asked:
    return {"outputs": pm.transpose(C).named("turned")}


def halves() -> Asked:
    spread = Function(([i, j], [ROWS, Interval(Int, 0, 2 * N - 1)]), Double, "spread")
    spread.defn = [image(i, j // 2) * 0.5]
    return {"outputs": spread}


def functions() -> Asked:
    return {"outputs": pm.Exp(S).named("exponentials")}


def cases() -> Asked:
    inside = Condition(j, ">=", 1)
    found = Function(([i, j], [ROWS, COLUMNS]), Double, "differences")
    found.defn = [Case(inside, image(i, j) - image(i, j - 1)), Case(Condition(j, "<", 1), 0.0)]
    return {"outputs": found}


def triangle() -> Asked:
    """A map whose rows differ in length: threads take small pieces of them."""
    square = pm.Matrix(Double, "square", [M, M])
    lower = Function(([i, j], [ROWS, Interval(Int, 0, i)]), Double, "lower", default=0.0)
    lower.defn = [2.0 * square(i, j)]
    return {"outputs": lower}


def recurrence() -> Asked:
    plate = Function(([t, i], [Interval(Int, 0, K), COLUMNS]), Double, "plate", default=0.0)
    around = plate(t - 1, i - 1) - 2.0 * plate(t - 1, i) + plate(t - 1, i + 1)
    inside = Condition(t, ">=", 1) & Condition(i, ">=", 1) & Condition(i, "<=", N - 2)
    plate.defn = [Case(Condition(t, "==", 0), signal(i)), Case(inside, plate(t - 1, i) + 0.1 * around)]
    return {"outputs": plate, "options": Options(skip=("bands",))}


def scatter() -> Asked:
    summed = Reduction(([i], [Interval(Int, 0, M + N - 2)]), ([i, j], [ROWS, COLUMNS]), Double, "diagonals")
    summed.defn = [Reduce(summed(i + j), image(i, j), Op.Sum)]
    return {"outputs": summed}


def looked_up() -> Asked:
    levels, table = pm.Image(pm.UChar, "levels", [M, N]), pm.Vector(Float, "table", [256])
    nearest = pm.Vector(Int, "nearest", [M], values=(0, M - 1))
    shown = Function(([i, j], [ROWS, COLUMNS]), Float, "shown")
    shown.defn = [table(levels(nearest(i), j))]
    return {"outputs": shown}


def histogram() -> Asked:
    counts = Reduction(([k], [Interval(Int, 0, 15)]), ([i, j], [ROWS, COLUMNS]), Int, "counts")
    counts.defn = [Reduce(counts(pm.Clamp(pm.Cast(Int, image(i, j) * 10), 0, 15)), 1, Op.Sum)]
    return {"outputs": counts}


def one_sum() -> Asked:
    return {"outputs": pm.dot(x, z).named("dot")}


def sums_along_rows() -> Asked:
    return {"outputs": (A @ x).named("along")}


def sums_along_columns() -> Asked:
    return {"outputs": (y @ A).named("down")}


def largest() -> Asked:
    return {"outputs": S.max(axis=1).named("largest")}


def first_smallest() -> Asked:
    return {"outputs": S.argmin(axis=1).named("smallest")}


def first_of_all() -> Asked:
    return {"outputs": S.argmax().named("largest")}


def first_of_columns() -> Asked:
    return {"outputs": S.argmin(axis=0).named("smallest")}


def largest_of_terms() -> Asked:
    """Terms that are computed for many elements before they are compared."""
    weights = pm.Vector(Float, "weights", [K])
    away = Function(([i, j], [ROWS, Interval(Int, 0, K - 1)]), Float, "away")
    away.defn = [pm.Exp(S(i, j) - weights(j)) * weights(j)]
    return {"outputs": away.max(axis=1).named("largest")}


def sums_of_a_triangle() -> Asked:
    square = pm.Matrix(Double, "square", [M, M])
    sums = Reduction(([i], [ROWS]), ([i, j], [ROWS, Interval(Int, 0, i)]), Double, "sums")
    sums.defn = [Reduce(sums(i), square(i, j), Op.Sum)]
    return {"outputs": sums}


def triangular_system() -> Asked:
    """A recurrence of sums: x(i) = y(i) - sum over j < i of square(i, j) x(j)."""
    square = pm.Matrix(Double, "square", [M, M])
    solved = Reduction(([i], [ROWS]), ([i, j], [ROWS, Interval(Int, 0, i - 1)]), Double, "solved", init=y(i))
    solved.defn = [Reduce(solved(i), -square(i, j) * solved(j), Op.Sum)]
    return {"outputs": solved}


def read_twice() -> Asked:
    """A cheap stage of two dimensions that its reader reads twice."""
    eased = Function(([i, j], [ROWS, COLUMNS]), Double, "eased")
    eased.defn = [0.5 * image(i, j) + 1.0]
    changes = Function(([i, j], [ROWS, Interval(Int, 1, N - 1)]), Double, "changes")
    changes.defn = [eased(i, j) - eased(i, j - 1)]
    return {"outputs": changes}


def norm() -> Asked:
    """Temporaries that are on the stack where sizes are small."""
    along = (A @ x).named("along")
    return {"outputs": (along / pm.Sqrt(pm.dot(along, along).named("square")())).named("direction")}


def product() -> Asked:
    return {"outputs": (A @ B).named("product")}


def small_product() -> Asked:
    return {"outputs": (A @ B).named("product"), "sizes": {M: 8, K: 8, N: 8}}


def transposed_product() -> Asked:
    return {"outputs": (A.T @ C).named("product")}


def half_a_product() -> Asked:
    D = pm.Matrix(Double, "D", [M, M])
    return {"outputs": pm.syrk(A, D, 2.0, 1.0).named("half")}


def complex_product() -> Asked:
    P, Q = (pm.Matrix(pm.Complex, name, dims) for name, dims in (("P", [M, K]), ("Q", [K, N])))
    return {"outputs": (P @ Q).named("product")}


def added_product() -> Asked:
    return {"outputs": pm.gemm(A, B, C, 2.0, 0.5).named("product")}


def epilogue_in_registers() -> Asked:
    layer = Function(([i, j], [ROWS, COLUMNS]), Float, "layer")
    layer.defn = [pm.Max((S @ T).named("sums")(i, j) + bias(j), 0.0)]
    return {"outputs": layer}


def epilogue_on_parts() -> Asked:
    return {"outputs": pm.Tanh((S @ T).named("sums")).named("layer")}


def two_products() -> Asked:
    D, E = pm.Matrix(Double, "D", [M, K]), pm.Matrix(Double, "E", [K, N])
    return {"outputs": (A @ B + D @ E).named("both")}


def called_product() -> Asked:
    return {"outputs": (A @ B).named("product"), "options": Options(blas="always")}


def called_sums() -> Asked:
    return {"outputs": (A @ x).named("along"), "options": Options(blas="always")}


def transform() -> Asked:
    return {"outputs": pm.rfft(signal).named("spectrum")}


def filter_of_taps() -> Asked:
    return {"outputs": signal.fir(list(np.linspace(-1.0, 1.0, 17))).named("filtered")}


def long_filter() -> Asked:
    taps = pm.Vector(Double, "taps", [K])
    return {"outputs": signal.fir(taps).named("filtered"), "estimates": {N: 1_000_000, K: 4001}}


def recursive_filter() -> Asked:
    sections = np.array([[0.1, 0.2, 0.1, 1.0, -0.6, 0.2], [0.3, 0.1, 0.2, 1.0, -0.3, 0.1]])
    return {"outputs": pm.sosfilt(sections, signal).named("filtered")}


def rolling_tiles() -> Asked:
    return {"outputs": _chain(2), "options": Options(tile_sizes=(16, 64))}


def overlapped_tiles() -> Asked:
    found = Function(([i, j], [Interval(Int, 2, M - 3), Interval(Int, 2, N - 3)]), Double, "found")
    before = _stencil(_stencil(image, "step0", 1, across=True), "step1", 2, across=False)
    found.defn = [pm.Select(Condition(before(i, j), ">", 0.0), before(i, j), pm.Exp(before(i, j)))]
    return {"outputs": found}


def one_loop_over_rows() -> Asked:
    return {"outputs": _chain(3), "machine": WIDE}


def whole_rows() -> Asked:
    weights = pm.Exp(S - S.max(axis=1, keepdims=True))
    return {"outputs": (weights / weights.sum(axis=1, keepdims=True)).named("softmax")}


def rows_of_planes() -> Asked:
    planes = pm.Image(Float, "planes", [M, K, N])
    return {"outputs": (planes / planes.sum(axis=2, keepdims=True)).named("shares")}


def sums_in_tiles() -> Asked:
    return {"outputs": (A.T @ (A @ x).named("along")).named("back")}


def joint_sums() -> Asked:
    return {"outputs": [(A @ x).named("along"), (y @ A).named("down")]}


def two_scales() -> Asked:
    halved = Function(([i, j], [ROWS, Interval(Int, 0, N - 1)]), Double, "halved")
    wide = pm.Image(Double, "wide", [M, 2 * N])
    halved.defn = [0.5 * (wide(i, 2 * j) + wide(i, 2 * j + 1))]
    spans = [Interval(Int, 1, M - 2), Interval(Int, 1, N - 2)]
    sharp = Function(([i, j], spans), Double, "sharp")
    sharp.defn = [2.0 * halved(i, j) - 0.5 * (halved(i - 1, j) + halved(i + 1, j))]
    return {"outputs": sharp}


def elimination() -> Asked:
    """Right-looking elimination, whose products wait for the end of a block of steps."""
    return {"outputs": ldlt()}


def given_loops() -> Asked:
    """A product in the loops of a scheme, with a copy whose blocks lie together."""
    scheme = "[Par(i), T(k, 64), pack(B), R(j), R(i), R(k), U(i, 2), V(j)]"
    return {"outputs": (A @ B).named("product"), "options": Options(scheme={"product": scheme})}


KINDS: Mapping[str, Callable[[], Asked]] = {
    make.__name__: make
    for make in (
        *(rows, shifted_rows, across_rows, halves, functions, cases, triangle, recurrence, elimination),
        *(scatter, looked_up, histogram, one_sum),
        *(sums_along_rows, sums_along_columns, largest, first_smallest, largest_of_terms, sums_of_a_triangle),
        *(triangular_system, read_twice, norm, product, small_product, given_loops),
        *(first_of_all, first_of_columns),
        *(transposed_product, half_a_product, complex_product, added_product, epilogue_in_registers),
        *(epilogue_on_parts, two_products, called_product, called_sums, transform, filter_of_taps),
        *(long_filter, recursive_filter, rolling_tiles, overlapped_tiles, one_loop_over_rows, whole_rows),
        *(rows_of_planes, sums_in_tiles, joint_sums, two_scales),
    )
}
