"""Loops that schemes say, in the C that is written and in what it computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Float, Int, Interval, Matrix, Op, Parameter, Reduce, Reduction, Variable
from polymat.product.schemetext import read_scheme
from tests.tolerance import assert_close

M, N, K = (Parameter(Int, name) for name in "MNK")
A, B = Matrix(pm.Double, "A", [M, K]), Matrix(pm.Double, "B", [K, N])
QUICK = ("-O1",)


def product(scheme: str, **options: Any) -> pm.Compiled:
    """A @ B in the loops of a scheme."""
    chosen = pm.Options(scheme={"C": scheme}, cflags=QUICK, **options)
    return pm.compile((A @ B).named("C"), name="C", inputs=[A, B], options=chosen)


def test_a_convolution_of_two_sizes_of_blocks() -> None:
    """Eleven and twelve rows of a layer at a time, in ten levels: the example of Tollenaere and others."""
    names = ("k", "h", "w", "c", "r", "s")
    k, h, w, c, r, s = (Variable(Int, name) for name in names)
    filters, channels, height, width, taps = 32, 5, 34, 10, 3
    result, summed = (filters, height, width), (channels, taps, taps)
    spans = [Interval(Int, 0, size - 1) for size in (*result, *summed)]
    image = pm.Image(Float, "I", [channels, height + taps - 1, width + taps - 1])
    weights = pm.Image(Float, "W", [channels, taps, taps, filters])
    out = Reduction(([h, w, k], [spans[1], spans[2], spans[0]]), ([k, h, w, c, r, s], spans), Float, "O")
    out.defn = [Reduce(out(h, w, k), image(c, h + r, w + s) * weights(c, r, s, k), Op.Sum)]
    scheme = "[R(k), R(h), T(w, 2), R(s), R(r), R(w), R(c), seq(h: 12 | 11), U(k, 16), V(k)]"
    options = pm.Options(scheme={"O": scheme}, cflags=QUICK)
    compiled = pm.compile(out, name="layer", inputs=[image, weights], options=options)
    assert compiled.explain().groups[0].kind == "scheme"
    rng = np.random.default_rng(1)
    x = rng.random((channels, height + taps - 1, width + taps - 1), dtype=np.float32)
    y = rng.random((channels, taps, taps, filters), dtype=np.float32)
    assert_close(compiled(x, y), compiled.reference(x, y), roundings=channels * taps * taps + 2)


@pytest.mark.parametrize("text", ["seq(i: 6 | 5)", "seq(i: 5 | 2)", "seq(i: 4 | 1)"])
def test_two_sizes_fill_any_length(text: str) -> None:
    compiled = product(f"[R(i), R(j), R(k), {text}]")
    for m in range(23):
        a, b = np.arange(m * 3.0).reshape(m, 3), np.arange(6.0).reshape(3, 2)
        np.testing.assert_array_equal(compiled(a, b), a @ b)


@pytest.mark.parametrize(
    ("rows", "loops"),
    [
        (128, "[R(j), R(i), T(k, 16), R(k), seq(i: (12, 6), (8, 7)), U(j, 4)]"),
        (102, "[T(i, 34), R(j), pack(A: k, i), R(i), R(k), seq(i: (2, 11), (1, 12)), U(j, 4)]"),
    ],
)
def test_so_many_blocks_of_two_sizes_are_those_of_the_papers(rows: int, loops: str) -> None:
    sizes = {M: rows, N: 9, K: 20}
    compiled = pm.compile((A @ B).named("C"), sizes=sizes, options=pm.Options(scheme={"C": loops}))
    a, b = np.arange(rows * 20.0).reshape(rows, 20), np.arange(180.0).reshape(20, 9)
    np.testing.assert_array_equal(compiled(a, b), a @ b)
    assert compiled.explain().schemes == {"C": str(read_scheme(loops))}


@pytest.mark.parametrize(
    ("scheme", "wrong"),
    [
        ("[R(j), R(i), R(k), seq(i: (12, 6), (7, 7))]", "has 121 points, and i here is 128"),
        ("[Par(i), R(j), R(i), R(k), seq(i: (12, 6), (8, 7))]", "and i here is shared out to threads"),
        ("[T(i, 34), R(j), R(i), R(k), seq(i: (2, 11), (1, 12))]", "and i here is not always 34"),
    ],
)
def test_so_many_blocks_have_to_fill_the_dimension(scheme: str, wrong: str) -> None:
    with pytest.raises(pm.OptionError, match=wrong):
        pm.compile((A @ B).named("C"), sizes={M: 128, N: 9, K: 20}, options=pm.Options(scheme={"C": scheme}))


def test_blocks_lie_together_in_copies() -> None:
    """A copy is made in the order in which it is used: block after block, and within one sum after sum."""
    source = product("[R(j), pack(B), R(i), R(k), U(i, 2), U(j, 8)]").source
    assert "_pm_of4 * 8] = B[" in " ".join(source.split())
    compiled = product(
        "[T(k, 7), T(j, 16), pack(B), T(i, 6), pack(A: k, i), R(j), R(i), R(k), U(i, 3), U(j, 8)]"
    )
    for m, n, k in ((1, 1, 1), (6, 16, 7), (7, 17, 8), (13, 31, 20), (0, 4, 3), (4, 3, 0)):
        a, b = np.arange(1.0 * m * k).reshape(m, k), np.arange(1.0 * k * n).reshape(k, n)
        np.testing.assert_array_equal(compiled(a, b), a @ b)


@pytest.mark.parametrize(
    "scheme",
    [
        "[T(b, 3), T(a, 2), R(i), R(j), R(a), R(b), U(i, 3), U(j, 8), V(j)]",
        "[T(a, 4), R(j), T(a, 2), T(b, 4), pack(Y), R(i), R(b), R(a), U(j, 4)]",
        "[R(a), R(i), R(j), R(b), U(i, 2), V(b)]",
        "[Par(i), R(b), R(i), R(j), R(a), U(a, 2)]",
    ],
)
def test_the_first_turns_of_loops_over_summed_dimensions_write_the_result(scheme: str) -> None:
    """And others add to it; without any turn it is 0.  It holds NaN before."""
    P, Q = Parameter(Int, "P"), Parameter(Int, "Q")
    i, j, a, b = (Variable(Int, name) for name in "ijab")
    spans = [Interval(Int, 0, size - 1) for size in (M, N, P, Q)]
    X, Y = pm.Image(pm.Double, "X", [M, P, Q]), pm.Image(pm.Double, "Y", [P, Q, N])
    out = Reduction(([i, j], spans[:2]), ([i, j, a, b], spans), pm.Double, "Z")
    out.defn = [Reduce(out(i, j), X(i, a, b) * Y(a, b, j), Op.Sum)]
    options = pm.Options(scheme={"Z": scheme}, cflags=QUICK, threads=2, parallel_threshold=0)
    compiled = pm.compile(out, inputs=[X, Y], options=options)
    assert compiled.explain().groups[0].kind == "scheme"
    for m, n, p, q in ((5, 19, 7, 5), (1, 1, 1, 1), (6, 16, 2, 3), (3, 9, 0, 4), (3, 9, 4, 0), (0, 3, 2, 2)):
        x, y = np.arange(1.0 * m * p * q).reshape(m, p, q), np.arange(1.0 * p * q * n).reshape(p, q, n)
        result = np.full((m, n), np.nan)
        compiled(x, y, out=result)
        np.testing.assert_array_equal(result, np.einsum("iab,abj->ij", x, y))


@pytest.mark.parametrize("first", [-2, 2])
@pytest.mark.parametrize(
    "scheme", ["[T(k, 3), R(i), R(j), R(k), U(i, 2)]", "[R(k), R(i), R(j), seq(k: 3 | 2)]"]
)
def test_first_turns_begin_where_the_sum_does(scheme: str, first: int) -> None:
    i, j, k = (Variable(Int, name) for name in "ijk")
    spans = [Interval(Int, 0, M - 1), Interval(Int, 0, N - 1), Interval(Int, first, K + first - 1)]
    out = Reduction(([i, j], spans[:2]), ([i, j, k], spans), pm.Double, "Z")
    out.defn = [Reduce(out(i, j), 2 * A(i, k - first) * B(k - first, j), Op.Sum)]
    options = pm.Options(scheme={"Z": scheme}, cflags=QUICK)
    compiled = pm.compile(out, inputs=[A, B], options=options)
    assert compiled.explain().groups[0].kind == "scheme"
    for depth in (0, 1, 2, 3, 8):
        a, b = np.arange(5.0 * depth).reshape(5, depth), np.arange(9.0 * depth).reshape(depth, 9)
        result = np.full((5, 9), np.nan)
        compiled(a, b, out=result)
        np.testing.assert_array_equal(result, 2 * (a @ b))


def test_sums_of_known_length_need_no_start() -> None:
    scheme = "[T(k, 2), R(i), R(j), R(k), U(i, 2)]"
    options = pm.Options(scheme={"C": scheme}, cflags=QUICK)
    known, unknown = (
        pm.compile((A @ B).named("C"), name="C", sizes=sizes, inputs=[A, B], options=options)
        for sizes in ({K: 5}, {})
    )
    assert ("initial" in known.source, "initial" in unknown.source) == (False, True)


@pytest.mark.parametrize("dim", ["i", "j"])
def test_threads_share_a_dimension(dim: str) -> None:
    scheme = f"[Par({dim}), pack(B), R(i), R(j), R(k), U(i, 3), U(j, 4)]"
    compiled = product(scheme, threads=2, parallel_threshold=0)
    assert f"parallel {dim}" in str(compiled.explain())
    a, b = np.arange(17.0 * 5).reshape(17, 5), np.arange(5.0 * 19).reshape(5, 19)
    np.testing.assert_array_equal(compiled(a, b), a @ b)


def test_known_sizes_need_no_ends() -> None:
    sizes = {M: 12, N: 16, K: 5}
    scheme = {"C": "[R(i), R(j), R(k), U(i, 6), U(j, 8), V(j)]"}
    options = pm.Options(scheme=scheme, cflags=QUICK)
    compiled = pm.compile((A @ B).named("C"), name="C", sizes=sizes, inputs=[A, B], options=options)
    nest = compiled.source[compiled.source.index("_pm_nest_C(") :].split("\n}\n")[0]
    assert " if (" not in nest
    a, b = np.arange(60.0).reshape(12, 5), np.arange(80.0).reshape(5, 16)
    np.testing.assert_array_equal(compiled(a, b), a @ b)


def test_a_product_within_a_step() -> None:
    """The product is the state from the second step on, which is a section of its own."""
    first, square = Matrix(pm.Double, "first", [M, K]), Matrix(pm.Double, "square", [K, K])
    steps = Parameter(Int, "steps")
    t, i, j, k = (Variable(Int, name) for name in "tijk")
    rows, columns = Interval(Int, 0, M - 1), Interval(Int, 0, K - 1)
    state = pm.Function(([t, i, j], [Interval(Int, 0, steps), rows, columns]), pm.Double, "state")
    times = ([t, i, j], [Interval(Int, 1, steps), rows, columns])
    product = Reduction(times, ([*times[0], k], [*times[1], columns]), pm.Double, "product")
    product.defn = [Reduce(product(t, i, j), state(t - 1, i, k) * square(k, j), Op.Sum)]
    start, later = pm.Condition(t, "==", 0), pm.Condition(t, ">=", 1)
    state.defn = [pm.Case(start, first(i, j)), pm.Case(later, product(t, i, j))]
    last = pm.Function(([i, j], [rows, columns]), pm.Double, "last")
    last.defn = [state(steps, i, j)]

    def compiled(stage: str) -> pm.Compiled:
        options = pm.Options(scheme={stage: "[R(i), R(j), R(k), U(j, 2)]"}, cflags=QUICK)
        return pm.compile(last, inputs=[first, square], options=options)

    power = compiled("state")
    a, b = np.arange(6.0).reshape(2, 3), np.arange(9.0).reshape(3, 3) % 4
    np.testing.assert_array_equal(power(a, b, steps=3), a @ b @ b @ b)
    assert "as Options.scheme says" in str(power.explain())
    with pytest.raises(pm.OptionError, match="there is no stage of this name"):
        compiled("other")


def test_copies_have_room_for_tiles_of_any_size() -> None:
    """Sizes of tiles are multiplied as they are, not as ints of C."""
    compiled = product("[T(i, 4096), T(k, 4096), pack(A), R(i), R(j), R(k), U(i, 2)]")
    room = next(line for line in compiled.source.splitlines() if "_pm_pad_" in line and "_pm_place(" in line)
    assert "* (double)4096" in room
    a, b = np.arange(15.0).reshape(5, 3), np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(compiled(a, b), a @ b)


def test_tiles_around_two_sizes_of_blocks() -> None:
    source = product("[T(i, 64), pack(A), R(i), R(j), R(k), seq(i: 8 | 7)]").source
    nest = source[source.index("void _pm_nest_C") :]
    assert "_pm_at1 += 64" in nest
    assert nest.index("_pm_at1 += 64") < nest.index("_pm_of") < nest.index("_pm_middle")
