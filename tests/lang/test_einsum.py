"""`einsum` and `conv2d`: their numbers against NumPy's, their kinds of code, the texts of their errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import polymat as pm
from tests.errors.told import told
from tests.tolerance import assert_close

SIZES = {letter: pm.Parameter(pm.Int, f"N{letter}") for letter in "abcdef"}
OWN = pm.Options(blas="never")
VALUES = dict(zip("abcdef", (5, 7, 6, 9, 4, 3), strict=True))
CONTRACTIONS = (
    "abcd-aebf-dfce",
    "abcd-aebf-fdec",
    "ab-acd-dbc",
    "abc-bda-dc",
    "abcd-ea-ebcd",
    "abcde-efbad-cf",
)

DIAGONALS = ("aa->a", "bb", "aba->ab", "aab,bc->ac", "aa,ab,bb->b")


def tensors(*operands: str) -> list[pm.Image]:
    return [
        pm.Image(pm.Double, f"X{k}", [SIZES[letter] for letter in letters])
        for k, letters in enumerate(operands)
    ]


def random_arrays(seed: int, operands: Sequence[str]) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal([VALUES[letter] for letter in letters]) for letters in operands]


@pytest.mark.covering
@pytest.mark.parametrize("text", CONTRACTIONS)
@pytest.mark.parametrize("arrow", [False, True])
def test_contractions(text: str, arrow: bool, seed: int) -> None:
    result, *operands = text.split("-")
    numpy_text = f"{','.join(operands)}->{result}"
    stage = pm.einsum(numpy_text if arrow else text, *tensors(*operands))
    compiled = pm.compile(stage, name="contraction", options=OWN)
    assert {group.kind for group in compiled.explain().groups} == {"kernel"}
    arrays = random_arrays(seed, operands)
    bound = np.einsum(numpy_text, *map(np.abs, arrays))
    found = compiled(**{f"X{k}": array for k, array in enumerate(arrays)})
    assert_close(found, np.einsum(numpy_text, *arrays), roundings=80, magnitude=bound)


@pytest.mark.parametrize(
    "text", ["ac->ca", "a,b->ab", "ab->", "ab,ab,b->a", "ca,cb", "abc,abc->abc", "abc->b", *DIAGONALS]
)
def test_other_sums_and_products(text: str, seed: int) -> None:
    operands = text.partition("->")[0].split(",")
    arrays = random_arrays(seed, operands)
    compiled = pm.compile(pm.einsum(text, *tensors(*operands)), name="other")
    found = compiled(**{f"X{k}": array for k, array in enumerate(arrays)})
    expected = np.asarray(np.einsum(text, *arrays))
    assert_close(found, expected, roundings=300, magnitude=np.asarray(np.einsum(text, *map(np.abs, arrays))))


def refused(text: Any, *operands: Any, error: type[pm.LangError] = pm.LangError) -> str:
    def program() -> None:
        pm.einsum(text, *operands)

    return told(error, program).split("\n")[0]


def test_misprints_are_refused() -> None:
    pair = tensors("eafb", "fbec")
    assert (
        refused("abcd-eafb-fbec", *pair) == "einsum: 'abcd-eafb-fbec': index d of the result is in no operand"
    )
    (vector,) = tensors("a")
    assert refused("a->aa", vector) == "einsum: 'a->aa': index a occurs twice in the result"


def test_what_is_no_contraction_is_refused() -> None:
    matrix, other = tensors("ab", "bc")
    assert refused("ab,bc->ac", matrix) == "einsum: 'ab,bc->ac' has 2 operands, got 1"
    assert refused(7, matrix) == "einsum: the subscripts are 7, not a text"
    assert refused("a1->a", matrix) == "einsum: 'a1->a': '1' is no index, indices are letters"
    assert refused("...a->a", matrix) == "einsum: '...a->a': no '...'"
    wrong = refused("abc->a", matrix, error=pm.ShapeError)
    assert wrong == "einsum('abc->a', ...): 'abc' has 3 indices, X0 (Na x Nb) has 2"
    assert refused("ab,ac->bc", matrix, other, error=pm.ShapeError) == (
        "einsum('ab,ac->bc', ...): index a is Na in X0 (Na x Nb) and Nb in X1 (Nb x Nc)"
    )
    assert refused("a->a", 3.0, error=pm.DtypeError) == "einsum('a->a', ...): operand 1 is 3.0, not an array"


def convolved(image: Any, weights: Any, steps: tuple[int, int]) -> Any:
    """The definition, tap by tap."""
    (rows, columns), taps = image.shape[-3:-1], weights.shape[:2]
    down, across = ((n - t) // s + 1 for n, t, s in zip((rows, columns), taps, steps, strict=True))
    total = np.zeros((*image.shape[:-3], down, across, weights.shape[3]), image.dtype)
    for r in range(taps[0]):
        for s in range(taps[1]):
            part = image[..., r : r + steps[0] * down : steps[0], s : s + steps[1] * across : steps[1], :]
            total += part[..., :down, :across, :] @ weights[r, s]
    return total


@pytest.mark.covering
@pytest.mark.parametrize("steps", [(1, 1), (2, 2), (2, 1)])
@pytest.mark.parametrize("batch", [(), (3,)])
def test_convolutions(steps: tuple[int, int], batch: tuple[int, ...], seed: int) -> None:
    B, H, W, C, K, R, S = (pm.Parameter(pm.Int, name) for name in "BHWCKRS")
    image = pm.Image(pm.Float, "image", [*([B] if batch else []), H, W, C])
    weights = pm.Image(pm.Float, "weights", [R, S, C, K])
    known = [pm.Condition(H, ">=", R), pm.Condition(W, ">=", S)]
    compiled = pm.compile(
        pm.conv2d(image, weights, stride=steps),
        name="conv",
        inputs=[image, weights],
        constraints=known,
        estimates={H: 56, W: 56, C: 64, K: 64, R: 3, S: 3},
        options=OWN,
    )
    assert {group.kind for group in compiled.explain().groups} == {"kernel"}
    rng = np.random.default_rng(seed)
    for h, w, c, k, r, s in ((9, 11, 5, 17, 3, 3), (6, 6, 1, 1, 1, 1), (5, 30, 8, 33, 5, 2)):
        pixels = rng.standard_normal((*batch, h, w, c)).astype(np.float32)
        taps = rng.standard_normal((r, s, c, k)).astype(np.float32)
        bound = convolved(np.abs(pixels), np.abs(taps), steps)
        expected = convolved(pixels, taps, steps)
        assert_close(compiled(pixels, taps), expected, roundings=r * s * c + 4, magnitude=bound)


def test_convolutions_that_do_not_fit_are_refused() -> None:
    H, W, C, K, D = (pm.Parameter(pm.Int, name) for name in "HWCKD")
    image = pm.Image(pm.Float, "image", [H, W, C])
    weights = pm.Image(pm.Float, "weights", [3, 3, D, K])

    def channels() -> None:
        pm.conv2d(image, weights)

    assert told(pm.ShapeError, channels).split("\n")[0] == (
        "conv2d: image (H x W x C) has C channels, the weights weights (3 x 3 x D x K) take D"
    )

    def stride() -> None:
        pm.conv2d(image, pm.Image(pm.Float, "weights", [3, 3, C, K]), stride=0)

    wanted = "not a positive integer or a tuple of two"
    assert told(pm.LangError, stride).split("\n")[0] == f"conv2d: the stride is 0, {wanted}"

    def pair() -> None:
        wrong: Any = [2, 1]
        pm.conv2d(image, pm.Image(pm.Float, "weights", [3, 3, C, K]), stride=wrong)

    assert told(pm.LangError, pair).split("\n")[0] == f"conv2d: the stride is [2, 1], {wanted}"

    def rank() -> None:
        pm.conv2d(pm.Matrix(pm.Float, "flat", [H, W]), weights)

    assert told(pm.ShapeError, rank).split("\n")[0] == (
        "conv2d: image is flat (H x W), not an array of rank 3 or 4"
    )
