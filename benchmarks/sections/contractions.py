"""The 36 tensor contractions of the TCCG suite, as the literature on analytical data movement lists them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.cases import Case, Results, rounding_bounds
from benchmarks.polybench.kernel import Arrays, Description, Sizes, parameters, upto, variables
from benchmarks.section import Section
from benchmarks.task import Task
from polymat import Double, Image, Op, Reduce, Reduction

# C-A-B, and the sizes of the indices: abcd-aebf-dfce is C[a,b,c,d] = sum over e, f of A[a,e,b,f] B[d,f,c,e].
# Two rows of the printed table are misprints; they stand for abcd-eafd-fbec and abcd-ec-abed.
_THREE = "ab-acd-dbc ab-cad-dcb abc-acd-db abc-ad-bdc abc-adc-bd abc-adc-db"
_SIX = """abcd-aebf-dfce abcd-aebf-fdec abcd-aecf-bfde abcd-aecf-fbed abcd-aedf-bfce abcd-aedf-fbec
abcd-aefb-fdec abcd-aefc-fbed abcd-dbea-ec abcd-deca-be abcd-ea-ebcd abcd-eafb-fdec abcd-eafc-bfde
abcd-eafd-fbec abcd-eb-aecd abcd-ec-abed"""
_SEVEN = "dega-gfbc degb-gfac degc-gfab dfga-gebc dfgb-geac dfgc-geab efga-gdbc efgb-gdac efgc-gdab"


def _all() -> dict[str, dict[str, int]]:
    found = {name: dict.fromkeys("abcd", 312) for name in _THREE.split()}
    found["abc-bda-dc"] = {**dict.fromkeys("abcd", 312), "c": 24}
    found.update((name, dict.fromkeys("abcdef", 72)) for name in _SIX.split())
    found["abcd-ebad-ce"] = {**dict.fromkeys("abcde", 72), "c": 24}
    found["abcde-ecbfa-fd"] = dict(zip("abcdef", (48, 32, 32, 24, 48, 48), strict=True))
    found["abcde-efbad-cf"] = dict(zip("abcdef", (48, 32, 24, 32, 48, 32), strict=True))
    found["abcde-efcad-bf"] = dict(zip("abcdef", (48, 24, 32, 32, 48, 32), strict=True))
    seven = dict(zip("abcdefg", (24, 16, 16, 24, 16, 16, 24), strict=True))
    found.update((f"abcdef-{pair}", seven) for pair in _SEVEN.split())
    return {name: {i: size for i, size in sizes.items() if i in name} for name, sizes in found.items()}


CONTRACTIONS = _all()
QUICK = ("ab-acd-dbc", "abc-bda-dc", "abcd-dbea-ec", "abcd-ebad-ce")


def describe(task: Task) -> Description:
    """The contraction as a reduction."""
    result, left, right = task.values["contraction"].split("-")
    names = sorted(set(left + right))
    sizes = dict(zip(names, parameters(" ".join(f"n{name}" for name in names)), strict=True))
    index = dict(zip(names, variables(" ".join(names)), strict=True))
    A, B = (Image(Double, x, [sizes[i] for i in of]) for x, of in (("A", left), ("B", right)))
    order = [*result, *(name for name in names if name not in result)]
    outer, inner = (([index[i] for i in of], [upto(sizes[i]) for i in of]) for of in (result, order))
    C = Reduction(outer, inner, Double, "C")
    factors = A(*(index[i] for i in left)) * B(*(index[i] for i in right))
    C.defn = [Reduce(C(*outer[0]), factors, Op.Sum)]
    return Description((C,), (A, B), tuple(sizes.values()))


def contraction_case(name: str, extents: Sizes) -> Case:
    """One contraction; a result is judged on the first and last slice along its first index."""
    result, left, right = name.split("-")
    indices = sorted(extents)
    rng = np.random.default_rng(1)
    shapes = [[extents[i] for i in of] for of in (left, right)]
    arrays = {x: rng.random(shape) for x, shape in zip("AB", shapes, strict=True)}  # a run lists all cases
    subscripts = f"{left},{right}->{result}"
    summed = int(np.prod([extents[i] for i in indices if i not in result]))

    def expected() -> tuple[Results, Results]:
        ends = [0, extents[result[0]] - 1]
        cut = _cut(arrays, (left, right), result[0], ends)
        right_one = np.einsum(subscripts, cut["A"], cut["B"], optimize=True)
        magnitude = np.einsum(subscripts, np.abs(cut["A"]), np.abs(cut["B"]), optimize=True)
        return (right_one,), rounding_bounds((magnitude,), 2 * summed, np.float64)

    values = {
        "contraction": name,
        "subscripts": subscripts,
        "sizes": {f"n{i}": extents[i] for i in indices},
    }
    elements = sum(int(np.prod([extents[i] for i in of])) for of in (result, left, right))
    return Case(
        name=name,
        group="TCCG",
        task=Task("einsum", arrays, values),
        expected=expected,
        flops=2 * int(np.prod([extents[i] for i in indices])),
        traffic=8 * elements,
        view=lambda array: array[[0, -1]],
    )


def _cut(arrays: Arrays, operands: tuple[str, str], index: str, where: list[int]) -> Arrays:
    """The operands at those values of an index."""
    return {
        name: array.take(where, axis=of.index(index)) if index in of else array
        for (name, array), of in zip(arrays.items(), operands, strict=True)
    }


def cases(quick: bool) -> Iterator[Case]:
    """All of the suite."""
    for name in QUICK if quick else CONTRACTIONS:
        yield contraction_case(name, CONTRACTIONS[name])


PROBLEMS = {"einsum": describe}
SECTIONS = (
    Section(
        name="contractions",
        title="Tensor contractions of TCCG, float64",
        cases=cases,
        rivals={"polymat": ("NumPy", "torch")},
        goals=(
            "geometric mean 2 times numpy.einsum(optimize=True) and 2.5 times torch.einsum, none slower",
            "0.8 of the limit in geometric mean",
        ),
    ),
)
