"""Functions that read each other in a circle: sections and compiled code against the interpreter."""

from __future__ import annotations

import numpy as np
import pytest

import polymat as pm
from polymat import Options
from polymat.checked import check
from polymat.driver import request_for
from polymat.graph.interpret import interpret
from polymat.graph.interpretsteps import interpret_stepwise
from polymat.graph.stepwise import Stepwise
from polymat.passes import PASSES, position
from polymat.poly.membership import members
from polymat.steps import Job
from tests.differential.circles import System, draw
from tests.tolerance import assert_close

SIZES = ((2, 1), (2, 2), (3, 3), (5, 7), (4, 12))
INTERPRETED, COMPILED = 40, 6


def arrays_of(system: System, size: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(size)
    return {vector.name: rng.random(size) for vector in system.inputs if vector.name}


@pytest.mark.drawn(20)
@pytest.mark.parametrize("number", range(INTERPRETED))
def test_sections_compute_what_the_whole_does(number: int, seed: int) -> None:
    system = draw(seed + number)
    job = Job(request_for(system.outputs))
    built = PASSES[0].apply(job.request, job)
    stepwise = PASSES[position("sections")].apply(built, job)
    assert isinstance(stepwise, Stepwise)
    check("sections", stepwise)
    for steps, size in SIZES:
        arrays, params = arrays_of(system, size), {"T": steps, "N": size}
        expected = interpret(built, arrays, params)
        for name, values in interpret_stepwise(stepwise, arrays, params, members).items():
            assert_close(values, expected[name], roundings=50 * steps, magnitude=10.0**steps)


@pytest.mark.parametrize("number", range(COMPILED))
def test_compiled_systems(number: int, seed: int) -> None:
    system = draw(seed + 1000 + number)
    options = (Options(), Options.naive(), Options(threads=2, parallel_threshold=0))[number % 3]
    run = pm.compile(system.outputs, inputs=system.inputs, name="fields", options=options)
    for steps, size in SIZES:
        arrays = arrays_of(system, size).values()
        found, expected = run(*arrays, T=steps), run.reference(*arrays, T=steps)
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other, roundings=50 * steps, magnitude=10.0**steps)
