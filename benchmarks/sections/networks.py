"""Contractions of three to six arrays, drawn at random: the order in which they are multiplied decides."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

import polymat as pm
from benchmarks.cases import Case, Results, rounding_bounds
from benchmarks.polybench.kernel import Description, parameters
from benchmarks.section import Section
from benchmarks.task import Task
from polymat import Double, Image

# Drawn once: operands of one to three indices each, any of which the result has, extents of 4 to 128, all
# connected, 1e5 to 1e8 operations in the best order.  Extents are those of the letters in alphabetical order.
NETWORKS = """\
dca,dcb,ac->bd 100,100,64,50
dfb,dba,ceb,a->df 64,32,7,64,7,24
ab,gf,gde,cad,fa->aeg 7,64,50,7,24,8,32
dbf,a,ahf,fd,ahf,fe->fde 64,50,100,4,50,50
a,ae,deb->ae 128,8,4,50
bea,bca,cd,cdb->cab 64,8,128,8,100
g,fbe,abc,cd,dfg->f 64,100,7,4,24,24,4
f,db,f,b,dbf,efc->d 100,128,16,128,100
ca,b,abd->d 50,100,50,128
bdc,ca,acb,b->c 4,50,24,100
dag,b,e,gc,bde-> 50,7,8,100,100,8
eba,cd,fb,ca,da,ec-> 50,24,64,16,128,50
a,acb,bc->cba 128,50,64
efb,ca,df,bad->e 100,8,8,128,32,4
fa,bde,cd,dae,cf->ef 4,24,8,7,128,50
f,fb,fa,aec,b,ace->e 100,16,64,64,50
cbe,e,cdb-> 16,128,64,128
ec,db,bea,e->cab 24,16,16,128,32
d,cdf,c,ca,fda->d 8,128,8,24
ef,g,eb,da,gdc,egc->ed 100,16,50,64,50,7,4
"""


def drawn() -> dict[str, dict[str, int]]:
    """The subscripts, and the extent of each letter."""
    found = {}
    for line in NETWORKS.splitlines():
        text, extents = line.split()
        letters = sorted(set(text) - set(",->"))
        found[text] = dict(zip(letters, map(int, extents.split(",")), strict=True))
    return found


def describe(task: Task) -> Description:
    """The contraction by `einsum`."""
    subscripts = task.values["subscripts"]
    operands = subscripts.partition("->")[0].split(",")
    names = sorted(set("".join(operands)))
    sizes = dict(zip(names, parameters(" ".join(f"n{name}" for name in names)), strict=True))
    arrays = [
        Image(Double, name, [sizes[i] for i in of]) for name, of in zip(task.arrays, operands, strict=True)
    ]
    result = pm.einsum(subscripts, *arrays).named("C")
    return Description((result,), tuple(arrays), tuple(sizes.values()))


def network_case(subscripts: str, extents: dict[str, int]) -> Case:
    """One contraction, judged by NumPy's result in the order that NumPy finds."""
    operands = subscripts.partition("->")[0].split(",")
    rng = np.random.default_rng(1)
    arrays = {
        f"X{number}": rng.standard_normal([extents[i] for i in of]) for number, of in enumerate(operands)
    }

    def expected() -> tuple[Results, Results]:
        result, magnitude = (
            np.asarray(np.einsum(subscripts, *each, optimize=True))
            for each in (arrays.values(), map(np.abs, arrays.values()))
        )
        roundings = 2 * (sum(extents.values()) + len(operands))
        return (result,), rounding_bounds((magnitude,), roundings, np.float64)

    sizes = {f"n{letter}": extent for letter, extent in extents.items()}
    return Case(
        name=subscripts,
        group="drawn",
        task=Task("network", arrays, {"subscripts": subscripts, "sizes": sizes}),
        expected=expected,
        flops=operations(subscripts, extents),
        traffic=8 * sum(prod(extents[i] for i in of) for of in subscripts.replace("->", ",").split(",")),
    )


def operations(subscripts: str, extents: dict[str, int]) -> int:
    """Multiplications and additions two arrays at a time, in the order with the fewest that NumPy finds."""
    operands, result = subscripts.split("->")
    terms = [frozenset(of) for of in operands.split(",")]
    shapes = [np.broadcast_to(0.0, [extents[i] for i in of]) for of in operands.split(",")]
    total = 0
    for pair in np.einsum_path(subscripts, *shapes, optimize="optimal")[0][1:]:
        taken = [terms.pop(number) for number in sorted(pair, reverse=True)]
        every = frozenset().union(*taken)
        total += len(taken) * prod(extents[i] for i in every)
        terms.append(every & frozenset(result).union(*terms))
    return total


def cases(quick: bool) -> Iterator[Case]:
    """All that were drawn, or every fourth."""
    every = drawn()
    for name in [*every][:: 4 if quick else 1]:
        yield network_case(name, every[name])


PROBLEMS = {"network": describe}
SECTIONS = (
    Section(
        name="networks",
        title="Contractions of three to six arrays, float64",
        cases=cases,
        rivals={"polymat": ("NumPy", "torch")},
        goals=("geometric mean 2 times numpy.einsum(optimize=True), none slower",),
    ),
)
