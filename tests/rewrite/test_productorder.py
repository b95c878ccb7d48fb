"""The order of products: what is chosen, and the numbers of everything that is computed in another order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import polymat as pm
from polymat import Complex, Double, Exp, Float, Int, Interval, Op, Options, Reduce, Reduction, Variable
from polymat.driver import levels, request_for
from polymat.graph.build import build
from polymat.graph.pipeline import Pipeline
from polymat.rewrite.productorder import order_products
from polymat.runtime.calibration import calibrated_machine
from tests.tolerance import assert_close

K, L, M, N = (pm.Parameter(Int, name) for name in "KLMN")
A, B = pm.Matrix(Double, "A", [K, L]), pm.Matrix(Double, "B", [L, M])
C, v = pm.Matrix(Double, "C", [M, N]), pm.Vector(Double, "v", [N])
LOOPS = Options(kernels=False, blas="never")  # which the C compiler takes a second for, not several


def graph(outputs: Any, options: Options = LOOPS, **estimates: int) -> Pipeline:
    listed = outputs if isinstance(outputs, list) else [outputs]
    request = replace(request_for(listed, name="y", options=options), estimates=estimates)
    found = next(level for name, level in levels(request) if name == "graph")
    assert isinstance(found, Pipeline)
    return found


def decided(outputs: Any, options: Options = LOOPS, **estimates: int) -> str:
    """What was decided about orders, without where and without seconds."""
    notes = graph(outputs, options, **estimates).notes
    orders = (note.partition("its products are computed as ")[2].partition(",")[0] for note in notes)
    return "; ".join(filter(None, orders))


def upto(extent: Any) -> Interval:
    return Interval(Int, 0, extent - 1)


def contraction(result: str, sizes: str, value: Any, dtype: Any = Double, op: Op = Op.Sum) -> Reduction:
    """A reduction written by hand over i, j, k, l, of which the result has some."""
    spans = {name: upto(pm.Parameter(Int, size)) for name, size in zip("ijkl", sizes, strict=False)}
    names = [*result, *(name for name in spans if name not in result)]
    outer, inner = [VARIABLES[n] for n in result], [VARIABLES[n] for n in names]
    stage = Reduction((outer, [spans[n] for n in result]), (inner, [spans[n] for n in names]), dtype, "y")
    stage.defn = [Reduce(stage(*outer), value, op)]
    return stage


VARIABLES = {name: Variable(Int, name) for name in "ijkl"}
i, j, k, l = VARIABLES.values()  # noqa: E741


def check(stage: Any, shapes: dict[str, tuple[int, ...]], *, roundings: int = 200, **scalars: Any) -> None:
    """Compare a compiled stage with the interpreter, and its magnitudes with those of absolute values."""
    compiled = pm.compile(stage, name="ordered", options=LOOPS)
    rng = np.random.default_rng(3)
    arrays = {name: rng.uniform(-1, 1, shape) for name, shape in shapes.items()}
    expected = compiled.reference(**arrays, **scalars)
    magnitude = compiled.reference(**{name: np.abs(each) for name, each in arrays.items()}, **scalars)
    assert_close(compiled(**arrays, **scalars), expected, roundings=roundings, magnitude=np.abs(magnitude))


# ---- what is chosen ----


def test_a_vector_is_multiplied_from_the_right() -> None:
    assert decided(A @ B @ C @ v) == "A (B (C v))"


def test_scales_and_transposes_are_kept() -> None:
    alpha = pm.Parameter(Double, "alpha")
    assert decided(((alpha * (C.T @ B.T)) @ A.T).T @ v) == "((C v) B) A"
    check(((alpha * (C.T @ B.T)) @ A.T).T @ v, {"A": (5, 7), "B": (7, 3), "C": (3, 2), "v": (2,)}, alpha=-1.5)


def test_what_is_done_with_the_result_is_no_part_of_it() -> None:
    w = pm.Vector(Double, "w", [K])
    for result in (2 * (A @ B @ C @ v), A @ B @ C @ v + w, pm.elementwise_mul(A @ B @ C @ v, w)):
        assert decided(result) == "A (B (C v))"
    both = pm.elementwise_mul(A @ B @ C @ v, A @ (B @ C @ v))
    assert decided(both) == "A (B (C v)); A (B (C v))"
    check(both, {"A": (5, 7), "B": (7, 3), "C": (3, 2), "v": (2,)})


def test_long_chains_are_cut() -> None:
    matrix = pm.Matrix(Double, "S", [N, N])
    product = matrix @ matrix
    for _ in range(39):
        product = product @ matrix
    assert "its products are computed as " in str(graph(product @ v).notes)


def test_sizes_decide_about_matrices() -> None:
    product = A @ B @ C
    assert decided(product, K=1000, L=10, M=1000, N=10) == "A (B C)"
    assert decided(product, K=10, L=1000, M=10, N=1000) == "written"


def test_a_product_is_kept_as_its_result_lies() -> None:
    """Rows are of the operand whose first index is the first of the result, wherever its others are."""
    first, second = pm.Image(Double, "A", [K, L, M]), pm.Image(Double, "B", [N, M, K])
    product = pm.einsum("acx,bxy,yd->abcd", first, second, pm.Matrix(Double, "C", [K, N]))
    kept = graph(product, K=4, L=4, M=900, N=4).stages[0]
    assert [dim[0] for dim in kept.dims] == ["a", "c", "b", "y"]


def test_what_is_an_output_or_read_twice_stays() -> None:
    kept = (A @ B).named("kept")
    assert decided([kept, (kept @ C @ v).named("y")]) == "kept (C v)"
    assert graph([kept, (kept @ C @ v).named("y")]).stages[0].name == "kept"
    square = pm.Matrix(Double, "S", [N, N])
    twice = (square @ square).named("twice")
    assert decided((twice @ twice @ v).named("y")) == "twice (twice v)"


def test_products_of_two_arrays_are_none_of_this() -> None:
    assert graph(A @ B).notes == ()
    assert graph(A.T @ A).notes == ()


def test_what_one_array_alone_has_is_summed_first() -> None:
    X, Y = pm.Matrix(Double, "X", [M, N]), pm.Matrix(Double, "Y", [N, K])
    stage = pm.einsum("ij,jk->j", X, Y)
    assert decided(stage) == "X Y"
    assert len(graph(stage).stages) == 3
    check(stage, {"X": (5, 3), "Y": (3, 7)})


def test_other_operations_are_left() -> None:
    values = A(i, j) * B(j, k) * C(k, l)
    assert graph(contraction("il", "KLMN", values, op=Op.Max)).notes == ()
    assert graph(contraction("il", "KLMN", A(i, j) + B(j, k) + C(k, l))).notes == ()


def test_triangles_are_left() -> None:
    lower = Reduction(([i], [upto(K)]), ([i, j, k], [upto(K), Interval(Int, 0, i), upto(M)]), Double, "lower")
    square = pm.Matrix(Double, "S", [K, K])
    D = pm.Matrix(Double, "D", [K, M])
    lower.defn = [Reduce(lower(i), square(i, j) * D(j, k) * D(i, k), Op.Sum)]
    assert graph(lower).notes == ()


def test_sums_start_from_what_they_did() -> None:
    D = pm.Matrix(Double, "D", [K, N])
    stage = Reduction(
        ([i, l], [upto(K), upto(N)]),
        ([i, l, j, k], [upto(K), upto(N), upto(L), upto(M)]),
        Double,
        "y",
        init=2 * D(i, l),
    )
    stage.defn = [Reduce(stage(i, l), A(i, j) * B(j, k) * C(k, l), Op.Sum)]
    assert decided(stage) == "A (B C)"
    check(stage, {"A": (3, 5), "B": (5, 2), "C": (2, 7), "D": (3, 7)})


# ---- quotients ----

t, u = pm.Vector(Double, "t", [K]), pm.Vector(Double, "u", [L])


def test_a_quotient_is_taken_where_it_is_computed_least_often() -> None:
    rows = contraction("ik", "KLM", A(i, j) / t(i) * B(j, k))
    assert decided(rows, K=100, L=1000, M=10) == "(A B) / t"
    assert decided(rows, K=100, L=10, M=1000) == "(A / t) B"
    summed = contraction("ik", "KLM", A(i, j) / u(j) * B(j, k))
    assert decided(summed, K=1000, L=100, M=10) == "A (B / u)"
    scaled = contraction("ik", "KLM", A(i, j) * B(j, k) / (2.0 * t(i) + 3.0))
    assert decided(scaled, K=100, L=1000, M=10) == "(A B) / (2.0 * t(i) + 3.0)"


def test_rows_are_normalised_behind_a_product() -> None:
    total = contraction("i", "KL", Exp(A(i, j)))
    total.name = "total"
    weights = pm.Function(([i, j], [upto(K), upto(L)]), Double, "weights")
    weights.defn = [Exp(A(i, j)) / total(i)]
    product = contraction("ik", "KLM", weights(i, j) * B(j, k))
    assert "(Exp(A(i, j)) B) / total" in str(graph(product, K=1000, L=1000, M=10).notes)
    assert decided([weights, product], K=1000, L=1000, M=10) == ""


def test_quotients_of_mixed_types_stay_whole() -> None:
    single = pm.Vector(Float, "single", [K])
    assert graph(contraction("ik", "KLM", A(i, j) / single(i) * B(j, k)), K=9, L=900, M=9).notes == ()


def test_nothing_is_multiplied_by_a_reciprocal() -> None:
    """One over the least numbers is infinite, what is divided by them is not."""
    small = {"t": np.full(3, 1e-310), "u": np.full(4, 1e-310), "A": np.full((3, 4), 1e-300)}
    for value in (
        A(i, j) / u(j) / t(i) * B(j, k),
        2.0 * (A(i, j) / u(j)) * B(j, k) * 1e-10,
        A(i, j) / u(j) / pm.Vector(Double, "one", [L])(j) * B(j, k),
    ):
        stage = contraction("ik", "KLM", value)
        compiled = pm.compile(stage, name="small", options=LOOPS, estimates={K: 1000, L: 1000, M: 10})
        arrays = small | {"B": np.full((4, 2), 1e-10), "one": np.ones(4)}
        given = {array.name: arrays[array.name] for array in build([stage]).inputs}
        expected = compiled.reference(**given)
        assert np.all(np.isfinite(expected) == np.isfinite(compiled(**given)))
    one, other = (
        contraction("ik", "KLM", A(i, j) / d(j) * B(j, k)) for d in (u, pm.Vector(Double, "w", [L]))
    )
    one.name = "one_of_both"
    assert "1 / " not in str(graph(one + other, K=1000, L=1000, M=10).notes)


def test_reciprocals_alone_stay_as_they_are_written() -> None:
    for made in (1 / A, 1 / A / A, (1 / A).sum(axis=1)):
        assert graph(made, K=10, L=10, M=10).notes == ()


@pytest.mark.parametrize("value", ["rows", "summed", "columns", "constant", "computed", "one over"])
def test_quotients_of_every_kind(value: str) -> None:
    terms = {
        "rows": A(i, j) / t(i) * B(j, k),
        "summed": A(i, j) / u(j) * B(j, k),
        "columns": A(i, j) * (B(j, k) / pm.Vector(Double, "w", [M])(k)),
        "constant": A(i, j) * B(j, k) / 3.0,
        "computed": -(A(i, j) / (t(i) + 2.0)) * B(j, k) / 0.5,
        "one over": 1.0 / t(i) * A(i, j) / u(j) * B(j, k),
    }
    stage = contraction("ik", "KLM", terms[value])
    used = {array.name for array in build([stage]).inputs}
    sizes = {K: 1000, L: 1000, M: 10}
    assert value in ("constant", "columns", "one over") or decided(stage, K=1000, L=1000, M=10) not in (
        "",
        "written",
    )
    compiled = pm.compile(stage, name="quotients", options=LOOPS, estimates=sizes)
    rng = np.random.default_rng(4)
    for K_, L_, M_ in ((3, 5, 2), (1, 1, 1), (4, 0, 3), (0, 3, 2), (2, 19, 7)):
        shapes = {"A": (K_, L_), "B": (L_, M_), "t": (K_,), "u": (L_,), "w": (M_,)}
        arrays = {name: rng.uniform(0.5, 2.0, shape) for name, shape in shapes.items() if name in used}
        expected = compiled.reference(**arrays)
        assert_close(compiled(**arrays), expected, roundings=8 * L_ + 40, magnitude=np.abs(expected))


# ---- what the option does ----


def test_the_order_as_written_is_an_option() -> None:
    pipeline = build([A @ B @ C @ v])
    off = Options(reassociate=False)
    assert order_products(pipeline, off, {}, calibrated_machine()).pipeline is pipeline
    assert graph(A @ B @ C @ v, off).notes == ()
    written = pm.compile(A @ B @ C @ v, name="same", options=off).source
    assert written != pm.compile(A @ B @ C @ v, name="same").source


def test_an_order_that_is_the_quickest_gives_the_same_code() -> None:
    sources = [
        pm.compile(A @ (B @ (C @ v)), name="same", options=Options(reassociate=each)).source
        for each in (False, True)
    ]
    assert sources[0] == sources[1]


@pytest.mark.parametrize("options", [Options.naive(), Options.polymage(), Options.paper()])
def test_presets_keep_the_order(options: Options) -> None:
    assert not options.reassociate
    assert graph(A @ B @ C @ v, options).notes == ()


def test_explain_says_why() -> None:
    text = str(pm.compile(A @ B @ C @ v, name="why", options=LOOPS).explain())
    assert "its products are computed as A (B (C v)), " in text
    assert "not as written, " in text


# ---- numbers ----


@pytest.mark.parametrize("value", ["plain", "diagonal", "function", "difference", "shifted"])
def test_factors_of_every_kind(value: str) -> None:
    square = pm.Matrix(Double, "S", [L, L])
    factors = {
        "plain": A(i, j) * B(j, k) * C(k, l),
        "diagonal": A(i, j) * square(j, j) * B(j, k) * C(k, l),
        "function": A(i, j) * Exp(B(j, k)) * C(k, l),
        "difference": -(A(i, j) * (B(j, k) - square(j, j)) * C(k, l) * 0.5),
        "shifted": A(i, j) * pm.Matrix(Double, "T", [L + 3, M + 1])(j + 2, k + 1) * C(k, l),
    }
    stage = contraction("il", "KLMN", factors[value])
    assert decided(stage) not in ("", "written")
    for K_, L_, M_, N_ in ((3, 5, 2, 7), (1, 1, 1, 1), (4, 0, 3, 2), (4, 3, 0, 2), (0, 2, 3, 4)):
        shapes = {
            "A": (K_, L_),
            "B": (L_, M_),
            "C": (M_, N_),
            "S": (L_, L_),
            "T": (L_ + 3, M_ + 1),
        }
        used = {array.name for array in build([stage]).inputs}
        check(stage, {name: shape for name, shape in shapes.items() if name in used}, roundings=300)


def test_a_part_that_would_read_beside_an_array_is_left() -> None:
    # A(i, L - 1) is read where there are columns alone, and L may be 0.
    stage = contraction("i", "KLM", A(i, j) * B(j, k) * A(i, L - 1))
    assert "parts of them have no elements of their arrays for some sizes" in str(graph(stage).notes)
    check(stage, {"A": (3, 0), "B": (0, 5)})


def test_integers_wrap_around_as_they_did() -> None:
    P, Q, R = (pm.Matrix(Int, name, [N, N]) for name in "PQR")
    stage = contraction("il", "NNNN", P(i, j) * Q(j, k) * R(k, l), Int)
    assert decided(stage) not in ("", "written")
    compiled = pm.compile(stage, name="wrapped", options=LOOPS)
    rng = np.random.default_rng(5)
    arrays = [rng.integers(-(2**31), 2**31, (7, 7)).astype(np.int32) for _ in range(3)]
    assert np.array_equal(compiled(*arrays), compiled.reference(*arrays))


@pytest.mark.parametrize("dtype", [Float, Complex])
def test_other_types(dtype: Any) -> None:
    P, Q, R = (pm.Matrix(dtype, name, [N, N]) for name in "PQR")
    conjugated = pm.Conj(Q(j, k)) if dtype == Complex else Q(j, k)
    stage = contraction("il", "NNNN", P(i, j) * conjugated * R(k, l), dtype)
    assert decided(stage) not in ("", "written")
    compiled = pm.compile(stage, name="typed", options=LOOPS)
    rng = np.random.default_rng(5)
    arrays = [rng.standard_normal((7, 14)).view(np.complex128) for _ in range(3)]
    arrays = [(a if dtype == Complex else a.real).astype(dtype.dtype) for a in arrays]
    magnitude = abs(arrays[0]) @ abs(arrays[1]) @ abs(arrays[2])
    assert_close(compiled(*arrays), compiled.reference(*arrays), roundings=100, magnitude=magnitude)


def random_text(rng: Any, operands: int) -> str:
    """Subscripts of so many operands of one to three indices each."""
    letters = list("abcdefgh"[: operands + 2])
    terms = ["".join(rng.choice(letters, rng.integers(1, 4), replace=False)) for _ in range(operands)]
    used = sorted(set("".join(terms)))
    return f"{','.join(terms)}->{''.join(rng.permutation(used)[: rng.integers(0, 4)])}"


EXTENTS = (0, 1, 2, 3, 5, 7)


@pytest.mark.covering
@pytest.mark.parametrize("operands", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("kernels", [False, True])
def test_random_contractions(operands: int, kernels: bool, seed: int) -> None:
    rng = np.random.default_rng([seed, operands, kernels])
    text = random_text(rng, operands)
    terms = text.partition("->")[0].split(",")
    sizes = {letter: pm.Parameter(Int, f"N{letter}") for letter in sorted(set("".join(terms)))}
    tensors = [pm.Image(Double, f"X{n}", [sizes[letter] for letter in term]) for n, term in enumerate(terms)]
    options = Options() if kernels else LOOPS
    compiled = pm.compile(pm.einsum(text, *tensors), name="contracted", inputs=tensors, options=options)
    for number in range(6):
        extents = {letter: int(rng.choice(EXTENTS[1:] if number else EXTENTS)) for letter in sizes}
        arrays = [rng.standard_normal([extents[letter] for letter in term]) for term in terms]
        magnitude = np.asarray(np.einsum(text, *map(np.abs, arrays), optimize=True))
        roundings = sum(extents.values()) + 8 * operands
        expected = np.asarray(np.einsum(text, *arrays, optimize=True))
        result = compiled(*arrays)
        assert_close(result, expected, roundings=2 * roundings, magnitude=magnitude, name=text)
        reference = compiled.reference(*arrays)
        many = 2 * int(np.prod([max(extents[letter], 1) for letter in sizes]))
        assert_close(result, reference, roundings=many, magnitude=magnitude, name=text)
