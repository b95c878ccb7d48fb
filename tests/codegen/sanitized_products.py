"""Contractions under sanitizers: `python -m tests.codegen.sanitized_products`, with libasan loaded first."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from tests.differential.sanitized import FLAGS

SIZES = (
    (0, 3, 2),
    (3, 0, 2),
    (3, 2, 0),
    (1, 1, 1),
    (7, 23, 5),
    (9, 25, 17),
    (61, 50, 71),
    (61, 3, 71),
    (1, 90, 71),
)
CONTRACTIONS = ("ac,cb->ab", "ca,bc->ab", "adc,cbd->ab", "cda,bdc->adb")


def main() -> int:
    """Compute products of transposed matrices and contractions in arrays of exact size."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler is not what is tested
    from tests.codegen.products.test_contractionwriter import NARROW
    from tests.hosts import compiling_for

    with compiling_for(NARROW):
        run()
    run_shapes()
    run_known_sizes()
    return 0


def run() -> None:
    """All of them; a wrong value is an error, a wrong access ends the process."""
    import polymat as pm
    from tests.codegen.test_halves import arrays_of, inputs_of, structured

    options = pm.Options(blas="never", cflags=FLAGS)
    run_contractions()
    for way, half in (("left", "strict"), ("right", "upper"), ("result", "lower")):
        arrays = inputs_of(way, pm.Double)
        output = structured(way, half, arrays, pm.Double)
        compiled = pm.compile(output, name="triangle", inputs=arrays, options=options)
        assert "kernel" in str(compiled.explain())
        for m, n, k in SIZES:
            values = arrays_of(arrays, {"M": m, "N": n, "K": k}, "float64")
            np.testing.assert_allclose(compiled(*values), compiled.reference(*values), atol=1e-11)
        print(way, flush=True)


def run_contractions() -> None:
    """Each by itself, and with a reader of its results; compiled together, for they share register blocks."""
    import polymat as pm

    letters = {name: pm.Parameter(pm.Int, size) for name, size in zip("abcd", "MNKL", strict=True)}
    inputs: list[Any] = []
    outputs: list[Any] = []
    for text in CONTRACTIONS:
        words, result = text.split("->")[0].split(","), [letters[x] for x in text.split("->")[1]]
        operands = [
            pm.Image(pm.Double, f"X{len(inputs) + k}", [letters[x] for x in word])
            for k, word in enumerate(words)
        ]
        inputs += operands
        outputs.append(pm.einsum(text, *operands))
        outputs.append(_positive(pm.einsum(text, *operands), result, f"R{len(inputs)}"))
    options = pm.Options(blas="never", share=False, cflags=FLAGS)
    compiled = pm.compile(outputs, name="contractions", inputs=inputs, options=options)
    groups = compiled.explain().groups
    assert [len(group.stages) for group in groups] == [1, 2] * len(CONTRACTIONS)
    assert {group.kind for group in groups} == {"kernel"}
    rng = np.random.default_rng(1)
    for m, n, k in SIZES:
        extents = {letters[x].name: extent for x, extent in zip("abcd", (m, n, k, 3), strict=True)}
        values = [rng.standard_normal([int(e.evaluate(extents)) for e in array.shape]) for array in inputs]
        results = compiled(*values)
        for number, text in enumerate(CONTRACTIONS):
            expected = np.einsum(text, *values[2 * number : 2 * number + 2])
            np.testing.assert_allclose(results[2 * number], expected, atol=1e-11)
            np.testing.assert_allclose(results[2 * number + 1], np.maximum(expected, 0), atol=1e-11)
    print(*CONTRACTIONS, sep="\n", flush=True)


def run_shapes() -> None:
    """Some hundred random shapes, also of both operands transposed, on the machine that is here."""
    import polymat as pm

    m, n, k = sizes = [pm.Parameter(pm.Int, name) for name in "MNK"]
    rng = np.random.default_rng(2)
    shapes = [(10, 39, 0), *rng.integers(0, 41, (200, len(sizes))).tolist()]
    for dtype, turned in ((pm.Double, False), (pm.Float, True)):
        a = pm.Matrix(dtype, "A", [k, m] if turned else [m, k])
        b = pm.Matrix(dtype, "B", [n, k] if turned else [k, n])
        product = a.T @ b.T if turned else a @ b
        options = pm.Options(blas="never", cflags=FLAGS)
        compiled = pm.compile(product, name="product", inputs=[a, b], options=options)
        assert "kernel" in str(compiled.explain())
        for rows, columns, depth in shapes:
            x, y = _integers(rng, (rows, depth), dtype), _integers(rng, (depth, columns), dtype)
            given = (x.T.copy(), y.T.copy()) if turned else (x, y)
            np.testing.assert_array_equal(compiled(*given), x @ y)
        print(dtype, turned, flush=True)


def run_known_sizes() -> None:
    """Products whose sizes are known when they are compiled, as straight code."""
    import polymat as pm

    rng = np.random.default_rng(3)
    for rows, columns, depth in ((1, 1, 1), (3, 7, 5), (4, 4, 4), (8, 9, 8)):
        a = pm.Matrix(pm.Double, "A", [rows, depth])
        b = pm.Matrix(pm.Double, "B", [depth, columns])
        compiled = pm.compile(a @ b, name="product", options=pm.Options(blas="never", cflags=FLAGS))
        x, y = _integers(rng, (rows, depth), pm.Double), _integers(rng, (depth, columns), pm.Double)
        np.testing.assert_array_equal(compiled(x, y), x @ y)
    print("known sizes", flush=True)


def _integers(rng: np.random.Generator, shape: tuple[int, int], dtype: Any) -> Any:
    """Small whole numbers, whose sums of products are exact."""
    return rng.integers(-9, 10, shape).astype(np.dtype(dtype.dtype))


def _positive(product: Any, extents: list[Any], name: str) -> Any:
    """max(product, 0) at every point."""
    import polymat as pm

    dims = [pm.Variable(pm.Int, f"x{k}") for k in range(len(extents))]
    stage = pm.Function((dims, [pm.Interval(pm.Int, 0, extent - 1) for extent in extents]), pm.Double, name)
    stage.defn = [pm.Max(product(*dims), 0.0)]
    return stage


if __name__ == "__main__":
    sys.exit(main())
