"""Sums of products: what is recognised, that it means the same, and what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from benchmarks.polybench import PRODUCTS
from polymat import (
    Case,
    Cast,
    Complex,
    Condition,
    Conj,
    Double,
    Exp,
    Float,
    Function,
    Int,
    Interval,
    Matrix,
    Op,
    Parameter,
    Reduce,
    Reduction,
    Select,
    Variable,
    Vector,
)
from polymat.graph.build import build
from polymat.graph.inline import inline_pointwise
from polymat.graph.interpret import interpret
from polymat.graph.pipeline import Pipeline
from polymat.graph.product import Product, product_of, product_of_group
from polymat.graph.simplify import share_common_stages
from polymat.graph.verifypipeline import verify
from tests.graph.products import evaluate
from tests.tolerance import assert_close

M, N, K = (Parameter(Int, name) for name in "MNK")
alpha, beta = Parameter(Double, "alpha"), Parameter(Double, "beta")
mode = Parameter(Int, "mode")  # a number, no size
i, j, k = (Variable(Int, name) for name in "ijk")
SIZES = {"M": 4, "N": 5, "K": 3}
SPANS = {"i": Interval(Int, 0, M - 1), "j": Interval(Int, 0, N - 1), "k": Interval(Int, 0, K - 1)}
A, B, C = Matrix(Double, "A", [M, K]), Matrix(Double, "B", [K, N]), Matrix(Double, "C", [M, N])
x, y = Vector(Double, "x", [K]), Vector(Double, "y", [K])


def pipeline(*outputs: Function) -> Pipeline:
    return verify(build(outputs, constraints=[Condition(K, ">=", 1)]))


def values_of(built: Pipeline, params: dict[str, Any], seed: int = 3) -> dict[str, Any]:
    """Random inputs, and every stage's array by the interpreter."""
    rng = np.random.default_rng(seed)
    arrays: dict[str, Any] = {}
    for array in built.inputs:
        shape = [int(extent.evaluate(params)) for extent in array.extents]
        value = rng.uniform(-1, 1, shape)
        if array.dtype.kind == "c":
            value = value + 1j * rng.uniform(-1, 1, shape)
        arrays[array.name] = value.astype(array.dtype.dtype)
    return interpret(built, arrays, params)


def check(built: Pipeline, product: Product | None, params: dict[str, Any]) -> Product:
    """The product's value is the interpreter's where the product speaks."""
    assert product is not None
    values = values_of(built, params)
    given = {name: array for name, array in values.items() if name not in product.stages}
    total, here = evaluate(product, given, params)
    assert_close(total[here], values[product.name][here], roundings=200, magnitude=20.0)
    return product


def total(value: Any, spans: str = "ijk", target: str = "ij", init: Any = None, name: str = "P") -> Reduction:
    names = {"i": i, "j": j, "k": k}
    result = ([names[n] for n in target], [SPANS[n] for n in target])
    reduced = ([names[n] for n in spans], [SPANS[n] for n in spans])
    r = Reduction(result, reduced, Double, name, init=init)
    r.defn = [Reduce(r(*(names[n] for n in target)), value, Op.Sum)]
    return r


def over(target: str, value: Any, name: str = "R") -> Function:
    names = {"i": i, "j": j, "k": k}
    f = Function(([names[n] for n in target], [SPANS[n] for n in target]), Double, name)
    f.defn = [value]
    return f


def texts(product: Product) -> list[str]:
    return [
        " * ".join(([str(t.scale)] if t.scale is not None else []) + sorted(map(str, t.factors)))
        for t in (*product.terms, *product.addends)
    ]


@pytest.mark.covering
@pytest.mark.parametrize("extent", [0, 1, 5])
@pytest.mark.parametrize(
    ("kernel", "way"), [pytest.param(k, way, id=f"{k.name}-{way}") for k in PRODUCTS for way in k.builds]
)
def test_every_stage_and_group_of_polybench(kernel: Any, way: str, extent: int) -> None:
    description = kernel.builds[way]()
    built = verify(build(list(description.outputs), inputs=list(description.inputs)))
    built = inline_pointwise(share_common_stages(built))
    params = {size.name: extent for size in built.sizes} | {s.name: 0.7 for s in built.scalars}
    found = [product_of(stage, built.context) for stage in built.stages]
    found.append(product_of_group(built.stages, built.context))
    for product in found:
        if product is not None:
            check(built, product, params)
    assert any(product is not None and product.terms[0].reduced for product in found)


@pytest.mark.parametrize("kernel", [k for k in PRODUCTS if k.name in ("gemm", "symm", "syrk", "trmm")])
def test_algebra_and_loops_are_the_same_product(kernel: Any) -> None:
    forms = []
    for way in ("algebra", "loops"):
        description = kernel.builds[way]()
        built = verify(build(list(description.outputs), inputs=list(description.inputs)))
        product = product_of_group(built.stages, built.context)
        assert product is not None
        assert product.stages == tuple(stage.name for stage in built.stages)
        forms.append(
            [
                (text, t.domain)
                for text, t in zip(texts(product), product.terms + product.addends, strict=True)
            ]
        )
    for (one, here), (other, there) in zip(*forms, strict=True):
        assert one == other
        assert here.equals(there)


@pytest.mark.parametrize("order", [*itertools.permutations("ijk")])
@pytest.mark.parametrize("names", [("i", "j", "k"), ("k", "i", "j"), ("p", "q", "r")])
def test_order_and_names_of_indices_do_not_matter(order: tuple[str, ...], names: tuple[str, ...]) -> None:
    loops = {d: Variable(Int, name) for d, name in zip("ijk", names, strict=True)}
    r = Reduction(
        ([i, j], [SPANS["i"], SPANS["j"]]),
        ([loops[d] for d in order], [SPANS[d] for d in order]),
        Double,
        "P",
    )
    r.defn = [
        Reduce(r(loops["i"], loops["j"]), B(loops["k"], loops["j"]) * A(loops["i"], loops["k"]), Op.Sum)
    ]
    built = pipeline(r)
    product = check(built, product_of(built.stages[0], built.context), SIZES)
    (term,) = product.terms
    (summed,) = term.reduced
    assert summed not in product.dims
    assert texts(product) == [f"A(i, {summed}) * B({summed}, j)"]
    assert [str(high) for _, high in term.box] == ["M - 1", "N - 1", "K - 1"]


@pytest.mark.parametrize(
    "value",
    [
        lambda p: alpha * p + beta * C(i, j),
        lambda p: beta * C(i, j) + p * alpha,
        lambda p: -(0.5 * p * alpha * -2.0) - C(i, j) * (-beta),
        lambda p: (p + beta / alpha * C(i, j)) * alpha,
    ],
)
def test_scaling_and_accumulation(value: Any) -> None:
    built = pipeline(over("ij", value(total(A(i, k) * B(k, j))(i, j))))
    product = check(built, product_of_group(built.stages, built.context), SIZES | {"alpha": 1.5, "beta": 0.3})
    assert len(product.terms) == len(product.addends) == 1
    assert product.terms[0].reduced
    assert not product.addends[0].reduced


@pytest.mark.parametrize(
    "value",
    [
        alpha * (A(i, k) * B(k, j)),
        A(i, k) * alpha * B(k, j),
        A(i, k) * (B(k, j) * alpha),
        A(i, k) / (1 / alpha) * B(k, j),
    ],
)
def test_scale_inside_the_sum(value: Any) -> None:
    built = pipeline(total(value, init=beta * C(i, j)))
    product = check(built, product_of(built.stages[0], built.context), SIZES | {"alpha": 1.5, "beta": 0.3})
    assert len(product.terms[0].factors) == 2
    assert texts(product)[1] == "beta * C(i, j)"


def test_sums_are_multiplied_out() -> None:
    built = pipeline(total((A(i, k) + x(k) * 2.0) * (B(k, j) - y(k))))
    product = check(built, product_of(built.stages[0], built.context), SIZES)
    assert texts(product) == [
        "A(i, k) * B(k, j)",
        "-1 * A(i, k) * y(k)",
        "2.0 * B(k, j) * x(k)",
        "-2.0 * x(k) * y(k)",
    ]


def test_scattered_target_is_solved_for_its_indices() -> None:
    """y(n + k) += h(k) x(n) is a sum over k at d = n + k."""
    n, d = Variable(Int, "n"), Variable(Int, "d")
    signal, taps = Vector(Double, "s", [N]), Vector(Double, "h", [K])
    r = Reduction(
        ([d], [Interval(Int, 0, N + K - 2)]), ([n, k], [SPANS["j"], SPANS["k"]]), Double, "P", init=0.5
    )
    r.defn = [Reduce(r(n + k), taps(k) * signal(n), Op.Sum)]
    built = pipeline(r)
    product = check(built, product_of(built.stages[0], built.context), SIZES)
    assert texts(product) == ["h(k) * s(d - k)", "0.5"]


def test_select_on_indices_divides_the_domain() -> None:
    S = Matrix(Double, "S", [K, K])
    symmetric = Select(Condition(k, "<=", i), S(i, k), S(k, i))
    r = Reduction(
        ([i, j], [SPANS["k"], SPANS["j"]]), ([i, j, k], [SPANS["k"], SPANS["j"], SPANS["k"]]), Double, "P"
    )
    r.defn = [Reduce(r(i, j), symmetric * B(k, j), Op.Sum)]
    built = pipeline(r)
    product = check(built, product_of(built.stages[0], built.context), SIZES)
    assert texts(product) == ["B(k, j) * S(i, k)", "B(k, j) * S(k, i)"]


def test_conjugates_and_weights() -> None:
    Z, z = Matrix(Complex, "Z", [M, K]), Vector(Complex, "z", [K])
    r = Reduction(([i], [SPANS["i"]]), ([i, k], [SPANS["i"], SPANS["k"]]), Complex, "P")
    r.defn = [Reduce(r(i), Conj(Z(i, k) * Conj(z(k)) * 2j) * Exp(-1j * i * k), Op.Sum)]
    built = pipeline(r)
    product = check(built, product_of(built.stages[0], built.context), SIZES)
    assert texts(product) == ["Conj(2j) * conj(Z(i, k)) * z(k)"]
    assert len(product.terms[0].weights) == 1


def test_sum_of_two_products() -> None:
    P = total(A(i, k) * x(k), "ik", "i")
    Q = total(C(i, j) * C(i, j), "ij", "i", name="Q")
    built = pipeline(over("i", alpha * P(i) + Q(i) - 2.0 * x(0)))
    product = check(built, product_of_group(built.stages, built.context), SIZES | {"alpha": 1.5})
    assert texts(product) == ["alpha * A(i, k) * x(k)", "C(i, j) * C(i, j)", "-(2.0 * x(0))"]


def test_scalar_result() -> None:
    built = pipeline(over("", alpha * total(x(k) * y(k), "k", "")() + beta, "R"))
    product = check(built, product_of_group(built.stages, built.context), SIZES | {"alpha": 1.5, "beta": 2.0})
    assert texts(product) == ["alpha * x(k) * y(k)", "beta"]


@pytest.mark.parametrize(
    "value",
    [
        Exp(A(i, k)) * B(k, j),
        Select(Condition(A(i, k), ">", 0.0), A(i, k), 0.0) * B(k, j),
        Select(Condition(mode, "==", 1), A(i, k), 0.0) * B(k, j),
        A(i, k) ** 3 * B(k, j),
        A(i, k) / (B(k, j) + 1.0),
        Cast(Double, Cast(Float, A(i, k))) * B(k, j),
    ],
)
def test_what_is_no_product(value: Any) -> None:
    built = pipeline(total(value))
    assert product_of(built.stages[0], built.context) is None


@pytest.mark.parametrize("op", [Op.Max, Op.Min, Op.Mul])
def test_other_operations_are_no_sums(op: Op) -> None:
    r = Reduction(([i, j], [SPANS["i"], SPANS["j"]]), ([i, j, k], [*SPANS.values()]), Double, "P")
    r.defn = [Reduce(r(i, j), A(i, k) * B(k, j), op)]
    built = pipeline(r)
    assert product_of(built.stages[0], built.context) is None


def test_products_in_another_precision_are_other_products() -> None:
    F, G = Matrix(Float, "F", [M, K]), Matrix(Float, "G", [K, N])
    for value in (F(i, k) * G(k, j), Cast(Double, F(i, k)) * B(k, j)):
        built = pipeline(total(value))
        assert product_of(built.stages[0], built.context) is None


def test_group_must_be_one_product() -> None:
    P = total(A(i, k) * B(k, j))
    relu = over("ij", Select(Condition(P(i, j), ">", 0.0), P(i, j), 0.0))
    apart = over("ij", 2.0 * C(i, j), "apart")
    twice = total(P(i, j) * P(i, j), "ij", "i", name="Q")
    for outputs in ((relu,), (P, apart), (twice,)):
        built = pipeline(*outputs)
        assert product_of_group(built.stages, built.context) is None


def test_two_different_products_by_case_are_none() -> None:
    P = total(A(i, k) * B(k, j))
    f = Function(([i, j], [SPANS["i"], SPANS["j"]]), Double, "R")
    f.defn = [Case(Condition(j, "<=", i), P(i, j)), Case(Condition(j, ">", i), 2.0 * P(i, j))]
    built = pipeline(f)
    assert product_of_group(built.stages, built.context) is None
